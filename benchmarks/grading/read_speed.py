"""Compare reading run records with MLPerf's own parser in MB per second, and measure peak memory.

python benchmarks/grading/read_speed.py            # 20 MB, and big files of 2 GB
python benchmarks/grading/read_speed.py --big 0    # without the big files

Both readers run in turn in this process, and the fewest CPU seconds of several repeats count.
MLPerf's parser is mlperf_logging's parse_file. The big files are read by their own process, which
shows its peak memory.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from autograder.reading.files import read_files  # noqa: E402
from tests.autograder.make_record import make_record  # noqa: E402

NOISE = (
    "2026-03-02 10:00:00,123 INFO step 1234: something long about nothing in particular is said\n"
)
COMMAND = [sys.executable, "-c", "from autograder.cli import main; main()"]
TARGETS = {1.0: 3, 0.1: 3}


def make_log(tagged: float, size: int) -> str:
    """Return a run record of about `size` bytes in which a share of the lines is tagged."""
    between = NOISE * round(1 / tagged - 1)
    once = len("".join(make_record(seconds=(1.0,) * 100))) + 300 * len(between)
    lines = make_record(seconds=(1.0,) * max(1, round(100 * size / once)))
    return "".join(f"{line}\n{between}" for line in lines)


def least(work: Callable[[], object], repeats: int) -> float:
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


def beside_mlperf(folder: Path, megabytes: float) -> None:
    from mlperf_logging.compliance_checker import mlp_parser

    print(f"{'lines':<34}{'here':>10}{'MLPerf':>10}{'ratio':>8}{'asked':>7}   (MB/s)")
    for tagged, asked in TARGETS.items():
        path = folder / "benchmark.out"
        path.write_text(make_log(tagged, int(megabytes * 1e6)))
        size = path.stat().st_size / 1e6
        here = least(lambda path=path: read_files([path]), 5)
        theirs = least(lambda path=path: mlp_parser.parse_file(str(path), "4.1.0"), 3)
        label, ratio = f"{tagged:.0%} of a record's lines tagged", theirs / here
        print(f"{label:<34}{size / here:>10.0f}{size / theirs:>10.1f}{ratio:>8.1f}{asked:>7}")


def corners(folder: Path, megabytes: float) -> None:
    """Measure the contents that take longest to read for their size, though most is skipped."""
    print(f"{'slow corners':<34}{'here':>10}{'asked':>17}   (MB/s)")
    for name, make in CORNERS.items():
        piece = make()
        path = folder / "corner.out"
        path.write_bytes(piece * (int(megabytes * 1e6 / len(piece)) + 1))
        size = path.stat().st_size / 1e6
        here = least(lambda path=path: read_files([path]), 3)
        print(f"{name:<34}{size / here:>10.0f}{SLOWEST:>17}", flush=True)


def one_output(folder: Path) -> None:
    """Read the course's usual case: one record among 30 KB of other output."""
    lines = make_record(size=4, seconds=(1.0,) * 5)
    path = folder / "02_serial_1234.out"
    path.write_text("\n".join([*lines[:5], NOISE * 250, *lines[5:]]) + "\n")
    seconds = least(lambda: read_files([path]), 50)
    print(f"one output of {path.stat().st_size / 1e3:.0f} kB: {seconds * 1e3:.2f} ms")
    start = time.monotonic()
    subprocess.run([*COMMAND, "read", path], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    print(f"`autograder read` of it, start to end: {time.monotonic() - start:.2f} s (0.5 asked)")


TRACEBACK = """\
Traceback (most recent call last):
  File "/home/user/train.py", line 158, in <module>
    main()
  File "/home/user/train.py", line 124, in main
    model.fit(x, y)
  File "/usr/lib/python3.11/site-packages/keras/engine/training.py", line 3902, in fit
    raise ValueError(
ValueError: Input 0 is incompatible with the layer
"""


def steps(line: str) -> Callable[[], bytes]:
    """Return a function that makes lines of steps: {0} is the epoch, {1} the step."""
    return lambda: "".join(
        line.format(epoch, step) for epoch in range(1, 60) for step in range(938)
    ).encode()


SLOWEST = 1  # MB/s, required for each corner
CORNERS: dict[str, Callable[[], bytes]] = {
    "shortest tracebacks": lambda: (
        b"Traceback (most recent call last):\n  File x\nValueError\n" * 999
    ),
    "tracebacks as they are": lambda: TRACEBACK.encode() * 999,
    "steps of PyTorch's MNIST": steps("Train Epoch: {0} [{1}/60000 (1%)]\tLoss: 0.2\n"),
    "steps of PyTorch's ImageNet": steps(
        "Epoch: [{0}][{1}/938]\tTime 0.10 (0.13)\tLoss 2.3 (2.4)\tAcc@1 10.0 (12.0)\n"
    ),
}

# A piece of the file, and the share of the full size that is enough to show the trend.
BIG: dict[str, tuple[Callable[[], bytes], float]] = {
    "10 % tagged": (lambda: make_log(0.1, 10_000_000).encode(), 1),
    "no record": (lambda: NOISE.encode() * 99_999, 1),
    "one line without an end": (lambda: b"x" * 10_000_000, 1),
    "one bar without an end": (lambda: b"\r 10%|#   | 1/9 [00:01<00:08]" * 300_000, 1),
    "nothing but NULs": (lambda: bytes(10_000_000), 1),
    "words of training in every line": (
        lambda: NOISE.replace("step", "training step").encode() * 9999,
        0.1,
    ),
    "steps of PyTorch's MNIST": (
        lambda: b"".join(
            b"Train Epoch: %d [%d/60000 (%d%%)]\tLoss: 0.2\n" % (epoch, step * 64, step // 10)
            for epoch in range(1, 100)
            for step in range(938)
        ),
        0.1,
    ),
    "nothing but tracebacks": (
        lambda: b"Traceback (most recent call last):\n  File x\nValueError\n" * 99_999,
        0.1,
    ),
    "nothing but runs": (
        lambda: b"Epoch 1/1\n9/9 - 1s - loss: 0.1 - accuracy: 0.9\n" * 99_999,
        0.1,
    ),
}


def big_files(folder: Path, gigabytes: float) -> None:
    print(f"{'big files':<34}{'GB':>6}{'MB/s':>8}{'peak MB':>9}  (150 asked)")
    for name, (make, share) in BIG.items():
        path = folder / "big.out"
        piece = make()
        with path.open("wb") as file:
            for _ in range(int(share * gigabytes * 1e9 / len(piece)) + 1):
                file.write(piece)
        command = [sys.executable, __file__, "--measure", str(path)]
        result = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        size = path.stat().st_size
        speed = size / 1e6 / result["seconds"]
        peak, outcome = result["peak_mb"], result["outcome"]
        print(f"{name:<34}{size / 1e9:>6.2f}{speed:>8.0f}{peak:>9.0f}  {outcome}", flush=True)


def measure(path: Path) -> None:
    start = time.monotonic()
    runs = read_files([path])
    seconds = time.monotonic() - start
    status = Path("/proc/self/status").read_text()  # getrusage would include the parent's peak
    peak = int(status.split("VmHWM:")[1].split()[0]) / 1024
    outcome = f"{len(runs)} runs, {runs[-1].outcome}"
    print(json.dumps({"seconds": seconds, "peak_mb": peak, "outcome": outcome}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--size", type=float, default=10, help="MB of the records read beside MLPerf"
    )
    parser.add_argument("--big", type=float, default=2, help="GB of the big files; 0 for none")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        measure(args.measure)
        return
    with tempfile.TemporaryDirectory() as folder:
        beside_mlperf(Path(folder), args.size)
        corners(Path(folder), args.size / 2)
        one_output(Path(folder))
        if args.big:
            big_files(Path(folder), args.big)


if __name__ == "__main__":
    main()
