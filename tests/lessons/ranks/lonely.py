"""Start tasks of lesson 16 whose others never come, forked from one process with TensorFlow.

    python lonely.py '[["PROGRAM", RANK, SIZE], …]' WORD…

The last line of the output has each task's exit status and errors.
"""

import json
import os
import runpy
import sys
import traceback
from pathlib import Path

import tensorflow  # noqa: F401
import tf_keras  # noqa: F401


def start(program, rank, size, words):
    """Run a program as one of the tasks, and end this process."""
    os.environ |= {
        "SLURM_JOB_ID": str(os.getpid()),  # it decides the ports
        "OMPI_COMM_WORLD_RANK": str(rank),
        "OMPI_COMM_WORLD_LOCAL_RANK": str(rank),
        "OMPI_COMM_WORLD_SIZE": str(size),
    }
    os.dup2(os.open(f"{os.getpid()}.err", os.O_WRONLY | os.O_CREAT), 2)
    sys.path.insert(0, str(Path(program).parent))
    sys.argv = [program, *words]
    status = 0
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as left:
        if isinstance(left.code, str):
            print(left.code, file=sys.stderr)
        status = int(bool(left.code))
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stderr.flush()
    os._exit(status)


tasks, *words = sys.argv[1:]
children = []
for task in json.loads(tasks):
    if (child := os.fork()) == 0:
        start(*task, words)
    children.append(child)
status = {child: os.waitpid(child, 0)[1] for child in children}
print(json.dumps([[status[child], Path(f"{child}.err").read_text()] for child in children]))
