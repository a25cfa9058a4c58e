"""Set up all tests: the environment that every job has, and which tests cannot run in parallel."""

import gc
import gzip
import os
import shutil
import sys
from pathlib import Path

import hypothesis
import pytest

from tests.autograder.reading.known_outputs import LOGS
from tests.marked_files import COLLECTED, can_choose

# As in lessons/cli.py: without this, jsonschema spends over a second on a grammar nobody needs.
sys.modules.setdefault("rfc3987_syntax", None)

# Shared modules of assertions should show the values that failed, as test files do.
pytest.register_assert_rewrite("tests.lessons.programs.break_it")
pytest.register_assert_rewrite("tests.lessons.programs.all_points")

# As in every job (cluster/sites/job.sh). Without it, TensorFlow is slow on some processors.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
# As on a laptop (cluster/sites/laptop.sh). Without it, every rank searches for a fabric for a
# second.
os.environ.setdefault("OMPI_MCA_btl", "^ofi")
# Tests run in parallel, so a process that waits for a message or a thread should yield its core.
# Otherwise three trainings on two cores take twice as long with MPI and three times with PyTorch.
os.environ.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# Also as in every job: one thread per process. With one thread per core of the machine,
# TensorFlow's ranks use a quarter more CPU time.
for name in ("OMP_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"):
    os.environ.setdefault(name, "1")

# Tests start hundreds of processes with PyTorch or TensorFlow (cluster/environment/quick_start.py).
os.environ.setdefault("COURSE_SKIP_TEARDOWN", "1")

# Many tests have their own home folder, and Matplotlib would search for fonts in each of them.
os.environ.setdefault("MPLCONFIGDIR", str(Path(__file__).parents[1] / "build" / "matplotlib"))
# For the same reason they share a cache of data sets. Unpacking CIFAR-10 takes 8 s of CPU time, and
# MNIST, which programs would unpack at every start, 0.15 s.
CACHE = Path(__file__).parents[1] / "build" / "test-data"
if "COURSE_DATA" in os.environ:
    os.environ.setdefault("COURSE_DATA_CACHE", str(CACHE))
for packed in Path(os.environ.get("COURSE_DATA", "/nowhere"), "mnist").glob("*.gz"):
    unpacked = Path(os.environ["COURSE_DATA_CACHE"], "mnist", packed.stem)
    if not unpacked.exists():
        unpacked.parent.mkdir(parents=True, exist_ok=True)
        part = unpacked.with_suffix(f".{os.getpid()}")
        part.write_bytes(gzip.decompress(packed.read_bytes()))
        part.replace(unpacked)

# Tests run their jobs on this machine, whatever batch system it has and whatever its user has
# chosen.
os.environ["COURSE_SITE"] = str(Path(__file__).parents[1] / "cluster/sites/laptop.sh")

# `make test` passes its flags on. A make that a test starts should run as if a user had started it.
for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKE_TERMOUT", "MAKE_TERMERR"):
    os.environ.pop(name, None)

# Tests are not timed: a busy machine is not a failure. Every run tries other examples.
hypothesis.settings.register_profile("course", deadline=None, max_examples=50)
hypothesis.settings.load_profile("course")

# One worker runs these one after the other, because there is only one box.
ON_THE_BOX = ("tests/cluster/box/", "tests/cluster/jupyter/ondemand/test_session.py")
# The cases in these files share nothing and take a minute each, so any worker takes the next one.
CASE_BY_CASE = (
    "tests/lessons/programs/test_every_lesson.py",
    "tests/lessons/programs/test_typed_commands.py",
)
# What takes longest begins first, so that at the end no worker waits for another one.
LONGEST = (*ON_THE_BOX, "tests/lessons/rehearsal/", *CASE_BY_CASE, "tests/lessons/programs/")
# One worker runs these, because importing TensorFlow takes as long as a hundred of them.
IN_TENSORFLOW = ("tests/lessons/checks/", "tests/lessons/programs/test_lesson_16.py")


def place_in_the_order(item):
    return next((n for n, name in enumerate(LONGEST) if item.nodeid.startswith(name)), len(LONGEST))


def pytest_ignore_collect(collection_path, config):
    """Leave out a test file if `-m` cannot choose any of its tests."""
    if collection_path.match("test_*.py"):
        text = collection_path.read_text(encoding="utf-8")
        return None if can_choose(config.option.markexpr, text) else True
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Run the box first, because one worker runs all of its tests, and then other long ones."""
    items.sort(key=place_in_the_order)
    config.stash[COLLECTED] = [
        (item.path, frozenset(mark.name for mark in item.iter_markers())) for item in items
    ]
    if LOGS is None:
        skip = pytest.mark.skip(reason="COURSE_LOGS names no folder of other people's job outputs")
        for item in items:
            if item.get_closest_marker("logs"):
                item.add_marker(skip)


def pytest_collection_finish():
    """Leave the collected tests out of garbage collections, of which each would take 0.3 s."""
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give each file to one worker when it is at its last test; the box to the same one.

    pytest-xdist's own groups (`--dist loadgroup`) have no effect with pytest 9.2.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByFileAndOneBox(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            if nodeid.startswith(ON_THE_BOX):
                return "box"
            if nodeid.startswith(IN_TENSORFLOW):
                return "TensorFlow"
            return nodeid if nodeid.startswith(CASE_BY_CASE) else nodeid.partition("::")[0]

        def _reschedule(self, node):
            # By default a worker keeps two long cases that another one could begin.
            if not self.workqueue or self._pending_of(self.assigned_work[node]) < 2:
                super()._reschedule(node)

    return ByFileAndOneBox(config, log)


QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
QUIET += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]


@pytest.fixture(scope="module")
def browser():
    """Yield a headless Chromium."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("google-chrome") or "chromium"
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=QUIET)
        yield browser
        browser.close()
