"""Which patterns some line could keep busy for ever, so that no rubric may bring them."""

import re
import re._constants as op  # type: ignore[import-not-found]
from collections.abc import Iterable
from typing import Any

LONGEST_LINE = 1000  # characters of a line that these patterns see
MOST_STEPS = 10_000_000  # about a tenth of a second
REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT)


def runaway(tree: Any) -> str | None:
    """Why some line could keep the pattern busy for long."""
    for code, value in nodes(tree):
        if code in (op.GROUPREF, op.GROUPREF_EXISTS):
            return "a group may not be repeated by reference"
        if code in (op.ASSERT, op.ASSERT_NOT):
            return "it may not look ahead or behind"
        if code in REPEATS and value[1] > 1:
            inner = {code for code, _ in nodes(value[2])}
            if inner & {*REPEATS, op.BRANCH}:
                return "what is repeated may not hold a repetition or a choice, as in (a+)+"
    if steps(flat(tree)) > MOST_STEPS:
        return (
            "a line could keep it busy for too long, because parts of it that match many "
            "characters follow each other; say how many there may be, as in \\d{1,6} and .{0,40}"
        )
    return None


def steps(items: list[tuple[Any, Any]]) -> int:
    """Steps of the worst line, roughly. A repetition that ends where the next part cannot begin
    has one way to match; of others every length is tried, with every length of those after."""
    ways, longest = 1, 1
    for place, (code, value) in enumerate(items):
        if code is op.BRANCH:
            ways *= len(value[1]) * max(steps(flat(branch)) // LONGEST_LINE for branch in value[1])
        if code not in REPEATS or value[0] == value[1]:
            continue
        most = min(int(value[1]), LONGEST_LINE)
        after = first(items[place + 1 :])
        if after is None:
            continue
        if after & (first(flat(value[2])) or ANYTHING):
            ways *= most
        else:
            longest = max(longest, most)
    words = 0
    while words < len(items) and items[words][0] is op.LITERAL:
        words += 1
    return LONGEST_LINE // max(words, 1) * ways * longest


# ASCII, and a digit, a blank, a letter and a mark for all the rest
SAMPLES = [*map(chr, range(128)), "\u0663", "\u2003", "\u00e9", "\u2014"]
ANYTHING = frozenset(range(len(SAMPLES)))
BEYOND_ASCII = frozenset(range(128, len(SAMPLES)))


def first(items: list[tuple[Any, Any]]) -> frozenset[int] | None:
    """The characters with which these parts can begin; None if they can be nothing at all."""
    characters: frozenset[int] = frozenset()
    for code, value in items:
        if code is op.AT:
            continue
        if code in REPEATS:
            characters |= first(flat(value[2])) or ANYTHING
            if value[0] == 0:
                continue
            return characters
        if code is op.BRANCH:
            branches = [first(flat(branch)) for branch in value[1]]
            for of_branch in branches:
                characters |= of_branch or ANYTHING
            if None in branches:
                continue
            return characters
        return characters | characters_of(code, value)
    return None


def characters_of(code: Any, value: Any) -> frozenset[int]:
    if code is op.LITERAL:
        return frozenset([value]) if value < 128 else BEYOND_ASCII
    if code is op.RANGE:
        ascii_ = frozenset(range(value[0], min(value[1], 127) + 1))
        return ascii_ | BEYOND_ASCII if value[1] > 127 else ascii_
    if code is op.CATEGORY:
        return CATEGORIES.get(value, ANYTHING)
    if code is op.IN:
        negated = value[0][0] is op.NEGATE
        named = [characters_of(*item) for item in value if item[0] is not op.NEGATE]
        characters = frozenset[int]().union(*named)
        if not negated:
            return characters
        only_samples = any(item[0] is not op.CATEGORY for item in value[1:])
        return ANYTHING - (characters - BEYOND_ASCII if only_samples else characters)
    return ANYTHING


def matching(pattern: str) -> frozenset[int]:
    return frozenset(place for place, sample in enumerate(SAMPLES) if re.match(pattern, sample))


CATEGORIES = {
    op.CATEGORY_DIGIT: matching(r"\d"),
    op.CATEGORY_NOT_DIGIT: matching(r"\D"),
    op.CATEGORY_SPACE: matching(r"\s"),
    op.CATEGORY_NOT_SPACE: matching(r"\S"),
    op.CATEGORY_WORD: matching(r"\w"),
    op.CATEGORY_NOT_WORD: matching(r"\W"),
}


def flat(tree: Any) -> list[tuple[Any, Any]]:
    """The parts of a pattern one after the other, groups opened."""
    parts: list[tuple[Any, Any]] = []
    for code, value in tree:
        if code is op.SUBPATTERN:
            parts += flat(value[3])
        elif code is op.ATOMIC_GROUP:
            parts += flat(value)
        else:
            parts.append((code, value))
    return parts


def nodes(tree: Any) -> Iterable[tuple[Any, Any]]:
    """Every part of a pattern, at any depth."""
    for code, value in tree:
        yield code, value
        if code in REPEATS or code is op.POSSESSIVE_REPEAT:
            yield from nodes(value[2])
        elif code is op.SUBPATTERN:
            yield from nodes(value[3])
        elif code is op.BRANCH:
            for branch in value[1]:
                yield from nodes(branch)
        elif code is op.ATOMIC_GROUP:
            yield from nodes(value)
