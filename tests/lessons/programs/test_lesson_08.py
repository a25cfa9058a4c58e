"""Lesson 08's program on real ranks: shares, steps, errors, what the grader says of mistakes."""

import os
import subprocess
import sys
import time

import pytest
from real_runs import (
    ROOT,
    environment,
    grade_class,
    planted,
    reasons,
    run,
    run_one_by_one,
)

from lessons.toolkit.plots import shares_of

LESSON = ROOT / "solutions" / "08_data"


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
OWN = "list_parts(folder)[hvd.rank()::hvd.size()]"
# What a student may do wrong; the check of the rubric that says so, and words of its reason.
MISTAKES = {
    "none": ([], {}),
    "every-rank-takes-all": (
        [(SHARE, "    return list_parts(folder)")],
        {
            "overlap": "samples read twice of own-files: 1,600",
            "equal-steps": "the minimum over the ranks",
            "steps-fell": "common_steps of the ranks' own counts",
        },
    ),
    "the-last-file-cut-off": (
        [(SHARE, SHARE.replace("(list_parts)", "(lambda f: list_parts(f)[:6])"))],
        {"cover": "the last items must not be cut off"},
    ),
    "each-rank-lists-the-folder": (  # which on the second node comes in another order
        [(SHARE, f"    return {OWN.replace('(folder)', '(folder)[:: 1 - 2 * hvd.rank()]')}")],
        {"overlap": "rank 0 alone lists the folder", "cover": "samples left out of own-files: 800"},
    ),
    "an-order-each-before-slicing": (
        [(SHARE, f"    rng = np.random.default_rng(10 + hvd.rank())\n    return {OWN}".replace(
            "list_parts(folder)", "list(rng.permutation(list_parts(folder)))"))],
        {"overlap": "samples read twice", "cover": "samples left out"},
    ),
    "samples-counted-as-often-as-read": (
        [
            (SHARE, "    return list_parts(folder)"),
            ("        shard=ids,\n", "        shard=ids,\n        samples=len(ids) * size,\n"),
        ],
        {
            "overlap": "samples read twice of own-files: 1,600",
            "cover": "difference in unique samples between own-files and one: 1,600",
            "steps-fell": "common_steps of the ranks' own counts",
        },
    ),
}  # fmt: skip
SIZES = ("--epochs", "2", "--folder")


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    make_parts(folder, 1600, 8)
    return str(folder / "data" / "parts")


@pytest.fixture(scope="module")
def one_rank(parts, tmp_path_factory):
    """What the solution prints on one rank."""
    run(LESSON / "train.py", 1, *SIZES, parts, out=(folder := tmp_path_factory.mktemp("one")))
    return folder / "job.out"


@pytest.fixture(scope="module")
def grades(one_rank, parts, tmp_path_factory):
    """What the grader says of each mistake, made by real ranks."""
    few_tests = ("train_samples=samples", "train_samples=samples, test_samples=1000")
    texts = {
        name: planted(LESSON / "train.py", [*changes, few_tests])
        for name, (changes, _) in MISTAKES.items()
    }
    files = run_one_by_one(LESSON, texts, 2, *SIZES, parts, out=tmp_path_factory.mktemp("two"))
    class_ = {name: {"08_1.out": one_rank, "08_2.out": file} for name, file in files.items()}
    return grade_class(class_, "08", tmp_path_factory.mktemp("graded"))


@pytest.mark.slow
@pytest.mark.ranks
@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_grader_names_a_mistake(mistake, grades):
    named = MISTAKES[mistake][1]
    found = reasons(grades[mistake])
    assert found.keys() == named.keys()
    for check, words in named.items():
        assert words in found[check]


@pytest.mark.slow
@pytest.mark.ranks
def test_samples_counted_as_often_as_read_are_a_contradiction(grades):
    said = grades["samples-counted-as-often-as-read"]
    assert said["tier"] == "contradicted", said["findings"]


@pytest.mark.slow
@pytest.mark.ranks
def test_unequal_steps_hang_until_the_time_limit_and_the_grader_says_so(one_rank, tmp_path):
    make_parts(tmp_path, 1600, 7)  # four files for one rank, three for the other
    own_steps = [("common_steps(counts, args.batch_size)", "math.ceil(len(ids) / args.batch_size)")]
    (tmp_path / "train.py").write_text(planted(LESSON / "train.py", own_steps))
    mpirun = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "2"]
    output, errors = tmp_path / "job.out", tmp_path / "job.err"
    with output.open("w") as out, errors.open("w") as err:
        job = subprocess.Popen(
            [*mpirun, sys.executable, "-u", "train.py", "--epochs", "2"],
            cwd=tmp_path, stdout=out, stderr=err,
            env=environment(PYTHONPATH=str(LESSON), HOROVOD_STALL_CHECK_TIME_SECONDS="3"),
        )  # fmt: skip
    try:
        until = time.monotonic() + 120
        while "waiting for remainder of ranks" not in errors.read_text():
            assert job.poll() is None, errors.read_text()[-2000:]
            assert time.monotonic() < until
            time.sleep(0.5)
        assert job.poll() is None  # it would wait for ever; so comes the end of its time
    finally:
        job.terminate()
        job.wait(timeout=30)
    outputs = {"08_1.out": one_rank, "08_2.out": output, "08_2.err": errors}
    graded = grade_class({"hangs": outputs}, "08", tmp_path)["hangs"]
    assert {"overlap", "steps-fell"} <= reasons(graded).keys()
    [hung] = [one for one in graded["findings"] if "did not finish" in one["title"]]
    assert "ranks waited for others that did not come" in hung["found"]
