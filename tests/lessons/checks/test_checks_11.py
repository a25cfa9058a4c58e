"""The public checks of lesson 11: right solutions pass, each usual mistake gets its advice."""

import inspect
import sys
import types

import pytest
from advice import ROOT, assert_advice, assert_ends_well, changed, failure

from lessons.toolkit.checks import lesson_11 as check
from lessons.toolkit.checks.shared.check import exercise
from tests.lessons.solution_programs import program

LESSON = "11_pipeline"


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Return a function that returns a module of the solution with changes."""
    monkeypatch.syspath_prepend(ROOT / "solutions" / LESSON)
    for name in ("plan", "ranks"):  # of another lesson, maybe
        monkeypatch.delitem(sys.modules, name, raising=False)
    return lambda name, *changes: changed(tmp_path, LESSON, f"{name}.py", *changes)


def here(public):
    """Return the check as it runs in its new Python, which takes seconds to load PyTorch."""
    return exercise(public.number)(inspect.unwrap(public))


def plan_with(**functions):
    return types.SimpleNamespace(**{**vars(program(LESSON, "plan")), **functions})


SPLITS = [
    (lambda costs, p: [round(s * len(costs) / p) for s in range(p + 1)], "Equal numbers of layers"),
    (lambda costs, p: [*range(p), len(costs)], "try them all"),
    (lambda costs, p: [0, len(costs)], "3 ends"),
]


def test_split():
    check.check_11_1(plan_with())


@pytest.mark.parametrize(("split", "advice"), SPLITS)
def test_wrong_splits(split, advice):
    assert_advice(failure(check.check_11_1, plan_with(split=split)), advice)


BUBBLES = [
    (lambda p, m: (p - 1) / m, "the other definition"),
    (lambda p, m: (p - 1) / (m + p), "as boxes"),
    (lambda p, m: p / (m + p), "idle boxes"),
]


def test_bubble():
    check.check_11_2(lambda p, m: (p - 1) / (m + p - 1))


@pytest.mark.parametrize(("bubble", "advice"), BUBBLES)
def test_wrong_bubbles(bubble, advice):
    assert_advice(failure(check.check_11_2, bubble), advice)


def ahead(count):
    """Return orders with this many forward passes before the first backward pass of a stage."""

    def schedule(stages, m, kind):
        orders = []
        for stage in range(stages):
            first = min(m, count(stage, stages, m, kind))
            order = [("F", k) for k in range(first)]
            for k in range(m):
                order += [("B", k)] + ([("F", k + first)] if k + first < m else [])
            orders.append(order)
        return orders

    return schedule


SCHEDULES = [
    (ahead(lambda s, p, m, kind: m), "stage 1 has 1 of the F"),
    (ahead(lambda s, p, m, kind: p - s), "all forward passes first"),
    (ahead(lambda s, p, m, kind: m if kind == "gpipe" else 1), "before its first"),
    (lambda p, m, kind: [[("F", k) for k in range(m)]] * p, "forward and back once"),
    (lambda p, m, kind: [[(way, k) for way in "BF" for k in range(m)]] * p, "its own forward pass"),
]
GRIDS = [
    (lambda r, p, n: (r // n, r % n, [r]), "consecutive ranks"),
    (lambda r, p, n: (r % p, r // p, list(range(p * n))), "same layers in every replica"),
    (lambda r, p, n: (r % p, r // p, [o for o in range(r % p, p * n, p) if o != r]), "belongs in"),
]


def test_schedule_and_grid():
    check.check_11_3(plan_with())


@pytest.mark.parametrize(("schedule", "advice"), SCHEDULES)
def test_wrong_schedules(schedule, advice):
    assert_advice(failure(check.check_11_3, plan_with(schedule=schedule)), advice)


@pytest.mark.parametrize(("grid", "advice"), GRIDS)
def test_wrong_grids(grid, advice):
    assert_advice(failure(check.check_11_3, plan_with(grid=grid)), advice)


DOWN = "sent.append(dist.isend(outputs.detach(), stage.after, group=stage.down))"
UP = "sent.append(dist.isend(x.grad, stage.before, group=stage.up))"
GRADIENT = "    if stage.before is not None:\n        sent.append(dist.isend(x.grad"
STAGES = [
    ((("        x.requires_grad_()\n", ""),), "otherwise x.grad is None"),
    (((UP, UP.replace("x.grad", "outputs.grad")),), "outputs do not"),
    (((DOWN, "dist.send(outputs.detach(), stage.after, group=stage.down)"),
      (UP, "dist.send(x.grad, stage.before, group=stage.up)")), "both sides send"),
    (((UP, UP.replace("stage.up", "stage.down")),), "GPUs would wait"),
    (((GRADIENT, GRADIENT.replace("if stage.before is not None", "if True")),), "no stage before"),
    (((DOWN, DOWN.removeprefix("sent.append(")[:-1]),), "may never arrive"),
    ((("outputs.backward(gradient)", "outputs.sum().backward()"),), "what the next stage sends"),
]  # fmt: skip
ANOTHER_WAY = [
    (DOWN, "message = dist.isend(outputs.detach(), dst=stage.after, group=stage.down)\n"
     "        sent += [message]"),
    ("x.new_empty(len(x), stage.width)", "torch.empty(len(x), stage.width, dtype=x.dtype)"),
    ("outputs = stage.layers(x)", "outputs = x\n    for layer in stage.layers:\n"
     "        outputs = layer(outputs)"),
]  # fmt: skip


@pytest.mark.parametrize("changes", [[], ANOTHER_WAY])
def test_stages(changes, module):
    here(check.check_11_4)(module("pipeline", *changes))


@pytest.mark.slow
@pytest.mark.parametrize(("changes", "advice"), STAGES)
def test_wrong_stages(changes, advice, module):
    assert_advice(failure(here(check.check_11_4), module("pipeline", *changes)), advice)


def test_cut_and_bytes(module):
    layers = module("tensor_layers")
    check.check_11_5(layers.cut)
    check.check_11_7(layers.bytes_a_step)


CUTS = [
    ("weight.tensor_split(size)[rank], bias.", "weight.tensor_split(size, 1)[rank], bias.",
     "wrong axis"),
    ("weight.tensor_split(size, dim=1)", "weight.tensor_split(size)", "wrong axis"),
    ("(size, dim=1)[rank], bias", "(size, dim=1)[rank], bias.tensor_split(size)[rank]",
     "Which outputs does this rank"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "advice"), CUTS)
def test_wrong_cuts(module, old, new, advice):
    assert_advice(failure(check.check_11_5, module("tensor_layers", (old, new)).cut), advice)


# A rank 0 that alone adds the bias is right as well.
ALONE = ("linear(hidden, row[0])) + row[1]",
         "linear(hidden, row[0], None if dist.get_rank() else row[1]))")  # fmt: skip
BLOCKS = [
    ("return summed(gradient)", "return gradient", "only the gradient from this rank's part"),
    ("ToParts.apply(x)", "x", "only the gradient from this rank's part"),
    ("        return gradient\n", "        return summed(gradient)\n", "p times too large"),
    ("linear(hidden, row[0])) + row[1]", "linear(hidden, *row))", "added on every rank"),
    ("return summed(part)", "return part.clone()", "only this rank's part"),
    ("linear(hidden, row[0])", "linear(hidden, rows[0])", "of block: return FromParts"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("changes", [(), (ALONE,)])
def test_blocks(module, changes):
    here(check.check_11_6)(module("tensor_layers", *changes))


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new", "advice"), BLOCKS)
def test_wrong_blocks(module, old, new, advice):
    failed = failure(here(check.check_11_6), module("tensor_layers", (old, new)))
    assert_advice(failed, advice)
    _, expected, found, _ = failed.lines()
    assert expected.rpartition(" is ")[2] != found.removeprefix("found").strip()


# PyTorch refuses `backward` in a fork of a process that has called it and sees a device.
A_NOTEBOOK_ON_A_GPU = """
import sys, torch
from torch.utils import backend_registration
backend_registration._setup_privateuseone_for_python_backend("fakegpu")
torch.ones(1, requires_grad=True).sum().backward()
sys.path.insert(0, "solutions/11_pipeline")
import pipeline, tensor_layers
from lessons import course
course.check("11.4", pipeline)
course.check("11.6", tensor_layers)
"""


@pytest.mark.slow
def test_a_notebook_that_has_used_a_gpu_can_check():
    assert_ends_well(A_NOTEBOOK_ON_A_GPU)


BYTES = [
    ("2 * (ranks - 1) / ranks * numbers", "numbers", "rank of a ring"),
    ("* numbers * itemsize", "* numbers", "`itemsize` bytes"),
    ("2 * (ranks - 1)", "(ranks - 1)", "twice"),
    (" + sum(sizes[2:-1:2])", "", "what is summed in the backward"),
    ("(i + 1) * o", "i * o", "Biases"),
]


@pytest.mark.parametrize(("old", "new", "advice"), BYTES)
def test_wrong_bytes(module, old, new, advice):
    wrong = module("tensor_layers", (old, new))
    assert_advice(failure(check.check_11_7, wrong.bytes_a_step), advice)
