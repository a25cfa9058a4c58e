"""Run programs on real ranks that load a framework only once, for a whole file of tests."""

import json
import sys
from pathlib import Path

from real_runs import environment, meet, run_group

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
    environ = environment(FORKED=json.dumps(asked), **meet() | env)
    seconds = 120 + 60 * len(folders)
    status, _, errors = run_group([sys.executable, FORKED, *loaded], seconds, env=environ)
    assert status == 0, errors[-2000:]
    return {folder: read_files([folder / "job.out"]) for folder in folders}
