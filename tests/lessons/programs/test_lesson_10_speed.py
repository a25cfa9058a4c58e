"""Tests of lesson 10's speed job with tricks in train.py that gave points before."""

import pytest
from real_runs import ROOT, copy_changed, meet, run

pytestmark = [pytest.mark.slow, pytest.mark.ranks]

LESSON = ROOT / "solutions" / "10_native"
FEW = ("--rounds", "3", "--batch-size", "4")
WRAPPED = "return DistributedDataParallel(model, device_ids=gpus, bucket_cap_mb=bucket_mb)"
SLEEP_S = 0.5
# All gradients wait here before they travel. The clock does not see it, if it asks this process.
HIDDEN = f"""wrapped = DistributedDataParallel(model, device_ids=gpus)
    import time
    now, lost = time.perf_counter, [0.0]
    def slow(_, bucket):
        time.sleep({SLEEP_S})
        lost[0] += {SLEEP_S}
        mean = bucket.buffer() / dist.get_world_size()
        return dist.all_reduce(mean, async_op=True).get_future().then(lambda done: done.value()[0])
    wrapped.register_comm_hook(None, slow)
    time.perf_counter = lambda: now() - lost[0]
"""
# Every network of this process that DDP does not wrap, as in a silent phase, gets slow.
SLOWED = """    inside = []
    def before(module, _):
        if module is wrapped:
            inside.append(module)
        elif isinstance(module, nn.Sequential) and not inside:
            open(f"slowed_{rank_of()}.txt", "w").close()
    def after(module, *_):
        if module is wrapped:
            inside.clear()
    nn.modules.module.register_module_forward_pre_hook(before)
    nn.modules.module.register_module_forward_hook(after)
    return wrapped"""
NO_TIME = "def rank_of():\n    return dist.get_rank()\n\n\ndef distribute("


@pytest.fixture(scope="module")
def tricked(tmp_path_factory):
    """Return the record of a job whose `distribute` tries all tricks, and its folder."""
    folder = tmp_path_factory.mktemp("tricked")
    changes = ("def distribute(", NO_TIME), (WRAPPED, HIDDEN + SLOWED)
    copy_changed(LESSON, folder, "train.py", *changes)
    return run(folder / "speed.py", 2, *FEW, out=folder, **meet()), folder


def rounds_of(found):
    return [measure for measure in found.measures if measure["name"] == "round"]


def test_a_slow_average_counts_although_the_process_s_clock_hides_it(tricked):
    found, _ = tricked
    assert len(rounds_of(found)) == 3
    assert all(each["value"] >= each["steps"] * SLEEP_S for each in rounds_of(found))


def test_a_hook_of_the_student_s_never_runs_in_a_silent_phase(tricked):
    _, folder = tricked
    assert not list(folder.glob("slowed_*.txt"))


def test_the_job_names_all_files_and_has_the_same_parameters_on_all_ranks(tricked):
    """The tricks cost time only."""
    found, _ = tricked
    assert {"speed.py", "train.py", "resnet.py"} <= set(found.program.files)
    assert found.end["param_spread"] == 0.0
    assert found.measures[-1]["name"] == "update_error"
    assert found.measures[-1]["value"] < 1e-3
