"""What a student handed in for one lesson, from all the folders and packages where it lay.

A copy counts once, names are as short as they can be told apart by, and of answers that differ
from place to place none counts: which of them is meant is not ours to guess.
"""

import hashlib
import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path, PurePath

from autograder.codes import FindingCode
from autograder.records import Where
from autograder.safe_text import shortened
from autograder.submissions import output_names
from autograder.submissions.answers import WrittenAnswer, holds_answers, read_answers
from autograder.submissions.file_kinds import ANSWERS, TYPED
from autograder.submissions.folders import MOST_FINDINGS, Folder
from autograder.submissions.lesson_names import lesson_of
from autograder.submissions.regular_files import open_regular
from autograder.verdict import Finding


def join_places(folder: Folder) -> None:
    """Make one of all the places where a lesson's files lie: copies away, short names, and a word
    on it where there are several."""
    the_answers_file(folder)
    count_copies_once(folder.outputs)
    count_copies_once(folder.answers)
    count_copies_once(folder.reports)
    places = places_of([*folder.outputs.values(), *folder.answers.values()])
    if len(places) > 1:
        folder.findings.append(
            Finding(
                "collect",
                "Several folders were taken as one lesson",
                code=FindingCode.SEVERAL_FOLDERS,
                expected="one folder for a lesson",
                found=shortened(", ".join(places)),
                where=tuple(Where(place, 0) for place in places[:4]),
                try_="keep only what should count; instructor: --latest takes the last hand-in",
            )
        )
    shorten_names(folder)


def answers_by_content(folder: Folder, ids: Collection[str]) -> None:
    """`respuestas.txt` and `lab2.txt` are no outputs, if they answer questions."""
    for path, name in list(folder.outputs.items()):
        if PurePath(name).suffix.lower() not in ("", ".txt") or not holds_answers(path, ids):
            continue
        folder.answers[path] = folder.outputs.pop(path)
        if len(folder.findings) < MOST_FINDINGS:
            folder.findings.append(
                Finding(
                    "answers",
                    "Answers lie in a file of another name",
                    code=FindingCode.ANSWERS_MISNAMED,
                    expected="answers.txt",
                    found=shortened(name, 80),
                    where=(Where(name, 0),),
                    try_="call it answers.txt, so that it is surely found",
                )
            )


def the_answers_file(folder: Folder) -> None:
    """Where there is an answers.txt, what is nearly called so is an older copy or a draft."""
    exact = [
        path for path, name in folder.answers.items() if PurePath(name).name.lower() == ANSWERS
    ]
    others = {path: name for path, name in folder.answers.items() if path not in exact}
    if not exact or not others:
        return
    for path in list(others):
        del folder.answers[path]
        if PurePath(others[path]).name == TYPED and not read_answers(path, others[path])[0]:
            del others[path]  # words to the teacher, and no answers
    names = list(others.values())
    if not names:
        return
    folder.findings.append(
        Finding(
            "answers",
            "Only answers.txt counts, and not what lies beside it",
            code=FindingCode.ANSWERS_BESIDE,
            expected="one answers.txt for a lesson",
            found=shortened(", ".join(names)),
            where=tuple(Where(name, 0) for name in names[:4]),
            try_="put all answers into answers.txt",
        )
    )


def count_copies_once(files: dict[Path, str]) -> None:
    """A job's files in the folder and again in its package, which `lessons submit` leaves there."""
    jobs: dict[str, dict[Path, list[Path]]] = {}  # a job's name -> where it lies -> its files
    for path in sorted(files, key=lambda path: len(PurePath(files[path]).parts)):
        job = output_names.read(PurePath(files[path]).name.lower()).shared
        jobs.setdefault(job, {}).setdefault(path.parent, []).append(path)
    for places in jobs.values():
        seen: list[set[tuple[str, bytes]]] = []
        for same_job in places.values() if len(places) > 1 else ():
            contents = contents_of({path: files[path] for path in same_job})
            if any(contents <= other for other in seen):
                for path in same_job:
                    del files[path]
            seen.append(contents)


def contents_of(files: Mapping[Path, str]) -> set[tuple[str, bytes]]:
    contents = set()
    for path, name in files.items():
        try:
            with open_regular(path) as file:
                content = hashlib.file_digest(file, "blake2b").digest()
        except OSError:  # whoever reads it will say so
            content = os.fsencode(path)
        contents.add((PurePath(name).name.lower(), content))
    return contents


def places_of(names: Iterable[str]) -> list[str]:
    """The folders and packages named after the lesson that files lie in, by the files' names."""
    places = set()
    for name in names:
        folders = PurePath(name).parts[:-1]
        depth = next((n for n, part in enumerate(folders, 1) if lesson_of(part)), 0)
        if depth:
            places.add("/".join(folders[:depth]))
    return sorted(places)


def shorten_names(folder: Folder) -> None:
    """`you.zip/02_serial/a.out` is `a.out`, when all of a lesson's files lie in one place."""
    of_all = (folder.outputs, folder.answers, folder.reports)
    parents = [PurePath(name).parent for files in of_all for name in files.values()]
    common = os.path.commonpath(parents) if parents else ""
    for files in of_all:
        for path, name in files.items():
            files[path] = str(PurePath(name).relative_to(common))
    for path, name in folder.programs.items():
        folder.programs[path] = name.removeprefix(f"{common}/")


def answers_of(
    files: Mapping[Path, str], ids: Collection[str] = (), unread: list[WrittenAnswer] | None = None
) -> tuple[dict[str, WrittenAnswer], list[Finding]]:
    """The answers of a lesson. What two files answer differently counts as not answered."""
    answers: dict[str, WrittenAnswer] = {}
    differ: dict[str, dict[str, Where]] = {}
    findings: list[Finding] = []
    for path, name in files.items():
        here, found = read_answers(path, name, ids, unread)
        findings += found
        for key, answer in here.items():
            first = answers.get(key)
            if first is None or not first.text:
                answers[key] = answer
            elif answer.text and answer.text != first.text:
                differ.setdefault(key, {first.text: first.where})[answer.text] = answer.where
    for key, values in differ.items():
        answers[key] = WrittenAnswer("", answers[key].where, in_words(key, values))
    if differ:
        findings.append(
            Finding(
                "answers",
                "Answers in two places differ, so these do not count",
                code=FindingCode.ANSWERS_DIFFER,
                expected="one answers.txt for a lesson",
                found=shortened("; ".join(in_words(*both) for both in differ.items()), 300),
                where=tuple(where for both in differ.values() for where in both.values())[:6],
                try_="keep the answers.txt that should count, and only that",
                look=True,
            )
        )
    return answers, findings


def in_words(key: str, values: Mapping[str, Where]) -> str:
    names = {PurePath(where.file).name for where in values.values()}
    files = names.pop() if len(names) == 1 else "files of answers"
    many = "two" if len(values) == 2 else "several"
    told = " and ".join(shortened(value, 40) for value in list(values)[:3])
    return f"{many} {files} give {key} = {told}"
