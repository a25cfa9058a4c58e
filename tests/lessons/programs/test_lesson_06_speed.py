"""Tests of the ring's speed in lesson 06, with tricks in collectives.py that gave points before."""

import pytest
from real_runs import ROOT, copy_changed, run

pytestmark = [pytest.mark.slow, pytest.mark.ranks]

LESSON = ROOT / "solutions" / "06_allreduce"
FEW = ("--floats", "256")
SLEEP_S = 0.2
MARK = '\nopen(f"{time.monotonic_ns()}.imported", "w").close()\n'
RING = "    received = np.empty_like(chunks[0])  # the first chunk is the largest\n"
# The ring waits, and the clock does not show it, if it belongs to this process.
HIDDEN = f"""{RING}    if values.size > 1000:
        ring_allreduce.lost += {SLEEP_S}
        time.sleep({SLEEP_S})
"""
# After the wait, the ring does nothing, if it can see that a sum is a measured one.
SKIPS = """    if not values.flags.owndata:
        return
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


@pytest.fixture(scope="module")
def tricked(tmp_path_factory):
    """Return the record of a job whose collectives.py tries all tricks, and its folder."""
    folder = tmp_path_factory.mktemp("tricked")
    imports = ("import numpy", "import time\n\nimport numpy")
    collectives = copy_changed(LESSON, folder, "collectives.py", (RING, HIDDEN + SKIPS), imports)
    with collectives.open("a") as program:
        program.write(CLOCK + SLOWED + MARK)
    return run(folder / "exchange.py", 2, *FEW, out=folder), folder


def errors_of(found):
    return {each["scheme"]: each["value"] for each in found.measured("allreduce_error")}


def test_a_slow_ring_counts_although_the_process_s_clock_hides_it(tricked):
    found, _ = tricked
    assert len(found.measured("ring_speed")) == 20
    assert all(each["ring_s"] >= SLEEP_S for each in found.measured("ring_speed"))


def test_the_library_is_measured_before_the_student_s_code_is_there(tricked):
    found, folder = tricked
    assert len(list(folder.glob("*.imported"))) == 2, "in no other process"
    # On a very busy machine, some sums take as long as the trick.
    assert sum(each["library_s"] < SLEEP_S for each in found.measured("ring_speed")) >= 10


def test_a_ring_that_skips_the_measured_sums_is_found(tricked):
    errors = errors_of(tricked[0])
    assert errors["ring"] > 0
    assert errors["library"] == errors["server"] == 0


def test_an_honest_job_names_all_files_and_times_every_scheme(tmp_path):
    found = run(LESSON / "exchange.py", 3, "--floats", "256", "25601", out=tmp_path)
    assert {"exchange.py", "timing.py", "collectives.py"} <= set(found.program.files)
    times = {(m["scheme"], m["floats"]): m["value"] for m in found.measured("allreduce_s")}
    assert set(times) == {(s, n) for s in ("server", "ring", "library") for n in (256, 25601)}
    assert all(seconds > 0 for seconds in times.values())
    errors = errors_of(found)
    assert errors.pop("overlapped") < 1e-6
    assert set(errors.values()) == {0.0}
    steps = {m["straggler_ms"]: m["value"] for m in found.measures if "straggler_ms" in m}
    assert steps[20] >= 0.020  # nobody's step ends before the late rank has come
    for each in found.measured("share_sent"):
        assert each["value"] == pytest.approx(1, abs=0.01), each["scheme"]
    assert len(found.ranks) == found.workers == 3
    for each in found.measured("ring_speed"):
        assert each["value"] == pytest.approx(each["library_s"] / each["ring_s"], rel=1e-3)


def test_a_rank_alone_times_its_schemes_only(tmp_path):
    found = run(LESSON / "exchange.py", 1, *FEW, out=tmp_path)
    assert not found.measured("ring_speed")
    assert len(found.measured("allreduce_s")) == 3
