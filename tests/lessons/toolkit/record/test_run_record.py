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
from record_lines import events, facts, of

from autograder.cli import main as autograder
from lessons.toolkit.record import run_record
from tests.breadth import breadth

ARGS = """
from run_record import Run

args = {"batch_size": 64, "epochs": 3}
mnist = {"name": "mnist", "sha256": None, "synthetic": False, "train_samples": 640,
         "test_samples": 10}
"""
LOOP = f"""{ARGS}
run = Run("01", args, source="ours", dataset=mnist)
for number in range(3):
    with run.epoch() as log:
        log(loss=1 / (number + 1), steps=10)
run.end(test_accuracy=0.97)
"""
MPI = f"""
from mpi4py import MPI
{LOOP.replace("1 / (number + 1)", "MPI.COMM_WORLD.allreduce(1.0)")}"""
TORCH = f"""{ARGS}
import os
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
network = torch.nn.Linear(4, 2)
run = Run("01", args, network, source="ours", dataset=mnist)
other = torch.optim.SGD(torch.nn.Linear(1, 1).parameters(), lr=9.0)
optimizer = torch.optim.Adam(network.parameters(), lr=0.5)
for number in range(3):
    with run.epoch() as log:
        for _ in range(10):
            other.step()
            optimizer.step()
        log(loss=torch.tensor(1.0), accuracy=0.5)
run.end(test_accuracy=torch.tensor(0.97))
dist.destroy_process_group()
"""
KERAS = f"""{ARGS}
import numpy as np
import keras

x, y = np.ones((640, 4)), np.zeros(640)
model = keras.Sequential([keras.layers.Dense(2, activation="softmax")])
loss = "sparse_categorical_crossentropy"
model.compile(keras.optimizers.SGD(0.5), loss=loss, metrics=["accuracy"])
run = Run("01", args, model, source="ours", dataset=mnist)
model.fit(x, y, batch_size=64, epochs=3, verbose=0, validation_data=(x, y),
          callbacks=[run.keras()])
run.end(test_accuracy=model.evaluate(x, y, verbose=0)[1])
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
    "torchrun": (TORCH, ("torchrun", "--nproc-per-node=2"), 2),
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
    assert sorted(event["value"]["rank"] for event in of(found, "rank")) == list(range(workers))
    assert len(of(found, "rank_end")) == workers
    epochs = [event["value"] for event in of(found, "epoch_stop")]
    assert [(epoch["steps"], epoch["unique_samples"]) for epoch in epochs] == [(10, 640)] * 3
    header = facts(found)
    assert (header["local_batch"], header["global_batch"]) == (64, 64 * workers)
    optimizer = {"torchrun": ("adam", 0.5), "keras": ("sgd", 0.5)}.get(name, (None, None))
    assert (header["optimizer"], epochs[-1]["lr"]) == optimizer
    (tmp_path / "out.out").write_text(output)
    read = CliRunner().invoke(autograder, ["read", "--json", str(tmp_path / "out.out")])
    [run] = json.loads(read.output)
    assert (run["format"], run["outcome"], run["workers"]) == ("record", "completed", workers)
    assert run["problems"] == []
    row = grade(output, workers, tmp_path / "right")
    assert (row["score"], row["tier"]) == (2, "self-consistent")
    assert grade(output, workers + 1, tmp_path / "wrong")["score"] == 0


def test_an_exception_ends_the_record(tmp_path):
    text = LOOP.replace("log(", "raise OSError  # (")
    shutil.copy(inspect.getfile(run_record), tmp_path)
    (tmp_path / "train.py").write_text(text)
    done = subprocess.run([*PYTHON, "train.py"], cwd=tmp_path, capture_output=True, text=True)
    last = events(done.stdout)[-1]
    assert (last["metadata"]["status"], last["value"]["reason"]) == ("aborted", "OSError")
