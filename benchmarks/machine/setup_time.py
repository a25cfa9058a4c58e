"""How long the set-up takes and how much memory it needs, in fresh clones of the last commit.

    python benchmarks/machine/setup_time.py [--only warm]

cold: nothing cached, neither packages nor Horovod. warm: Horovod's wheel in the cache.
again: nothing to do. Needs 5 GB of disk and, for `cold`, about five minutes.
"""

import argparse
import os
import platform
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[2]


def measure(clone: Path, cache: Path) -> tuple[float, float]:
    """Seconds of `make .venv` and the most memory that it and its children held together."""
    env = os.environ | {"XDG_CACHE_HOME": str(cache), "PIP_CACHE_DIR": tempfile.mkdtemp(dir=clone)}
    start, peak = time.monotonic(), 0
    process = psutil.Popen(["make", ".venv"], cwd=clone, env=env)
    while process.poll() is None:
        peak = max(peak, resident(process))
        time.sleep(0.05)
    seconds = time.monotonic() - start
    if process.returncode:
        raise SystemExit("the set-up failed")
    return seconds, peak / 1e9


def resident(process: psutil.Process) -> int:
    total = 0
    for one in (process, *process.children(recursive=True)):
        try:
            total += one.memory_info().rss
        except psutil.Error:  # ended while we looked
            continue
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=["cold", "warm"], help="one of the two, then `again`")
    only = parser.parse_args().only
    rows = []
    with tempfile.TemporaryDirectory(prefix="setup-time-") as folder:
        clone, cache = Path(folder, "course"), Path(folder, "cache")
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        if only == "warm":
            own = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
            shutil.copytree(Path(own) / "dl-course" / "horovod", cache / "dl-course" / "horovod")
        for name in ("cold", "warm"):
            if only in (None, name):
                shutil.rmtree(clone / ".venv", ignore_errors=True)
                rows.append((name, *measure(clone, cache)))
        rows.append(("again", *measure(clone, cache)))
    load = os.getloadavg()[2]
    print(
        f"\n{platform.processor() or platform.machine()}, {os.cpu_count()} cores, load {load:.1f}"
    )
    for name, seconds, gigabytes in rows:
        print(f"{name:8} {seconds:8.1f} s {gigabytes:6.2f} GB")


if __name__ == "__main__":
    main()
