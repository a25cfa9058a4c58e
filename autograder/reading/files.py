"""Read the outputs of one submission and return its runs, with the place of each problem."""

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from autograder.codes import FindingCode
from autograder.reading.formats import presets, record
from autograder.reading.line_facts import Reader
from autograder.reading.one_job import read_job
from autograder.reading.scan import scan
from autograder.reading.scanned_file import ScannedFile
from autograder.records import Run
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
    return read_opened(called, lambda path: open_regular(Path(path)), formats)


def read_bytes(files: Mapping[str, bytes], formats: Sequence[Reader] = ()) -> list[Run]:
    """Return the runs in files that are already in memory: name -> contents."""
    return read_opened(
        {name: name for name in files}, lambda name: io.BytesIO(files[name]), formats
    )


def read_opened(
    names: Mapping[str, str], open_file: Callable[[str], BinaryIO], formats: Sequence[Reader]
) -> list[Run]:
    """Return the runs in files, given as path -> display name."""
    launches, readers = record.Launches(), (*formats, *presets.readers())
    scanned: dict[str, ScannedFile] = {}
    # A job's own output has the job's number in its name, and its error output beside it. It is
    # read before `x (1).out` and `cat *.out > all.txt`, which are then recognised as copies.
    for path in sorted(names, key=lambda path: output_names.read(path).job_id is None):
        name = names[path]
        try:
            with open_file(path) as stream:
                scanned[path] = scan(name, stream, launches, readers)
        except OSError as error:
            scanned[path] = unread = ScannedFile(name)
            unread.complain(
                0, "", f"the file cannot be read: {why(error)}", FindingCode.FILE_UNREADABLE
            )
    runs = []
    for paths in output_names.by_job(names):
        runs += read_job([scanned[path] for path in paths], launches, readers)
    return runs
