"""A session of the Open OnDemand app."""

import pytest
from portal import Session, install_app, ruby


@pytest.fixture
def session(tmp_path):
    """Return a function that starts a session: session(typed={…}, setting=…)."""

    def start(typed: dict[str, str] | None = None, **settings: object) -> Session:
        app, folder = install_app(tmp_path, **settings), tmp_path / "session"
        done = ruby(app, folder, typed)
        assert done.returncode == 0, done.stderr
        return Session(folder)

    return start
