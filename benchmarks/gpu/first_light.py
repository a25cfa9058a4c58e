"""Run the course's PyTorch programs on a GPU machine on which nobody has run them before.

    python benchmarks/gpu/first_light.py --out first_light
    python benchmarks/gpu/first_light.py --pretend --out /tmp/first_light    # on CPU, as in CI

It needs this repository, PyTorch, NumPy and pydantic, but no TensorFlow, Horovod, MPI or network.
It runs each program with few steps, and with two NCCL ranks if there are two GPUs. It compares
losses with those of the same run on a CPU, measures images per second in float32, TF32 and
bfloat16, and writes report.json and report.md. Programs that need two ranks (speed.py of lesson
10), MPI (study.py of lesson 12) or Gloo (deadlock.py of lesson 11) are left out.
"""

import argparse
import importlib.util
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from autograder.reading.files import read_files  # noqa: E402
from autograder.records import Run  # noqa: E402
from lessons.toolkit.record.devices import processor  # noqa: E402

from precisions import precisions  # noqa: E402

SECONDS = 480  # in all; a program may take EACH on the GPU, and again on the CPU
EACH = 90
APART = 0.02  # relative difference of a loss between GPU and CPU, after few steps in float32
SHORT = ("--train-samples", "2560", "--epochs", "2")
SMALL = (*SHORT, "--test-samples", "1000")
PRETENDED = {"nccl": "gloo", "1024": "64", "384": "64", "2560": "640", "1000": "200", "10": "6"}


@dataclass(frozen=True)
class Program:
    """A program of the course, run with few steps, and the expected outcome."""

    path: str
    words: tuple[str, ...] = ()
    most: int = 2  # largest number of ranks
    fewest: int = 1
    needs: str = ""  # a package that does not come with PyTorch
    trains: bool = True  # prints losses that can be compared with a CPU's
    fails: str = ""  # it has to fail, with an error that matches this pattern


PROGRAMS = [
    Program("02_serial/train_torch.py", (*SHORT, "--model", "cnn"), most=1),
    Program("10_native/train.py", (*SMALL, "--model", "cnn", "--accumulate", "2")),
    Program("10_native/train_lightning.py", (*SMALL, "--model", "cnn"), needs="lightning"),
    Program("10_native/buckets.py", ("--rounds", "3", "--batch-size", "64"), 2, 2, trains=False),
    Program("10_native/hang.py", ("--timeout", "10"), 2, 2, trains=False, fails="imed out|timeout"),
    Program("11_pipeline/train.py", SMALL),
    Program("11_pipeline/train.py", (*SMALL, "--schedule", "1f1b"), 2, 2),
    Program("11_pipeline/train_library.py", SHORT, 2, 2),
    Program("11_pipeline/speed.py", ("--rounds", "3", "--width", "1024"), 2, 2, trains=False),
    Program(
        "11_pipeline/tensor_parallel.py",
        ("--backend", "nccl", "--precision", "float32", "--width", "1024"), 2, 2, trains=False,
    ),
    Program("12_scaling/train.py", (*SMALL, "--scaling", "strong")),
    Program("13_shard/train.py", ("--layers", "6", "--width", "384")),
    Program("13_shard/break_it.py", ("--without", "nothing", "wrap"), 2, 2),
    Program("14_profile/train.py", most=1),
    Program("14_profile/train_ways.py", most=1, trains=False),  # rounds differently on a GPU
    Program("15_survive/train.py"),
]  # fmt: skip


def command_line() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--out", type=Path, default=Path("first_light"), help="folder of the report"
    )
    parser.add_argument("--pretend", action="store_true", help="on CPU, with two Gloo ranks")
    parser.add_argument(
        "--only",
        nargs="+",
        choices=dict.fromkeys(program.path for program in PROGRAMS),
        metavar="PROGRAM",
        help="only these, such as 10_native/hang.py",
    )
    return parser


def start(program: Program, ranks: int, folder: Path, on_gpu: bool) -> tuple[int, float]:
    """Run a program with torchrun in its own folder. Return its exit code and seconds."""
    environ = os.environ | {"PYTHONPATH": str(ROOT), "COURSE_MIRRORS": "none"}
    environ.setdefault("OMP_NUM_THREADS", "1")
    if "COURSE_DATA" not in environ:
        environ["COURSE_STAND_IN"] = "1"
    if not on_gpu:
        environ["CUDA_VISIBLE_DEVICES"] = ""
    torchrun = [sys.executable, "-m", "torch.distributed.run", f"--nproc-per-node={ranks}"]
    torchrun += ["--rdzv-backend=c10d", "--rdzv-endpoint=127.0.0.1:0"]
    command = [*torchrun, str(ROOT / "solutions" / program.path), *program.words]
    began = time.monotonic()
    with (folder / "job.out").open("w") as out, (folder / "job.err").open("w") as err:
        try:
            code = subprocess.run(
                command, cwd=folder, env=environ, stdout=out, stderr=err, timeout=EACH
            ).returncode
        except subprocess.TimeoutExpired:
            code = 124
    return code, time.monotonic() - began


def looked_at(program: Program, ranks: int, on_gpu: bool, kept: Path) -> dict[str, object]:
    """Run a program, and again on a CPU if its losses can be compared. Return the results."""
    kept.mkdir(parents=True)
    code, seconds = start(program, ranks, kept, on_gpu)
    row: dict[str, object] = {"seconds": round(seconds, 1), "exit_code": code}
    if program.fails:
        errors = (kept / "job.err").read_text(errors="replace")
        hung = code not in (0, 124) and bool(re.search(program.fails, errors))
        stacks = sorted(kept.glob("stack_of_rank_*.txt"))
        return row | {"outcome": "hung as meant" if hung else "did not hang", "stacks": len(stacks)}
    runs = read_files([kept / "job.out"])
    row["outcome"] = runs[0].outcome if code == 0 and runs else "failed"
    if row["outcome"] != "completed":
        return row | {"last_lines": (kept / "job.err").read_text(errors="replace")[-1500:]}
    row |= {"losses": losses(runs[0]), "measures": measures(runs[0])}
    if program.trains and on_gpu:
        with tempfile.TemporaryDirectory() as folder:
            start(program, ranks, Path(folder), on_gpu=False)
            other = read_files([Path(folder) / "job.out"])
        expected = losses(other[0]) if other else []
        pairs = list(zip(row["losses"], expected, strict=False))
        far = max((abs(a - b) / max(abs(b), 1e-6) for a, b in pairs), default=float("inf"))
        row |= {"losses_on_cpu": expected, "losses_agree": far <= APART}
    return row


def losses(run: Run) -> list[float]:
    return [epoch.train_loss.value for epoch in run.epochs if epoch.train_loss]


def measures(run: Run) -> dict[str, object]:
    """Return the last value of each quantity that the run measured."""
    return {event.name: event.value for event in run.measures if event.value is not None}


def machine(pretend: bool) -> dict[str, object]:
    import torch

    gpus = 0 if pretend else torch.cuda.device_count()
    names = [torch.cuda.get_device_name(number) for number in range(gpus)]
    versions = {"python": platform.python_version(), "torch": torch.__version__}
    return {"gpus": names or ["none: pretended on CPU"], "cpu": processor(), **versions}


def written(report: dict[str, object]) -> str:
    """Return the report as Markdown."""
    lines = ["# First light", "", *(f"- {k}: {v}" for k, v in report["machine"].items()), ""]
    lines += ["| program | ranks | outcome | seconds | losses as on CPU |", "|---|---|---|---|---|"]
    lines += [
        f"| {row['program']} | {row['ranks']} | {row['outcome']} | {row.get('seconds', '–')} | "
        f"{row.get('losses_agree', '–')} |"
        for row in report["programs"]
    ]
    lines += ["", "| precision | loop | images/s | peak MB |", "|---|---|---|---|"]
    lines += [
        f"| {row['precision']} | {row['loop']} | {row['images_per_s']:,.0f} | {row['peak_mb']} |"
        for row in report["precisions"]
    ]
    lines += ["", "Peak of GPU memory over all tensors that are alive (lesson 13):"]
    peaks = [
        row["measures"].get("peak_over_held") for row in report["programs"] if "measures" in row
    ]
    lines += [", ".join(f"{peak:.2f}" for peak in peaks if peak is not None) or "not on a CPU"]
    return "\n".join(lines) + "\n"


def main() -> int:
    args = command_line().parse_args()
    import torch

    began, gpus = time.monotonic(), 0 if args.pretend else torch.cuda.device_count()
    if not gpus and not args.pretend:
        sys.exit("first_light.py sees no GPU here. To try the script itself, add --pretend.")
    args.out.mkdir(parents=True, exist_ok=True)
    available = 2 if args.pretend else gpus
    rows = []
    for number, program in enumerate(PROGRAMS):
        if args.only and program.path not in args.only:
            continue
        if args.pretend:
            words = tuple(PRETENDED.get(word, word) for word in program.words)
            program = replace(program, words=words)
        row: dict[str, object] = {"program": program.path, "words": " ".join(program.words)}
        # Pretended, only the programs that need two ranks get two: this tries the script.
        row["ranks"] = ranks = program.fewest if args.pretend else min(program.most, available)
        if program.needs and importlib.util.find_spec(program.needs) is None:
            row["outcome"] = f"left out: no {program.needs} here"
        elif ranks < program.fewest:
            row["outcome"] = f"left out: needs {program.fewest} GPUs"
        elif time.monotonic() - began > SECONDS - 2 * EACH:
            row["outcome"] = "left out: no time"
        else:
            with tempfile.TemporaryDirectory() as folder:
                row |= looked_at(program, ranks, gpus > 0, Path(folder, f"{number:02}"))
        print(f"{program.path} on {ranks}: {row['outcome']}", flush=True)
        rows.append(row)
    rates = precisions(torch.device("cuda" if gpus else "cpu"))
    report = {"machine": machine(args.pretend), "programs": rows, "precisions": rates}
    report["seconds"] = round(time.monotonic() - began, 1)
    (args.out / "report.json").write_text(json.dumps(report, indent=1), encoding="utf-8")
    (args.out / "report.md").write_text(written(report), encoding="utf-8")
    print(f"{args.out}/report.md: {report['seconds']} s in all")
    right = ("completed", "hung as meant", "left out")
    fine = [str(row["outcome"]).startswith(right) and row.get("losses_agree", True) for row in rows]
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main())
