"""Run programs on ranks that are forked from one process, which has already loaded a framework.

    FORKED='[[RANKS, [["FOLDER", ["PROGRAM", "WORD", …]], …]], …]' python forked.py MODULE…

Each job starts when the one before it has ended. Its ranks have the environment that mpirun gives
them, and run its programs one by one. Programs that use MPI need mpirun itself.
"""

import importlib
import json
import os
import runpy
import signal
import sys
import traceback
from pathlib import Path

ONE_BY_ONE = Path(__file__).with_name("one_by_one.py")


def run_as(rank, size, number, programs):
    """Run the programs in this process, and end it."""
    os.environ |= {
        "OMPI_COMM_WORLD_RANK": str(rank),
        "OMPI_COMM_WORLD_LOCAL_RANK": str(rank),
        "OMPI_COMM_WORLD_SIZE": str(size),
        "PMIX_NAMESPACE": f"{os.getppid()} {number}",  # the run record's name of this launch
        "MASTER_PORT": str(int(os.environ["MASTER_PORT"]) + 10 * number),
        "ONE_BY_ONE": json.dumps(programs),
    }
    try:
        runpy.run_path(str(ONE_BY_ONE), run_name="__main__")
        failed = False
    except BaseException:
        traceback.print_exc()
        failed = True
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(failed)


for module in sys.argv[1:]:
    importlib.import_module(module)
for number, (size, programs) in enumerate(json.loads(os.environ.pop("FORKED"))):
    ranks = set()
    for rank in range(size):
        if (child := os.fork()) == 0:
            run_as(rank, size, number, programs)
        ranks.add(child)
    while ranks:
        ended, status = os.wait()
        ranks.remove(ended)
        if status:  # as a launcher does, end the others too
            for other in ranks:
                os.kill(other, signal.SIGKILL)
            sys.exit(f"a rank of job {number} failed")
