"""Tests of DataDistributor on one, two and three real ranks: shares, errors, shutdown."""

import json
import os
import random
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest

from lessons.toolkit.ranks import DataDistributionError, DataDistributor
from tests.breadth import breadth

HERE = Path(__file__).parents[2] / "ranks"
MPIRUN = "mpirun --allow-run-as-root --oversubscribe"


def start(program, ranks, *arguments, launcher=MPIRUN):
    env = os.environ | {"OMPI_MCA_mpi_yield_when_idle": "1"}
    env["PATH"] = f"{Path(sys.executable).parent}:{env['PATH']}"
    line = [*launcher.split(), "-np", str(ranks), sys.executable, HERE / program]
    return subprocess.run(
        [*line, *map(str, arguments)], env=env, capture_output=True, text=True, timeout=60
    )


@pytest.fixture(scope="module", params=[1, 3], ids=lambda ranks: f"{ranks} ranks")
def told(request, tmp_path_factory):
    """Return (number of ranks, results of the cases)."""
    folder = tmp_path_factory.mktemp("parts")
    for number in range(7):
        (folder / f"part_{number}.npz").touch()
    out = tmp_path_factory.mktemp("results") / "results.json"
    done = start("distribution_cases.py", request.param, folder, out)
    assert done.returncode == 0, done.stderr[-3000:]
    return request.param, json.loads(out.read_text())


LISTS = {
    "range": list(range(10)),
    "tuple": list("abcdefghij"),
    "dict": list(range(10)),
    "array": [[n, n + 1] for n in range(0, 20, 2)],
    "own class": list("abcdefghij"),
}


@pytest.mark.ranks
@pytest.mark.parametrize("name", breadth(LISTS, quick=3))
def test_round_robin(name, told):
    ranks, results = told
    assert results[name] == [LISTS[name][rank::ranks] for rank in range(ranks)]


@pytest.mark.ranks
@pytest.mark.parametrize("name", [*LISTS, "set"])
def test_shuffled_is_disjoint_and_complete(name, told):
    _, results = told
    everything = LISTS.get(name) or [f"file{n}" for n in range(10)]
    assert sorted(chain(*results[f"{name}, shuffled"])) == sorted(everything)
    assert sorted(chain(*results[name])) == sorted(everything)


@pytest.mark.ranks
def test_any_number_of_items(told):
    ranks, results = told
    for n, shares in results["equal None"].items():
        assert shares == [list(range(int(n)))[rank::ranks] for rank in range(ranks)]
    for n, shares in results["equal drop"].items():
        assert {len(share) for share in shares} == {int(n) // ranks}
        assert sorted(chain(*shares)) == list(range(int(n) // ranks * ranks))
    for n, shares in results["equal pad"].items():
        assert len({len(share) for share in shares}) == 1
        assert set(chain(*shares)) == set(range(int(n)))
        assert sum(map(len, shares)) - int(n) < ranks  # no more is given twice than needed


THEIRS = """
import sys
from mpi4py import MPI
from hpc4neuro.distribution import DataDistributor
from hpc4neuro.errors import DataDistributionError

@DataDistributor(MPI.COMM_WORLD, shutdown_on_error=True)
def get_filenames(count):
    return [f"part_{number}" for number in range(count)]

shuffled = DataDistributor(MPI.COMM_WORLD)(list, shuffle=True)
print(MPI.COMM_WORLD.rank, get_filenames(5), len(shuffled(range(4))), flush=True)
try:
    shuffled(range(1))
except DataDistributionError:
    print(MPI.COMM_WORLD.rank, "too few", flush=True)
get_filenames(0)
"""


@pytest.mark.ranks
def test_a_program_for_hpc4neuro_runs_with_its_import_changed(tmp_path):
    program = tmp_path / "program.py"
    ours = "lessons.toolkit.ranks"
    program.write_text(
        THEIRS.replace("hpc4neuro.distribution", ours).replace("hpc4neuro.errors", ours)
    )
    done = start(program, 2)
    assert done.returncode == 1
    assert sorted(done.stdout.splitlines()) == [
        "0 ['part_0', 'part_2', 'part_4'] 2",
        "0 too few",
        "1 ['part_1', 'part_3'] 2",
        "1 too few",
    ]
    assert done.stderr.count("***** Fatal error: 0 items for 2 ranks") == 1


@pytest.mark.ranks
def test_the_function_runs_on_rank_0_only_and_keeps_its_name(told):
    ranks, results = told
    assert results["who called"] == [3] + [0] * (ranks - 1)
    assert sorted(chain(*results["files"])) == [f"part_{n}.npz" for n in range(7)]
    assert results["name"] == "listdir"


@pytest.mark.ranks
def test_a_seed_gives_a_new_order_each_call_and_the_same_in_each_run(told):
    ranks, results = told
    generator = random.Random(5)
    for shares in results["seeded"]:
        order = list(range(12))
        generator.shuffle(order)
        assert shares == [order[rank::ranks] for rank in range(ranks)]
    order = sorted(f"file{n}" for n in range(10))  # a set's own order differs from run to run
    random.Random(5).shuffle(order)
    assert results["seeded set"] == [order[rank::ranks] for rank in range(ranks)]


FAILURES = {
    "missing folder": "No such file or directory",
    "not iterable": "SizedNotIterable, which is not iterable",
    "cannot be packed": "pickle",
    "empty": "0 items for",
    "too few": "each rank needs at least one",
}


@pytest.mark.ranks
@pytest.mark.parametrize("name", FAILURES)
@pytest.mark.parametrize("shuffled", ["", ", shuffled"])
def test_a_failure_is_the_same_error_on_every_rank(name, shuffled, told):
    ranks, results = told
    found = results[f"{name}{shuffled}"]
    assert len(found) == ranks
    assert len(set(found)) == 1
    assert found[0].startswith("DataDistributionError")
    assert FAILURES[name].lower() in found[0].lower()


@pytest.mark.ranks
def test_a_loader_that_quits_leaves_nobody_waiting(told):
    _, results = told
    assert results["quits"][0] == "SystemExit: 7"
    for said in results["quits"][1:]:
        assert said.startswith("DataDistributionError")


@pytest.mark.ranks
@pytest.mark.parametrize("ranks", breadth([3, 1]))
def test_shutdown_ends_every_rank_cleanly_and_says_why_once(ranks):
    done = start("distribution_shutdown.py", ranks)
    assert done.returncode == 1
    assert sorted(done.stdout.split("\n")) == [
        "",
        *(f"rank {rank} cleaned up" for rank in range(ranks)),
    ]
    assert done.stderr.count("***** Fatal error: ") == 1
    assert "/no/such/folder" in done.stderr
    assert "Traceback" not in done.stderr


def test_one_rank_without_mpi():
    share = DataDistributor(None)(lambda n: range(n))
    assert share(4) == [0, 1, 2, 3]
    with pytest.raises(DataDistributionError, match="0 items for 1 rank"):
        share(0)
    with pytest.raises(DataDistributionError, match="not iterable"):
        DataDistributor(None)(lambda: 5)()


def test_without_mpi_several_ranks_are_refused(monkeypatch):
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    with pytest.raises(DataDistributionError, match=r"2 were started.*MPI\.COMM_WORLD"):
        DataDistributor(None)
