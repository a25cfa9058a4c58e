"""Measure how much a speed job's result varies on this machine, and whether noise costs points.

python benchmarks/lessons/speed_spread.py [--runs 20] [--ranks 2] [-- ARGUMENTS OF speed.py]

It runs lesson 07's speed job repeatedly, as the site `laptop` does it (one core per rank), and
grades each output with the rubric. All of these runs are honest. The target is that none of them
loses a point, whatever else runs on the machine.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from autograder.judging.hand_in import HandIn
from autograder.judging.judge import judge
from autograder.measuring import rounds
from autograder.measuring.interval import Measure
from autograder.reading.files import read_files
from autograder.records import Run
from autograder.settings import rubric
from cluster.schedulers.laptop.cores import whole_cores

LESSON = Path(__file__).parents[2] / "solutions" / "07_horovod"


def run_once(folder: Path, ranks: int, words: list[str]) -> Run:
    cores = whole_cores()
    binding = ["--oversubscribe", "--bind-to", "none"]
    if len(cores) >= ranks:
        pinned = ",".join(map(str, cores[:ranks]))
        binding = ["--map-by", f"pe-list={pinned}:ordered", "--bind-to", "core"]
    command = ["mpirun", "--allow-run-as-root", *binding, "-np", str(ranks), sys.executable, "-u"]
    one = {"OMP_NUM_THREADS": "1", "TF_NUM_INTRAOP_THREADS": "1", "TF_NUM_INTEROP_THREADS": "1"}
    more = {"OMPI_MCA_mpi_yield_when_idle": "1", "TF_ENABLE_ONEDNN_OPTS": "1"}
    environment = os.environ | one | more | {"TF_CPP_MIN_LOG_LEVEL": "3"}
    environment |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(20000 + os.getpid() % 12000)}
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    out = folder / "speed.out"
    with out.open("wb") as sink:
        done = subprocess.run(
            [*command, LESSON / "speed.py", *words],
            cwd=folder,
            env=environment,
            stdout=sink,
            stderr=subprocess.PIPE,
            timeout=600,
        )
    if done.returncode:
        sys.exit(done.stderr.decode(errors="replace")[-2000:])
    [run] = read_files([out])
    return run


def graded(run: Run) -> tuple[float, float, str]:
    """Return the points of the check `speed`, its maximum, and its status."""
    asked = rubric.load_rubric(rubric.FOLDER / "07.yaml")
    checks = judge(HandIn(asked, [run], {}, "smoke")).checks
    [check] = [check for check in checks if check.id == "speed"]
    return check.score, check.points, check.status


def in_short(measure: Measure) -> str:
    return f"{measure.value:.2f} ({measure.low:.2f} … {measure.high:.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("words", nargs="*", help="arguments of speed.py, after --")
    args = parser.parse_args()
    print(f"speed_spread: {args.runs} runs on {args.ranks} ranks, {len(whole_cores())} cores")
    row = "{:>3}  {:20} {:20} {:20} {:>6}  {:12} {:>4} {:>5}"
    head = ("run", "speedup", "ceiling", "share", "points", "", "s", "load")
    print(row.format(*head), flush=True)
    shares, lost, unsure = [], 0, 0
    for number in range(1, args.runs + 1):
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            run = run_once(Path(folder), args.ranks, args.words)
        seconds, load = time.monotonic() - began, os.getloadavg()[0]
        found = [metric(run) for metric in (rounds.speedup, rounds.ceiling, rounds.share)]
        score, most, status = graded(run)
        cells = (number, *map(in_short, found), f"{score:g}/{most:g}", status)
        print(row.format(*cells, f"{seconds:.0f}", f"{load:.1f}"), flush=True)
        shares.append(found[2].value)
        lost += score < most
        unsure += status == "borderline"
    print(
        f"shares from {min(shares):.2f} to {max(shares):.2f};"
        f" {lost} of {len(shares)} runs lost points, {unsure} were borderline"
    )


if __name__ == "__main__":
    main()
