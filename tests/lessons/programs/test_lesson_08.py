"""Tests of lesson 08's program on real ranks: shares, steps, errors."""

import math

import numpy as np
import pytest
from real_runs import ROOT, run_together
from solution_programs import program

from lessons.toolkit import data
from lessons.toolkit.plots import shares_of

LESSON = ROOT / "solutions" / "08_data"


@pytest.fixture(scope="module")
def on_two_ranks(tmp_path_factory):
    """Return what two ranks leave that read seven files, and that look for files in vain."""
    folder, nowhere = tmp_path_factory.mktemp("odd"), tmp_path_factory.mktemp("nowhere")
    mnist = data.load("mnist", 1601)
    write_parts = program("08_data", "make_parts").write_parts
    write_parts(mnist.x_train, mnist.y_train, folder / "data" / "parts", 7)
    starts = [
        (folder, LESSON / "train.py", ("--epochs", "2")),
        (nowhere, LESSON / "train.py", ("--folder", "data/nowhere")),
    ]
    return run_together(2, starts)


@pytest.mark.slow
@pytest.mark.ranks
def test_each_rank_reads_files_of_its_own(on_two_ranks):
    found, _ = on_two_ranks
    each = [915, 686]
    assert found.outcome == "completed"
    shares = [set(share) for share in shares_of(found)]
    assert sum(map(len, shares)) == len(set().union(*shares)) == 1601
    assert [rank.samples for rank in found.ranks] == each
    assert [epoch.steps for epoch in found.epochs] == [22] * 2
    assert found.end["param_spread"] == 0.0
    assert [sum(rank.labels) for rank in found.ranks] == each
    assert found.header["lr"] == pytest.approx(2 * 0.001)


@pytest.mark.slow
@pytest.mark.ranks
def test_a_missing_folder_ends_all_ranks_with_one_message(on_two_ranks):
    _, said = on_two_ranks
    assert said.count("***** Fatal error") == 1
    assert "data/nowhere" in said


@pytest.mark.parametrize(
    ("counts", "batch"),
    [([97, 128], 32), ([128, 97], 32), ([64, 64], 32), ([33, 40, 65], 32), ([5], 2), ([3, 9], 32)],
)
def test_every_image_of_the_last_batch_counts_alike(counts, batch):
    """The weighted average of the ranks' means is the mean over all images of the step."""
    source = (LESSON / "train.py").read_text()
    functions = source[source.index("def common_steps") : source.index("def batches_of")]
    known = {"math": math}
    exec(functions, known)  # without Horovod, which knows one number of ranks only
    steps = known["common_steps"](counts, batch)
    last = [min(batch, count - (steps - 1) * batch) for count in counts]
    images = [np.random.default_rng(rank).random(n) for rank, n in enumerate(last)]
    means = [part.mean() * known["last_weight"](counts, batch, rank)
             for rank, part in enumerate(images)]  # fmt: skip
    assert np.mean(means) == pytest.approx(np.concatenate(images).mean(), rel=1e-12)
    if len(set(last)) > 1:
        plain = np.mean([part.mean() for part in images])
        assert plain != pytest.approx(np.concatenate(images).mean(), rel=1e-3), "it matters"
