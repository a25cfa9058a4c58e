"""What a file is, as its name says: an output, answers, an archive, or nobody's work."""

import re

from autograder.submissions import archives

OUTPUT = re.compile(r".*(\.(out|err|er|log|txt|ou|stdout|stderr|output)|\.[oe]\d+|\.[oe])\Z", re.I)
ANSWERS = "answers.txt"
# What people and systems make of it: answers.txt.txt, Answers (1).txt, answers-2.txt, answers.md,
# answers, and what was typed into a platform's page.
LIKE_ANSWERS = re.compile(
    r"(?:my[-_ ])?answers?(?:[-_ ][\w() -]{1,40}| ?\(\d{1,3}\)|\d{1,3})?"
    r"(?:\.(?:txt|text|md|csv|tsv|json|ya?ml|ini|toml|rst))*\Z",
    re.IGNORECASE,
)
NO_TEXT = re.compile(
    r"(?:my[-_ ])?answers?(?![a-z]).*\.(?:docx?|odt|rtf|pdf|pages|xlsx?|ods|png|jpe?g)\Z", re.I
)
TYPED = "onlinetext.html"  # into Moodle's or Canvas's page
REPORT = "report.md"
HANDED_IN = "timestamp.txt"  # nbgrader writes into it when something was handed in
# Written by people or tools beside the outputs, not by jobs.
NO_OUTPUT = {"readme.txt", "requirements.txt", HANDED_IN, "license.txt", "submission.json"}


def is_wanted(name: str) -> bool:
    """Outputs of jobs, answers, a report; not programs, notebooks, pictures or checkpoints."""
    lower = name.lower()
    if lower in (HANDED_IN, REPORT) or is_answers(name):
        return True
    return lower not in NO_OUTPUT and (bool(OUTPUT.match(name)) or "." not in name)


def is_answers(name: str) -> bool:
    return name.lower() in (ANSWERS, TYPED) or bool(LIKE_ANSWERS.match(name))


def is_unread_answers(name: str) -> bool:
    """Answers as a word processor or a camera keeps them: there, and not to be read."""
    return bool(NO_TEXT.match(name))


def is_package(name: str) -> bool:
    return archives.is_archive(name) or archives.is_not_read(name)


def is_clutter(name: str) -> bool:
    """What systems and Python leave behind: nobody hands it in on purpose."""
    return name.startswith(".") or name in ("__MACOSX", "__pycache__")
