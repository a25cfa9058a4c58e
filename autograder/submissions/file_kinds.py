"""What a file is, as its name says: an output, answers, an archive, or nobody's work."""

import re

from autograder.submissions import archives

OUTPUT = re.compile(r".*(\.(out|err|er|log|txt|ou|stdout|stderr|output)|\.[oe]\d+|\.[oe])\Z", re.I)
ANSWERS = "answers.txt"
REPORT = "report.md"
HANDED_IN = "timestamp.txt"  # nbgrader writes into it when something was handed in
# Written by people or tools beside the outputs, not by jobs.
NO_OUTPUT = {"readme.txt", "requirements.txt", HANDED_IN, "license.txt", "submission.json"}


def is_wanted(name: str) -> bool:
    """Outputs of jobs, answers, a report; not programs, notebooks, pictures or checkpoints."""
    lower = name.lower()
    if lower in (ANSWERS, HANDED_IN, REPORT):
        return True
    return lower not in NO_OUTPUT and (bool(OUTPUT.match(name)) or "." not in name)


def is_package(name: str) -> bool:
    return archives.is_archive(name) or archives.is_not_read(name)


def is_clutter(name: str) -> bool:
    """What systems and Python leave behind: nobody hands it in on purpose."""
    return name.startswith(".") or name in ("__MACOSX", "__pycache__")
