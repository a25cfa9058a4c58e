"""Tests of what `lessons submit` says about runs that failed, are old, or still continue."""

import os
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from autograder.settings import rubric
from lessons.student.check_command import noisy_runs
from lessons.student.grader_misses import to_run_again
from tests.autograder.in_memory import read_bytes
from tests.autograder.make_record import make_record, some_rounds, write_lines
from tests.lessons.recorded_program import PROGRAM

ROOT = Path(__file__).parents[3]


WAITS = """
import os, pathlib, time
pathlib.Path("waits").touch()
end = time.monotonic() + 100
while not pathlib.Path("go").exists() and time.monotonic() < end:
    time.sleep(0.1)
os._exit(0)
"""


def packed(path="02_serial.zip"):
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return set(archive.namelist())


def cut_before_end(whole):
    return whole[: whole.index('"key":"run_stop"')].rpartition("\n")[0] + "\n"


def at(path, seconds):
    os.utime(path, (seconds, seconds))


def test_an_output_that_is_older_than_its_program_is_named(folder, lessons_command, run_output):
    (folder / "02_keras_7.out").write_text(run_output)
    words = "02_keras_7.out is older than train.py: run the job again"
    for out, program, named in ((1000, 2000, True), (2000, 1000, False), (1000, 1001, False)):
        at(folder / "02_keras_7.out", out)
        at(folder / "train.py", program)
        assert (words in lessons_command("submit", "02", "--in", folder).output) is named


def run_in(folder, program="train.py"):
    """Run a job of the folder's program, with a record."""
    command = [sys.executable, program]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    (folder / "02_keras_7.out").write_text(done.stdout)


def test_a_program_that_is_not_the_one_that_ran_is_named_before_the_grader_does(
    folder, lessons_command
):
    words = "train.py is not the program that ran in 02_keras_7.out: run the job again, or submit"
    program = folder / "train.py"
    program.write_text(PROGRAM)
    run_in(folder)
    program.write_bytes(PROGRAM.replace("\n", "\r\n").encode())
    at(program, 4e9)  # copied since, say; what it says is the same
    assert "train.py" not in missed(lessons_command("submit", "02", "--in", folder))
    program.write_text(PROGRAM + "# a comment\n")  # a comment changes nothing that ran
    assert "train.py" not in missed(lessons_command("submit", "02", "--in", folder))
    program.write_text(PROGRAM + "print()\n")
    assert words in missed(lessons_command("submit", "02", "--in", folder))
    run_in(folder)
    assert "train.py" not in missed(lessons_command("submit", "02", "--in", folder))
    assert "02_serial/train.py" in packed()


def missed(done):
    return done.output.partition("Look at these before you submit:")[2]


def test_a_failed_attempt_beside_a_good_run_is_not_counted(folder, lessons_command, run_output):
    (folder / "02_keras_7.out").write_text(run_output)
    other = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True).stdout
    (folder / "02_keras_6.out").write_text(cut_before_end(other))
    output = lessons_command("submit", "02", "--in", folder).output
    extra = output.partition("Also included, but not counted:\n")[2].partition(
        "Look at these before you submit:"
    )[0]
    assert extra == "  - 02_keras_6.out: its run did not end well (incomplete)\n"
    assert output.count("did not end well") == 1


def test_a_job_that_is_still_running_is_called_so(
    folder, lessons_command, run_output, monkeypatch, tmp_path
):
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    program = folder / "half.py"
    program.write_text("import sys\n" + PROGRAM.partition("run.end")[0] + WAITS)
    job = folder / "half.sbatch"
    job.write_text(
        "#!/bin/bash\n#SBATCH --job-name=half\n#SBATCH --ntasks=1\n#SBATCH --time=00:05:00\n"
        f"#SBATCH --output=half_%j.out\n{sys.executable} -u half.py\n"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    environment["COURSE_SITE"] = str(ROOT / "cluster/sites/laptop.sh")
    submit = [sys.executable, "-c", "from cluster.cli import main; main()", "submit", "half.sbatch"]
    options = {"cwd": folder, "env": environment, "check": True, "capture_output": True}
    subprocess.run(submit, **options)
    try:
        end = time.monotonic() + 60
        while not (folder / "waits").exists() and time.monotonic() < end:
            time.sleep(0.1)
        done = lessons_command("submit", "02", "--in", folder)
        [output] = folder.glob("half_*.out")
        assert f"{output.name}: its job is still running" in done.output
    finally:
        (folder / "go").touch()
    follow = [*submit[:-2], "logs", "-f", output.stem.rpartition("_")[2]]
    subprocess.run(follow, **options)
    done = lessons_command("submit", "02", "--in", folder)
    assert f"{output.name}: its run did not end well" in done.output


def test_gaps_of_job_files_predictions_and_answers(tmp_path, monkeypatch, lessons_command):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "lessons" / "00_cluster", tmp_path / "00_cluster")
    done = lessons_command("submit", "00", "--in", "00_cluster")
    assert "job.sbatch still has the gap of Exercise 0.1" in done.output
    assert "00_cluster.ipynb still has the gap of Predict" in done.output
    assert "00_cluster.ipynb still has the gap of Answer" in done.output
    job = tmp_path / "00_cluster" / "job.sbatch"
    job.write_text(job.read_text().replace("=\n", "=2\n"))
    done = lessons_command("submit", "00", "--in", "00_cluster")
    assert "job.sbatch still" not in done.output


@pytest.mark.parametrize("cut", [0, 300, -2])
def test_a_notebook_that_is_cut_is_named(folder, lessons_command, cut):
    notebook = folder / "02_serial.ipynb"
    notebook.write_bytes(notebook.read_bytes()[:cut])
    for command in ("submit", "check"):
        output = lessons_command(command, "02", "--in", folder).output
        assert "02_serial.ipynb is not a notebook (cut short, or not saved): open it and" in output
        assert "{" not in output  # nothing of its JSON


FAILED = "Traceback (most recent call last):\nModuleNotFoundError: No module named 'torch'\n"


def test_a_job_that_failed_before_its_run_is_named(folder, lessons_command, run_output):
    (folder / "02_keras_7.out").write_text(run_output)
    (folder / "02_torch_8.out").write_text("hello\n")
    (folder / "02_torch_8.err").write_text(FAILED)
    (folder / "02_torch_9.out").write_text(FAILED)
    output = lessons_command("submit", "02", "--in", folder).output
    extra = output.partition("Also included, but not counted:\n")[2].partition(
        "Look at these before you submit:"
    )[0]
    assert extra.splitlines() == [
        "  - 02_torch_8.out: it contains no run (failed); 02_torch_8.err may say why",
        "  - 02_torch_9.out: it contains no run (failed)",
    ]


def test_a_job_on_a_busy_machine_is_to_run_again_before_the_submission(tmp_path):
    """The sentence goes when a newer output of the same job is calm."""
    asked = rubric.load_rubric(rubric.FOLDER / "07.yaml")
    busy, calm = (
        make_record(
            lesson="07", source="speed", model="resnet20", size=2, run=run, seconds=(),
            started=f"2026-03-02T1{hour}:00:00+00:00",
            measures=some_rounds(*((1 + n / 99, silent + n / 99, 1.3 + n / 99) for n in range(12))),
        )
        for run, hour, silent in (("aa", 1, 3.0), ("bb", 2, 1.2))
    )  # fmt: skip
    runs = read_bytes({"a.out": "\n".join(busy).encode(), "b.out": "\n".join(calm).encode()})
    by_id = {run.launch: run for run in runs}
    assert len(list(to_run_again(asked, [by_id["aa"]]))) == 1
    assert list(to_run_again(asked, runs)) == list(to_run_again(asked, [by_id["bb"]])) == []
    write_lines(tmp_path / "07_speed_1.out", busy)
    assert len(noisy_runs("07", tmp_path)) == 1
