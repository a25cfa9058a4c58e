"""Tests of lesson 11's speed job with tricks in pipeline.py that gave points before."""

import shutil
import subprocess
import sys

import pytest
from real_runs import ROOT, environment, meet, run

pytestmark = [pytest.mark.slow, pytest.mark.ranks]

LESSON = ROOT / "solutions" / "11_pipeline"
FEW = ("--rounds", "3", "--width", "64", "--batch-size", "64", "--micro-batches", "1", "4")
PASS = "    outputs = stage.layers(x)\n"
SLEEP_S = 0.2
# Every micro-batch waits here. The clock does not show it, if it belongs to this process.
HIDDEN = f"""    import time
    if "lost" not in vars(forward):
        forward.lost, forward.now = 0.0, time.perf_counter
        time.perf_counter = lambda: forward.now() - forward.lost
    time.sleep({SLEEP_S})
    forward.lost += {SLEEP_S}
{PASS}"""
# Every layer that runs outside of this function gets slow, as in a phase of one process.
SLOWED = f"""    def before(module, _):
        if isinstance(module, nn.Linear) and not forward.inside:
            open(f"slowed_{{dist.get_rank()}}.txt", "w").close()
    if "inside" not in vars(forward):
        nn.modules.module.register_module_forward_pre_hook(before)
    forward.inside = True
{PASS}    forward.inside = False
"""
# Every second step is made together with the next one: one phase is short, another one long.
LATER = """    stage.layers.waits = None if getattr(stage.layers, "waits", None) else (x, y, order)
    if stage.layers.waits:
        return torch.zeros(2)
    optimizer.zero_grad()
"""


@pytest.fixture
def changed(tmp_path):
    """Return a function that makes the lesson's folder with another pipeline.py."""

    def with_(old, new):
        for file in LESSON.glob("*.py"):
            shutil.copy(file, tmp_path)
        pipeline = tmp_path / "pipeline.py"
        text = pipeline.read_text(encoding="utf-8")
        assert text.count(old) == 1
        pipeline.write_text(text.replace(old, new))
        return tmp_path / "speed.py"

    return with_


def test_a_slow_pass_counts_although_the_process_s_clock_hides_it(changed, tmp_path):
    found = run(changed(PASS, HIDDEN), 2, *FEW, out=tmp_path, **meet())
    rounds = found.measured("pipeline_round")
    assert len(rounds) == 3
    for each in rounds:
        assert each["together_s"]["1"] >= 2 * SLEEP_S, "one stage after the other"
        assert each["together_s"]["4"] >= 4 * SLEEP_S


def test_a_hook_of_the_student_s_never_runs_in_a_phase_of_one_process(changed, tmp_path):
    found = run(changed(PASS, SLOWED), 2, *FEW, out=tmp_path, **meet())
    assert len(found.measured("pipeline_round")) == 3
    assert not list(tmp_path.glob("slowed_*.txt"))


def test_a_step_that_is_put_off_is_missed(changed, tmp_path):
    found = run(changed("    optimizer.zero_grad()\n", LATER), 2, *FEW, out=tmp_path, **meet())
    assert found.measured("pipeline_moved")[0]["value"] == 0


def test_updates_of_measured_phases_are_those_of_one_process(tmp_path):
    found = run(LESSON / "speed.py", 3, *FEW, out=tmp_path, **meet())
    assert {"speed.py", "pipeline.py", "plan.py", "ranks.py"} <= set(found.program.files)
    assert len(found.measured("gradient_computed_again")) == 3
    assert found.measured("gradient_error")[0]["value"] < 1e-3
    assert found.measured("pipeline_moved")[0]["value"] > 0
    for each in found.measured("pipeline_round"):
        assert min(each["silent_cores"], each["together_cores"]) > 0


def test_a_wrong_gradient_is_found(changed, tmp_path):
    right = "    outputs.backward(gradient)\n"
    half = "    outputs.backward(None if gradient is None else gradient / 2)\n"
    found = run(changed(right, half), 2, *FEW, out=tmp_path, **meet())
    assert found.measured("gradient_error")[0]["value"] > 0.1


def failing(program, folder, *words):
    mpirun = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "2"]
    return subprocess.run(
        [*mpirun, sys.executable, str(program), *words],
        env=environment(**meet()), cwd=folder, capture_output=True, text=True, timeout=120,
    )  # fmt: skip


def test_measures_that_only_the_conductor_writes_are_refused_from_the_learner(changed, tmp_path):
    forged = """    from lessons.toolkit.clock.record import Kept
    if "busy" not in vars(forward):
        forward.busy = Kept.measure
        def measure(self, name, *words, **facts):
            forward.busy(self, name, *words, **facts)
            forward.busy(self, "pipeline_share", 9.0, "")
        Kept.measure = measure
"""
    done = failing(changed(PASS, forged + PASS), tmp_path, *FEW)
    assert done.returncode != 0
    assert "'pipeline_share'" in done.stderr
    assert "run_stop" not in done.stdout


def test_what_cannot_be_is_one_sentence(tmp_path):
    done = failing(LESSON / "speed.py", tmp_path, "--layers", "1")
    assert done.returncode != 0
    assert "1 layers cannot be divided among 2 stages" in done.stderr
    assert "Traceback" not in done.stderr
    assert "pipeline.py" not in done.stderr
