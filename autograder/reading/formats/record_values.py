"""Decode a run record's lines, and read their values.

Each fact has the type of its field in `records`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from hashlib import blake2b
from typing import Any

from pydantic_core import from_json

from autograder.reading.printed_numbers import count
from autograder.records import (
    HEADER_FACTS,
    NO_HEADER,
    DataSet,
    Header,
    MeasureEvent,
    Program,
    Rank,
    RunEnd,
    Where,
    plain_number,
)

TAG = b":::MLLOG "
LONGEST = 1 << 16  # bytes of a line
Complain = Callable[[str, str], None]  # called with a fact's name and what is wrong with its value
ReadAs = tuple[Callable[[Any], Any], str]  # returns the fact or None; what the value should be
TEXT = "a text"
LONGEST_TEXT, LONGEST_NAME, LONGEST_HASH = 400, 200, 32
MOST_FILES, MOST_WORDS = 200, 1_000
MOST_PARTS = 100  # slices of a rank, and classes of samples

# [start, stop, step]. As in Python, a stop of null is the end of the data set.
Slice = tuple[int, int | None, int]


class BadLineError(ValueError):
    """A tagged line that cannot be trusted. Students read the message."""


def decode(payload: bytes) -> dict[str, Any]:
    """Return the JSON object of a tagged line. NaN is refused.

    If a member is repeated, the last one counts, as in MLPerf's parser.
    """
    if len(payload) > LONGEST:
        raise BadLineError(f"the record line is longer than {LONGEST} bytes")
    try:
        event = from_json(payload, allow_inf_nan=False)
    except ValueError:
        raise BadLineError("the record line is damaged: it is not a whole JSON object") from None
    if type(event) is not dict:
        raise BadLineError("the record line is not a JSON object")
    return event


def text(value: Any) -> str | None:
    """Return the value as text.

    Values of other types are converted with `str`, so they never equal an expected text.
    """
    return str(value)[:LONGEST_TEXT] if value or value == "" else None


def only_text(value: Any) -> str | None:
    return value[:LONGEST_TEXT] if isinstance(value, str) else None


def a_hash(value: Any) -> str | None:
    return value if isinstance(value, str) and 0 < len(value) <= LONGEST_HASH else None


def argument(value: Any) -> str | None:
    """Return a command-line argument unchanged, because reruns need it letter for letter."""
    return value if isinstance(value, str) else None


def job_id(value: Any) -> str | None:
    return str(value)[:64] if type(value) is str or type(value) is int else None


def slice_of(value: Any) -> Slice | None:
    if not isinstance(value, list) or len(value) != 3:
        return None
    start, stop, step = count(value[0]), count(value[1]), count(value[2], 1)
    if start is None or step is None or (stop is None and value[1] is not None):
        return None
    return start, stop, step


def list_of(read: Callable[[Any], Any], least: int, most: int) -> Callable[[Any], Any]:
    """Return a function that reads a list. It returns None if one of the values is not valid."""

    def read_list(value: Any) -> tuple[Any, ...] | None:
        if not isinstance(value, list) or not least <= len(value) <= most:
            return None
        items = tuple(map(read, value))
        return None if None in items else items

    return read_list


READ_AS: dict[Any, ReadAs] = {
    str | None: (text, TEXT),
    float | None: (plain_number, "a number"),
    int | None: (count, "a whole number"),
    bool | None: (lambda value: value if type(value) is bool else None, "true or false"),
    tuple[str, ...] | None: (list_of(str, 0, MOST_WORDS), "a list"),
    tuple[int, ...] | None: (list_of(count, 1, MOST_PARTS), "a list of whole numbers"),
    tuple[Slice, ...] | None: (list_of(slice_of, 1, MOST_PARTS), "a list of slices"),
}
# Other modules read these. Any other fact must have a type in READ_AS, or the import fails.
READ_ELSEWHERE = ("dataset", "others", "rank", "where")
FACTS: dict[type, dict[str, ReadAs]] = {
    kind: {
        fact.name: READ_AS[fact.type] for fact in fields(kind) if fact.name not in READ_ELSEWHERE
    }
    for kind in (Header, DataSet, RunEnd, Rank)
}
FACTS[Header] |= {
    "job_id": (job_id, "a number or text"),
    "arguments": (list_of(argument, 0, MOST_WORDS), "a list of texts"),
}
FACTS[Rank] |= {
    name: (only_text, TEXT) for name, (_, expected) in FACTS[Rank].items() if expected == TEXT
}


def typed(kind: type, value: Mapping[str, Any], complain: Complain | None = None) -> dict[str, Any]:
    """Return the facts that have a value of the right type. Faulty facts are reported."""
    facts = {}
    for name, stated in value.items():
        if name in FACTS[kind] and stated is not None:
            read, expected = FACTS[kind][name]
            fact = read(stated)
            if fact is not None:
                facts[name] = fact
            is_faulty = fact is None or (expected == TEXT and type(stated) is not str)
            if is_faulty and complain:
                complain(name, f"`{name}` should be {expected}, but is {stated!r:.40}")
    return facts


def header_of(value: Mapping[str, Any], complain: Complain) -> Header:
    """Return the header. Faulty facts are reported to `complain`."""
    facts = typed(Header, value, complain)
    dataset = value.get("dataset")
    if isinstance(dataset, dict):
        facts["dataset"] = DataSet(**typed(DataSet, dataset, complain))
    others = {name: fact for name, fact in value.items() if name not in HEADER_FACTS}
    return Header(**facts, others=others) if value else NO_HEADER


def measure_of(
    value: Mapping[str, Any], where: Where | None = None, written_ms: float | None = None
) -> MeasureEvent:
    name, unit = text(value.get("name")) or "", text(value.get("unit")) or ""
    return MeasureEvent(name, plain_number(value.get("value")), unit, value, where, written_ms)


def what_was_read(value: Any) -> dict[str, Any]:
    """Return an epoch's facts about the samples that its steps read."""
    members = value if isinstance(value, dict) else {}
    order = only_text(members.get("order"))
    return {"read_most": count(members.get("most")), "read_order": order}


def with_files(known: Program | None, value: dict[str, Any]) -> Program:
    """Return the program with the facts of one more line added.

    If a fact is stated twice, the first statement counts.
    """
    if known is None:
        known = Program(only_text(value.get("main")), a_hash(value.get("toolkit")))
    files, stated = dict(known.files), value.get("files")
    for name, hash_ in stated.items() if isinstance(stated, dict) else ():
        if len(files) < MOST_FILES:
            files.setdefault(name[:LONGEST_NAME], a_hash(hash_))
    return replace(known, files=files)


CHAIN = b',"chain":'
DIGITS = 12


@dataclass(slots=True)
class Chain:
    """The lines of one rank that have been read so far."""

    seed: bytes  # for the next line: the hash stated in the last line, or the run's id
    broken: bool = False
    lines: list[bytes] = field(default_factory=list)  # hashes of the lines
    copied: int = 0  # how many of them the current copy has repeated

    def repeats(self, payload: bytes) -> bool:
        """Return whether this line continues a copy that repeats the record from its first line.

        An edited line is not a copy, and breaks the chain.
        """
        line = blake2b(payload, digest_size=8).digest()
        for at in (self.copied, 0):
            if line in self.lines[at : at + 1]:
                self.copied = at + 1
                return True
        self.copied = 0
        return False

    def breaks(self, payload: bytes, stated: Any) -> bool:
        """Add a line, and return whether it is the first line whose recorded hash is wrong.

        A line's stated hash is the seed of the next line, so a single change breaks the chain only
        once or twice, not in the rest of the file.
        """
        self.lines.append(blake2b(payload, digest_size=8).digest())
        line = payload[: payload.rfind(CHAIN)] if CHAIN in payload else payload
        expected = blake2b(self.seed + line).hexdigest()[:DIGITS]
        is_chain = isinstance(stated, str) and len(stated) == DIGITS
        self.seed = (stated if is_chain else expected).encode()
        is_first = stated != expected and not self.broken
        self.broken = self.broken or is_first
        return is_first
