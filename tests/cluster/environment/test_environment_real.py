"""A real set-up by an ordinary user in a fresh clone, killed halfway and then resumed."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.cluster.environment.real_set_up import ROOT, ordinary_user, set_up


@pytest.mark.slow
@pytest.mark.ranks
def test_set_up_survives_a_kill_and_is_complete():
    folder = Path(tempfile.mkdtemp(prefix="dl-course-clone-"))
    folder.chmod(0o755)
    try:
        subprocess.run(["git", "clone", "--quiet", ROOT, folder / "course"], check=True)
        with ordinary_user() as user:
            set_up(folder / "course", user)
    finally:
        shutil.rmtree(folder)
