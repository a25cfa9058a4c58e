"""Lesson 07's programs on real ranks: what they promise, and what the grader says of mistakes."""

import shutil

import pytest
from real_runs import ROOT, changed, grade, lost, run

LESSON = ROOT / "solutions" / "07_horovod"
BEFORE = ROOT / "solutions" / "02_serial"
SMALL = ("--train-samples", "1601", "--epochs", "3", "--batch_size", "32")


@pytest.mark.parametrize(
    ("name", "most"), [("train.py", 70), ("train_torch.py", 55)]
)  # the rest of a program is lesson 02's
def test_the_lesson_is_a_small_diff(name, most):
    assert 20 < changed(BEFORE / name, LESSON / name) <= most


@pytest.mark.slow
@pytest.mark.ranks
@pytest.mark.parametrize(
    ("program", "ranks", "launcher", "epochs", "checkpoint"),
    [
        ("train.py", 1, "mpirun", 3, "mlp512.weights.h5"),
        ("train.py", 2, "mpirun", 2, "mlp512.weights.h5"),
        ("train.py", 2, "gloo", 2, "mlp512.weights.h5"),
        ("train_torch.py", 2, "mpirun", 2, "mlp512.pt"),
        ("train_torch.py", 3, "mpirun", 1, "mlp512.pt"),
    ],
)
def test_ranks_train_one_network(program, ranks, launcher, epochs, checkpoint, tmp_path):
    found = run(LESSON / program, ranks, *SMALL, out=tmp_path, launcher=launcher)
    assert found.outcome == "completed"
    assert len(found.ranks) == found.workers == ranks
    assert [epoch.steps for epoch in found.epochs] == [51] * epochs
    assert found.end["param_spread"] == 0.0
    assert len({rank.param_hash for rank in found.ranks}) == 1
    assert found.header["lr"] == pytest.approx(ranks * found.header["lr_base"])
    assert sorted(rank.files_written for rank in found.ranks) == [0] * (ranks - 1) + [1]
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == [checkpoint]
    # The trap of this lesson, in the record: every rank reads everything.
    assert {rank.samples for rank in found.ranks} == {1601}


@pytest.mark.slow
@pytest.mark.ranks
def test_keras_3_trains_without_averaging(tmp_path):
    found = run(LESSON / "keras3.py", 2, out=tmp_path)
    spread = {measure["optimizer"]: measure["value"] for measure in found.measures}
    assert spread["hvd.DistributedOptimizer"] > 1e-3
    assert spread["AveragingAdam"] == 0.0


# What a student may do wrong, and the check of the rubric that says so.
MISTAKES = {
    "not wrapped": (
        "return hvd.DistributedOptimizer(keras.optimizers.Adam(lr * hvd.size()))",
        "return keras.optimizers.Adam(lr * hvd.size())",
        {"equal"},
    ),
    "no broadcast": (
        "    broadcast_variables(model.variables, root_rank=0)",
        "    pass",
        {"equal"},
    ),
    "rate not scaled": ("Adam(lr * hvd.size())", "Adam(lr)", {"rate"}),
    "labels of other images": (
        "        mnist.y_train,\n",
        "        mnist.y_train[::-1],\n",
        {"accuracy"},
    ),
    "every rank saves": ("    if hvd.rank() != 0:\n        return 0\n", "", {"checkpoint"}),
}


SIZES = ("--train-samples", "6400", "--epochs", "2")


@pytest.fixture(scope="module")
def one_rank(tmp_path_factory):
    """What the solution prints on one rank."""
    folder = tmp_path_factory.mktemp("one")
    run(LESSON / "train.py", 1, *SIZES, out=folder)
    return folder / "job.out"


@pytest.mark.slow
@pytest.mark.ranks
@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_grader_names_a_mistake(mistake, one_rank, tmp_path):
    old, new, failed = MISTAKES[mistake]
    source = (LESSON / "train.py").read_text()
    assert source.count(old) == 1
    folder = tmp_path / "you"
    folder.mkdir()
    program = tmp_path / "train.py"
    program.write_text(source.replace(old, new))
    run(program, 2, *SIZES, out=tmp_path)
    shutil.copy(one_rank, folder / "07_keras_1.out")
    shutil.move(tmp_path / "job.out", folder / "07_keras_2.out")
    wrong = lost(grade(folder, "07"))
    # What is not averaged or scaled may lower the accuracy, too.
    assert failed <= wrong <= failed | {"accuracy"}
