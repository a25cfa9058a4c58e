"""Tests of lesson 11's speed job: its record, and tricks in pipeline.py that gave points before."""

import subprocess
import sys

import pytest
from real_runs import ROOT, copy_changed, environment, launch, meet, run

from autograder.codes import Outcome
from autograder.reading.files import read_files

pytestmark = [pytest.mark.slow, pytest.mark.ranks]

LESSON = ROOT / "solutions" / "11_pipeline"
FEW = ("--rounds", "3", "--width", "64", "--batch-size", "48", "--micro-batches", "1", "4")
PASS = "    outputs = stage.layers(x)\n"
SLEEP_S = 0.2
# Every micro-batch waits here. The clock does not show it, if it belongs to this process.
HIDDEN = f"""
    import time
    if "lost" not in vars(forward):
        forward.lost, forward.now = 0.0, time.perf_counter
        time.perf_counter = lambda: forward.now() - forward.lost
    time.sleep({SLEEP_S})
    forward.lost += {SLEEP_S}
"""
# Every layer that runs outside of this function gets slow, as in a phase of one process.
SLOWED = """
    def before(module, _):
        if isinstance(module, nn.Linear) and not forward.inside:
            open(f"slowed_{dist.get_rank()}.txt", "w").close()
    if "inside" not in vars(forward):
        nn.modules.module.register_module_forward_pre_hook(before)
    forward.inside = True
"""
FORGED = """
    from lessons.toolkit.clock.record import Kept
    if "busy" not in vars(forward):
        forward.busy = Kept.measure
        def measure(self, name, *words, **facts):
            forward.busy(self, name, *words, **facts)
            forward.busy(self, "pipeline_share", 9.0, "")
        Kept.measure = measure
"""
RIGHT = "    outputs.backward(gradient)\n"
HALF = "    outputs.backward(None if gradient is None else gradient / 2)\n"
# Every second step is made together with the next one: one phase is short, another one long.
LATER = """    stage.layers.waits = None if getattr(stage.layers, "waits", None) else (x, y, order)
    if stage.layers.waits:
        return torch.zeros(2)
    optimizer.zero_grad()
"""


def test_a_speed_job_says_what_each_rank_did(tmp_path):
    found = run(LESSON / "speed.py", 3, *FEW, out=tmp_path, **meet())
    assert {"speed.py", "pipeline.py", "plan.py", "ranks.py"} <= set(found.program.files)
    rounds = found.measured("pipeline_round")
    assert [one["round"] for one in rounds] == [1, 2, 3]
    for each in rounds:
        assert set(each["together_s"]) == {"1", "4"}
        assert min(each["silent_cores"], each["together_cores"]) > 0
    [best] = found.measured("best_micro_batches")
    assert best["value"] in (1, 4)
    assert len(found.measured("pipeline_share", fewest=1)) == 3
    assert len(found.measured("gradient_computed_again")) == 3
    assert found.measured("gradient_error")[0]["value"] < 1e-4
    assert found.measured("pipeline_moved")[0]["value"] > 0
    held = {
        kind: [m["value"] for m in found.measured("held", schedule=kind)]
        for kind in ("gpipe", "1f1b")
    }
    assert held == {"gpipe": [4, 4, 4], "1f1b": [3, 2, 1]}
    names = ("busy", "bubble", "bytes_off")
    assert all(found.measured(name) for name in names)
    for busy in found.measured("busy"):
        assert busy["kinds"].count("F") == busy["kinds"].count("B") == 4
        pairs = zip(busy["starts"], busy["ends"], strict=True)
        assert all(0 <= start <= end for start, end in pairs)
    assert all(0 < one["value"] < 1 for one in found.measured("bubble"))
    assert all(off["value"] < 0.1 for off in found.measured("bytes_off"))


@pytest.fixture(scope="module")
def tricked(tmp_path_factory):
    """Return the folder of a job with four tricks, its errors and its record."""
    folder = tmp_path_factory.mktemp("tricked")
    outside = f"{HIDDEN}{SLOWED}{FORGED}{PASS}    forward.inside = False\n"
    copy_changed(LESSON, folder, "pipeline.py", (PASS, outside), (RIGHT, HALF))
    with (folder / "job.out").open("w") as out:
        done = subprocess.run(
            [*launch(2, "mpirun"), sys.executable, str(folder / "speed.py"), *FEW],
            env=environment(**meet()), cwd=folder, stdout=out, stderr=subprocess.PIPE, text=True,
            timeout=120,
        )  # fmt: skip
    assert done.returncode != 0
    [found] = read_files([folder / "job.out"])
    return folder, done.stderr, found


def test_a_slow_pass_counts_although_the_process_s_clock_hides_it(tricked):
    rounds = tricked[2].measured("pipeline_round")
    assert len(rounds) == 3
    for each in rounds:
        assert each["together_s"]["1"] >= 2 * SLEEP_S, "one stage after the other"
        assert each["together_s"]["4"] >= 4 * SLEEP_S


def test_a_hook_of_the_student_s_never_runs_in_a_phase_of_one_process(tricked):
    assert len(tricked[2].measured("pipeline_round")) == 3
    assert not list(tricked[0].glob("slowed_*.txt"))


def test_a_wrong_gradient_is_found(tricked):
    assert tricked[2].measured("gradient_error")[0]["value"] > 0.1


def test_measures_that_only_the_conductor_writes_are_refused_from_the_learner(tricked):
    _, errors, found = tricked
    assert "'pipeline_share'" in errors
    assert found.outcome == Outcome.INCOMPLETE
    assert 9.0 not in [each["value"] for each in found.measured("pipeline_share")]


def test_a_step_that_is_put_off_is_missed(tmp_path):
    copy_changed(LESSON, tmp_path, "pipeline.py", ("    optimizer.zero_grad()\n", LATER))
    found = run(tmp_path / "speed.py", 2, *FEW, out=tmp_path, **meet())
    assert found.measured("pipeline_moved")[0]["value"] == 0
