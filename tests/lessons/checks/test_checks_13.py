"""Lesson 13's public checks: the solution passes, and each usual mistake gets its advice."""

import pytest
import torch
from advice import assert_advice, changed, failure

from lessons.toolkit.checks import lesson_13 as check
from lessons.toolkit.checks.lesson_13.arithmetic import terms
from lessons.toolkit.checks.shared.check import checks_of
from tests.breadth import slow

CHECKS = {  # exercise -> its check, the file, and what of it the check takes
    "13.1": (check.check_13_1, "zero.py", None),
    "13.2": (check.check_13_2, "ring.py", None),
    "13.3": (check.check_13_3, "zero.py", "watch"),
    "13.4": (check.check_13_4, "zero.py", None),
    "13.5": (check.check_13_5, "library.py", None),
    "13.6": (check.check_13_6, "traffic.py", "into_node"),
}


ON_RANKS = ("13.1", "13.2", "13.4", "13.5")


@pytest.fixture
def students(tmp_path):
    """Return a function that returns an exercise's check and its argument, with changes."""

    def get(number, *changes):
        function, file, name = CHECKS[number]
        module = changed(tmp_path, "13_shard", file, *changes)
        return function, getattr(module, name) if name else module

    return get


def test_every_exercise_has_a_check():
    assert set(checks_of(check)) == {*CHECKS, "13.7"}


@pytest.mark.parametrize("number", [slow(n) if n in ON_RANKS else n for n in CHECKS])
def test_the_solution_passes(number, students):
    function, student = students(number)
    function(student)
    assert not torch.distributed.is_initialized()


@pytest.mark.slow
def test_the_ring_says_if_its_bytes_are_not_counted(monkeypatch, capsys, students):
    monkeypatch.setattr("lessons.toolkit.ranks.wire.bytes_received", lambda: None)
    function, student = students("13.2")
    function(student)
    assert "does not count" in capsys.readouterr().out


@pytest.mark.slow
def test_the_older_name_of_the_collective_passes(students):
    function, student = students("13.1", ("all_gather_into_tensor", "all_gather_single"))
    function(student)


COLLECT = "unit.when_complete(unit.collect)\n"
GATHER = "dist.all_gather_into_tensor(self.whole, self.part.detach())"
WAIT = "for message in dist.batch_isend_irecv(messages):\n            message.wait()"
SENT = "sent, added = (rank - step - 1) % size, (rank - step - 2) % size"
WRONG = [
    ("13.1", GATHER, "pass", "which one is filled"),
    ("13.1", " / self.size\n", "\n", "What does DDP take"),
    ("13.1", "self.reduce_scatter(flat) /", "flat.chunk(self.size)[dist.get_rank()] /",
     "only this rank's gradient"),
    ("13.2", SENT, SENT.replace("- 1", "- 0").replace("- 2", "- 1"), "received last"),
    ("13.2", WAIT, "dist.batch_isend_irecv(messages)", "Is each message waited for"),
    ("13.2", "parts[added] = parts[added] + received", "parts[added] = received", "the sum so far"),
    ("13.2", "range(size - 1)", "range(size)", "rank"),
    ("13.3", COLLECT, "unit.collect()\n", "With brackets"),
    ("13.3", "if stage == 2:", "if stage >= 1:", "this stage's row"),
    ("13.3", "register_forward_hook(lambda *_: unit.free())", "register_forward_hook(unit.free)",
     "has to take them"),
    ("13.3", "(unit.collect, unit.free)", "(unit.free, unit.collect)", "after backward: collect"),
    ("13.4", "    dist.all_reduce(squares)\n", "", "only this rank's parts"),
    ("13.4", ".clamp(max=1)", "", "is not scaled"),
    ("13.4", "(squares.sqrt() + 1e-6)", "squares", "root is missing"),
    ("13.5", "table = (nodes, dist.get_world_size() // nodes)",
     "table = (dist.get_world_size() // nodes, nodes)", "which ranks are on the same node"),
    ("13.5", ', mesh_dim_names=("copies", "parts")', "", "one name for each dimension"),
    ("13.6", "return 2 * (nodes - 1) / nodes", "return 2 * (nodes - 1) / nodes / ranks",
     "one rank's share"),
    ("13.6", "return 4 * (everyone", "return 3 * (everyone", "instead of a reduce-scatter"),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")  # of mistakes that are tried
@pytest.mark.parametrize(
    ("number", "old", "new", "advice"),
    [slow(case) if case[0] in ON_RANKS else case for case in WRONG],  # on ranks
)
def test_a_mistake_has_a_name(number, old, new, advice, students):
    function, student = students(number, (old, new))
    assert_advice(failure(function, student), advice)


FITTING = [  # factors of state, unit and activations
    ((0, 1, 1), "state is missing"),
    ((1, 0, 1), "until they are reduced"),
    ((1, 1, 0), "activations are missing"),
]


def needs(factors):
    """Return a function that multiplies the terms of the right answer."""
    return lambda network, way: sum(
        factor * term for factor, term in zip(factors, terms(network, way), strict=True)
    )


def test_the_bytes_that_networks_need():
    check.check_13_7(needs((1, 1, 1)))


@pytest.mark.parametrize(("factors", "advice"), FITTING)
def test_wrong_bytes(factors, advice):
    assert_advice(failure(check.check_13_7, needs(factors)), advice)
