"""Tests that training at 128 by 128 needs little memory: no float copy of the data exists."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[4] / "benchmarks" / "lessons"
# Each way trains in a process of its own, forked when data and TensorFlow are loaded. The network
# needs the same 800 MB in all ways, so only one of them trains the large one.
LARGE_MB = 800
PROGRAM = """
import json, os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow, tf_keras
from data_memory import peak_mb, train
from lessons.toolkit import data

def say(way, **found):
    print(json.dumps({"way": way, **found}), flush=True)

cifar = data.load("cifar10", as_float=False)
data.load = lambda *asked, **how: cifar
say("data only", samples=len(cifar.x_train), peak_mb=peak_mb())
for way, net in {"slices": "ResNet50V2", "indices": "small", "batches": "small"}.items():
    if os.fork() == 0:
        say(way, **train(way, net, batch=8, size=128, steps=3))
        os._exit(0)
    os.wait()
"""


@pytest.mark.slow
def test_training_at_128_stays_below_2_gb(monkeypatch):
    # The stand-in has the real set's size, so this holds on a machine without the files too.
    monkeypatch.setenv("COURSE_STAND_IN", "1")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=FOLDER, stdout=subprocess.PIPE, text=True, check=True,
        timeout=300,
    )  # fmt: skip
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert {each["way"] for each in found} == {"data only", "slices", "indices", "batches"}
    for each in found:
        assert each["samples"] == 50_000
        assert each["peak_mb"] < (2000 if each["way"] == "slices" else 2000 - LARGE_MB), each
