"""Group files by job, using only their names, and find the error outputs of jobs."""

import re
from collections.abc import Collection, Iterable
from pathlib import Path, PurePath
from typing import NamedTuple

from autograder.grouping import grouped

# name.o123 and name.e123 as PBS and SGE write them; name.out, name.err and similar names
NUMBERED = re.compile(r"^(?P<stem>.{1,200})\.(?P<kind>[oe])(?P<job>\d{1,12})(?:\.\d{1,6})?$")
SUFFIX = re.compile(r"\.(?P<kind>out|err|o|e|log|txt|stdout|stderr|output|error)$", re.IGNORECASE)
ERROR_KINDS = {"e", "err", "stderr", "error"}
# the last number of at least four digits; the number of an array task may follow
JOB = re.compile(r"(?:^|[^\d])(?P<job>\d{4,12})(?P<task>_\d{1,5})?(?:[-_.]?[A-Za-z]{0,20})$")
DATE = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$")
SLURM = re.compile(r"^slurm-(?P<job>\d{1,12})(?P<task>_\d{1,5})?$")


class OutputName(NamedTuple):
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
    job = match["job"] if match else ""
    before = base[: match.start("job")].rstrip("-_T") if match else ""
    if not match or DATE.match(job) or (len(job) in (4, 6) and DATE.search(before)):
        return None
    return job + (match["task"] or "") if SLURM.match(base) else job


def by_job(names: Iterable[str]) -> list[list[str]]:
    """Return the files grouped by job, output before error output."""
    jobs = grouped((read(name).shared, name) for name in names)
    return [sorted(same, key=lambda name: read(name).is_error) for same in jobs.values()]


def with_error_outputs(paths: Collection[Path]) -> list[Path]:
    """Return the files, each followed by its job's error output in the same folder.

    Often only the error output shows why a job ended.
    """
    beside = (path for folder in {path.parent for path in paths} for path in folder.glob("*"))
    errors = grouped(
        (read(str(path)).shared, path)
        for path in sorted(beside)
        if read(str(path)).is_error and path.is_file() and path.stat().st_size
    )
    found = [one for path in paths for one in (path, *errors.get(read(str(path)).shared, ()))]
    return list(dict.fromkeys(found))
