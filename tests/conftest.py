"""For all tests: what every job has set, and which tests may not run beside each other."""

import os
import shutil
import sys
from pathlib import Path

import hypothesis
import pytest

from tests.lessons.planted import kept

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

# `make test` hands its own flags on; a make that a test starts is a user's, who began none.
for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKE_TERMOUT", "MAKE_TERMERR"):
    os.environ.pop(name, None)

# Nothing is timed in tests: a busy machine is no failure.
hypothesis.settings.register_profile("course", deadline=None)
hypothesis.settings.load_profile("course")

ON_THE_BOX = ("tests/cluster/box/", "tests/cluster/jupyter/ondemand/")

# What takes longest begins first, so that no core waits at the end: the box's tests are one chain,
# these files are minutes each. Among the fast tests it is those that start ranks and kernels.
LONGEST = (
    *ON_THE_BOX,
    "tests/lessons/programs/test_lesson_07.py",
    "tests/lessons/programs/test_every_lesson.py",
    "tests/test_demo.py",
    "tests/cluster/first_day/",
    "tests/lessons/programs/test_same_as_serial.py",
    "tests/lessons/programs/test_lesson_08.py",
    "tests/lessons/planted/test_mistakes.py",
    "tests/lessons/programs/",
    "tests/lessons/edition/test_release.py",
    "tests/cluster/schedulers/test_laptop.py",
    "tests/lessons/student/test_check.py",
    "tests/cluster/doctor/",
    "tests/lessons/execute/",
    "tests/lessons/toolkit/record/test_record_keras.py",
    "tests/lessons/toolkit/ranks/test_distribution.py",
    "tests/cluster/schedulers/",
    "tests/lessons/toolkit/data/test_data_fetch.py",
    "tests/cluster/environment/",
)


def place_in_line(item):
    """Where a test's file stands among the longest; all others come after them, as collected."""
    starts = [number for number, name in enumerate(LONGEST) if item.nodeid.startswith(name)]
    return min(starts, default=len(LONGEST))


def pytest_collection_modifyitems(items):
    items.sort(key=place_in_line)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """What runs beside what: there is one box, and a file's fixtures are made once.

    (pytest-xdist's own groups, `--dist loadgroup`, have no effect with pytest 9.2.)
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByFileAndOneBox(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return "box" if nodeid.startswith(ON_THE_BOX) else nodeid.partition("::")[0]

    return ByFileAndOneBox(config, log)


def pytest_terminal_summary(terminalreporter):
    """Fast tests go without the planted mistakes of a program that changed: say which."""
    if told := kept.told():
        terminalreporter.write_line(told, yellow=True)


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
