"""Gradescope's metadata: aliases that expand without end match nobody; Ruby's format is read."""

import pytest

from autograder.collect.download import listed
from autograder.collect.gradescope import items, read_export
from autograder.settings.claims import nobody
from tests.autograder.submissions.downloads import below, work, write

ALIASES = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
BEGIN = ["submission_1:", "  :submitters:"]


@pytest.mark.parametrize(
    "lines",
    [
        ["a0: &a0 [x, x]", *ALIASES, *BEGIN, "  - :name: *a9"],
        ["a0: &a0 [x, x]", *ALIASES, "submission_1:", "  :submitters: *a9"],
        [*BEGIN, "  - :name: [Ada, Ben]", "    :email: {a: b}"],
        [*BEGIN, f"  - :name: {'x' * 5000}"],
        [*BEGIN, "  - :name: " + "[" * 280],
        ["submission_1: " + "[" * 100_000],
        ["submission_1: " + "- " * 100_000],
    ],
    ids=["an alias", "aliases as a list", "no words", "long", "deep", "very deep", "dashes"],
)
def test_metadata_that_asks_for_too_much_names_nobody(tmp_path, lines):
    """There is no timeout: if the aliases were expanded, this test would not end."""
    told = {"submission_metadata.yml": "\n".join(lines).encode()}
    place = write(tmp_path, "export", below("submission_1", work("ada")) | told)
    [item] = items(place, listed(place), nobody)
    assert item.claims[0].spelt in ("submission_1", "submission")


def test_metadata_as_ruby_writes_it(tmp_path):
    """Ruby writes a repeated object as an alias.

    Everything nested deeper than the names is ignored.
    """
    path = tmp_path / "submission_metadata.yml"
    path.write_text(
        "---\nsubmission_1:\n  :submitters: &1\n  - :name: Ada\n    :sid: 0012\n    :email: ~\n"
        "  - :name: \"Zo\\u00eb\"\n    :sid: ''\n    :email: zoe@example.org\n"
        "  :created_at: &2 2026-03-01 20:00:00.123456789 Z\n  :results: {a: {b: {c: {d: e}}}}\n"
        "  :history:\n  - :created_at: *2\n    :submitters: *1\n"
        "submission_2:\n  :created_at: 2026-02-31 20:00:00 Z\n  :submitters: []\n"
    )
    told = read_export(path)
    ada, zoe, *_ = told["submission_1"].people
    assert (ada["name"], ada["sid"], ada["email"], zoe["name"]) == ("Ada", "0012", "", "Zoë")
    assert told["submission_1"].created == "2026-03-01 20:00:00.123456+00:00"
    assert (told["submission_2"].people, told["submission_2"].created) == ([], "")
