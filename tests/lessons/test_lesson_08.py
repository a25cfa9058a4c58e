"""Lesson 08's program on real ranks: shares, steps, errors, what the grader says of mistakes."""

import os
import shutil
import subprocess
import sys

import pytest
from real_runs import ROOT, changed, grade, lost, run

from lessons.toolkit.plots_ranks import shares_of

LESSON = ROOT / "solutions" / "08_data"


def test_the_lesson_is_a_small_diff():
    old = ROOT / "solutions" / "07_horovod" / "train.py"
    assert 20 < changed(old, LESSON / "train.py") <= 85


def make_parts(folder, samples, parts):
    subprocess.run(
        [sys.executable, LESSON / "make_parts.py", "--train-samples", str(samples),
         "--parts", str(parts)],
        cwd=folder, check=True, timeout=120, env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"},
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.ranks
@pytest.mark.parametrize(
    ("ranks", "parts", "samples", "each", "steps"),
    [
        (1, 8, 1600, [1600], 50),
        (2, 8, 1600, [800, 800], 25),
        (3, 8, 1600, [600, 600, 400], 13),
        (2, 7, 1601, [915, 686], 22),
    ],
)
def test_each_rank_reads_files_of_its_own(ranks, parts, samples, each, steps, tmp_path):
    make_parts(tmp_path, samples, parts)
    found = run(LESSON / "train.py", ranks, "--epochs", "3", out=tmp_path)
    assert found.outcome == "completed"
    shares = [set(share) for share in shares_of(found)]
    assert sum(map(len, shares)) == len(set().union(*shares)) == samples
    assert [rank.samples for rank in found.ranks] == each
    assert [epoch.steps for epoch in found.epochs] == [steps] * 3
    assert found.end["param_spread"] == 0.0
    assert found.header["lr"] == pytest.approx(ranks * 0.001)


@pytest.mark.slow
@pytest.mark.ranks
def test_a_missing_folder_ends_all_ranks_with_one_message(tmp_path):
    with pytest.raises(AssertionError) as failed:
        run(LESSON / "train.py", 2, "--folder", "data/nowhere", out=tmp_path)
    assert str(failed.value).count("***** Fatal error") == 1
    assert "data/nowhere" in str(failed.value)
    assert "Traceback" not in str(failed.value)


SHARE = "    return DataDistributor(MPI.COMM_WORLD, shutdown_on_error=True)(list_parts)(folder)"
MISTAKES = {
    "none": ([], set()),
    "every rank takes all": (
        [(SHARE, "    return list_parts(folder)")],
        {"overlap", "equal-steps", "steps-fell"},
    ),
    "the last file is cut off": (
        [(SHARE, SHARE.replace("(list_parts)", "(lambda f: list_parts(f)[:6])"))],
        {"cover"},
    ),
    "every rank reads the same half": (
        [(SHARE, "    return list_parts(folder)[: 8 // hvd.size()]")],
        {"overlap", "cover"},
    ),
    "steps of all data": (
        [
            (
                "min(math.ceil(count / batch) for count in counts)",
                "math.ceil(sum(counts) / len(counts) / 2 / batch)",
            )
        ],
        {"cover"},
    ),
}


@pytest.fixture(scope="module")
def one_rank(tmp_path_factory):
    """A folder with all parts and with what the solution prints on one rank."""
    folder = tmp_path_factory.mktemp("one")
    make_parts(folder, 6400, 8)
    run(LESSON / "train.py", 1, "--epochs", "2", out=folder)
    return folder


@pytest.mark.slow
@pytest.mark.ranks
@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_grader_names_a_mistake(mistake, one_rank, tmp_path):
    changes, failed = MISTAKES[mistake]
    source = (LESSON / "train.py").read_text()
    for old, new in changes:
        assert source.count(old) == 1
        source = source.replace(old, new)
    (tmp_path / "train.py").write_text(source)
    shutil.copy(LESSON / "make_parts.py", tmp_path)
    folder = tmp_path / "you"
    folder.mkdir()
    parts = ("--folder", str(one_rank / "data" / "parts"))
    run(tmp_path / "train.py", 2, "--epochs", "2", *parts, out=tmp_path)
    shutil.copy(one_rank / "job.out", folder / "08_keras_1.out")
    shutil.move(tmp_path / "job.out", folder / "08_keras_2.out")
    assert lost(grade(folder, "08")) == failed
