"""The runs of one lesson, from all that a student handed in for it, as the student knows its files.

A folder is read where it lies unpacked, under names that nobody has seen; what is said of a run
names the files as they were handed in.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from autograder.reading.files import read_files
from autograder.reading.formats.reader import Reader
from autograder.reading.line_facts import EPOCH_NUMBERS
from autograder.records import Epoch, Number, Run, Where
from autograder.submissions.folders import MOST_FINDINGS, Folder
from autograder.submissions.regular_files import unreadable
from autograder.verdict import Finding


def read_runs(folder: Folder, formats: Sequence[Reader] = ()) -> list[Run]:
    """The runs of a lesson, in the usual formats and in those that it brings of its own."""
    names = {str(path): name for path, name in folder.outputs.items()}
    runs = [with_students_names(run, names) for run in read_files(folder.outputs, formats)]
    beside: dict[PurePath, list[str]] = {}
    for name in names.values():
        beside.setdefault(PurePath(name).with_suffix(""), []).append(name)
    return [replace(run, files=with_error_files(run.files, beside)) for run in runs]


def not_read(runs: Sequence[Run]) -> list[Finding]:
    """A word on each output that could not be read: what it holds is missing from the grade."""
    problems = [problem for run in runs for problem in run.problems if problem.unread]
    return [unreadable(p.where.file, p.reason) for p in dict.fromkeys(problems)][:MOST_FINDINGS]


def lesson_named(runs: Sequence[Run]) -> str | None:
    """The lesson that the outputs name, when the folder does not."""
    named = [run.header.get("lesson") for run in runs]
    lessons = {lesson for lesson in named if isinstance(lesson, str)}
    return lessons.pop() if len(lessons) == 1 else None


def one_folder_a_lesson(folders: Sequence[Folder]) -> list[Folder]:
    """Files outside of any lesson's folder belong to the lesson that they name, if it has one too;
    a word on what could not be opened goes to the first lesson, instead of standing alone."""
    loose = next((folder for folder in folders if folder.lesson is None), None)
    rest = [folder for folder in folders if folder is not loose]
    if loose is None or not rest:
        return list(folders)
    lesson = lesson_named(read_runs(loose)) if loose.outputs else rest[0].lesson
    home = next((folder for folder in rest if folder.lesson == lesson), None)
    if home is None:
        return list(folders)
    home.outputs |= loose.outputs
    home.answers |= loose.answers
    home.reports |= loose.reports
    home.programs |= loose.programs
    home.handed_in = home.handed_in or loose.handed_in
    home.findings += loose.findings
    return rest


def with_students_names(run: Run, names: Mapping[str, str]) -> Run:
    """The run with its files named as the student knows them."""

    def place(where: Where) -> Where:
        return Where(names.get(where.file, where.file), where.line)

    def number(value: Number | None) -> Number | None:
        return value and replace(value, where=value.where and place(value.where))

    def epoch(value: Epoch) -> Epoch:
        numbers = {name: number(getattr(value, name)) for name in EPOCH_NUMBERS}
        return replace(value, where=value.where and place(value.where), **numbers)  # type: ignore[arg-type]

    def measure(value: dict[str, Any]) -> dict[str, Any]:
        where = value.get("where")
        return value | {"where": place(where)} if isinstance(where, Where) else value

    said = run.beside
    beside = replace(
        said,
        epochs=tuple(map(epoch, said.epochs)),
        test_accuracy=number(said.test_accuracy),
        test_loss=number(said.test_loss),
        errors=tuple(replace(error, where=place(error.where)) for error in said.errors),
    )
    return replace(
        run,
        beside=beside,
        measures=tuple(map(measure, run.measures)),
        files=tuple(names.get(file, file) for file in run.files),
        epochs=tuple(map(epoch, run.epochs)),
        ranks=tuple(replace(rank, where=rank.where and place(rank.where)) for rank in run.ranks),
        problems=tuple(replace(problem, where=place(problem.where)) for problem in run.problems),
        test_accuracy=number(run.test_accuracy),
        test_loss=number(run.test_loss),
        throughput=number(run.throughput),
        total_seconds=number(run.total_seconds),
    )


def with_error_files(
    files: tuple[str, ...], beside: Mapping[PurePath, Sequence[str]]
) -> tuple[str, ...]:
    """Also the files that carry the same job's name with another ending: its error stream."""
    same = {name for file in files for name in beside.get(PurePath(file).with_suffix(""), ())}
    return (*files, *sorted(same - set(files)))
