"""Group files by job, using only their names, and find the error outputs of jobs."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePath

from autograder.submissions.walk import scan

# name.o123 and name.e123 as PBS and SGE write them; name.out, name.err and similar names
NUMBERED = re.compile(r"^(?P<stem>.{1,200})\.(?P<kind>[oe])(?P<job>\d{1,12})(?:\.\d{1,6})?$")
SUFFIX = re.compile(r"\.(?P<kind>out|err|o|e|log|txt|stdout|stderr|output|error)$", re.IGNORECASE)
ERROR_KINDS = {"e", "err", "stderr", "error"}
# the last number of at least four digits; the number of an array task may follow
JOB = re.compile(r"(?:^|[^\d])(?P<job>\d{4,12})(?P<task>_\d{1,5})?(?:[-_.]?[A-Za-z]{0,20})$")
DATE = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$")
SLURM = re.compile(r"^slurm-(?P<job>\d{1,12})(?P<task>_\d{1,5})?$")


@dataclass(frozen=True, slots=True)
class OutputName:
    """The facts in an output file's name."""

    shared: str  # the part that all files of its job share
    is_error: bool  # whether it is the job's error output
    job_id: str | None


def read(name: str) -> OutputName:
    path = PurePath(name)
    numbered = NUMBERED.match(path.name)
    if numbered:
        shared = f"{numbered['stem']}.{numbered['job']}"
        return OutputName(str(path.with_name(shared)), numbered["kind"] == "e", numbered["job"])
    base, is_error = path.name, False
    while (suffix := SUFFIX.search(base)) and suffix.start() > 0:
        is_error = is_error or suffix["kind"].lower() in ERROR_KINDS
        base = base[: suffix.start()]
    return OutputName(str(path.with_name(base)), is_error, job_id(base))


def job_id(base: str) -> str | None:
    """Return the job id in a file's name, unless it could also be a date or a time."""
    match = SLURM.match(base) or JOB.search(base)
    if match is None:
        return None
    job = match["job"]
    if DATE.match(job) or (
        len(job) in (4, 6) and DATE.search(base[: match.start("job")].rstrip("-_T"))
    ):
        return None
    return job + (match["task"] or "") if SLURM.match(base) else job


def by_job(names: Iterable[str]) -> list[list[str]]:
    """Return the files grouped by job, output before error output."""
    jobs: dict[str, list[tuple[bool, str]]] = {}
    for name in names:
        parts = read(name)
        jobs.setdefault(parts.shared, []).append((parts.is_error, name))
    return [
        [name for _, name in sorted(files, key=lambda file: file[0])] for files in jobs.values()
    ]


def with_error_outputs(paths: Iterable[Path]) -> list[Path]:
    """Return the files, each followed by its job's error output in the same folder.

    Often only the error output shows why a job ended.
    """
    listed = list(paths)
    beside = {folder: error_outputs(folder) for folder in {path.parent for path in listed}}
    known = {path.absolute() for path in listed}
    found = []
    for path in listed:
        errors = beside[path.parent].get(read(str(path)).shared, [])
        found += [path, *(error for error in errors if error.absolute() not in known)]
        known.update(error.absolute() for error in errors)
    return found


def error_outputs(folder: Path) -> dict[str, list[Path]]:
    """Return the non-empty error outputs in a folder, grouped by the job's shared file name."""
    found: dict[str, list[Path]] = {}
    try:
        files = [one.name for one in scan(folder) if one.is_file() and one.stat().st_size]
    except OSError:
        return {}
    for file in files:
        name = read(str(folder / file))
        if name.is_error:
            found.setdefault(name.shared, []).append(folder / file)
    return found
