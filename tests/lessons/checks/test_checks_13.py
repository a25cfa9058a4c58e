"""Lesson 13's public checks: the solution passes, and each usual mistake gets its advice."""

import types
from pathlib import Path

import pytest
from advice import ROOT, assert_advice, failure

from lessons.toolkit.checks import lesson_13 as check
from lessons.toolkit.checks.lesson_13.arithmetic import CASES, STAGES, bytes_needed, unit_of
from lessons.toolkit.checks.shared.check import checks_of

LESSON = ROOT / "solutions" / "13_shard"


def changed(name, *changes):
    """Return the solution's module with some of its text changed."""
    text = (LESSON / name).read_text(encoding="utf-8")
    for old, new in changes:
        assert text.count(old) == 1, (name, old)
        text = text.replace(old, new)
    module = types.ModuleType(Path(name).stem)
    exec(compile(text, name, "exec"), module.__dict__)
    return module


CHECKS = {  # exercise -> its check, the file, and what of it the check takes
    "13.1": (check.check_13_1, "state.py", "state_bytes"),
    "13.2": (check.check_13_2, "zero.py", "part_of"),
    "13.3": (check.check_13_3, "zero.py", None),
    "13.4": (check.check_13_4, "ring.py", None),
    "13.5": (check.check_13_5, "zero.py", "watch"),
    "13.6": (check.check_13_6, "zero.py", None),
    "13.7": (check.check_13_7, "library.py", None),
    "13.8": (check.check_13_8, "library.py", "recompute"),
    "13.9": (check.check_13_9, "saving.py", None),
}


def students(number, *changes):
    """Return the arguments of this exercise's check."""
    function, file, name = CHECKS[number]
    module = changed(file, *changes)
    return function, getattr(module, name) if name else module


def test_every_exercise_has_a_check():
    assert set(checks_of(check)) == {*CHECKS, "13.10"}


@pytest.mark.parametrize("number", CHECKS)
def test_the_solution_passes(number):
    function, student = students(number)
    function(student)


def test_the_ring_says_if_its_bytes_are_not_counted(monkeypatch, capsys):
    monkeypatch.setattr("lessons.toolkit.checks.lesson_13.by_hand.bytes_received", lambda: None)
    function, student = students("13.4")
    function(student)
    assert "does not count" in capsys.readouterr().out


def test_the_older_name_of_the_collective_passes():
    function, student = students("13.3", ("all_gather_into_tensor", "all_gather_single"))
    function(student)


COLLECT = "unit.when_complete(unit.collect)\n"
GATHER = "dist.all_gather_into_tensor(self.whole, self.part.detach())"
FREE = "    for param in self.params:\n            param.grad = None"
SENT = "sent, added = (rank - step - 1) % size, (rank - step - 2) % size"
WRONG = [
    ("13.1", "(4, 2)", "(4, 1)", "Adam keeps two"),
    ("13.1", '"mixed": (2, 3)', '"mixed": (2, 2)', "a float32 copy as well"),
    ("13.1", '"mixed": (2, 3)', '"mixed": (4, 3)', "has 2 bytes"),
    ("13.2", "filled[rank * length : (rank + 1) * length].clone()", "flat", "nothing is sharded"),
    ("13.2", ".clone()\n", "\n", "is a view"),
    ("13.2", "return filled[", "return flat[", "parts of the same length"),
    ("13.3", GATHER, "pass", "all_gather_into_tensor"),
    ("13.3", " / self.size\n", "\n", "divide by self.size"),
    ("13.3", "self.reduce_scatter(flat) /", "flat.chunk(self.size)[dist.get_rank()] /",
     "only this rank's gradient"),
    ("13.4", SENT, SENT.replace("- 1", "- 0").replace("- 2", "- 1"), "nothing was added"),
    ("13.4", "parts[added] = parts[added] + received", "parts[added] = received", "the sum so far"),
    ("13.4", "range(size - 1)", "range(size)", "rank"),
    ("13.5", COLLECT, "unit.collect()\n", "no brackets"),
    ("13.5", "if stage == 2:", "if stage >= 1:", "do nothing here"),
    ("13.5", "(unit.collect, unit.free)", "(unit.free, unit.collect)", "collect first, then free"),
    ("13.6", "    dist.all_reduce(squares)\n", "", "only this rank's parts"),
    ("13.6", ".clamp(max=1)", "", "is not scaled"),
    ("13.6", "(squares.sqrt() + 1e-6)", "squares", "root is missing"),
    ("13.7", "    for block in model.blocks:\n        fully_shard(block, **how)\n", "",
     "for each block in model.blocks"),
    ("13.7", "    fully_shard(model, **how)\n", "", "outside the blocks"),
    ("13.7", "fully_shard(block, **how)", 'fully_shard(block, mesh=how["mesh"])', "pass **how"),
    ("13.8", "block.forward, use_reentrant=False", "block.forward, use_reentrant=True",
     "use_reentrant=False"),
    ("13.8", "functools.partial(checkpoint, block.forward, use_reentrant=False)", "block.forward",
     "computes twice"),
    ("13.9", "{\"model\": parameters, \"optimizer\": state}, checkpoint_id=folder)\n    set_state",
     "{\"model\": parameters}, checkpoint_id=folder)\n    set_state", "running means"),
    ("13.9", "    dcp.load(", "    dict(", "fills the dictionaries"),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")  # of mistakes that are tried
@pytest.mark.parametrize(("number", "old", "new", "advice"), WRONG)
def test_a_mistake_has_a_name(number, old, new, advice):
    function, student = students(number, (old, new))
    failed = failure(function, student)
    said = str(failed).lower()
    assert any(words in said for words in advice.lower().split("|")), said
    assert_advice(failed, "try")


def needs(network, way):
    return bytes_needed(network, way)


def unit(network, way, stage):
    """Return the bytes of the largest unit that are whole in this stage only."""
    return unit_of(network, way) if way == stage else 0


def with_part(number, factor):
    """Return needs with one of its three terms multiplied."""

    def wrong(network, way):
        from lessons.toolkit.checks.lesson_13 import arithmetic

        terms = (arithmetic.state_of, arithmetic.unit_of, arithmetic.activations_of)
        parts = [term(network, way) for term in terms]
        parts[number] *= factor
        return sum(parts)

    return wrong


FITTING = [
    (with_part(0, 0), "state is missing"),
    (with_part(1, 0), "until they are reduced"),
    (lambda n, way: needs(n, way) - unit(n, way, "zero3"), "parameters and gradients are on"),
]  # fmt: skip


def test_the_bytes_that_networks_need():
    assert {way for case in CASES for way in STAGES} == {
        "ddp", "zero1", "zero2", "zero3", "recompute",
    }  # fmt: skip
    check.check_13_10(needs)


@pytest.mark.parametrize(("wrong", "advice"), FITTING)
def test_wrong_bytes(wrong, advice):
    assert_advice(failure(check.check_13_10, wrong), advice)
