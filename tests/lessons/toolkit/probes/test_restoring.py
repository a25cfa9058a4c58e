"""Tests that restoring.py counts what a checkpoint of lesson 15 does not restore."""

import importlib
import sys
from types import SimpleNamespace

import pytest
import torch

from lessons.toolkit.probes import restoring
from tests.breadth import breadth
from tests.lessons.real_runs import ROOT

LESSON = ROOT / "solutions" / "15_survive"
MODULES = ("step", "snapshot", "sampler", "atomic", "background", "gpt", "pieces")
CAPTURE = "def capture(training):\n"
RESTORE = "def restore(training, saved):\n"


@pytest.fixture
def wrong(tmp_path, monkeypatch):
    """Return a function that changes the solution and returns how many parts do not come back."""
    program, folder = tmp_path / "program", tmp_path / "checkpoints"
    program.mkdir()
    folder.mkdir()
    monkeypatch.syspath_prepend(str(program))
    args = SimpleNamespace(
        folder=str(folder), seed=1, epochs=2, windows=48, global_batch=8, length=64, layers=1,
        width=32, lr=0.003,
    )  # fmt: skip

    def restore_wrong(changes=(), file="snapshot.py", background=False):
        for each in MODULES:
            text = (LESSON / f"{each}.py").read_text()
            for old, new in changes if file == f"{each}.py" else ():
                assert text.count(old) == 1, old
                text = text.replace(old, new)
            (program / f"{each}.py").write_text(text)
        write = importlib.import_module("atomic").save
        if background:
            write = importlib.import_module("background").Background(write)
        arguments = (importlib.import_module("gpt").Text(), args, torch.device("cpu"))
        return restoring.restore_wrong(write, arguments)

    yield restore_wrong
    assert list(folder.iterdir()) == []
    for name in MODULES:
        sys.modules.pop(name, None)


@pytest.mark.parametrize("background", breadth([False, True]))
def test_the_solution_restores_everything(wrong, background):
    before = torch.get_rng_state()
    assert wrong(background=background) == 0
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(
    "line",
    breadth(
        [
            'training.network.load_state_dict(saved["network"])',
            'training.optimizer.load_state_dict(saved["optimizer"])',
            'training.schedule.load_state_dict(saved["schedule"])',
            'training.sampler.load(saved["sampler"])',
            'torch.set_rng_state(saved["random"])',
        ]
    ),
)
def test_each_forgotten_part_counts(wrong, line):
    assert wrong([(line, "pass")]) == 1


@pytest.mark.parametrize(
    ("file", "changes"),
    breadth(
        [
            ("snapshot.py", [(RESTORE, f"{RESTORE}    return\n")]),
            ("atomic.py", [('return torch.load(path, map_location="cpu")\n', "return None\n")]),
        ]
    ),
)
def test_a_checkpoint_that_restores_nothing(wrong, file, changes):
    assert wrong(changes, file) == len(restoring.PARTS)


def test_a_checkpoint_without_its_parts_is_an_error(wrong):
    with pytest.raises(KeyError):
        wrong([(CAPTURE, f"{CAPTURE}    return {{}}\n")])
