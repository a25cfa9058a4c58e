"""Read what jobs printed: files of one submission in, runs with located problems out."""

import io
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from autograder.reading.formats import record
from autograder.reading.formats.reader import Reader
from autograder.reading.one_job import read_job
from autograder.reading.scan import scan
from autograder.reading.scanned_file import ScannedFile
from autograder.records import Problem, Run, Where
from autograder.submissions import output_names


def read_files(paths: Iterable[Path | str], formats: Sequence[Reader] = ()) -> list[Run]:
    """The runs in the outputs of one submission. Nothing in a file makes this raise."""
    unread: list[Run] = []
    streams: dict[str, BinaryIO] = {}
    try:
        for path in map(Path, paths):
            try:
                if stat.S_ISREG(path.stat().st_mode):
                    streams[str(path)] = path.open("rb")
                    continue
                reason = "this is no regular file"
            except OSError as error:
                reason = f"the file cannot be read: {error.strerror}"
            unread.append(not_read(str(path), reason))
        return read_streams(streams, formats) + unread
    finally:
        for stream in streams.values():
            stream.close()


def read_bytes(files: Mapping[str, bytes], formats: Sequence[Reader] = ()) -> list[Run]:
    """The same for what is in memory already: name -> what the file holds."""
    return read_streams({name: io.BytesIO(data) for name, data in files.items()}, formats)


def not_read(name: str, reason: str) -> Run:
    return Run((name,), "unknown", "empty", problems=(Problem(Where(name, 0), "", reason),))


def read_streams(streams: Mapping[str, BinaryIO], formats: Sequence[Reader] = ()) -> list[Run]:
    launches = record.Launches()
    scanned: dict[str, ScannedFile] = {}
    for name, stream in streams.items():
        try:
            scanned[name] = scan(name, stream, launches, formats)
        except OSError as error:
            scanned[name] = broken = ScannedFile(name)
            broken.complain(0, "", f"the file cannot be read to its end: {error.strerror}")
    runs = []
    for names in output_names.by_job(scanned):
        runs += read_job([scanned[name] for name in names], launches, formats)
    return runs
