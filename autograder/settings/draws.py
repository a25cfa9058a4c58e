"""Draw questions for each student from a pool, so that no two students have the same ones.

Anybody who knows the id, the term's key and the pool can draw again: the notebook does, and the
grader. The key is no secret. It makes the draws of two terms differ.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from autograder.errors import SettingsError
from autograder.settings.rubric_schema import Question, Rubric
from autograder.settings.strict_yaml import read_yaml

ID = "my_id"  # the answer with the id that the student typed
DRAWN = "my_draw"  # the answer with the items that the notebook drew by it
KEY_FILE = "term_key.txt"  # beside the rubrics of a release


def drawn(pool: Sequence[str], person: str, term_key: str, count: int) -> list[str]:
    """Return this person's items, in an order of their own."""

    def place(item: str) -> str:
        return hashlib.sha256("\n".join([term_key, same(person), item]).encode()).hexdigest()

    return sorted(pool, key=place)[:count]


def same(person: str) -> str:
    """Return the id without differences that do not matter: case, and the host of an address."""
    return person.strip().casefold().partition("@")[0]


def key_of_release(rubrics: Path) -> str:
    file = rubrics / KEY_FILE
    return file.read_text(encoding="utf-8").strip() if file.is_file() else ""


def with_items(rubric: Rubric, folder: Path) -> Rubric:
    """Return the rubric with the items that pools/NAME.yaml lists, and all questions about them."""
    pools = {}
    for name, pool in rubric.pools.items():
        path = folder / "pools" / f"{name}.yaml"
        items = read_yaml(path)[0] if path.is_file() else pool.items
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            raise SettingsError(f"{path}:1: expected a list of the pool's items, like [a01, a02]")
        pools[name] = pool.model_copy(update={"items": items})
    rubric = rubric.model_copy(update={"pools": pools})
    return rubric.model_copy(update={"answers": rubric.answers | about_items(rubric)})


def about_items(rubric: Rubric) -> dict[str, Question]:
    """Return the questions about all items of all pools, and the one for the student's id."""
    free = Question.model_validate({"ask": "Noted by the notebook.", "kind": "prediction"})
    found = dict.fromkeys((ID, DRAWN), free) if rubric.pools else {}
    for pool in rubric.pools.values():
        found |= {f"{item}_{part}": q for item in pool.items for part, q in pool.ask.items()}
    return found


def for_person(
    rubric: Rubric, given: Mapping[str, str], ids: Collection[str] | None, term_key: str
) -> Rubric:
    """Return the rubric with the questions that this person draws, and none of the others.

    given: the answers with the id, and with the items that the notebook drew. ids: those of the
    submission's owners, or None if it is not known who they are. A draw stays open if the id is
    missing or another person's, or if the notebook drew other items, as with another key.
    """
    stated, noted = given.get(ID, ""), given.get(DRAWN, "").split()
    if not same(stated) or (ids is not None and same(stated) not in map(same, ids)):
        return rubric
    checks = []
    for check in rubric.checks:
        if check.draw is not None:
            pool = rubric.pools[check.draw.pool]
            items = drawn(pool.items, stated, term_key, check.draw.count)
            if noted and {*noted} != {*items}:
                return rubric
            own = [f"{item}_{part}" for item in items for part in pool.ask]
            check = check.model_copy(update={"draw": None, "answers": own})
        checks.append(check)
    asked = {ID, DRAWN} | {answer for check in checks for answer in check.answers}
    others = about_items(rubric).keys() - asked
    answers = {key: question for key, question in rubric.answers.items() if key not in others}
    return rubric.model_copy(update={"checks": checks, "answers": answers})
