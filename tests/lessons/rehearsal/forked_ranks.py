"""Run programs on ranks that are forked from a server, which loads PyTorch once for a whole page.

    python -u forked_ranks.py                   # with RANK_SERVER=SOCKET: serve
    python -u forked_ranks.py N PROGRAM WORD …  # ask the server for N ranks of a program

The ranks have the caller's folder, output and environment, and the variables that mpirun gives
them. If one fails, the others are ended; if the caller is ended, so are all.
"""

import contextlib
import importlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

# DistributedDataParallel and the first step of an optimizer load the second one.
LOADED = ("torch", "torch._dynamo", "torch.distributed.fsdp", "torch.distributed.pipelining")


@contextlib.contextmanager
def rank_server() -> Iterator[dict[str, str]]:
    """Start a server. Yield the variables with which a lesson's jobs use it."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # a socket's path has to be short
        found = {
            "RANK_SERVER": f"{folder}/ranks",
            "COURSE_SITE": __file__.replace("_ranks.py", ".sh"),
        }
        command = [sys.executable, "-u", __file__]
        server = subprocess.Popen(command, env=os.environ | found, stdout=subprocess.PIPE)
        try:
            server.stdout.readline()  # it listens
            yield found
        finally:
            server.kill()
            server.wait()


def serve(server: socket.socket) -> None:
    """Fork a process for each caller, for ever."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for these processes
    print("listening", flush=True)
    while True:
        caller, _ = server.accept()
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            server.close()
            return answer(caller)
        caller.close()


def answer(caller: socket.socket) -> None:
    request, outputs, *_ = socket.recv_fds(caller, 1 << 20, 2)
    folder, environment, (size, *words) = json.loads(request)
    os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for number, output in enumerate(outputs, start=1):
        os.dup2(output, number)
    children = set[int]()
    for rank in range(int(size)):
        if (child := os.fork()) == 0:
            return run(rank, size, words)
        children.add(child)
    threading.Thread(target=end_with, args=(caller,), daemon=True).start()
    caller.send(str(wait_for(children)).encode())
    os._exit(0)


def run(rank: int, size: str, words: list[str]) -> None:
    names = {"RANK": rank, "LOCAL_RANK": rank, "SIZE": size, "LOCAL_SIZE": size}
    os.environ |= {f"OMPI_COMM_WORLD_{name}": str(value) for name, value in names.items()}
    os.environ["PMIX_NAMESPACE"] = f"forked {os.getppid()}"  # the run record's name of a launch
    folders = os.environ.get("PYTHONPATH", "").split(":")
    sys.path[:1] = [str(Path(words[0]).resolve().parent), *filter(None, folders)]
    for own in (Path(folder, "sitecustomize.py") for folder in folders if folder):
        if own.exists():
            runpy.run_path(str(own))
    sys.argv = words
    runpy.run_path(words[0], run_name="__main__")


def end_with(caller: socket.socket) -> None:
    caller.recv(1)  # nothing comes but the end
    os.killpg(0, signal.SIGKILL)


def wait_for(ranks: set[int]) -> int:
    """Return the exit code of the first rank that fails."""
    failed = 0
    while ranks:
        ended, status = os.wait()
        ranks.discard(ended)
        if status and not failed:
            failed = abs(os.waitstatus_to_exitcode(status))
            for other in ranks:
                os.kill(other, signal.SIGTERM)
    return failed


def ask(server: socket.socket, words: list[str]) -> int:
    request = json.dumps([os.getcwd(), dict(os.environ), words])
    socket.send_fds(server, [request.encode()], [1, 2])
    return int(server.recv(10) or 1)


if __name__ == "__main__":
    meeting = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if sys.argv[1:]:
        meeting.connect(os.environ["RANK_SERVER"])
        sys.exit(ask(meeting, sys.argv[1:]))
    for module in LOADED:
        importlib.import_module(module)
    meeting.bind(os.environ["RANK_SERVER"])
    meeting.listen()
    serve(meeting)
