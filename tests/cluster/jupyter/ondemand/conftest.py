"""A session of the app."""

import pytest
from portal import Session, install_app, ruby


@pytest.fixture
def session(tmp_path):
    """session(typed={…}, setting=…): a new session of an app with those settings."""

    def start(typed: dict[str, str] | None = None, **settings: object) -> Session:
        app, folder = install_app(tmp_path, **settings), tmp_path / "session"
        done = ruby(app, folder, typed)
        assert done.returncode == 0, done.stderr
        return Session(folder)

    return start
