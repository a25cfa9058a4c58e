"""Run programs on real ranks that load a framework only once, for a whole file of tests."""

import json
import subprocess
import sys
from pathlib import Path

from real_runs import environment, meet

from autograder.reading.files import read_files

FORKED = Path(__file__).parent / "ranks" / "forked.py"
# DistributedDataParallel and the first step of an optimizer load the second one.
TORCH = ("torch", "torch._dynamo")


def run_forked(*jobs, loaded=TORCH, **env):
    """Run each job: a number of ranks, and starts (folder, program, arguments) on them.

    Return the records of each folder's runs. Starts in one folder share its output.
    loaded: modules that take long to load, and that all ranks share.
    """
    asked = [
        (ranks, [(str(folder), [str(program), *words]) for folder, program, *words in starts])
        for ranks, starts in jobs
    ]
    folders = [Path(folder) for _, starts in asked for folder, _ in starts]
    for folder in folders:
        folder.mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, FORKED, *loaded],
        env=environment(FORKED=json.dumps(asked), **meet() | env),
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return {folder: read_files([folder / "job.out"]) for folder in folders}
