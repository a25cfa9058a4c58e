"""A probe on one rank compares nothing, so no rubric gives points for it."""

from pathlib import Path

import pytest

from autograder.settings.rubric import load_rubric

RUBRICS = [load_rubric(path) for path in sorted(Path("autograder/rubrics").glob("??.yaml"))]
ONE_PROCESS = {"01", "02", "03", "09", "14"}  # lessons whose probe tests one process
ALONE = {("15", "elastic_probe")}  # runs on the rank that is left
SIZES = ("ranks", "hosts")


def probes():
    for rubric in RUBRICS:
        for name, choice in rubric.runs.items():
            if choice.program_of and rubric.lesson not in ONE_PROCESS:
                yield rubric.lesson, name


@pytest.mark.parametrize(("lesson", "name"), sorted(set(probes()) - ALONE))
def test_each_check_of_a_probe_needs_two_ranks(lesson, name):
    [rubric] = (each for each in RUBRICS if each.lesson == lesson)
    users = [check for check in rubric.checks if any(name in c.runs for c in check.require)]
    assert users
    for check in users:
        sizes = [c for c in check.require if c.metric in SIZES and name in c.runs]
        least = [c.at_least.value or 0 for c in sizes if c.at_least]
        assert max(least, default=0) >= 2, f"{lesson}: {check.id}"
