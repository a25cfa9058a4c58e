"""Find the programs that a job file starts, and what they import."""

import ast
import re
from collections.abc import Iterable, Set
from pathlib import Path


def programs_of(job_file: Path) -> list[Path]:
    """Return the Python programs that a job file names."""
    lines = job_file.read_text(errors="replace").splitlines()
    words = (re.sub("#.*", "", line) for line in lines)
    names = {name for line in words for name in re.findall(r"[\w./-]+\.py\b", line)}
    return [job_file.parent / name for name in sorted(names)]


def with_imports(programs: Iterable[Path]) -> set[Path]:
    """Return these programs and the files beside them that they import, directly or indirectly.

    A program that Python cannot read counts as importing every file beside it.
    """
    files: set[Path] = set()
    waiting = list(programs)
    while waiting:
        program = waiting.pop()
        if program in files or not program.is_file():
            continue
        files.add(program)
        try:
            names = imported_names(program)
        except (SyntaxError, ValueError):
            waiting += program.parent.glob("*.py")
        else:
            waiting += [program.with_name(f"{name}.py") for name in names]
    return files


def imported_names(program: Path) -> set[str]:
    """Return the top-level name of each module that a program imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(program.read_bytes())):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names


def imports_any(program: Path, packages: Set[str], *, if_unreadable: bool = True) -> bool:
    """Return whether a program, or a file beside it that it imports, imports one of `packages`."""
    return _imports_any(program, packages, if_unreadable, set())


def _imports_any(program: Path, packages: Set[str], if_unreadable: bool, seen: set[Path]) -> bool:
    seen.add(program)
    try:
        names = imported_names(program)
    except (OSError, SyntaxError, ValueError):
        return if_unreadable
    beside = (program.with_name(f"{name}.py") for name in sorted(names))
    return bool(names & packages) or any(
        file.is_file() and file not in seen and _imports_any(file, packages, if_unreadable, seen)
        for file in beside
    )
