"""Run a program on ranks that are forked from one process, which loads PyTorch once.

    python -u forked_ranks.py N PROGRAM WORD …

The ranks have the variables that mpirun gives them. If one fails, the others are ended.
"""

import importlib
import os
import runpy
import signal
import sys
from pathlib import Path

# DistributedDataParallel and the first step of an optimizer load the second one.
LOADED = ("torch", "torch._dynamo", "torch.distributed.fsdp", "torch.distributed.pipelining")


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


for module in LOADED:
    importlib.import_module(module)
children = set[int]()
for rank in range(int(sys.argv[1])):
    if (child := os.fork()) == 0:
        names = {"RANK": rank, "LOCAL_RANK": rank, "SIZE": sys.argv[1], "LOCAL_SIZE": sys.argv[1]}
        os.environ |= {f"OMPI_COMM_WORLD_{name}": str(value) for name, value in names.items()}
        os.environ["PMIX_NAMESPACE"] = f"forked {os.getppid()}"  # the run record's name of a launch
        break
    children.add(child)
else:
    sys.exit(wait_for(children))
sys.argv = sys.argv[2:]
sys.path[0] = str(Path(sys.argv[0]).resolve().parent)
runpy.run_path(sys.argv[0], run_name="__main__")
