"""Measure how long the set-up takes and how much memory it needs, in a fresh clone.

python benchmarks/machine/setup_time.py

It needs 6 GB of disk and, on two cores, two to ten minutes.
"""

import os
import platform
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[2]


def measure(clone: Path, cache: Path, target: str) -> tuple[float, float]:
    """Return the seconds of `make TARGET` and the peak memory of its processes, in GB."""
    env = os.environ | {"XDG_CACHE_HOME": str(cache), "PIP_CACHE_DIR": str(cache / "pip")}
    start, peak = time.monotonic(), 0
    process = psutil.Popen(["make", target], cwd=clone, env=env)
    while process.poll() is None:
        peak = max(peak, resident(process))
        time.sleep(0.05)
    seconds = time.monotonic() - start
    if process.returncode:
        raise SystemExit("the set-up failed")
    return seconds, peak / 1e9


def resident(process: psutil.Process) -> int:
    total = 0
    for each in (process, *process.children(recursive=True)):
        try:
            total += each.memory_info().rss
        except psutil.Error:  # the process has ended meanwhile
            continue
    return total


def main() -> None:
    rows = []
    with tempfile.TemporaryDirectory(prefix="setup-time-") as folder:
        clone, cache = Path(folder, "course"), Path(folder, "cache")
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        rows.append(("the course, nothing cached", *measure(clone, cache, ".venv")))
        rows.append(("Horovod, nothing cached", *measure(clone, cache, "horovod")))
        shutil.rmtree(clone / ".venv")
        rows.append(("both, cached", *measure(clone, cache, "horovod")))
        rows.append(("nothing to do", *measure(clone, cache, "horovod")))
    load = os.getloadavg()[2]
    print(f"\n{platform.machine()}, {os.cpu_count()} cores, load {load:.1f}")
    for name, seconds, gigabytes in rows:
        print(f"{name:28} {seconds:8.1f} s {gigabytes:6.2f} GB")


if __name__ == "__main__":
    main()
