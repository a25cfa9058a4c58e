"""Read the run record's lines about the program that ran."""

from typing import Any

from autograder.records import Program

MOST_FILES = 200
LONGEST_NAME, LONGEST_HASH = 200, 32


def with_files(known: Program | None, value: dict[str, Any]) -> Program:
    """Return the program with the facts of one more line. The first statement of a fact counts."""
    files = dict(known.files) if known else {}
    told = value.get("files")
    for name, hash_ in told.items() if isinstance(told, dict) else ():
        if len(files) < MOST_FILES:
            files.setdefault(name[:LONGEST_NAME], a_hash(hash_))
    if known:
        return Program(known.main, known.toolkit, files)
    main = value.get("main")
    main = main[:LONGEST_NAME] if isinstance(main, str) else None
    return Program(main, a_hash(value.get("toolkit")), files)


def a_hash(value: Any) -> str | None:
    return value if isinstance(value, str) and 0 < len(value) <= LONGEST_HASH else None
