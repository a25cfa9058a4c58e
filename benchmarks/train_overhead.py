"""What the run record costs each lesson's program: the same program with and without it.

python benchmarks/train_overhead.py [--pairs 5] [--only 07]

The program runs as it is, and once more with a Record that does nothing and a Keras callback
that is empty; both end every epoch with one look at the clock. Pairs of runs alternate in which
goes first. An epoch is what passes from one such look to the next, so whatever the record does
between two epochs counts as well; the first epoch is left out. The clock is the process' CPU time:
on one core that never waits it is the time that passes, less what others take of a shared machine.
Of each run the quickest epoch counts: others can only slow one down. The claim: at most 3 % more.
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
from types import SimpleNamespace
from typing import Any

SOLUTIONS = Path(__file__).parents[1] / "solutions"
MNIST = "--train-samples 12800 --epochs 6"
CIFAR = "--train-samples 512 --test-samples 64 --size 32 --model cnn --batch_size 32 --epochs 6"
# program -> its arguments; those with Horovod run as one rank
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
    """Run it in this process; at the end print the seconds of its epochs."""
    from lessons.toolkit import record

    looks: list[float] = []

    def look() -> None:
        looks.append(time.process_time())

    kind = Nothing if bare else record.Record

    class Watched(kind):  # type: ignore[misc, valid-type]
        def keras_callback(self) -> Any:
            callback = super().keras_callback()
            first = callback.on_epoch_end

            def on_epoch_end(epoch: int, logs: Any = None) -> None:
                first(epoch, logs)
                look()

            callback.on_epoch_end = on_epoch_end
            return callback

        @contextlib.contextmanager
        def epoch(self, *words: Any, **more: Any) -> Any:
            with super().epoch(*words, **more) as epoch:
                yield epoch
            look()

    record.Record = Watched  # type: ignore[misc]
    sys.path.insert(0, str(program.parent))
    sys.argv = [str(program), *words]
    runpy.run_path(str(program), run_name="__main__")
    seconds = [after - before for before, after in itertools.pairwise(looks)]
    print("\nEPOCHS", *seconds, file=sys.stderr)


class Nothing:
    """Takes the calls of a Record and does nothing."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.epochs = 0

    def keras_callback(self) -> Any:
        keras = sys.modules.get("tf_keras") or sys.modules["keras"]
        return keras.callbacks.Callback()

    @contextlib.contextmanager
    def epoch(self, *_: Any, **__: Any) -> Any:
        yield SimpleNamespace(log=lambda **_: None, seconds=0.0, logged={})

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: None


def epoch_seconds(program: str, words: str, bare: bool, folder: str) -> float:
    """Quickest epoch of one run in a process of its own, on one core."""
    command = [
        "taskset",
        "-c",
        "0",
        sys.executable,
        __file__,
        "--program",
        str(SOLUTIONS / program),
    ]
    quiet = {"OMP_NUM_THREADS": "1", "TF_NUM_INTRAOP_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    quiet["TF_ENABLE_ONEDNN_OPTS"] = "1"  # as in every job
    done = subprocess.run(
        [*command, *(["--bare"] if bare else []), "--", *words.split()],
        env=os.environ | quiet, cwd=folder, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    lines = [line for line in done.stderr.splitlines() if line.startswith("EPOCHS ")]
    if done.returncode or not lines:
        sys.exit(f"{program} failed:\n{done.stderr[-2000:]}")
    return min(map(float, lines[-1].split()[1:]))


def compare(program: str, words: str, pairs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        if program.startswith("08"):
            parts = [sys.executable, str(SOLUTIONS / "08_data/make_parts.py")]
            size = ["--train-samples", "12800"]
            subprocess.run([*parts, *size], cwd=folder, check=True, capture_output=True)
        plain: list[float] = []
        ours: list[float] = []
        for pair in range(pairs):
            for bare in (True, False) if pair % 2 else (False, True):
                seconds = epoch_seconds(program, words, bare, folder)
                (plain if bare else ours).append(seconds)
    more = sorted(b / a - 1 for a, b in zip(plain, ours, strict=True))
    print(
        f"{program:26} {statistics.median(plain):9.3f} {statistics.median(ours):12.3f}"
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
