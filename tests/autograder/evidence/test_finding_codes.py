"""The table of evidence findings: each code has a heading and is used."""

import re
from pathlib import Path

from autograder.codes import FindingCode
from autograder.evidence.checks import CHECKS

CODE = re.compile(r"\b(?:Finding)?Code\.([A-Z_]+)")
WITH_HEADING = {code.name for code in FindingCode if code.heading}


def codes_in(folder: str) -> set[str]:
    """Return the finding codes that a folder's modules use, apart from the tables themselves."""
    files = (file for file in Path(folder).rglob("*.py") if file.name != "codes.py")
    return {name for file in files for name in CODE.findall(file.read_text("utf-8"))}


def test_each_code_of_evidence_has_a_heading():
    assert codes_in("autograder/evidence") <= WITH_HEADING


def test_each_finding_code_is_used():
    assert {code.name for code in FindingCode} <= codes_in("autograder")


def test_each_check_has_its_own_code():
    assert len({check.code for check in CHECKS}) == len(CHECKS) > 9
