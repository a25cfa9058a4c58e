"""A submitted program that looks for everything it must not reach; test_box_rerun.py runs it.

It prints what it reached as one line of JSON. The test fills in TARGETS.
"""

import contextlib
import json
import os
import socket
import subprocess
import sys

TARGETS: dict = {}  # filled in by the test
reached: dict[str, str] = {}


def attempt(name, action):
    try:
        reached[name] = action()
    except Exception as error:
        reached[name] = f"no: {type(error).__name__}"


def read(path):
    with open(path, "rb") as file:
        return f"read {len(file.read())}"


def listed(folder):
    return f"listed {len(os.listdir(folder))}" if os.listdir(folder) else "no: empty"


def connect(host, port):
    socket.create_connection((host, int(port)), 3).close()
    return "connected"


def datagram(host, port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        any_socket.sendto(b"hello", (host, int(port)))
    return "sent"


def overwrite(path):
    with open(path, "w") as file:
        file.write("# changed")
    return "written"


def command(*words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=20)
    return f"ran: {done.stdout[:60]}" if done.returncode == 0 else "no: failed"


def leave_behind():
    holding = subprocess.DEVNULL if "alone" in sys.argv else None  # inherit the job's output
    words = ["sleep", "987"]
    left = subprocess.Popen(words, start_new_session=True, stdout=holding, stderr=holding)
    return f"left {left.pid}"


def others():
    seen = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{process}/cmdline", "rb") as file:
            seen.append(file.read().replace(b"\0", b" ").decode(errors="replace"))
    strange = [words for words in seen if any(word in words for word in TARGETS["daemons"])]
    return f"seen {strange}" if strange else "no: only its own"


for path in TARGETS["files"]:
    attempt(f"read {path}", lambda path=path: read(path))
for folder in TARGETS["folders"]:
    attempt(f"list {folder}", lambda folder=folder: listed(folder))
for host, port in TARGETS["addresses"]:
    attempt(f"connect {host}", lambda host=host, port=port: connect(host, port))
    if not host.startswith("127."):
        attempt(f"datagram {host}", lambda host=host, port=port: datagram(host, port))
for path in TARGETS["overwrite"]:
    attempt(f"write {path}", lambda path=path: overwrite(path))
for words in TARGETS["commands"]:
    attempt(f"run {words[0]}", lambda words=words: command(*words))
attempt("processes", others)
attempt("behind", leave_behind)

if "alone" not in sys.argv:
    import random

    import numpy

    import lessons.toolkit.record

    modules = (random, numpy, lessons.toolkit.record)
    about = {
        "modules": [module.__file__ for module in modules],
        "variables": dict(os.environ),
        "arguments": sys.argv[1:],
        "here": os.getcwd(),
        "user": os.getuid(),
    }
    import beside

    about["beside"] = beside.NAME
    print(json.dumps({"reached": reached, **about}), flush=True)
else:
    print(json.dumps({"reached": reached}), flush=True)
