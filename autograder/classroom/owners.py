"""Whose accounts the jobs of a hand-in may be of, and as whose it may have been run again."""

from collections.abc import Iterator
from pathlib import Path

from autograder.submissions import archives
from autograder.submissions.claims import Said, one_spelling
from autograder.submissions.file_kinds import is_package
from autograder.submissions.folders import Folder
from autograder.submissions.students import Student


def owners(folder: Folder, student: str) -> tuple[str, ...]:
    """Who handed it in, and then all with whom as one."""
    first = folder.handed_in_by or student
    return first, *sorted({name for _, said in shared(folder) for name in said.together} - {first})


def run_again_as(folder: Folder, student: str) -> list[str]:
    """Without a roster a group's folder is run again as that of a student called like it."""
    called = sorted({called_after(place) for place, _ in shared(folder)})
    return list(dict.fromkeys([*owners(folder, student), *called]))


def shared(folder: Folder) -> Iterator[tuple[Path, Said]]:
    for path in folder.outputs:
        origin = folder.origins.get(path)
        if origin and origin.said.together:
            yield origin.place, origin.said


def called_after(place: Path) -> str:
    return one_spelling(archives.stem(place.name) if is_package(place.name) else place.name)


def all_named(student: Student) -> set[str]:
    """Everybody whose account and reruns the grades of a student may depend on."""
    found = {student.name}
    for one in (student, *(partner for partner, _ in student.partners)):
        found.add(one.name)
        for place, said in one.said.items():
            if said.together:
                found |= {*said.together, called_after(place)}
    return found
