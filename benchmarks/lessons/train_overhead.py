"""Measure what the run record costs each lesson's program, by running it with and without it.

python benchmarks/lessons/train_overhead.py [--pairs 5] [--only 07]

The program runs unchanged, and a second time with a Run that does nothing and an empty Keras
callback. Both run at the same time on the same core. The kernel alternates between them every few
milliseconds, so they slow down together if the machine is busy. Each process measures its CPU time
at the end of every epoch. An epoch lasts from one measurement to the next, so the record's work
between two epochs is included. The first epoch is left out, and the median of each run counts.
Target: at most 3 % more.
"""

import argparse
import contextlib
import itertools
import os
import runpy
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

SOLUTIONS = Path(__file__).parents[2] / "solutions"
MNIST = "--train-samples 12800 --epochs 6"
CIFAR = "--train-samples 512 --test-samples 64 --size 32 --model cnn --batch-size 32 --epochs 6"
# program -> its arguments; programs with Horovod run as one rank
PROGRAMS = {
    "02_serial/train.py": MNIST,
    "02_serial/train_torch.py": MNIST,
    "03_baseline/train.py": CIFAR,
    "04_feeding/train.py": f"{CIFAR} --source memory --workers 1",
    "05_mirrored/train.py": CIFAR,
    "07_horovod/train.py": MNIST,
    "07_horovod/train_torch.py": MNIST,
    "08_data/train.py": "--epochs 6",
}


def run_program(program: Path, words: list[str], bare: bool) -> None:
    """Run a program in this process, and print the seconds of its epochs at the end."""
    from lessons.toolkit import record

    looks: list[float] = []

    def look() -> None:
        looks.append(time.process_time())

    kind = Nothing if bare else record.Run

    class Watched(kind):  # type: ignore[misc, valid-type]
        def keras(self) -> Any:
            callback = super().keras()
            first = callback.on_epoch_end

            def on_epoch_end(epoch: int, logs: Any = None) -> None:
                first(epoch, logs)
                look()

            callback.on_epoch_end = on_epoch_end
            return callback

        @contextlib.contextmanager
        def epoch(self, *words: Any, **more: Any) -> Any:
            with super().epoch(*words, **more) as log:
                yield log
            look()

    record.Run = Watched  # type: ignore[misc]
    sys.path.insert(0, str(program.parent))
    sys.argv = [str(program), *words]
    runpy.run_path(str(program), run_name="__main__")
    seconds = [after - before for before, after in itertools.pairwise(looks)]
    print("\nEPOCHS", *seconds, file=sys.stderr)


class Nothing:
    """Accept a Run's calls and do nothing."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.rank, self.size = 0, 1

    def keras(self) -> Any:
        keras = sys.modules.get("tf_keras") or sys.modules["keras"]
        return keras.callbacks.Callback()

    @contextlib.contextmanager
    def epoch(self, *_: Any, **__: Any) -> Any:
        yield lambda **_: None

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: None


def pair_of_runs(program: str, words: str, folder: str) -> tuple[float, float]:
    """Return the median epoch's CPU seconds without and with the record, both at the same time."""
    quiet = {"OMP_NUM_THREADS": "1", "TF_NUM_INTRAOP_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    quiet["TF_ENABLE_ONEDNN_OPTS"] = "1"  # as in every job
    command = ["taskset", "-c", "0", sys.executable, __file__, "--program"]
    command += [str(SOLUTIONS / program)]
    runs = []
    for name, more in ("bare", ["--bare"]), ("recorded", []):
        place = Path(folder) / name
        runs.append(subprocess.Popen(
            [*command, *more, "--", *words.split()],
            env=os.environ | quiet, cwd=place, text=True,
            stdout=subprocess.DEVNULL, stderr=(place / "errors").open("w+"),
        ))  # fmt: skip
    seconds = []
    for run, name in zip(runs, ("bare", "recorded"), strict=True):
        failed = run.wait(timeout=900)
        said = (Path(folder) / name / "errors").read_text()
        lines = [line for line in said.splitlines() if line.startswith("EPOCHS ")]
        if failed or not lines:
            sys.exit(f"{program} failed:\n{said[-2000:]}")
        seconds.append(statistics.median(map(float, lines[-1].split()[1:])))
    return seconds[0], seconds[1]


def compare(program: str, words: str, pairs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in ("bare", "recorded"):
            place = Path(folder) / name
            place.mkdir()
            if program.startswith("08"):
                parts = [sys.executable, str(SOLUTIONS / "08_data/make_parts.py")]
                size = ["--train-samples", "12800"]
                subprocess.run([*parts, *size], cwd=place, check=True, capture_output=True)
        both = [pair_of_runs(program, words, folder) for _ in range(pairs)]
    more = sorted(ours / plain - 1 for plain, ours in both)
    plain, ours = (statistics.median(column) for column in zip(*both, strict=True))
    print(
        f"{program:26} {plain:9.3f} {ours:12.3f}"
        f" {statistics.median(more):+12.1%} ({more[0]:+.1%} … {more[-1]:+.1%})",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--only", default="", help="programs whose name begins so")
    parser.add_argument("--program", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--bare", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("words", nargs="*", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.program:
        run_program(args.program, args.words, args.bare)
        return
    print(
        f"train_overhead: {args.pairs} pairs, one core of {os.cpu_count()}; CPU seconds of an epoch"
    )
    print(f"{'program':26} {'without':>9} {'with record':>12}         more (from … to)")
    for program, words in PROGRAMS.items():
        if not (SOLUTIONS / program).exists():
            print(f"{program:26} is not there")
        elif program.startswith(args.only):
            compare(program, words, args.pairs)


if __name__ == "__main__":
    main()
