"""Write a rank's stack and calls. The program of an incident imports this module.

It does so after eight seconds, or when the rank fails.

A copy stands beside each program that is recorded.
"""

import importlib
import json
import os
import sys
import threading
import traceback
from collections import defaultdict

import torch._C._distributed_c10d as c10d
import torch.distributed as dist

importlib.import_module("torch._dynamo")  # otherwise the first optimizer does, which takes seconds
TIMEOUT = 16  # seconds that a collective waits
AFTER = 8.0
SPENT: defaultdict[str, float] = defaultdict(float)  # seconds by activity


def spent(activity, seconds):
    SPENT[activity] += seconds


def start(rank):
    dist.barrier()  # no rank's clock begins while others still load PyTorch
    timer = threading.Timer(AFTER, look, [rank, threading.get_ident()])
    timer.daemon = True
    timer.start()

    def failed(*error):
        traceback.print_exception(*error)
        timer.cancel()
        write_calls(rank)

    sys.excepthook = failed


def look(rank, main):
    """Write the main thread's stack, as py-spy does, and the flight recorder's entries."""
    stack = traceback.extract_stack(sys._current_frames()[main])
    with open(f"stack_{rank}.txt", "w") as file:
        for frame in reversed(stack):
            place = os.path.basename(frame.filename)
            file.write(f"    {frame.name} ({place}:{frame.lineno})\n")
    write_calls(rank)


def write_calls(rank):
    entries = json.loads(c10d._dump_fr_trace_json())["entries"]
    with open(f"calls_{rank}.json", "w") as file:
        json.dump(entries, file)
