"""`autograder merge`: combine the parts that `grade --shard` made into a class.

The result is byte-identical to that of grading the whole class at once. Nothing is graded here.
Findings that need all students, such as a run that two of them submitted, are added here.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from autograder.classroom import kept
from autograder.classroom.one_grader import whole_class
from autograder.classroom.shards import (
    FILES,
    GradedShard,
    Shard,
    check_alike,
    class_fingerprint,
    read_shard,
)
from autograder.commands.finish import finish_class
from autograder.commands.grade import check_apart
from autograder.commands.load import fingerprints, load
from autograder.commands.options import FOLDER, GRADED, class_options, options_of
from autograder.errors import SettingsError
from autograder.report import programs
from autograder.report.student_files import FOLDERS
from autograder.settings.class_file import read_class_file
from autograder.submissions import manifest
from autograder.wording import enumerated
from autograder.writing import write_bytes_if_new


@click.command(epilog=GRADED)
@click.argument("parts", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--out", type=FOLDER, required=True, help="Folder for pages and tables.")
@class_options
def merge_command(
    parts: tuple[Path, ...], out: Path, class_file: Path | None, **given: Any
) -> None:
    """Combine the folders PARTS that `grade --shard` wrote. Give the same options as for grading.

    Give class.yaml with --class.
    """
    if class_file and (class_file.parent / manifest.NAME).exists():
        check_apart(class_file.parent, out)
    options = options_of(read_class_file(class_file), given)
    found = [part for path in parts for part in parts_in(path)]
    check_complete(found)
    everybody = {row.student for part in found for done in part.done for row in done.rows}
    check_alike(found, fingerprints(options) | class_fingerprint(everybody))
    loaded = load(options)
    names = loaded.pseudonyms(everybody)
    done = sorted((one for part in found for one in part.done), key=lambda one: one.unit)
    with whole_class(out):
        for part in found:
            copy_pages(part, out, options.junit)
        for one in done:
            kept.keep(out, one)
        finish_class(done, loaded, out, names)


def parts_in(path: Path) -> list[GradedShard]:
    files = sorted(path.glob(FILES)) if path.is_dir() else [path]
    if not files:
        raise SettingsError(
            f"{path} holds no shard-I-of-N.jsonl, which `autograder grade --shard` writes when it "
            "is done: grade that shard again"
        )
    parts = [(file, read_shard(file)) for file in files]
    for file, part in parts:
        if part is None:
            raise SettingsError(f"{file} is damaged or of another version: grade that shard again")
    return [part for _, part in parts if part]


def check_complete(parts: Sequence[GradedShard]) -> None:
    """Check that every part is there exactly once, and that all parts are from the same class."""
    first = parts[0]
    there = {one.shard: one for one in parts}
    for one in parts:
        if one.shard.of != first.shard.of:
            raise SettingsError(
                f"shards of different splits: {first.path} is {first.shard}, {one.path} is "
                f"{one.shard}. Name only those of one split"
            )
        if (other := there[one.shard]) is not one:
            raise SettingsError(f"shard {one.shard} is given twice: {one.path} and {other.path}")
    split = [Shard(number, first.shard.of) for number in range(1, first.shard.of + 1)]
    if missing := [str(shard) for shard in split if shard not in there]:
        verb = "is" if len(missing) == 1 else "are"
        raise SettingsError(
            f"shard {enumerated(missing)} {verb} missing: grade it, or name its folder"
        )


def copy_pages(part: GradedShard, out: Path, junit: bool) -> None:
    """Copy the students' pages and records. A folder can be merged into itself."""
    source = part.path.parent
    if out.exists() and source.samefile(out):
        return
    pages = {row.page for done in part.done for row in done.rows if row.page}
    changed = {row.page for done in part.done for row in done.rows if row.programs}
    for page in sorted(pages):
        names = [
            Path(folder, page).with_suffix(suffix)
            for folder, suffix in FOLDERS.items()
            if folder != "junit" or junit
        ]
        if page in changed:
            names += programs.files(Path(), page)
        else:
            programs.remove(out, page)
        for name in names:
            try:
                data = (source / name).read_bytes()
            except FileNotFoundError:
                raise SettingsError(
                    f"{source} lacks {name}: grade shard {part.shard} again"
                ) from None
            write_bytes_if_new(out / name, data)
