"""Read the outputs of one submission and return its runs, with the place of each problem."""

import io
from collections.abc import Iterable, Mapping, Sequence
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
    called = {str(path): name for path, name in names.items()}
    closed: list[Run] = []
    streams: dict[str, BinaryIO] = {}
    try:
        for path, name in called.items():
            try:
                streams[path] = open_regular(Path(path))
            except OSError as error:
                problem = unread(name, f"the file cannot be read: {why(error)}")
                closed.append(Run((name,), "unknown", Outcome.EMPTY, problems=(problem,)))
        return read_streams(streams, formats, called) + closed
    finally:
        for stream in streams.values():
            stream.close()


def read_bytes(files: Mapping[str, bytes], formats: Sequence[Reader] = ()) -> list[Run]:
    """Return the runs in files that are already in memory: name -> contents."""
    return read_streams({name: io.BytesIO(data) for name, data in files.items()}, formats, {})


def unread(name: str, reason: str) -> Problem:
    return Problem(Where(name, 0), "", reason, ProblemCode.UNREAD)


def read_streams(
    streams: Mapping[str, BinaryIO], formats: Sequence[Reader], called: Mapping[str, str]
) -> list[Run]:
    """Return the runs in files: path -> contents. `called` has the display names that differ."""
    launches = record.Launches()
    scanned: dict[str, ScannedFile] = {}
    # A job's own output has the job's number in its name, and its error output beside it. It is
    # read before `x (1).out` and `cat *.out > all.txt`, which are then recognised as copies.
    for path in sorted(streams, key=lambda path: output_names.read(path).job_id is None):
        name = called.get(path, path)
        try:
            scanned[path] = scan(name, streams[path], launches, formats)
        except OSError as error:
            scanned[path] = broken = ScannedFile(name)
            broken.problems.append(
                unread(name, f"the file cannot be read to its end: {why(error)}")
            )
    runs = []
    for paths in output_names.by_job(streams):
        runs += read_job([scanned[path] for path in paths], launches, formats)
    return runs
