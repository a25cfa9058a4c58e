"""The sliders of lesson 11 show what the lesson's own functions compute."""

import json
import re

import pytest

from lessons.toolkit.plots import sliders
from lessons.toolkit.ranks import schedules
from tests.lessons.solution_programs import program


def idle(stages, m):
    return (stages - 1) / (m + stages - 1)


@pytest.fixture(scope="module")
def plans():
    return sliders.plans_of(program("11_pipeline", "plan").schedule, idle)


def test_the_bubble_is_the_one_that_the_picture_has(plans):
    assert len(plans) == 2 * sliders.STAGES * sliders.MICRO_BATCHES
    for name, plan in plans.items():
        kind, p, m = name.split()
        rows = "".join(plan["rows"])
        assert rows.count(".") / len(rows) == pytest.approx(idle(int(p), int(m)))
        boxes = schedules.timed(program("11_pipeline", "plan").schedule(int(p), int(m), kind))
        assert f"{schedules.bubble(boxes):.0%} of the time idle" in plan["says"]


def test_the_page_has_all_plans(plans):
    [found] = re.findall(r'<script type="application/json">(.*)</script>', sliders.page(plans))
    assert json.loads(found) == plans
