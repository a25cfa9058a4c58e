"""Read the outputs of one submission and return its runs, with the place of each problem."""

import io
from collections.abc import Iterable, Mapping, Sequence
from os.path import basename, dirname
from pathlib import Path
from typing import BinaryIO

from autograder.codes import Outcome, ProblemCode
from autograder.reading.formats import record
from autograder.reading.formats.reader import Reader
from autograder.reading.one_job import read_job
from autograder.reading.scan import scan
from autograder.reading.scanned_file import ScannedFile
from autograder.records import Problem, Run, Where
from autograder.submissions import output_names
from autograder.submissions.regular_files import open_regular, why


def read_files(
    paths: Iterable[Path | str] | Mapping[Path, str], formats: Sequence[Reader] = ()
) -> list[Run]:
    """Return the runs in the outputs of one submission. A file's contents never cause an exception.

    If `paths` is a mapping, it gives the display name of each file.
    """
    names = paths if isinstance(paths, Mapping) else {Path(path): str(Path(path)) for path in paths}
    closed: list[Run] = []
    streams: dict[str, BinaryIO] = {}
    called: dict[str, str] = {}
    try:
        for path, name in names.items():
            called[str(path)] = name
            try:
                streams[str(path)] = open_regular(path)
            except OSError as error:
                problem = unread(name, f"the file cannot be read: {why(error)}")
                closed.append(Run((name,), "unknown", Outcome.EMPTY, problems=(problem,)))
        return read_streams(streams, formats, called) + closed
    finally:
        for stream in streams.values():
            stream.close()


def read_bytes(files: Mapping[str, bytes], formats: Sequence[Reader] = ()) -> list[Run]:
    """Return the runs in files that are already in memory: name -> contents."""
    return read_streams({name: io.BytesIO(data) for name, data in files.items()}, formats)


def unread(name: str, reason: str) -> Problem:
    return Problem(Where(name, 0), "", reason, ProblemCode.UNREAD)


def read_streams(
    streams: Mapping[str, BinaryIO],
    formats: Sequence[Reader] = (),
    called: Mapping[str, str] | None = None,
) -> list[Run]:
    launches = record.Launches()
    scanned: dict[str, ScannedFile] = {}
    names_of = called or {path: path for path in streams}

    def without_job(path: str) -> bool:
        return output_names.read(names_of[path]).job_id is None

    # A job's own output has the job's number in its name, and its error output beside it. It is
    # read before `x (1).out` and `cat *.out > all.txt`, which are then recognised as copies.
    for path in sorted(streams, key=without_job):
        name = names_of[path]
        try:
            scanned[path] = scan(name, streams[path], launches, formats)
        except OSError as error:
            scanned[path] = broken = ScannedFile(name)
            broken.problems.append(
                unread(name, f"the file cannot be read to its end: {why(error)}")
            )
    # Group by the student's own names, for files that are in the same folder.
    paths = {f"{dirname(path)}/{basename(names_of[path])}": path for path in streams}
    if len(paths) < len(scanned):
        paths = {path: path for path in streams}
    runs = []
    for names in output_names.by_job(paths):
        runs += read_job([scanned[paths[name]] for name in names], launches, formats)
    return runs
