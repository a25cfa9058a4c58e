"""Tests of lesson 12's program on real ranks: strong scaling trains like one rank."""

import pytest
from forked_runs import run_forked
from real_runs import ROOT, copy_changed

pytestmark = [pytest.mark.slow, pytest.mark.ranks]

LESSON = ROOT / "solutions" / "12_scaling"
SMALL = ("--model", "mlp512", "--batch-size", "48", "--train-samples", "384")
SMALL += ("--test-samples", "200", "--epochs", "2", "--scaling", "strong")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Return folder -> the runs of train.py and probe.py, for numbers of ranks and mistakes."""
    root = tmp_path_factory.mktemp("ranks")
    each_alone = ("return DistributedDataParallel(model, device_ids=gpus)", "return model")
    epoch = ("batch // size, samples", "batch, samples")
    alone, kept = root / "alone", root / "kept"
    jobs = [(n, [(root / str(n), LESSON / name, *words) for name, words in (
        ("train.py", SMALL), ("probe.py", ()))]) for n in (1, 2, 3, 4)]  # fmt: skip
    for folder, change in ((alone, each_alone), (kept, epoch)):
        copy_changed(LESSON, folder, "train.py", change)
        jobs.append((2, [(folder, folder / "probe.py")]))
    return {folder.name: found for folder, found in run_forked(*jobs).items()}


def measured(run):
    return {measure["name"]: measure["value"] for measure in run.measures}


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_strong_scaling_trains_like_one_rank(ranks, runs):
    run, probe = runs[str(ranks)]
    assert (run.workers, probe.workers) == (ranks, ranks)
    assert (run.header["global_batch"], run.epochs[-1].steps) == (48, 8)
    assert [epoch.unique_samples for epoch in run.epochs] == [384] * 2
    assert all(epoch.val_accuracy.value > 0.1 for epoch in run.epochs)
    assert measured(run)["step_images"] == 48 // ranks
    one = runs["1"][0]
    assert run.test_accuracy.value == pytest.approx(one.test_accuracy.value, abs=0.011)
    assert max(measured(probe).values()) < 1e-12


@pytest.mark.parametrize("mistake", ["alone", "kept"])
def test_the_probe_finds_ranks_that_compute_something_else(mistake, runs):
    [probe] = runs[mistake]
    assert measured(probe)["probe_error"] > 0.1
