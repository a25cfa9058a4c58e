"""Read outputs whose contents a test has made."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from autograder.reading.files import read_files
from autograder.reading.line_facts import Reader
from autograder.records import Run


def read_bytes(files: Mapping[str, bytes], formats: Sequence[Reader] = ()) -> list[Run]:
    """Return the runs in files, given as name -> contents."""
    with TemporaryDirectory() as home:
        paths = {Path(home, name): name for name in files}
        for path, name in paths.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(files[name])
        return read_files(paths, formats)
