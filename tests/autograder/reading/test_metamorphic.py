"""Test that changes to an output on its way to the grader do not change what is read from it.

Every output goes through every relation (relations.py). No table lists the true facts of each; they
only have to stay the same or become unknown.
"""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.autograder.reading import relations
from tests.autograder.reading.relations import RELATIONS, Facts, differences, read

pytestmark = pytest.mark.slow

OUTPUTS = relations.outputs()
FACTS = {name: read(data) for name, data in OUTPUTS.items()}
# Outputs whose runs show more than how they ended, and those without a record. A launch that occurs
# twice in a file is still one launch.
WITH_RUNS = sorted(name for name, runs in FACTS.items() if any(map(relations.trained, runs)))
RECORDED = {
    name for name, data in OUTPUTS.items() if b'"namespace":"course"' in data.replace(b" ", b"")
}
PRINTED = sorted(name for name in WITH_RUNS if name not in RECORDED)
# Tagged lines belong to one process each, whatever rank a launcher wrote in front of them.
UNTAGGED = sorted(name for name in PRINTED if b":::ML" not in OUTPUTS[name])
# The cuts and interleavings are the same each time, so a change that breaks the reader shows at
# once.
SETTINGS = settings(
    derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None
)


def compare(before: list[Facts], after: list[Facts], without: tuple[str, ...] = ()) -> list[str]:
    if len(before) != len(after):
        return [f"{len(before)} runs became {len(after)}"]
    pairs = zip(before, after, strict=True)
    return [line for one, other in pairs for line in differences(one, other, without=without)]


@pytest.mark.parametrize("relation", RELATIONS)
def test_what_is_done_to_a_whole_output_changes_none_of_its_facts(relation):
    asked = RELATIONS[relation]
    broken = {}
    for name, data in OUTPUTS.items():
        if not asked.records and b":::ML" in data:
            continue
        found = compare(FACTS[name], read(asked.change(data)), asked.without)
        if found:
            broken[name] = found[:3]
    assert not broken


@settings(SETTINGS, max_examples=60)
@given(name=st.sampled_from(sorted(OUTPUTS)), data=st.data())
def test_cut_at_any_line_it_says_a_part_of_the_same(name, data):
    lines = OUTPUTS[name].split(b"\n")[:-1]
    cut = data.draw(st.integers(0, len(lines)))
    kept = read(b"".join(line + b"\n" for line in lines[:cut]))
    whole = FACTS[name]
    assert len(kept) <= len(whole)
    by_launch = {run["launch"]: run for run in whole if run["launch"]}
    for place, run in enumerate(kept):
        same = by_launch[run["launch"]] if run["launch"] else whole[place]
        last = place == len(kept) - 1
        # The cut may be inside the last epoch's lines, before all of its result is printed.
        sure = run["epochs"][:-1] if last else run["epochs"]
        assert sure == same["epochs"][: len(sure)]
        assert len(run["epochs"]) <= len(same["epochs"])
        if len(run["epochs"]) < len(same["epochs"]):
            assert run["outcome"] != "completed"
        if run["test_accuracy"] and not last and not run["launch"]:
            assert run["test_accuracy"] == same["test_accuracy"]


@settings(SETTINGS, max_examples=60)
@given(name=st.sampled_from(PRINTED), data=st.data())
def test_doubled_by_a_restart_the_last_run_is_the_whole_one(name, data):
    """A job was cut off and started over into the same file."""
    lines = OUTPUTS[name].split(b"\n")[:-1]
    cut = data.draw(st.integers(0, len(lines)))
    begun = b"".join(line + b"\n" for line in lines[:cut])
    runs = read(begun + OUTPUTS[name])
    if not any(map(relations.trained, runs)):
        return  # the same lines again may be another rank's
    assert len(runs) >= len(FACTS[name])
    assert differences(FACTS[name][-1], runs[-1]) == []


@settings(SETTINGS, max_examples=60)
@given(name=st.sampled_from(UNTAGGED), seed=st.integers(0, 10**6))
def test_labelled_ranks_in_any_order_are_the_first_rank(name, seed):
    """Ranks are a few lines apart at most, and each rank's own lines stay in order.

    For a run that ended before its first epoch, the only facts are from the job's lines, which all
    ranks print.
    """
    dice, lines = random.Random(seed), OUTPUTS[name].split(b"\n")[:-1]
    mixed, at = [], [0, 0]
    while min(at) < len(lines):
        rank = dice.randrange(2)
        if at[rank] - at[1 - rank] > 3 or at[rank] == len(lines):
            rank = 1 - rank
        mixed.append(relations.labelled(rank)(lines[at[rank]]))
        at[rank] += 1
    there, found = (
        [run for run in runs if relations.trained(run)]
        for runs in (FACTS[name], read(b"\n".join(mixed) + b"\n"))
    )
    assert compare(there, found, ("workers",)) == []
