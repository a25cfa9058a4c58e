"""Set-up stages: run once, resumed after an interruption, and redone when their inputs change."""

import os
import shutil
import time
from pathlib import Path

import pytest

from cluster.environment import complete, set_up, stage
from cluster.environment.failure import SetUpError

STAGES = ["packages", "course", "tools", "horovod-tools", "wheel", "install", "verify"]
PARTS = ("tools", "horovod")


@pytest.fixture
def course(tmp_path, monkeypatch):
    """Copy a clone whose set-up commands only report that they ran.

    `fails` makes one of them fail.
    """
    here = tmp_path / "cluster" / "environment"
    shutil.copytree(
        set_up.ROOT / "cluster" / "environment", here, ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copy(set_up.ROOT / "pyproject.toml", tmp_path)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").touch()
    packages = tmp_path / ".venv" / set_up.site_packages().relative_to(set_up.VENV)
    packages.mkdir(parents=True)

    class Course:
        root = tmp_path

        def __init__(self):
            self.ran, self.fails = [], None

        def record(self, name):
            self.ran.append(name)
            if self.fails == name:
                raise SetUpError("the plug was pulled")

        def fill(self, parts=PARTS):
            self.ran = []
            set_up.fill(parts)
            return self.ran

        def is_complete(self, parts=PARTS):
            return complete.is_complete(str(self.root), parts)

    made = Course()
    monkeypatch.setattr(set_up, "ROOT", tmp_path)
    monkeypatch.setattr(set_up, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(set_up, "LOCKED", here / "locked.txt")
    monkeypatch.setattr(set_up, "STAMPS", stage.Stamps(tmp_path / ".venv" / ".set-up"))
    monkeypatch.setattr(set_up, "install", lambda requirements, log, **_: made.record(log.stem))
    monkeypatch.setattr(set_up, "verify", lambda logs: made.record("verify"))
    monkeypatch.setattr(set_up.horovod_wheel, "inputs", lambda: {"horovod": "0.28.1"})
    monkeypatch.setattr(set_up.horovod_wheel, "kept_wheel", lambda inputs: None)
    monkeypatch.setattr(set_up.prerequisites, "check_compiler", lambda: None)
    monkeypatch.setattr(set_up.horovod_wheel, "wheel", lambda logs: made.record("wheel"))
    monkeypatch.setattr(set_up.horovod_wheel, "install", lambda *_: made.record("install"))
    monkeypatch.setattr(os, "environ", dict(os.environ))
    return made


def test_all_stages_once(course):
    assert course.fill() == STAGES
    assert course.fill() == []
    assert course.is_complete()


def test_the_course_alone_needs_neither_horovod_nor_tools(course):
    assert course.fill(()) == ["packages", "course"]
    assert course.is_complete(())
    assert not course.is_complete(("tools",))
    assert not course.is_complete(("horovod",))
    assert course.fill(("horovod",)) == ["horovod-tools", "wheel", "install", "verify"]
    assert course.is_complete(("horovod",))
    assert not course.is_complete(PARTS)


@pytest.mark.parametrize("broken", STAGES)
def test_an_interrupted_set_up_continues_where_it_stopped(course, broken):
    course.fails = broken
    with pytest.raises(SetUpError):
        course.fill()
    assert not course.is_complete()
    course.fails = None
    # Horovod counts as installed only once it is verified, so its four steps belong together.
    first = min(STAGES.index(broken), STAGES.index("horovod-tools"))
    assert course.fill() == STAGES[first:]
    assert course.is_complete()


@pytest.mark.parametrize(
    ("old", "new", "redone"),
    [
        ('"rich>=13.7,<16"', '"rich>=14,<16"', ["packages", "course"]),
        ('"pytest==', '"pytest==1', ["course", "tools"]),
        ("line-length = 100", "line-length = 99", []),
    ],
)
def test_only_what_changed_is_redone(course, old, new, redone):
    course.fill()
    file = course.root / "pyproject.toml"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    assert not course.is_complete()
    assert course.fill() == redone
    assert course.is_complete()


def test_half_installed_packages_are_installed_again(tmp_path, monkeypatch):
    packages = tmp_path / set_up.site_packages().relative_to(set_up.VENV)
    for name, files in {"whole-1": ["METADATA", "INSTALLER"], "half-1": ["METADATA"]}.items():
        (packages / f"{name}.dist-info").mkdir(parents=True)
        for file in files:
            (packages / f"{name}.dist-info" / file).touch()
    (packages / "~umpy").mkdir()
    monkeypatch.setattr(set_up, "VENV", tmp_path)
    set_up.drop_half_installed()
    assert [path.name for path in packages.iterdir()] == ["whole-1.dist-info"]


def gone(pid):
    for _ in range(50):
        status = Path(f"/proc/{pid}/status")
        if not status.exists() or "State:\tZ" in status.read_text():
            return True
        time.sleep(0.1)
    return False
