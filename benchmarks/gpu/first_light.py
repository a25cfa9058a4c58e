"""Run the course's PyTorch programs on a machine with one GPU on which nobody has run them before.

    python benchmarks/gpu/first_light.py --out first_light
    COURSE_DEVICE=cpu python benchmarks/gpu/first_light.py --out first_light    # tries this script

It needs this repository, PyTorch 2.11 or newer and NumPy, no network, and at most six minutes.
First come programs with few steps, four at a time. Some have two ranks that share the GPU through
Gloo, and a run of lesson 15 is killed and resumed. Then speed and precisions are measured. While
time is left, programs train again on the CPU, and losses are compared. report.json and report.md
are written after each program.
"""

import argparse
import contextlib
import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from report import Report, compared

ROOT = Path(__file__).resolve().parents[2]
TRIAL = os.environ.get("COURSE_DEVICE") == "cpu"
LIVES = 6  # most starts of a program that is killed or warned
AGAIN = (75, -signal.SIGKILL)  # exit codes after which a run of lesson 15 is started again
SHORT = "--train-samples 640 --epochs 2"  # more steps of Adam would make rounding errors large
SMALL = f"{SHORT} --test-samples 1000"
# Smaller sizes, where a CPU tries the script.
SIZES = {"1000": "200", "1024": "64", "384": "64", "64": "16", "4": "1"}
# Variables of launchers, and of what a user has set for other programs.
OTHERS = ("SLURM_", "PMI", "PALS_", "OMPI_", "HOROVOD_", "TORCHELASTIC_", "COURSE_")


@dataclass(frozen=True)
class Program:
    """A program with few steps."""

    path: str
    words: str = ""
    compare: bool = True  # has losses that a GPU does not round differently
    ranks: int = 1  # two share the GPU, through Gloo
    launcher: str = "torchrun"  # whose variables the ranks get
    needs: str = ""  # a package that does not come with PyTorch
    limit: int = 60  # seconds

    @property
    def name(self) -> str:
        return f"{self.path} {self.words}".strip()


PROGRAMS = (
    Program("02_serial/train_torch.py", f"{SHORT} --model cnn"),
    Program("10_native/train.py", f"{SHORT} --model cnn --accumulate 2"),
    Program("10_native/train_lightning.py", f"{SHORT} --model cnn", needs="lightning"),
    Program("11_pipeline/train.py", SMALL),
    Program("12_scaling/train.py", f"{SMALL} --scaling strong"),
    Program("13_shard/train.py", "--layers 6 --width 384 --windows 32"),
    Program("13_shard/train.py", "--ways fsdp --policy mixed --recompute --windows 32", False),
    Program("14_profile/train.py"),
    Program("14_profile/train_ways.py", compare=False),
    Program("14_profile/break_it.py", compare=False),
    Program("15_survive/train.py", "--folder whole"),
    Program("15_survive/train.py", "--folder repeated", False),
    Program(
        "15_survive/train.py",
        "--folder resumed --background --kill-at 7 24 --warn-at 17",
        compare=False,
        limit=90,
    ),
    Program("10_native/train.py", f"{SHORT} --model cnn", ranks=2),
    Program("10_native/buckets.py", "--rounds 3 --batch-size 64", False, ranks=2),
    Program("11_pipeline/tensor_parallel.py", "--width 1024", False, ranks=2),
    Program("12_scaling/train.py", f"{SMALL} --scaling weak", ranks=2),
)
# These run alone, because they measure speed.
TIMED = (
    Program(
        "10_native/speed.py",
        "--rounds 3 --steps 2 --width 4 --batch-size 64",
        compare=False,
        ranks=2,
        launcher="srun",
        limit=90,
    ),
    Program("../benchmarks/gpu/precisions.py", compare=False, limit=90),
)


def environment(program: Program, rank: int, port: int, on_gpu: bool) -> dict[str, str]:
    """Return the variables of a rank. Each rank seems to be alone on a node with one GPU."""
    environ = {key: value for key, value in os.environ.items() if not key.startswith(OTHERS)}
    environ |= {"PYTHONPATH": str(ROOT), "COURSE_STAND_IN": "1", "COURSE_MIRRORS": "none"}
    environ |= {"OMP_NUM_THREADS": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    if not on_gpu:
        environ |= {"CUDA_VISIBLE_DEVICES": "", "COURSE_DEVICE": "cpu"}
    if program.ranks == 1:
        return environ
    rank_and_size = {"RANK": rank, "WORLD_SIZE": program.ranks, "LOCAL_RANK": 0}
    if program.launcher == "srun":
        rank_and_size = {"SLURM_PROCID": rank, "SLURM_STEP_NUM_TASKS": program.ranks}
        rank_and_size |= {"SLURM_LOCALID": 0, "SLURM_STEP_ID": 0, "SLURM_JOB_ID": port}
    alone = {"LOCAL_WORLD_SIZE": "1", "SLURM_STEP_TASKS_PER_NODE": f"1(x{program.ranks})"}
    return environ | alone | {key: str(value) for key, value in rank_and_size.items()}


def lesson_folder(program: Program, folder: Path) -> Path:
    """Return the folder with the program, or a copy that uses Gloo where it would use NCCL."""
    source = (ROOT / "solutions" / program.path).resolve()
    if program.ranks == 1:
        return source.parent
    copy = folder / "program"
    shutil.copytree(source.parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for file in copy.glob("*.py"):
        file.write_text(file.read_text().replace('"nccl"', '"gloo"'))
    return copy


def start(program: Program, folder: Path, on_gpu: bool, until: float) -> list[int]:
    """Run a program's ranks, each in a process group of its own, and return their exit codes.

    Their output is added to job.out. At the time `until`, they and what they started are killed.
    """
    with socket.create_server(("", 0)) as server:
        port = server.getsockname()[1]
    command = [sys.executable, str(lesson_folder(program, folder) / Path(program.path).name)]
    command += [SIZES.get(word, word) if TRIAL else word for word in program.words.split()]
    with (folder / "job.out").open("a") as out, (folder / "job.err").open("a") as err:
        places: Any = {"cwd": folder, "stdout": out, "stderr": err, "start_new_session": True}
        environs = [environment(program, rank, port, on_gpu) for rank in range(program.ranks)]
        ranks = [subprocess.Popen(command, env=environ, **places) for environ in environs]
        try:
            return [rank.wait(max(0, until - time.monotonic())) for rank in ranks]
        except subprocess.TimeoutExpired:
            return [124]
        finally:
            for rank in ranks:
                end(rank)


def end(rank: subprocess.Popen[bytes]) -> None:
    """Kill a process and what it started, because the next program needs the GPU's memory."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(rank.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):  # a driver that hangs keeps it
        rank.wait(10)


def run(program: Program, on_gpu: bool, most: float) -> dict[str, Any]:
    """Run a program for `most` seconds at most, and return the row of the report."""
    row: dict[str, Any] = {"program": program.name, "ranks": program.ranks}
    if program.needs and importlib.util.find_spec(program.needs) is None:
        return row | {"outcome": f"left out: no {program.needs} here"}
    began = time.monotonic()
    until = began + min((3 if TRIAL else 1) * program.limit, most)
    if until - began < 10:
        return row | {"outcome": "left out: no time"}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        codes = [start(program, folder, on_gpu, until)]
        while "--kill-at" in program.words and codes[-1][0] in AGAIN and len(codes) < LIVES:
            codes.append(start(program, folder, on_gpu, until))
        row |= {"seconds": round(time.monotonic() - began, 1), "exit_codes": codes}
        row |= what_it_printed((folder / "job.out").read_text(errors="replace"))
        if any(codes[-1]) or not (row["status"] == "success" or row["rates"]):
            row["outcome"] = "killed: no time" if codes[-1] == [124] else "failed"
            row["last_lines"] = (folder / "job.err").read_text(errors="replace")[-2000:]
        elif on_gpu and any(device.startswith("CPU") for device in row["devices"]):
            row["outcome"] = "failed: it ran on the CPU"
        else:
            row["outcome"] = "completed"
    return row


def what_it_printed(output: str) -> dict[str, Any]:
    """Return what the run record says, or the rates of precisions.py."""
    found: dict[str, Any] = {"status": None, "devices": [], "losses": [], "measures": {}}
    found |= {"rates": [json.loads(line) for line in output.splitlines() if line[:1] == "{"]}
    for line in output.splitlines():
        tag, _, text = line.partition(":::MLLOG ")
        if tag or not text:
            continue
        try:
            event = json.loads(text)
        except ValueError:  # a line that was cut when the program was killed
            continue
        key, value = event["key"], event["value"]
        if key == "rank":
            found["devices"].append(value["device"])
        elif key == "epoch_stop" and value.get("loss") is not None:
            found["losses"].append(value["loss"])
        elif key == "measure":
            found["measures"][value["name"]] = value["value"]
        elif key == "rank_end":
            found["parameters"] = value["param_hash"]
        elif key == "run_stop":
            found["status"] = event["metadata"]["status"]
            found["test_loss"] = value.get("test_loss")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("first_light"), help="for the report")
    parser.add_argument("--seconds", type=float, default=360, help="at most, in all")
    parser.add_argument("--only", nargs="+", default=[""], help="programs that begin like this")
    args = parser.parse_args()

    report = Report(args.out, args.seconds)
    look = [sys.executable, str(Path(__file__).with_name("machine.py"))]
    seen = subprocess.run(look, stdout=subprocess.PIPE, text=True, timeout=120)
    if seen.returncode:
        return seen.returncode
    report.machine = json.loads(seen.stdout)

    def first(program: Program) -> None:
        report.add(run(program, not TRIAL, report.left()))

    def again(program: Program) -> None:
        row = report.rows[program.name, program.ranks]
        if program.compare and row["outcome"] == "completed":
            report.add(compared(row, run(program, False, report.left())))

    chosen = [program for program in PROGRAMS if program.name.startswith(tuple(args.only))]
    with ThreadPoolExecutor(1 if TRIAL else 4) as pool:
        list(pool.map(first, chosen))
    for program in TIMED:
        if program.name.startswith(tuple(args.only)):
            first(program)
    if not TRIAL:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(again, chosen))
    print(f"{args.out}/report.md: {args.seconds - report.left():.0f} s in all")
    return 0 if report.is_fine() else 1


if __name__ == "__main__":
    sys.exit(main())
