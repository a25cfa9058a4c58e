"""Fixtures of the app's tests: a session of it, and the box beside which its jobs run."""

import importlib.util
import sys
from pathlib import Path

import pytest
from portal import Session, install_app, ruby

# The box's fixtures; conftest files of neighbours are not seen by pytest.
_spec = importlib.util.spec_from_file_location(
    "box_fixtures", Path(__file__).parents[2] / "box" / "conftest.py"
)
assert _spec
assert _spec.loader
_fixtures = sys.modules["box_fixtures"] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_fixtures)
box = _fixtures.box


@pytest.fixture
def session(tmp_path):
    """session(typed={…}, setting=…): a new session of an app with those settings."""

    def start(typed: dict[str, str] | None = None, **settings: object) -> Session:
        app, folder = install_app(tmp_path, **settings), tmp_path / "session"
        done = ruby(app, folder, typed)
        assert done.returncode == 0, done.stderr
        return Session(folder)

    return start
