"""Tests of lesson 00's table of traps in job files, with jobs on the laptop."""

import sys

import pytest

WAITING = "import pathlib, time; print('begun'); pathlib.Path('mark').touch(); time.sleep(60)"


def test_without_j_the_second_run_overwrites(shell):
    shell.write("job.sbatch", "echo run $1", "-o train.out")
    for number in (1, 2):
        shell.wait(shell.submit("job.sbatch", number))
    assert shell.read("train.out") == "run 2\n"


@pytest.mark.parametrize(("option", "printed"), [("", ""), ("-u", "begun\n")])
def test_without_u_an_output_is_empty(shell, option, printed):
    shell.environment.pop("PYTHONUNBUFFERED", None)
    job = shell.submit(shell.write("job.sbatch", f'python {option} -c "{WAITING}"', "-o out"))
    shell.until((shell.folder / "mark").exists)
    assert shell.read("out") == printed
    shell.word("scancel", job)


def test_without_its_environment_a_program_ends(shell):
    python = f"{sys.executable} -I -S"  # without the environment's packages
    shell.write("job.sbatch", f'{python} -c "import numpy"', "-o out", "-e err")
    job = shell.submit("job.sbatch")
    shell.until(lambda: shell.record(job)["State"] == "FAILED")
    assert shell.read("out") == ""
    assert "ModuleNotFoundError: No module named 'numpy'" in shell.read("err")
