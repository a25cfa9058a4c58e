"""Tests of lesson 06 on real ranks: its collectives, and its training against one rank."""

import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from real_runs import ROOT

from autograder.reading.files import read_files
from tests.breadth import breadth
from tests.lessons.solution_programs import program

pytestmark = pytest.mark.ranks

LESSON = ROOT / "solutions" / "06_allreduce"
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np"]
SIZES = ["--epochs", "1", "--train-samples", "1601", "--precision", "float64"]
FOUR = pytest.param(4, marks=pytest.mark.nightly)


def mpirun(ranks, program, *arguments, folder, seconds=120):
    environ = os.environ | {
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "OMPI_MCA_mpi_yield_when_idle": "1",
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    command = ["timeout", str(seconds), *MPIRUN, str(ranks), sys.executable, "-u"]
    return subprocess.run(
        [*command, str(program), *map(str, arguments)],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
    )


def trained(ranks, folder, *arguments, change=()):
    """Run the lesson's program in this folder with some lines changed."""
    for name in ("train.py", "network.py", "ml_comm.py"):
        text = (LESSON / name).read_text(encoding="utf-8")
        for old, new in change:
            text = text.replace(old, new)
        (folder / name).write_text(text, encoding="utf-8")
    done = mpirun(ranks, "train.py", *SIZES, *arguments, folder=folder)
    assert done.returncode == 0, done.stderr[-2000:]
    output = folder / f"run_{len(list(folder.glob('*.out')))}.out"
    output.write_text(done.stdout, encoding="utf-8")
    [found] = read_files([output])
    assert found.outcome == "completed"
    return found


def difference(run):
    return next(m["value"] for m in run.measures if m["name"] == "difference_to_serial")


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [3, FOUR])
def test_collectives_equal_the_library(ranks, tmp_path):
    program = ROOT / "tests" / "lessons" / "ranks" / "collectives_ranks.py"
    done = mpirun(ranks, program, folder=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    assert f"every collective equals MPI.SUM on {ranks} ranks" in done.stdout


@pytest.fixture(scope="module")
def serial(tmp_path_factory):
    """Make a folder with the parameters of one rank."""
    folder = tmp_path_factory.mktemp("serial")
    run = trained(1, folder)
    assert run.header["params"] == 50_890
    assert run.end["param_spread"] == 0
    return folder


@pytest.fixture
def folder(serial, tmp_path):
    for file in serial.glob("serial_*.npy"):
        shutil.copy(file, tmp_path)
    return tmp_path


@pytest.mark.parametrize("ranks", [*breadth([2, 3]), FOUR])
def test_parameters_are_those_of_one_rank(ranks, folder):
    """With 1,601 images, the last batch has one image, so all ranks but the first have none."""
    run = trained(ranks, folder)
    assert run.workers == ranks
    assert len(run.ranks) == ranks
    assert run.end["param_spread"] == 0
    assert len({rank.param_hash for rank in run.ranks}) == 1
    assert difference(run) < 1e-12
    assert [epoch.steps for epoch in run.epochs] == [51]
    assert math.isfinite(run.epochs[0].train_loss.value)


SUM = ("total / get_nranks()", "total")


@pytest.mark.slow
def test_the_sum_at_a_rate_equals_the_mean_at_n_times_the_rate(folder):
    run = trained(2, folder, "--lr", "0.05", change=[SUM])  # the serial run had 0.1
    assert difference(run) < 1e-12


@pytest.mark.slow
def test_back_ends_are_timed_and_the_halves_make_the_whole(tmp_path):
    done = mpirun(2, LESSON / "backends.py", "--floats", 256, 2560, folder=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    (tmp_path / "job.out").write_text(done.stdout)
    [found] = read_files([tmp_path / "job.out"])
    by_name = {}
    for measure in found.measures:
        by_name.setdefault(measure["name"], []).append(measure)
    ends = {(m["backend"], m["bytes"]) for m in by_name["allreduce_s"]}
    assert {(end, size) for end in ("mpi", "gloo") for size in (1024, 10240)} <= ends
    assert [m["value"] for m in by_name["halves_error"]] == [0.0]
    assert {m["what"] for m in by_name["half_s"]} == {"allreduce", "reduce-scatter", "allgather"}
    assert {m["what"] for m in by_name["fusion_s"]} == {"one by one", "fused"}
    assert all(m["value"] > 0 for m in (*by_name["half_s"], *by_name["fusion_s"]))


@pytest.mark.parametrize(
    ("reduce", "expected"),
    [("reduce_all", [4, 4, 4, "wait"]), ("reduce_fused", [12, "wait", "wait"])],
)
def test_nccl_is_waited_for_after_its_sums(reduce, expected, monkeypatch):
    """A call of NCCL only queues a sum on the GPU, and returns at once."""
    backends, called = program("06_allreduce", "backends"), []
    monkeypatch.setattr(backends.dist, "all_reduce", lambda array: called.append(len(array)))
    monkeypatch.setattr(backends.torch.cuda, "synchronize", lambda: called.append("wait"))
    getattr(backends, reduce)("nccl", [torch.ones(4) for _ in range(3)])
    assert called == expected


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [3, 1])
def test_every_scheme_is_timed_and_gives_the_sum(ranks, tmp_path):
    done = mpirun(ranks, LESSON / "exchange.py", "--floats", 256, 25601, folder=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    (tmp_path / "job.out").write_text(done.stdout)
    [found] = read_files([tmp_path / "job.out"])
    assert {"exchange.py", "collectives.py"} <= set(found.program.files)
    times = {(m["scheme"], m["floats"]): m["value"] for m in found.measured("allreduce_s")}
    assert set(times) == {(s, n) for s in ("server", "ring", "library") for n in (256, 25601)}
    assert all(seconds > 0 for seconds in times.values())
    errors = {each["scheme"]: each["value"] for each in found.measured("allreduce_error")}
    assert errors.pop("overlapped", 0) < 1e-6
    assert set(errors.values()) == {0.0}
    assert [m["value"] for m in found.measured("share_sent")] == pytest.approx([1, 1], abs=0.01)
    assert len(found.ranks) == found.workers == ranks
    steps = {m["straggler_ms"]: m["value"] for m in found.measures if "straggler_ms" in m}
    assert ranks == 1 or steps[20] >= 0.020  # nobody's step ends before the late rank has come
