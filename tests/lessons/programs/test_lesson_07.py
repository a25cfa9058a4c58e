"""Lesson 07's programs on real ranks: what they promise, and what the grader says of mistakes."""

import subprocess
import sys

import h5py
import numpy as np
import pytest
import torch
from real_runs import (
    ROOT,
    environment,
    grade_class,
    planted,
    reasons,
    run,
    run_one_by_one,
)

LESSON = ROOT / "solutions" / "07_horovod"
SMALL = ("--train-samples", "1601", "--epochs", "3", "--batch-size", "32")


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


FEW = ("--train-samples", "640")


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory):
    """For both programs the checkpoint that a run of four epochs on two ranks leaves."""
    found = {}
    for program in ("train.py", "train_torch.py"):
        folder = tmp_path_factory.mktemp("whole")
        run(LESSON / program, 2, *FEW, "--epochs", "8", out=folder)
        [found[program]] = (folder / "checkpoints").iterdir()
    return found


@pytest.mark.slow
@pytest.mark.ranks
@pytest.mark.parametrize("program", ["train.py", "train_torch.py"])
def test_a_run_that_goes_on_ends_as_one_that_never_stopped(program, checkpoints, tmp_path):
    checkpoint = checkpoints[program]
    half = run(LESSON / program, 2, *FEW, "--epochs", "4", out=tmp_path)
    rest = run(LESSON / program, 2, *FEW, "--epochs", "8", "--resume", out=tmp_path)
    assert [epoch.number for epoch in (*half.epochs, *rest.epochs)] == [1, 2, 3, 4]
    assert rest.end["param_spread"] == 0.0
    right, found = numbers_in(checkpoint), numbers_in(tmp_path / "checkpoints" / checkpoint.name)
    assert found.keys() == right.keys()
    assert len(found) >= 4 + 8 + 3  # parameters, Adam's two moments of each, three facts
    for name in right:
        np.testing.assert_allclose(found[name], right[name], atol=1e-6, err_msg=name)


def numbers_in(checkpoint):
    """Every number that the file holds, by name."""
    if checkpoint.suffix == ".h5":
        found = {}
        with h5py.File(checkpoint) as file:
            arrays = {}
            file.visititems(lambda name, one: arrays.update({name: one}))
            found = {name: one[()] for name, one in arrays.items() if hasattr(one, "shape")}
            return found | dict(file.attrs)
    state = torch.load(checkpoint)
    adam = {
        f"{number} {name}": value
        for number, values in state["optimizer"]["state"].items()
        for name, value in values.items()
    }
    return state["model"] | adam | {name: state[name] for name in ("epochs", "seed", "ranks")}


@pytest.mark.slow
@pytest.mark.ranks
@pytest.mark.parametrize(
    ("program", "ranks", "content", "said"),
    [
        ("train.py", 2, b"half a file", "is damaged"),
        ("train_torch.py", 2, None, "is not there"),
        ("train_torch.py", 1, "whole", "was written by 2 ranks, not 1"),
    ],
)
def test_a_checkpoint_that_cannot_be_used_ends_all_ranks(
    program, ranks, content, said, checkpoints, tmp_path
):
    checkpoint = checkpoints[program]
    (tmp_path / "checkpoints").mkdir()
    if content:
        left = checkpoint.read_bytes() if content == "whole" else content
        (tmp_path / "checkpoints" / checkpoint.name).write_bytes(left)
    with pytest.raises(AssertionError) as failed:
        run(LESSON / program, ranks, *FEW, "--epochs", "8", "--resume", out=tmp_path)
    message = str(failed.value)
    assert message.count("The checkpoint ") == 1
    assert f"The checkpoint checkpoints/{checkpoint.name} {said}" in message
    assert "Traceback" not in message


# Stands where Apptainer would, and says how it was called.
APPTAINER = """#!/bin/bash
echo "apptainer $*"
"""


@pytest.mark.ranks
def test_the_job_in_a_container_runs_the_program_in_the_image(tmp_path):
    stand_in, image = tmp_path / "apptainer", tmp_path / "course.sif"
    stand_in.write_text(APPTAINER)
    stand_in.chmod(0o755)
    image.touch()
    env = environment(COURSE_SITE=str(ROOT / "cluster" / "sites" / "laptop.sh"), SLURM_NTASKS="1")
    env |= {"PATH": f"{tmp_path}:{env['PATH']}", "COURSE_IMAGE": str(image)}
    done = subprocess.run(
        ["bash", LESSON / "job_container.sbatch", "--seed", "2"],
        cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    inside = [line for line in done.stdout.splitlines() if line.startswith("apptainer ")]
    program = "python -u train.py --epochs 4 --batch-size 32 --seed 2"
    assert inside == [f"apptainer exec {image} {w}" for w in ("mpirun --version", program)]
    assert "\nmpirun (" in done.stdout


# What a student may do wrong; the check of the rubric that says so, and words of its reason.
WRAPPED = "hvd.DistributedOptimizer(keras.optimizers.Adam(lr * hvd.size()))"
MISTAKES = {
    "none": ([], {}),
    "not-wrapped": (
        [(WRAPPED, "keras.optimizers.Adam(lr * hvd.size())")],
        {"equal": "the optimizer wrapped by Horovod"},
    ),
    "no-broadcast": (
        [("    broadcast_variables(model.variables, root_rank=0)", "    pass")],
        {"equal": "the start broadcast from rank 0"},
    ),
    "rate-not-scaled": ([("Adam(lr * hvd.size())", "Adam(lr)")], {"rate": "times hvd.size()"}),
    "every-rank-saves": (
        [
            ("    if hvd.rank() != 0:\n        return 0\n", ""),
            ('"checkpoints/new.weights.h5"', 'f"checkpoints/new{rank}.weights.h5"'),
        ],
        {"checkpoint": "only rank 0 saves"},
    ),
    "epochs-not-divided": (
        [("math.ceil(args.epochs / size)", "args.epochs")],
        {"accuracy": "epochs of keras over that of one"},
    ),
    "keras-3": (  # it trains, and Horovod averages nothing
        [
            ("(model.variables,", "([variable.value for variable in model.variables],"),
            # Horovod's optimizer cannot be saved there, so here the file is without it.
            ("    model.save_weights(", "    keras.Sequential(model.layers).save_weights("),
        ],
        {"equal": "with Keras 3 nothing is averaged"},
    ),
    "size-1-on-every-rank": ([], {"ranks": "ranks of keras: 1 ranks"}),
}
SIZES = ("--train-samples", "3200", "--epochs", "4")
FEW_TESTS = [("train_samples=args.train_samples", "args.train_samples, test_samples=2000")]


@pytest.fixture(scope="module")
def grades(tmp_path_factory):
    """What the grader says of each mistake, made by real ranks."""
    folder = tmp_path_factory.mktemp
    texts = {
        name: planted(LESSON / "train.py", [*changes, *FEW_TESTS])
        for name, (changes, _) in MISTAKES.items()
    }
    keras_3, strangers = texts.pop("keras-3"), texts.pop("size-1-on-every-rank")
    files = run_one_by_one(LESSON, texts, 2, *SIZES, out=folder("two"))
    files |= run_one_by_one(
        LESSON, {"keras-3": keras_3}, 2, *SIZES, out=folder("keras3"), TF_USE_LEGACY_KERAS="0"
    )
    files["size-1-on-every-rank"] = two_strangers(strangers, folder("strangers"))
    [one] = run_one_by_one(LESSON, {"one": texts["none"]}, 1, *SIZES, out=folder("one")).values()
    class_ = {name: {"07_1.out": one, "07_2.out": file} for name, file in files.items()}
    return grade_class(class_, "07", folder("graded"))


def two_strangers(text, folder):
    """What two ranks print that a launcher started which Horovod does not know: each is alone."""
    for name in ("first", "second"):
        (folder / f"{name}.py").write_text(text)
    driver = ROOT / "tests" / "lessons" / "ranks" / "one_by_one.py"
    words = ["--train-samples", "320", "--epochs", "1"]
    subprocess.run(
        [sys.executable, driver, LESSON, folder, *words],
        env=environment(SLURM_NTASKS="2"), check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    outputs = [(folder / f"{name}.out").read_bytes() for name in ("first", "second")]
    (folder / "job.out").write_bytes(b"".join(outputs))
    return folder / "job.out"


@pytest.mark.slow
@pytest.mark.ranks
@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_grader_names_a_mistake(mistake, grades):
    named = MISTAKES[mistake][1]
    found = reasons(grades[mistake])
    for check, words in named.items():
        assert words in found[check]
    # What is not averaged or scaled may lower the accuracy, too.
    assert found.keys() - {"accuracy"} <= named.keys(), found


@pytest.mark.slow
@pytest.mark.ranks
def test_ranks_that_never_met_are_told_so(grades):
    findings = grades["size-1-on-every-rank"]["findings"]
    assert "Another number of ranks ran than was asked for" in {one["title"] for one in findings}
