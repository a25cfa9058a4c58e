"""The recorder that a lecturer copies: alone in a folder, beside programs of their own."""

import inspect
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from record_lines import events, of

from autograder.cli import main as autograder
from lessons.toolkit.record import run_record
from tests.breadth import breadth

LOOP = """
from run_record import RunRecord

record = RunRecord("01", source="ours", local_batch=64, epochs_asked=3, samples=640)
for number in range(3):
    with record.epoch(steps=10) as epoch:
        epoch.log(loss=1 / (number + 1))
record.end(test_accuracy=0.97)
"""
MPI = """
from mpi4py import MPI
from run_record import RunRecord

comm = MPI.COMM_WORLD
record = RunRecord("01", source="ours", rank=comm.Get_rank(), size=comm.Get_size(), local_batch=8)
for number in range(3):
    with record.epoch(steps=10) as epoch:
        epoch.log(loss=comm.allreduce(1.0))
record.end(test_accuracy=0.97)
"""
KERAS = """
import numpy as np
import keras
from run_record import RunRecord

x, y = np.ones((640, 4)), np.zeros(640)
model = keras.Sequential([keras.layers.Dense(2, activation="softmax")])
loss = "sparse_categorical_crossentropy"
model.compile(keras.optimizers.SGD(0.5), loss=loss, metrics=["accuracy"])
record = RunRecord("01", source="ours", local_batch=64, epochs_asked=3, samples=640)
model.fit(x, y, batch_size=64, epochs=3, verbose=0, validation_data=(x, y),
          callbacks=[record.keras_callback()])
record.end(test_accuracy=model.evaluate(x, y, verbose=0)[1])
"""
RUBRIC = """
lesson: "01"
title: Ours
points: 2
runs:
  train: {where: {source: ours, world_size: WORKERS}}
checks:
  - id: epochs
    title: Three epochs
    points: 1
    require: [{metric: epochs, of: train, equal: 3}]
  - id: accuracy
    title: The test accuracy is reached
    points: 1
    require: [{metric: test_accuracy, of: train, at_least: 0.95}]
"""
ROOT = ("--allow-run-as-root",) if os.geteuid() == 0 else ()
PYTHON = (sys.executable,)
PROGRAMS = {
    "loop": (LOOP, (*PYTHON, "-S", "-E"), 1),  # without any installed package
    "mpirun": (MPI, ("mpirun", *ROOT, "--oversubscribe", "-np", "2", *PYTHON), 2),
    "keras": (KERAS, PYTHON, 1),
}


def run_alone(text: str, command: tuple[str, ...], folder: Path) -> str:
    """Return the output of a program beside a copy of the recorder, without the course."""
    shutil.copy(inspect.getfile(run_record), folder)
    (folder / "train.py").write_text(text)
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environ['PATH']}"
    done = subprocess.run(
        ["timeout", "120", *command, "train.py"],
        env=environ | {"KERAS_BACKEND": "tensorflow", "TF_CPP_MIN_LOG_LEVEL": "3"},
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def grade(output: str, workers: int, folder: Path) -> dict:
    """Return the grade of a submission of which runs on this number of workers count."""
    texts = {
        "class/ada/01/job_7.out": output,
        "rubrics/01.yaml": RUBRIC.replace("WORKERS", str(workers)),
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    places = {word: str(folder / word) for word in ("class", "rubrics", "grades")}
    words = ["grade", places["class"], "--rubrics", places["rubrics"], "--out", places["grades"]]
    assert CliRunner().invoke(autograder, words).exit_code in (0, 1)
    [row] = json.loads((folder / "grades/grades.json").read_text())["grades"]
    return row


@pytest.mark.ranks
@pytest.mark.parametrize("name", breadth(PROGRAMS, quick=2))
def test_the_copied_file_writes_what_the_grader_reads(name, tmp_path):
    text, command, workers = PROGRAMS[name]
    output = run_alone(text, command, tmp_path)
    found = events(output)
    assert len({event["metadata"]["run"] for event in found}) == 1
    assert {event["metadata"]["file"] for event in found} == {"train.py"}
    assert sorted(event["value"]["rank"] for event in of(found, "rank")) == list(range(workers))
    assert len(of(found, "rank_end")) == workers
    assert [event["value"]["steps"] for event in of(found, "epoch_stop")] == [10, 10, 10]
    (tmp_path / "out.out").write_text(output)
    read = CliRunner().invoke(autograder, ["read", "--json", str(tmp_path / "out.out")])
    [run] = json.loads(read.output)
    assert (run["format"], run["outcome"], run["workers"]) == ("record", "completed", workers)
    assert run["problems"] == []
    row = grade(output, workers, tmp_path / "right")
    assert (row["score"], row["tier"]) == (2, "self-consistent")
    assert grade(output, workers + 1, tmp_path / "wrong")["score"] == 0


def test_an_exception_ends_the_record(tmp_path):
    text = LOOP.replace("epoch.log(", "raise OSError  # (")
    shutil.copy(inspect.getfile(run_record), tmp_path)
    (tmp_path / "train.py").write_text(text)
    done = subprocess.run([*PYTHON, "train.py"], cwd=tmp_path, capture_output=True, text=True)
    last = events(done.stdout)[-1]
    assert (last["metadata"]["status"], last["value"]["reason"]) == ("aborted", "OSError")
