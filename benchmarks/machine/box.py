"""Measure how long the box takes to install, start, run a first job, recover and stop, as root.

python benchmarks/machine/box.py [--repeat 3] [--wipe]

--wipe first deletes the box's records and accounts, so that the first `up` also makes the database.
"""

import argparse
import os
import shutil
import signal
import statistics
import subprocess
import time
from pathlib import Path

BOX = Path(__file__).parents[2] / "cluster/box/box"
STATE = Path("/var/lib/dl-course-box")
EIGHT_RANKS = "srun --nodes=2 --ntasks-per-node=4 hostname"
INSTALL, FIRST_JOB = 60, 10  # required limits in seconds


def seconds(*words: str) -> float:
    start = time.monotonic()
    subprocess.run(["timeout", "300", *words], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


def box(*words: str) -> float:
    return seconds("bash", str(BOX), *words)


def eight_ranks() -> float:
    return seconds("runuser", "-l", "student1", "-c", EIGHT_RANKS)


def records() -> set[str]:
    words = ["bash", str(BOX), "accounting"]
    lines = subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()
    return {line.split("|")[0] for line in lines[1:]}


def settled_records() -> set[str]:
    """Return all records, after waiting until the job that has just ended is among them."""
    known, end = records(), time.monotonic() + 15
    while time.monotonic() < end:
        time.sleep(3)
        if (now := records()) == known:
            break
        known = now
    return known


def kill_all_daemons() -> None:
    for file in (STATE / "run").glob("*.pid"):
        if ".own" not in file.name:
            os.kill(int(file.read_text()), signal.SIGKILL)


def once() -> dict[str, float]:
    took = {"up, from down": box("up")}
    took["then 8 ranks on 2 nodes"] = eight_ranks()
    took[FROM_INSTALLED] = took["up, from down"] + took["then 8 ranks on 2 nodes"]
    took["up, when it is up"] = box("up")
    before = settled_records()
    kill_all_daemons()
    took["up, after kill -9 of all daemons"] = box("up")
    lost = before - records()
    took["down"] = box("down")
    if lost:
        raise SystemExit(f"box: the accounting lost {len(lost)} of {len(before)} records: {lost}")
    return took


FROM_INSTALLED = f"installed → 8 ranks done (≤ {FIRST_JOB})"


def first_time(wipe: bool) -> dict[str, float]:
    """Measure what happens only once on a machine. Both steps leave the box down."""
    took = {}
    if not shutil.which("slurmctld", path=f"{os.environ['PATH']}:/usr/sbin"):
        took[f"install the packages (≤ {INSTALL})"] = box("install")
    if wipe:
        box("wipe", "--yes")
    if not STATE.exists():
        took["first up: makes the database and two students"] = box("up")
        took["then 8 ranks on 2 nodes"] = eight_ranks()
    else:
        box("up")
    box("down")
    return took


def show(name: str, values: list[float]) -> None:
    each = ", ".join(f"{value:.2f}" for value in sorted(values))
    print(f"  {name:46} {statistics.median(values):6.2f}  ({each})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--wipe", action="store_true")
    args = parser.parse_args()
    if os.getuid() != 0:
        print("box: not measured, it needs root")
        return
    if subprocess.run(["bash", BOX, "status"], capture_output=True).returncode == 0:
        print("box: not measured, it is up and somebody may use it; box-down first")
        return
    first = first_time(args.wipe)
    rounds = [once() for _ in range(args.repeat)]
    load = os.getloadavg()[0]
    print(f"box: seconds, median of {args.repeat} (all), {os.cpu_count()} cores, load {load:.1f}")
    for name, value in first.items():
        show(f"once: {name}", [value])
    if not any("install" in name for name in first):
        print("  once: install: not measured, the packages are on this machine")
    for name in rounds[0]:
        show(name, [took[name] for took in rounds])
    print("  no accounting record was lost after any kill -9")


if __name__ == "__main__":
    main()
