"""Tests that every command on a page runs where the page says to type it.

Programs and job files are filled as far as the page has come. `JOB` is the last job's number.
Commands that other tests run are only typed in `make test-nightly`; test_program_texts.py asks the
commands and programs whether they take these words.
"""

import re
import shutil
import sys

import pytest
from typed_commands import SOLUTIONS, Terminal, commands, put_files

LESSONS = tuple(sorted(folder.name[:2] for folder in SOLUTIONS.glob("[0-9][0-9]_*")))

SLURM = "Slurm's own: a laptop has no Slurm"
WHOLE = "test_every_lesson.py"
FULL = "for GPU nodes: hours on two cores"
NOT_HERE = {
    "seff JOB": SLURM,
    "sacct -X -n -P -o JobID,Elapsed,AllocTRES,ConsumedEnergy -j 1885056": SLURM,
    "srun --jobid=JOB --overlap nvidia-smi": SLURM,
    "salloc --nodes=1 --ntasks=2 --cpus-per-task=1 --time=01:00:00": SLURM,
    "exit": "gives an allocation back, and there is none",
    "sbatch --cpus-per-task=8 job.sbatch --model ResNet152V2": FULL,
}
# Slurm's own are typed on a Slurm: tests/cluster/box/test_box_typed.py.

# What also runs these commands, or their programs with other sizes.
REPEATS = {
    "sbatch job.sbatch --train-samples 12800 --epochs 3": f"{WHOLE}, test_in_jupyterlab.py",
    "python train.py --help": "test_program_texts.py",
    "squeue --me": "page 00",
    "cluster logs -f JOB": "test_laptop_commands.py",
    "grep -Ev 'MLLOG|^$' 02_keras_*.out": "page 00, with another file",
    "sbatch job.sbatch --train-samples 3200 --epochs 8 --resume": "test_lesson_07.py",
    "sbatch job.sbatch --rounds 9 --levers bfloat16+compile --batch-size 16": WHOLE,
    "sbatch --ntasks=4 job.sbatch --replicas 2": "test_lesson_11.py",
    "sbatch job.sbatch --model ResNet152V2 --size 32 --train-samples 256 --test-samples 128 "
    "--batch-size 32 --epochs 3": "its job_compare.sbatch, with MobileNet",
} | {f"lessons submit {lesson}": WHOLE for lesson in LESSONS}
PREPARES = ("source ", "export ")
# As typed, but on less: the same program and options.
SMALLER = [
    ("--model ResNet152V2", "--model MobileNet"),
    ("samples 512", "samples 64"),
    ("--replicas 2", "--replicas 2 --train-samples 640 --test-samples 200"),
    ("samples 6400", "samples 640"),
    ("samples 3200", "samples 640"),
]
# What the page's own cells have submitted before a line is typed, and the line needs.
SUBMITTED = {"--epochs 8 --resume": "sbatch --wait job.sbatch --train-samples 640"}
ENDLESS = ("cluster logs -f", "tail -F")  # until Ctrl+C
AFTERWARDS = {"cluster use juwels --account PROJECT": "cluster use laptop"}
BEFORE = {
    "00": "echo printed > out.txt; touch err.txt",  # exercise 0.4
    "04": "folder=$PWD/packs_of_mine; mkdir $folder; echo 1 > $folder/pack_0000.bin",
}


def test_no_reason_is_left_over():
    typed = {command.line for name in LESSONS for command in commands(name)}
    assert (set(NOT_HERE) | set(REPEATS)) - typed == set()


def is_typed_daily(lesson, line):
    return line not in NOT_HERE and (lesson == "00" or line not in REPEATS)


DAILY = [
    lesson
    for lesson in LESSONS
    if any(
        is_typed_daily(lesson, command.line) and not command.line.startswith(PREPARES)
        for command in commands(lesson)
    )
]


@pytest.mark.slow
@pytest.mark.parametrize("lesson", DAILY)
def test_what_the_page_says_to_type_runs_in_its_place(lesson, tmp_path):
    type_all(lesson, [c for c in commands(lesson) if is_typed_daily(lesson, c.line)], tmp_path)


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("lesson", LESSONS[1:])
def test_what_other_tests_run_can_be_typed_too(lesson, tmp_path):
    type_all(lesson, [c for c in commands(lesson) if c.line not in NOT_HERE], tmp_path)


def type_all(lesson, lines, tmp_path):
    [folder] = (SOLUTIONS.parent / "lessons").glob(f"{lesson}_*")
    here = tmp_path / "course" / "lessons" / folder.name
    here.mkdir(parents=True)
    shutil.copy(folder / f"{folder.name}.ipynb", here)
    (tmp_path / "course" / ".venv").symlink_to(sys.prefix)
    (tmp_path / "home").mkdir()
    terminal = Terminal(here, tmp_path / "home")
    terminal.type("cluster use laptop")
    terminal.type(BEFORE.get(lesson, "true"))
    if commands(lesson)[0].line == f"cd {here.name}":
        terminal.type("cd ..")  # where JupyterLab's terminals begin
    job, running, cell = "", set(), -1
    for command in lines:
        put_files(lesson, here, command.filled)
        if command.cell != cell:  # the page's own cells have waited for their jobs
            wait_for(terminal, running)
            cell = command.cell
        for ending, submitted in SUBMITTED.items():
            if command.line.endswith(ending):
                code, printed = terminal.type(submitted)
                assert code == 0, printed
        line = command.line.replace("JOB", job)
        for there, smaller in SMALLER:
            line = line.replace(there, smaller)
        endless = line.startswith(ENDLESS)
        code, printed = terminal.type(f"timeout -s INT 6 {line}" if endless else line)
        assert code == 0 or (endless and code in (124, 130)), f"{line}\n{printed}"
        assert "Traceback" not in printed, f"{line}\n{printed}"
        if submitted := re.search(r"Submitted batch job (\d+)", printed):
            job = submitted[1]
            running.add(job)
        if line.startswith("scancel"):
            running.discard(job)
        if command.line in AFTERWARDS:
            terminal.type(AFTERWARDS[command.line])
    wait_for(terminal, running)
    terminal.close()


def wait_for(terminal, jobs):
    for job in sorted(jobs):
        states = f"sacct -nPX -j {job} -o State"
        _, printed = terminal.type(f"while {states} | grep -q ING; do sleep 0.5; done; {states}")
        assert set(printed.split()) == {"COMPLETED"}, f"{job}: {printed}"
    jobs.clear()
