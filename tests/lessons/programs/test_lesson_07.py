"""Tests of lesson 07's programs on real ranks: their promises, and how they resume."""

import shutil
import subprocess

import numpy as np
import pytest
from real_runs import ROOT, environment, run, run_together

from lessons.toolkit.plots import shares_of

LESSON = ROOT / "solutions" / "07_horovod"
SMALL = ("--train-samples", "1601", "--epochs", "3", "--batch-size", "32")


FEW = ("--train-samples", "640")


# Adam's moments and the number of its steps, which a checkpoint of parameters alone does not hold.
FORGETS = """
        for v in model.optimizer.variables:
            if v.shape.rank or "iteration" in v.name:
                v.assign(tf.zeros_like(v))
"""
READ_BACK = "        broadcast_variables(model.optimizer.variables, root_rank=0)\n"


@pytest.fixture(scope="module")
def two_ranks(tmp_path_factory):
    """Return each program's runs on two ranks: program -> name -> (folder, record)."""
    forgetful = tmp_path_factory.mktemp("forgetful")
    for name in ("train.py", "checkpoint.py"):
        shutil.copy(LESSON / name, forgetful)
    text = (forgetful / "train.py").read_text()
    assert text.count(READ_BACK) == 1
    (forgetful / "train.py").write_text(text.replace(READ_BACK, READ_BACK + FORGETS))
    found = {}
    for program in ("train.py", "train_torch.py"):
        small, whole, half = (tmp_path_factory.mktemp(name) for name in ("small", "whole", "half"))
        starts = {
            "small": (small, LESSON / program, SMALL),
            "whole": (whole, LESSON / program, (*FEW, "--epochs", "8")),
            "half": (half, LESSON / program, (*FEW, "--epochs", "4")),
            "rest": (half, LESSON / program, (*FEW, "--epochs", "8", "--resume")),
        }
        if program == "train.py":
            mine, shares = tmp_path_factory.mktemp("mine"), tmp_path_factory.mktemp("shares")
            words = ("--train-samples", "1601", "--epochs", "2")  # odd: one image is left out
            starts |= {
                "forgetful half": (mine, forgetful / program, (*FEW, "--epochs", "4")),
                "forgetful": (mine, forgetful / program, (*FEW, "--epochs", "8", "--resume")),
                "shares": (shares, LESSON / "train_shares.py", words),
            }
        records = run_together(2, list(starts.values()))
        folders = [folder for folder, *_ in starts.values()]
        found[program] = dict(zip(starts, zip(folders, records, strict=True), strict=True))
    return found


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
def test_ranks_train_one_network(program, ranks, launcher, epochs, checkpoint, tmp_path, two_ranks):
    if (ranks, launcher) == (2, "mpirun"):
        folder, found = two_ranks[program]["small"]
    else:
        folder = tmp_path
        found = run(LESSON / program, ranks, *SMALL, out=folder, launcher=launcher)
    assert found.outcome == "completed"
    assert len(found.ranks) == found.workers == ranks
    assert [epoch.steps for epoch in found.epochs] == [51] * epochs
    assert found.end["param_spread"] == 0.0
    assert len({rank.param_hash for rank in found.ranks}) == 1
    assert found.header["lr"] == pytest.approx(ranks * found.header["lr_base"])
    assert sorted(rank.files_written for rank in found.ranks) == [0] * (ranks - 1) + [1]
    assert [path.name for path in (folder / "checkpoints").iterdir()] == [checkpoint]
    if program == "train.py":  # seen from outside, whatever its functions say
        assert found.end["files_found"] == 1
        assert found.end["checkpoint_hash"] == found.ranks[0].param_hash
        assert measured(found, "drawn_error") < 1e-5
        assert measured(found, "drawn_spread") == 0
    assert len({rank.start_hash for rank in found.ranks}) == 1
    assert len({rank.loss for rank in found.ranks}) == ranks
    # The trap of this lesson, in the record: every rank reads everything.
    assert {rank.samples for rank in found.ranks} == {1601}


@pytest.mark.slow
@pytest.mark.ranks
def test_keras_3_trains_without_averaging(tmp_path):
    found = run(LESSON / "keras3.py", 2, out=tmp_path)
    spread = {measure["optimizer"]: measure["value"] for measure in found.measures}
    assert spread["hvd.DistributedOptimizer"] > 1e-3
    assert spread["AveragingAdam"] == 0.0


@pytest.fixture(scope="module")
def checkpoints(two_ranks):
    """Return both programs' checkpoints after four epochs on two ranks."""
    found = {}
    for program, starts in two_ranks.items():
        [found[program]] = (starts["whole"][0] / "checkpoints").iterdir()
    return found


@pytest.mark.slow
@pytest.mark.ranks
@pytest.mark.parametrize("program", ["train.py", "train_torch.py"])
def test_a_run_that_goes_on_ends_as_one_that_never_stopped(program, checkpoints, two_ranks):
    checkpoint, (folder, half) = checkpoints[program], two_ranks[program]["half"]
    _, rest = two_ranks[program]["rest"]
    assert [epoch.number for epoch in (*half.epochs, *rest.epochs)] == [1, 2, 3, 4]
    assert rest.end["param_spread"] == 0.0
    right, found = numbers_in(checkpoint), numbers_in(folder / "checkpoints" / checkpoint.name)
    assert found.keys() == right.keys()
    assert len(found) >= 4 + 8 + 3  # parameters, Adam's two moments of each, three facts
    for name in right:
        np.testing.assert_allclose(found[name], right[name], atol=1e-6, err_msg=name)


@pytest.mark.slow
@pytest.mark.ranks
def test_going_on_without_the_optimizers_state_costs_loss(two_ranks):
    _, right = two_ranks["train.py"]["whole"]
    _, resumed = two_ranks["train.py"]["forgetful"]
    assert [epoch.number for epoch in resumed.epochs] == [3, 4]
    assert resumed.epochs[0].train_loss.value > 1.1 * right.epochs[2].train_loss.value
    assert resumed.test_accuracy.value == pytest.approx(right.test_accuracy.value, abs=0.02)


def measured(run, name):
    [found] = run.measured(name)
    return found["value"]


def numbers_in(checkpoint):
    """Return all numbers in the file, by name."""
    import h5py
    import torch

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


@pytest.mark.slow
@pytest.mark.ranks
def test_two_ranks_share_the_images_and_end_equal(two_ranks):
    _, found = two_ranks["train.py"]["shares"]
    assert found.outcome == "completed"
    assert [rank.samples for rank in found.ranks] == [800, 800]
    shares = [set(share) for share in shares_of(found)]
    assert not shares[0] & shares[1]
    assert shares[0] | shares[1] == set(range(1600))
    assert found.end["param_spread"] == 0.0
    assert len({rank.param_hash for rank in found.ranks}) == 1
    assert found.header["lr"] == pytest.approx(2 * found.header["lr_base"])
    assert [epoch.steps for epoch in found.epochs] == [25, 25]
