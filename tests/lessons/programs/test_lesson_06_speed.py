"""Tests of the ring's speed in lesson 06, with tricks in collectives.py that gave points before."""

import shutil

import pytest
from real_runs import ROOT, run

pytestmark = [pytest.mark.slow, pytest.mark.ranks]

LESSON = ROOT / "solutions" / "06_allreduce"
FEW = ("--floats", "256")
SLEEP_S = 0.2
RING = "    received = np.empty_like(chunks[0])  # the first chunk is the largest\n"
# The ring waits, and the clock does not show it, if it belongs to this process.
HIDDEN = f"""{RING}    if values.size > 1000:
        ring_allreduce.lost += {SLEEP_S}
        time.sleep({SLEEP_S})
"""
CLOCK = "\nring_allreduce.lost, now = 0.0, time.perf_counter\n"
CLOCK += "time.perf_counter = lambda: now() - ring_allreduce.lost\n"
# The library's function waits, wherever the student's code can reach it.
SLOWED = f"""
def slow(*words):
    time.sleep({SLEEP_S})
    MPI.COMM_WORLD.Allreduce(MPI.IN_PLACE, words[-1])

import sys
from mpi4py import MPI
sys.modules["__main__"].library = lambda: slow
for frame in sys._current_frames().values():
    while frame:
        if "add" in frame.f_locals:
            frame.f_locals["add"] = slow
        frame = frame.f_back
"""


@pytest.fixture
def changed(tmp_path):
    """Return a function that makes the lesson's folder with another collectives.py."""

    def with_(old="", new="", more=""):
        for file in LESSON.glob("*.py"):
            shutil.copy(file, tmp_path)
        collectives = tmp_path / "collectives.py"
        text = collectives.read_text(encoding="utf-8")
        assert not old or text.count(old) == 1
        text = text.replace(old, new) if old else text
        collectives.write_text(text.replace("import numpy", "import time\n\nimport numpy") + more)
        return tmp_path / "exchange.py"

    return with_


def errors_of(found):
    return {each["scheme"]: each["value"] for each in found.measured("allreduce_error")}


def test_a_slow_ring_counts_although_the_process_s_clock_hides_it(changed, tmp_path):
    found = run(changed(RING, HIDDEN, CLOCK), 2, *FEW, out=tmp_path)
    assert len(found.measured("ring_speed")) == 20
    assert all(each["ring_s"] >= SLEEP_S for each in found.measured("ring_speed"))


def test_the_library_is_measured_before_the_student_s_code_is_there(changed, tmp_path):
    mark = '\nopen(f"{time.monotonic_ns()}.imported", "w").close()\n'
    found = run(changed(more=SLOWED + mark), 2, *FEW, out=tmp_path)
    assert len(list(tmp_path.glob("*.imported"))) == 2, "in no other process"
    # On a very busy machine, some sums take as long as the trick.
    assert sum(each["library_s"] < SLEEP_S for each in found.measured("ring_speed")) >= 10


def test_a_ring_that_skips_the_measured_sums_is_found(changed, tmp_path):
    skipped = f"    if not values.flags.owndata:\n        return\n{RING}"
    found = run(changed(RING, skipped), 2, *FEW, out=tmp_path)
    errors = errors_of(found)
    assert errors["ring"] > 0
    assert errors["library"] == errors["server"] == 0


def test_an_honest_job_names_all_files(tmp_path):
    found = run(LESSON / "exchange.py", 3, *FEW, out=tmp_path)
    assert {"exchange.py", "timing.py", "collectives.py"} <= set(found.program.files)
    assert set(errors_of(found).values()) == {0.0}
    for each in found.measured("share_sent"):
        assert each["value"] == pytest.approx(1, abs=0.01), each["scheme"]
    assert len(found.ranks) == found.workers == 3
    for each in found.measured("ring_speed"):
        assert each["value"] == pytest.approx(each["library_s"] / each["ring_s"], rel=1e-3)


def test_a_rank_alone_times_its_schemes_only(tmp_path):
    found = run(LESSON / "exchange.py", 1, *FEW, out=tmp_path)
    assert not found.measured("ring_speed")
    assert len(found.measured("allreduce_s")) == 3
