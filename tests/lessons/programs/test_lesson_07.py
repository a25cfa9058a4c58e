"""Tests of lesson 07's programs on real ranks: their promises, and how they resume."""

import subprocess

import h5py
import numpy as np
import pytest
import torch
from real_runs import ROOT, environment, run_together

from lessons.toolkit.plots import shares_of
from tests.lessons.ranks import torch_steps

LESSON = ROOT / "solutions" / "07_horovod"
STEPS = ROOT / "tests" / "lessons" / "ranks" / "torch_steps.py"
FEW = ("--train-samples", "641", "--epochs", "4")  # 21 batches of 32, the last of one image
# One step per epoch: then the order of the images does not matter.
HALF = (*FEW, "--batch-size", "641")
WHOLE = (*HALF, "--epochs", "8")
REST = (*WHOLE, "--resume")


@pytest.fixture(scope="module")
def two_ranks(tmp_path_factory):
    """Return each program's runs on two ranks: program -> name -> (folder, record)."""
    folder = tmp_path_factory.mktemp
    found = {}
    for program in ("train.py", "train_torch.py"):
        few, whole, half, none = map(folder, ("few", "whole", "half", "none"))
        starts = {
            "few": (few, LESSON / program, FEW),
            "whole": (whole, LESSON / program, WHOLE),
            "half": (half, LESSON / program, HALF),
            "none": (none, LESSON / program, REST),
            "rest": (half, LESSON / program, REST),
        }
        if program == "train.py":
            words = ("--train-samples", "1601", "--epochs", "2")  # odd: one image is left out
            starts["shares"] = (folder("shares"), LESSON / "train_shares.py", words)
        records = run_together(2, list(starts.values()))
        folders = [folder for folder, *_ in starts.values()]
        found[program] = dict(zip(starts, zip(folders, records, strict=True), strict=True))
    return found


@pytest.fixture(scope="module")
def three_by_gloo(tmp_path_factory):
    """Return the folder and record of train_torch.py on three ranks, and what STEPS wrote."""
    folder = tmp_path_factory.mktemp("gloo")
    starts = [(folder, LESSON / "train_torch.py", FEW), (folder, STEPS, ["many.npz"])]
    record, _ = run_together(3, starts, launcher="gloo")
    return folder, record, np.load(folder / "many.npz")["weights"]


@pytest.mark.slow
@pytest.mark.ranks
@pytest.mark.parametrize(
    ("program", "ranks", "launcher", "epochs", "checkpoint"),
    [
        ("train.py", 2, "mpirun", 2, "mlp512_2.weights.h5"),
        ("train_torch.py", 2, "mpirun", 2, "mlp512_2.pt"),
        ("train_torch.py", 3, "gloo", 2, "mlp512_3.pt"),
    ],
)
def test_ranks_train_one_network(program, ranks, launcher, epochs, checkpoint, request):
    if (ranks, launcher) == (2, "mpirun"):
        folder, found = request.getfixturevalue("two_ranks")[program]["few"]
    else:
        folder, found, _ = request.getfixturevalue("three_by_gloo")
    assert found.outcome == "completed"
    assert len(found.ranks) == found.workers == ranks
    assert [epoch.steps for epoch in found.epochs] == [21] * epochs
    assert found.end["param_spread"] == 0.0
    assert len({rank.param_hash for rank in found.ranks}) == 1
    assert found.header["lr"] == pytest.approx(ranks * found.header["lr_base"])
    assert [path.name for path in (folder / "checkpoints").iterdir()] == [checkpoint]
    assert len({rank.start_hash for rank in found.ranks}) == 1
    assert len({rank.loss for rank in found.ranks}) == ranks
    if program == "train.py":  # the trap of this lesson: every rank reads everything
        assert {rank.samples for rank in found.ranks} == {641}


@pytest.mark.slow
@pytest.mark.ranks
def test_ten_steps_of_three_ranks_are_those_of_one_on_the_whole_batch(three_by_gloo):
    *_, every = three_by_gloo
    right = torch_steps.train(*torch_steps.start(0)).numpy()
    assert every.shape == (3, right.size)
    assert np.ptp(every, axis=0).max() == 0.0, "the ranks ended with different parameters"
    np.testing.assert_allclose(every[0], right, atol=2e-6)


@pytest.mark.slow
@pytest.mark.ranks
@pytest.mark.parametrize("program", ["train.py", "train_torch.py"])
def test_a_run_that_goes_on_ends_as_one_that_never_stopped(program, two_ranks):
    (whole, _), (folder, half), (_, rest) = map(two_ranks[program].get, ("whole", "half", "rest"))
    [checkpoint] = (whole / "checkpoints").iterdir()
    assert len(rest.epochs) == 2
    if program == "train.py":
        assert [epoch.number for epoch in (*half.epochs, *rest.epochs)] == [1, 2, 3, 4]
    assert rest.end["param_spread"] == 0.0
    right, found = numbers_in(checkpoint), numbers_in(folder / "checkpoints" / checkpoint.name)
    assert found.keys() == right.keys()
    assert len(found) >= 4 + 8  # parameters, and Adam's two moments of each
    for name in right:
        error, size = np.linalg.norm(found[name] - right[name]), np.linalg.norm(right[name])
        assert error <= 1e-3 * size, name


def numbers_in(checkpoint):
    """Return all numbers in the file, by name."""
    if checkpoint.suffix == ".h5":
        with h5py.File(checkpoint) as file:
            arrays = {}
            file.visititems(lambda name, one: arrays.update({name: one}))
            return {name: one[()] for name, one in arrays.items() if hasattr(one, "shape")}
    state = torch.load(checkpoint)
    adam = {
        f"{number} {name}": value
        for number, values in state["optimizer"]["state"].items()
        for name, value in values.items()
    }
    return state["model"] | adam


@pytest.mark.slow
@pytest.mark.ranks
@pytest.mark.parametrize("program", ["train.py", "train_torch.py"])
def test_a_missing_checkpoint_is_one_sentence(program, two_ranks):
    _, said = two_ranks[program]["none"]
    assert "There is no checkpoint checkpoints/mlp512_2." in said
    assert "Traceback" not in said


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
