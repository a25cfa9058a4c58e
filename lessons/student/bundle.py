"""Choose the files of a lesson's folder that go into the submitted zip."""

import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import click

from autograder.submissions import kinds
from autograder.submissions.kinds import REPORT, Kind
from lessons.folders import LESSON_NAME

# Bytes of all files; outputs are text, and those of a lesson are far below 1 MB.
LARGEST = 50_000_000
NOT_ENTERED = {"checkpoints", "data", "build", "incidents", "records", "__pycache__"}
PICTURE = "study.png"  # of the report
KINDS = {".ipynb": "notebook", ".py": "programs", ".sbatch": "job files", ".sh": "job files"}


@dataclass
class Bundle:
    """The files that go into the zip, by kind, and those left out."""

    folder: Path
    files: dict[str, list[Path]] = field(default_factory=dict)  # kind -> paths in the folder
    left_out: list[str] = field(default_factory=list)

    def everything(self) -> list[Path]:
        return [path for paths in self.files.values() for path in paths]


def choose_files(folder: Path, target: Path) -> Bundle:
    bundle = Bundle(folder)
    for relative, reason in walk(folder, Path()):
        if (folder / relative).absolute() == target.absolute():
            continue  # an earlier zip, which this one replaces
        kind = kind_of(relative)
        if kind is None or reason:
            bundle.left_out.append(f"{relative}{reason}")
        else:
            bundle.files.setdefault(kind, []).append(relative)
    return bundle


def walk(folder: Path, inside: Path) -> Iterator[tuple[Path, str]]:
    """Yield the files below the folder, each with the reason why it cannot be included, or ""."""
    for path in sorted((folder / inside).iterdir()):
        relative = inside / path.name
        if path.name.startswith(".") or path.name in NOT_ENTERED:
            continue
        if path.is_symlink():
            yield relative, " (a link)"
        elif path.is_dir():
            yield from walk(folder, relative)
        elif not stat.S_ISREG(path.lstat().st_mode):
            yield relative, " (no regular file)"
        else:
            yield relative, ""


def kind_of(path: Path) -> str | None:
    """Return the kind of a file by the grader's own rules, which accept answers.txt.txt too."""
    if path.name in (REPORT, PICTURE):
        return "report"
    if path.suffix in KINDS:
        return KINDS[path.suffix]
    kind = kinds.kind_of(path.name)
    if kind in (Kind.OUTPUT, Kind.TIMESTAMP):
        return "outputs"
    return "answers" if kind == Kind.ANSWERS else None


def read_bundle(bundle: Bundle, lesson: str) -> dict[str, bytes]:
    """Return the contents of all files by their names in the zip.

    A file that cannot be read is an error.
    """
    name = bundle.folder.name
    top = name if LESSON_NAME.fullmatch(name) else f"{lesson}_{name}"  # the grader reads the number
    sizes = {path: (bundle.folder / path).stat().st_size for path in bundle.everything()}
    if sum(sizes.values()) > LARGEST:
        largest = max(sizes, key=lambda path: sizes[path])
        raise click.ClickException(
            f"The files are too large to submit: {sum(sizes.values()) / 1e6:.0f} MB, and at most "
            f"{LARGEST / 1e6:.0f} MB are allowed. The largest file is {largest} with "
            f"{sizes[largest] / 1e6:.0f} MB: is it an output?"
        )
    try:
        return {f"{top}/{path.as_posix()}": (bundle.folder / path).read_bytes() for path in sizes}
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror}.") from error


def dates_of(bundle: Bundle, contents: Iterable[str]) -> dict[str, float]:
    """Return the modification times of the files, by their names in the zip."""
    paths = zip(contents, bundle.everything(), strict=True)
    return {name: (bundle.folder / path).stat().st_mtime for name, path in paths}
