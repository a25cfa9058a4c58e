"""Horovod is installed when a program first needs it, and only in the course's own .venv."""

import sys

import click
import pytest

from cluster.jobs import horovod

SET_UP = """#!/bin/sh
echo "$@" >>"$0.calls"
printf '  Horovod: compiling ...'; echo ' 71.1 s'
[ ! -e "$0.fails" ] || { echo 'Set-up stopped: no c++ on PATH.' >&2; exit 1; }
"""


@pytest.fixture
def venv(tmp_path, monkeypatch):
    """Write a .venv from the set-up without Horovod; its Python only reports that it was called."""
    (tmp_path / ".set-up").mkdir()
    python = tmp_path / "python"
    python.write_text(SET_UP)
    python.chmod(0o755)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setattr(horovod, "find_spec", lambda name: None)
    return tmp_path


def calls(venv):
    file = venv / "python.calls"
    return file.read_text().splitlines() if file.exists() else []


def test_it_is_compiled_and_the_set_up_is_shown(venv, capsys):
    horovod.provide_horovod()
    assert calls(venv) == ["-m cluster.environment horovod"]
    assert "Horovod: compiling ... 71.1 s" in capsys.readouterr().out


def test_an_environment_of_somebody_elses_making_is_left_alone(venv):
    (venv / ".set-up").rmdir()
    horovod.provide_horovod()
    assert calls(venv) == []


def test_a_failure_is_one_sentence(venv):
    (venv / "python.fails").touch()
    (venv / "train.py").write_text("import horovod\n")
    with pytest.raises(click.ClickException, match=r"no c\+\+ on PATH"):
        horovod.provide_horovod_for([venv / "train.py"])


@pytest.mark.parametrize(
    ("program", "needs_it"),
    [
        ("import horovod.torch as hvd", True),
        ("from horovod.tensorflow import broadcast_variables", True),
        ("import averaging", True),  # a file in the same folder, which imports Horovod
        ("def main():\n    import horovod", True),
        ("import torch", False),
        ("import averaging_by_hand", False),  # no such file
        ("def broken(:", False),  # its own error will report that
    ],
)
def test_only_a_program_that_imports_horovod_waits_for_it(venv, program, needs_it):
    (venv / "train.py").write_text(program)
    (venv / "averaging.py").write_text("import horovod.tensorflow.keras as hvd\n")
    horovod.provide_horovod_for([venv / "train.py"])
    assert bool(calls(venv)) == needs_it
