"""Find the programs that a job file starts, and what they import."""

import ast
import re
from collections.abc import Iterable, Set
from hashlib import sha256
from pathlib import Path


def programs_of(job_file: Path) -> list[Path]:
    """Return the Python programs that a job file names."""
    lines = job_file.read_text(errors="replace").splitlines()
    words = (re.sub("#.*", "", line) for line in lines)
    names = {name for line in words for name in re.findall(r"[\w./-]+\.py\b", line)}
    return [job_file.parent / name for name in sorted(names)]


def hashes_of(job_file: Path) -> dict[str, str]:
    """Return a hash of a job file, of its programs, and of the files that these import, by name."""
    programs = programs_of(job_file) or job_file.parent.glob("*.py")  # it may run any of these
    files = {job_file, *filter(Path.is_file, with_imports(programs))}
    return {file.name: sha256(file.read_bytes()).hexdigest()[:16] for file in files}


def with_imports(programs: Iterable[Path]) -> dict[Path, set[str] | None]:
    """Return these programs and the files beside them that they import, directly or indirectly.

    Each has the names that it imports, or None if Python cannot read it.
    """
    found: dict[Path, set[str] | None] = {}
    waiting = list(programs)
    while waiting:
        if (program := waiting.pop()) in found:
            continue
        try:
            names = found[program] = imported_names(program)
        except (OSError, SyntaxError, ValueError):
            found[program] = None
        else:
            beside = (program.with_name(f"{name}.py") for name in names)
            waiting += [file for file in beside if file.is_file()]
    return found


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
    imports = with_imports([program]).values()
    return any(if_unreadable if names is None else names & packages for names in imports)
