"""Gradescope's metadata: names nobody where it asks for too much, and reads what Ruby writes."""

import pytest

from autograder.collect.download import listed
from autograder.collect.gradescope import items, plain_yaml, read_export
from autograder.settings.claims import nobody
from tests.autograder.submissions.downloads import Files, below, work, write


def export(*lines: str) -> Files:
    return {"submission_metadata.yml": "\n".join(lines).encode()}


NINES = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
BOMB = ["a0: &a0 [x, x]", *NINES]


@pytest.mark.parametrize(
    "lines",
    [
        [*BOMB, "submission_1:", "  :submitters:", "  - :name: *a9"],
        [*BOMB, "submission_1:", "  :submitters: *a9"],
        ["m0: &m0 {x: y}", *(f"m{n}: &m{n} {{<<: [{', '.join([f'*m{n - 1}'] * 10)}]}}"
                             for n in range(1, 10)), "submission_1: *m9"],
        ["submission_1:", "  :submitters:", "  - :name: [Ada, Ben]", "    :email: {a: b}"],
        ["submission_1:", "  :submitters:", f"  - :name: {'x' * 5000}"],
        ["submission_1: " + "[" * 100_000],
        ["submission_1: " + "- " * 100_000],
        ["[" * 3000 + "]" * 3000],
    ],
    ids=["aliases in a name", "aliases as a list", "merged", "no words", "long", "deep",
         "deep dashes", "deep and closed"],
)  # fmt: skip
def test_metadata_that_asks_for_too_much_names_nobody(tmp_path, lines):
    """Not timed: aliases taken at their word would keep this test from ending."""
    files = below("submission_1", work("ada")) | export(*lines)
    place = write(tmp_path, "export", files)
    [item] = items(place, listed(place), nobody)
    assert item.claims[0].spelt in ("submission_1", "submission")


def test_metadata_as_ruby_writes_it(tmp_path):
    """The same object twice is an alias there; what is deeper than the names does not matter."""
    path = tmp_path / "submission_metadata.yml"
    path.write_text(
        "---\nsubmission_1:\n  :submitters: &1\n  - :name: Ada\n    :sid: 0012\n    :email: ~\n"
        "  :created_at: &2 2026-03-01 20:00:00.123456789 Z\n  :results: {a: {b: {c: {d: e}}}}\n"
        "  :history:\n  - :created_at: *2\n    :submitters: *1\n"
        "submission_2:\n  :created_at: 2026-02-31 20:00:00 Z\n  :submitters: []\n"
    )
    told = read_export(path)
    [claim], time = told["submission_1"]
    assert (claim.spelt, claim.name, dict(claim.ids)["sis_id"]) == ("Ada", "Ada", "0012")
    assert time == "2026-03-01 20:00:00.123456+00:00"
    assert told["submission_2"] == ((), None)


def test_levels_of_yaml_that_are_kept():
    kept = plain_yaml(b"a: {b: [{c: [{d: e}], f: g}]}\n")
    assert kept == (
        True, ["a", (True, ["b", (False, [(True, ["c", None, "f", "g"])])])]
    )  # fmt: skip
