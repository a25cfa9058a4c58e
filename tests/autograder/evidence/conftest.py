"""Fixtures of the tests of evidence."""

import json

import pytest


@pytest.fixture
def graded(tmp_path, grade):
    """Return a function that grades one student and gives the record and the output folder."""

    def command(*options):
        result = grade(tmp_path / "class", *options)
        [path] = (result.folder / "records").glob("ada.json")
        [found] = json.loads(path.read_text())["grades"]
        [row] = json.loads((result.folder / "grades.json").read_text())["grades"]
        found["look"] = row["look"]
        found["codes"] = [finding["code"] for finding in found["findings"]]
        return found, result.folder

    return command
