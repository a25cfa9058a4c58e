"""How long the box takes: up, a first job, up again, down, up after a crash. Needs root.

python benchmarks/box.py [--repeat 3]
"""

import argparse
import os
import signal
import statistics
import subprocess
import time
from pathlib import Path

BOX = Path(__file__).parents[1] / "cluster/box/box"
STATE = Path("/var/lib/dl-course-box")
EIGHT_RANKS = "srun --nodes=2 --ntasks-per-node=4 hostname"


def seconds(*words: str) -> float:
    start = time.monotonic()
    subprocess.run(["timeout", "300", *words], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


def box(command: str) -> float:
    return seconds("bash", str(BOX), command)


def kill_all_daemons() -> None:
    for file in (STATE / "run").glob("*.pid"):
        if ".own" not in file.name:
            os.kill(int(file.read_text()), signal.SIGKILL)


def once() -> dict[str, float]:
    took = {"up, from down": box("up")}
    took["then 8 ranks on 2 nodes"] = seconds("runuser", "-l", "student1", "-c", EIGHT_RANKS)
    took["up, when it is up"] = box("up")
    kill_all_daemons()
    took["up, after kill -9 of all daemons"] = box("up")
    took["down"] = box("down")
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    if os.getuid() != 0:
        print("box: not measured, it needs root")
        return
    if subprocess.run(["bash", BOX, "status"], capture_output=True).returncode == 0:
        print("box: not measured, it is up and somebody may use it; box-down first")
        return
    box("up")  # the first one installs and makes the database
    box("down")
    rounds = [once() for _ in range(args.repeat)]
    load = os.getloadavg()[0]
    print(f"box: seconds, median of {args.repeat} (all), {os.cpu_count()} cores, load {load:.1f}")
    for name in rounds[0]:
        values = sorted(took[name] for took in rounds)
        each = ", ".join(f"{value:.2f}" for value in values)
        print(f"  {name:34} {statistics.median(values):5.2f}  ({each})")


if __name__ == "__main__":
    main()
