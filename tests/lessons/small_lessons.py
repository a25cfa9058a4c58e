"""Small lessons to run in real kernels, and the processes that a run leaves."""

import os
import time

import psutil

PARAMETERS = '\n# %% tags=["parameters"]\nprofile = "smoke"\nrepeats = 2\n'


def write_lesson(course, name, *cells, parameters=PARAMETERS):
    folder = course / "solutions" / name
    folder.mkdir()
    pages = [f"# %% [markdown]\n# # {name}\n", parameters, *(f"\n# %%\n{c}\n" for c in cells)]
    (folder / "lesson.py").write_text("".join(pages))
    return folder


def processes_with(word):
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        if word in " ".join(process.info["cmdline"] or []) and process.pid != os.getpid():
            found.append(process)
    return found


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.1)
    return False
