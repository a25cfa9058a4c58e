"""Whether a word answers a question, found out without the answer: by a hash of the right one.

`lessons build` writes the hashes. They keep answers out of sight, so nobody reads one by accident.
Trying all of five letters finds one, too; points come from the grader, which has the answers.
"""

import hashlib
import json
from functools import cache
from pathlib import Path

from autograder.settings.rubric_schema import Question
from autograder.submissions.answers import as_word

HASHES = Path(__file__).with_name("answer_hashes.json")
NO_HINT = "read the question and the text above it once more"


@cache
def hashes() -> dict[str, dict[str, str]]:
    """Return lesson -> question -> hash of the right word."""
    return json.loads(HASHES.read_text(encoding="utf-8")) if HASHES.is_file() else {}


def word_hash(lesson: str, question: str, word: str) -> str:
    """Return the same for all ways to write the word; the salt is the question's own."""
    salt = hashlib.blake2b(f"{lesson} {question}".encode(), digest_size=16).digest()
    return hashlib.blake2b(as_word(word).encode(), salt=salt, digest_size=8).hexdigest()


def hint(lesson: str, name: str, question: Question, text: str) -> str:
    """Return the hint for a wrong word; empty when it is right or nobody knows here."""
    right = hashes().get(lesson, {}).get(name)
    if right is None or word_hash(lesson, name, text) == right:
        return ""
    return question.try_ or NO_HINT
