"""The table of evidence findings; titles.txt is the only test that repeats their titles.

python -m tests.autograder.evidence.test_finding_codes      # after a change of wording
"""

import re
from pathlib import Path

from autograder.codes import FindingCode
from autograder.evidence.checks import CHECKS

SNAPSHOT = Path(__file__).parent / "titles.txt"
CODE = re.compile(r"\b(?:Finding)?Code\.([A-Z_]+)")
TO_REWRITE = (
    "run python -m tests.autograder.evidence.test_finding_codes, and look at the difference"
)
WITH_HEADING = [code for code in FindingCode if code.heading]


def titles() -> str:
    return "".join(f"{code}: {code.heading}\n" for code in WITH_HEADING)


def codes_in(folder: str) -> set[str]:
    """Return the finding codes that a folder's modules use, apart from the tables themselves."""
    files = (file for file in Path(folder).rglob("*.py") if file.name != "codes.py")
    return {name for file in files for name in CODE.findall(file.read_text("utf-8"))}


def test_the_titles_are_those_of_the_snapshot():
    assert titles() == SNAPSHOT.read_text("utf-8"), TO_REWRITE


def test_each_code_of_evidence_has_a_heading():
    assert codes_in("autograder/evidence") <= {code.name for code in WITH_HEADING}


def test_each_finding_code_is_used():
    assert {code.name for code in FindingCode} <= codes_in("autograder")


def test_each_check_has_its_own_code():
    assert len({check.code for check in CHECKS}) == len(CHECKS) > 9


if __name__ == "__main__":
    SNAPSHOT.write_text(titles(), "utf-8")
