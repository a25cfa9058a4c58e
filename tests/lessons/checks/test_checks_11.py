"""Lesson 11's checks of stages: right solutions pass, each usual mistake gets its advice."""

import types

import pytest
from advice import ROOT, assert_advice, failure

from lessons.toolkit.checks import lesson_11
from lessons.toolkit.checks.shared.check import checks_of
from tests.lessons.solution_programs import program

FOLDER = ROOT / "solutions" / "11_pipeline"


def test_every_check_has_a_number_and_says_what_it_wants():
    checks = checks_of(lesson_11)
    assert {"11.1", "11.2", "11.3", "11.4"} <= set(checks)
    for check in checks.values():
        assert len(check.__doc__) > 40


def with_changes(name, *changes):
    """Return the module of this name with changes in its text."""
    text = (FOLDER / f"{name}.py").read_text()
    for old, new in changes:
        assert text.count(old) >= 1, old
        text = text.replace(old, new)
    module = types.ModuleType(name)
    exec(compile(text, f"{name}.py", "exec"), module.__dict__)
    return module


def plan_with(**functions):
    return types.SimpleNamespace(**{**vars(program("11_pipeline", "plan")), **functions})


SPLITS = [
    (lambda costs, p: [round(s * len(costs) / p) for s in range(p + 1)], "Equal numbers of layers"),
    (lambda costs, p: [*range(p), len(costs)], "try them all"),
    (lambda costs, p: [0, len(costs)], "3 ends"),
]


def test_split():
    lesson_11.check_11_1(plan_with())


@pytest.mark.parametrize(("split", "advice"), SPLITS)
def test_wrong_splits(split, advice):
    assert_advice(failure(lesson_11.check_11_1, plan_with(split=split)), advice)


BUBBLES = [
    (lambda p, m: (p - 1) / m, "the other definition"),
    (lambda p, m: (p - 1) / (m + p), "How many turns"),
    (lambda p, m: p / (m + p), "idle in stages - 1 turns"),
]


def test_bubble():
    lesson_11.check_11_2(lambda p, m: (p - 1) / (m + p - 1))


@pytest.mark.parametrize(("bubble", "advice"), BUBBLES)
def test_wrong_bubbles(bubble, advice):
    assert_advice(failure(lesson_11.check_11_2, bubble), advice)


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
]
GRIDS = [
    (lambda r, p, n: (r // n, r % n, [r]), "consecutive ranks"),
    (lambda r, p, n: (r % p, r // p, list(range(p * n))), "same layers in every replica"),
    (lambda r, p, n: (r % p, r // p, [o for o in range(r % p, p * n, p) if o != r]), "belongs in"),
]


def test_schedule_and_grid():
    lesson_11.check_11_3(plan_with())


@pytest.mark.parametrize(("schedule", "advice"), SCHEDULES)
def test_wrong_schedules(schedule, advice):
    assert_advice(failure(lesson_11.check_11_3, plan_with(schedule=schedule)), advice)


@pytest.mark.parametrize(("grid", "advice"), GRIDS)
def test_wrong_grids(grid, advice):
    assert_advice(failure(lesson_11.check_11_3, plan_with(grid=grid)), advice)


DOWN = "sent.append(dist.isend(outputs.detach(), stage.after, group=stage.down))"
UP = "sent.append(dist.isend(x.grad, stage.before, group=stage.up))"
STAGES = [
    ((("        x.requires_grad_()\n", ""),), "otherwise x.grad is None"),
    (((UP, UP.replace("x.grad", "outputs.grad")),), "outputs do not"),
    (((DOWN, "dist.send(outputs.detach(), stage.after, group=stage.down)"),
      (UP, "dist.send(x.grad, stage.before, group=stage.up)")), "here both sides send"),
]  # fmt: skip
ALSO_RIGHT = [
    ((DOWN, "message = dist.isend(outputs.detach(), dst=stage.after, group=stage.down)\n"
      "        sent += [message]"),),
    (("x.new_empty(len(x), stage.width)", "torch.empty(len(x), stage.width, dtype=x.dtype)"),),
    (("outputs = stage.layers(x)", "outputs = x\n    for layer in stage.layers:\n"
      "        outputs = layer(outputs)"),),
]  # fmt: skip


@pytest.mark.parametrize("changes", [(), *ALSO_RIGHT])
def test_stages(changes, monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    lesson_11.check_11_4(with_changes("pipeline", *changes))


@pytest.mark.filterwarnings("ignore:The .grad attribute")  # a mistake that is tried
@pytest.mark.parametrize(("changes", "advice"), STAGES)
def test_wrong_stages(changes, advice, monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    assert_advice(failure(lesson_11.check_11_4, with_changes("pipeline", *changes)), advice)
