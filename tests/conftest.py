"""For all tests: the environment that every job has, and which tests cannot run side by side."""

import os
import shutil
import sys
from pathlib import Path

import hypothesis
import pytest

from tests.autograder.reading.known_outputs import LOGS

# As in lessons/cli.py: jsonschema would compile a grammar that nobody needs, for a second and more.
sys.modules.setdefault("rfc3987_syntax", None)

# Assertions that tests of several folders share; they are to say what they found, too.
pytest.register_assert_rewrite("tests.lessons.programs.break_it")
pytest.register_assert_rewrite("tests.lessons.programs.all_points")

# As every job does (cluster/sites/job.sh): else TensorFlow is slow on some processors.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
# As on a laptop (cluster/sites/laptop.sh): else every rank looks for a fabric for a second.
os.environ.setdefault("OMPI_MCA_btl", "^ofi")
# Tests run beside each other: whoever waits, for a message or for another thread, gives its core
# away. Else three trainings on two cores take twice as long (MPI), or three times (PyTorch).
os.environ.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# As every job does, too: one thread a process. With one for each core of the machine, TensorFlow's
# ranks take a quarter more of the cores' time.
for name in ("OMP_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"):
    os.environ.setdefault(name, "1")

# Many tests have a home of their own; Matplotlib would look for fonts anew in each of them.
os.environ.setdefault("MPLCONFIGDIR", str(Path(__file__).parents[1] / "build" / "matplotlib"))

# Jobs of tests run here, whatever the machine has and whatever its user has chosen.
os.environ["COURSE_SITE"] = str(Path(__file__).parents[1] / "cluster/sites/laptop.sh")

# `make test` hands its own flags on; a make that a test starts is a user's, who began none.
for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKE_TERMOUT", "MAKE_TERMERR"):
    os.environ.pop(name, None)

# Nothing is timed in tests: a busy machine is no failure.
hypothesis.settings.register_profile("course", deadline=None)
hypothesis.settings.load_profile("course")

# One worker's, one after the other: there is only one box.
ON_THE_BOX = ("tests/cluster/box/", "tests/cluster/jupyter/ondemand/test_session.py")
# Their cases share nothing and take a minute each: any worker takes the next one.
CASE_BY_CASE = (
    "tests/lessons/programs/test_every_lesson.py",
    "tests/lessons/programs/test_typed_commands.py",
)


def is_on_the_box(item):
    return item.nodeid.startswith(ON_THE_BOX)


def minutes(item):
    """Return how long the test takes, from a marker such as `slow(minutes=2)`."""
    marker = item.get_closest_marker("slow")
    return marker.kwargs.get("minutes", 0) if marker else 0


def pytest_collection_modifyitems(items):
    """Start with the box, the longest of all, then the long tests: no core is idle at the end."""
    items.sort(key=lambda item: (is_on_the_box(item), minutes(item)), reverse=True)
    if LOGS is None:
        skip = pytest.mark.skip(reason="COURSE_LOGS names no folder of other people's job outputs")
        for item in items:
            if item.get_closest_marker("logs"):
                item.add_marker(skip)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give each file to one worker, and everything on the box to one.

    (pytest-xdist's own groups, `--dist loadgroup`, have no effect with pytest 9.2.)
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByFileAndOneBox(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            if nodeid.startswith(ON_THE_BOX):
                return "box"
            return nodeid if nodeid.startswith(CASE_BY_CASE) else nodeid.partition("::")[0]

    return ByFileAndOneBox(config, log)


@pytest.fixture(scope="module")
def browser():
    """Chromium without a window."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("google-chrome") or "chromium"
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()
