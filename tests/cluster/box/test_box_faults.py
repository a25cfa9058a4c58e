"""Faults on the box, which must keep working afterwards."""

import subprocess
import time

import pytest

from tests.cluster.box.test_box_updown import STATE

pytestmark = pytest.mark.slurm


def as_root(*words: str) -> str:
    words = ("timeout", "-k", "5", "60", *words)
    return subprocess.run(words, capture_output=True, text=True, check=True, cwd="/").stdout


def drained_nodes() -> dict[str, str]:
    """Wait until no epilog runs, then return each node that accepts no jobs, with the reason."""
    end = time.monotonic() + 30
    while as_root("sinfo", "-h", "-N", "-t", "completing", "-o", "%N"):
        assert time.monotonic() < end
        time.sleep(0.2)
    lines = as_root("sinfo", "-h", "-N", "-t", "drain", "-o", "%N %E").splitlines()
    return dict(line.split(" ", 1) for line in lines)


def test_a_drained_node_is_shown_and_serves_again_after_up(box, student):
    as_root("scontrol", "update", "nodename=node02", "state=drain", "reason=fan is loud")
    assert drained_nodes() == {"node02": "fan is loud"}
    [line] = [line for line in box("status").stdout.splitlines() if "drained" in line]
    assert line.startswith("node02: ")
    assert "fan is loud" in line
    up = box("up")
    assert up.returncode == 0, up.stderr
    assert "fan is loud" in up.stdout
    assert drained_nodes() == {}
    assert student.do("srun --quiet -w node02 hostname") == "node02\n"


def test_up_writes_the_module_again_for_an_environment_made_since(box, student):
    module = STATE / "modules/dl-course/1.0.lua"
    before = module.read_text()
    module.write_text(before.replace('"PATH", "', '"PATH", "/no/where'))
    assert box("up").returncode == 0
    assert module.read_text() == before
    assert "version" in student.do("module load dl-course && cluster --version")
