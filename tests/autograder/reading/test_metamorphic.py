"""Test that changes to an output on its way to the grader do not change what is read from it.

The changes are applied to all outputs: samples of formats, outputs of planted mistakes, and other
people's. No table lists the true facts of each; they only have to stay the same or become unknown.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from autograder.reading.formats import presets
from autograder.records import Run
from tests.autograder.in_memory import read_bytes
from tests.autograder.reading.known_outputs import LOGS

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
PLANTED = HERE.parents[1] / "lessons" / "planted" / "outputs"
BIGGEST = 600_000  # bytes: longer outputs are cut at the end of a line
PLACE = re.compile(r"where=(?:None|Where\([^)]*\))")
Facts = dict[str, Any]


def facts(run: Run) -> Facts:
    """Return what is read of a run except its position."""

    def plain(thing: object) -> str:
        return PLACE.sub("", repr(thing))

    totals = run.test_accuracy, run.test_loss, run.throughput, run.total_seconds
    return {
        "format": run.format,
        "outcome": run.outcome,
        "workers": run.workers,
        "job_id": run.job_id,
        "launch": run.launch,
        "epochs": [plain(epoch) for epoch in run.epochs],
        "unfinished": plain(run.unfinished),
        "test_accuracy": plain(run.test_accuracy),
        "others": plain((len(run.ranks), run.chain_intact, run.sparse, *totals)),
    }


def read(data: bytes) -> list[Facts]:
    return [facts(run) for run in read_bytes({"job.out": data})]


def beginning(data: bytes) -> bytes:
    """Return the output's beginning with a final newline, so that appended text is a new line."""
    if len(data) > BIGGEST:
        data = data[: data.rfind(b"\n", 0, BIGGEST) + 1]
    return data if data.endswith(b"\n") else data + b"\n"


def outputs() -> dict[str, bytes]:
    files = [*(HERE / "formats" / "samples").iterdir(), *PLANTED.rglob("*.txt")]
    files += LOGS.glob("[0-9]*") if LOGS is not None else []
    examples = {preset["name"]: preset["example"].encode() for preset in presets.data()}
    return examples | {
        f"{p.parent.name} {p.name}": beginning(p.read_bytes()) for p in sorted(files)
    }


OUTPUTS = outputs()
FACTS = {name: read(data) for name, data in OUTPUTS.items()}
# A launch that occurs twice in a file is still one launch.
PRINTED = sorted(
    name for name, runs in FACTS.items() if any(r["epochs"] and not r["launch"] for r in runs)
)
# The cuts are the same each time, so a change that breaks the reader shows at once.
SETTINGS = settings(
    derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None
)


def differences(before: Facts, after: Facts, without: tuple[str, ...] = ()) -> list[str]:
    """Return the names of facts that differ. An outcome may become unknown."""
    if after["outcome"] == "unknown":
        without = (*without, "outcome")
    return [name for name in before if name not in without and before[name] != after[name]]


def each_line(change: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    return lambda data: b"".join(change(line) + b"\n" for line in data.split(b"\n")[:-1])


def coloured(line: bytes) -> bytes:
    """Colour a line as a logger does; lines that are redrawn in place stay as they are."""
    if not line.strip() or b"\r" in line or b"\b" in line or b":::ML" in line:
        return line
    return b"\x1b[32m" + line + b"\x1b[0m"


def labelled(line: bytes, rank: int = 0) -> bytes:
    """Label a line as `srun --label` does, unless mpirun has already labelled it."""
    return line if line.startswith(b"[1,") else b"%d: " % rank + line


NOISE = b"INFO:root: the queue holds nothing that is of interest here\n"
MODULES = b"Loading python/3.11\n  Loading requirement: gcc/12 openmpi/4\n" + NOISE * 3
# Changes, and the facts that may differ afterwards.
CHANGES: dict[str, tuple[Callable[[bytes], bytes], tuple[str, ...]]] = {
    "line ends": (each_line(lambda line: line if line.endswith(b"\r") else line + b"\r"), ()),
    "colours": (each_line(coloured), ()),
    "a blank line after each": (each_line(lambda line: line + b"\n"), ()),
    "srun --label on one rank": (each_line(labelled), ()),
    "a second rank, labelled": (
        each_line(lambda line: labelled(line) + b"\n" + labelled(line, 1)),
        ("workers",),
    ),
    "modules loaded ahead": (lambda data: MODULES + data, ()),
    "words of the job file behind": (lambda data: data + NOISE * 20, ()),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_done_to_a_whole_output_changes_none_of_its_facts(change):
    apply, without = CHANGES[change]
    broken = {}
    for name, data in OUTPUTS.items():
        if without and (b":::ML" in data or b"[1,0]<" in data):
            continue  # a record's line twice breaks its chain; others have labels already
        after = read(apply(data))
        pairs = zip(FACTS[name], after, strict=False)
        differing = [found for one, other in pairs if (found := differences(one, other, without))]
        if differing or len(after) != len(FACTS[name]):
            broken[name] = differing
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
        if run["test_accuracy"] != "None" and not last and not run["launch"]:
            assert run["test_accuracy"] == same["test_accuracy"]


@settings(SETTINGS, max_examples=60)
@given(name=st.sampled_from(PRINTED), data=st.data())
def test_doubled_by_a_restart_the_last_run_is_the_whole_one(name, data):
    """A job was cut off and started over into the same file."""
    lines = OUTPUTS[name].split(b"\n")[:-1]
    cut = data.draw(st.integers(0, len(lines)))
    runs = read(b"".join(line + b"\n" for line in lines[:cut]) + OUTPUTS[name])
    if not any(run["epochs"] for run in runs):
        return  # the same lines again may be another rank's
    assert len(runs) >= len(FACTS[name])
    assert differences(FACTS[name][-1], runs[-1]) == []
