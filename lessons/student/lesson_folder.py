"""Find the lesson folder that matches the number a student gives."""

import sys
from pathlib import Path

import click

from lessons.folders import LESSON_NAME, choose_lessons, course_root, notebook_in

in_folder = click.option(
    "--in",
    "inside",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Your folder for the lesson. Default: the current folder, otherwise the course's.",
)


def find_folder(number: str, inside: Path | None) -> Path:
    """Return the folder that contains the student's notebook for the lesson."""
    if inside is None:
        lessons = chosen_course() / "lessons"
        here = Path.cwd().resolve()
        if notebook_in(here).name[:3] == f"{number.split('_')[0].zfill(2)}_":
            return here
        [folder] = choose_lessons(lessons, [number]).values()
        return own_copy(Path.cwd(), folder.name) or folder
    places = [inside, *choose_places(inside, number)]
    for place in places:
        if notebook_in(place).is_file():
            return place.resolve()
    raise click.UsageError(f"There is no notebook in {inside}; name the lesson's folder.")


def lesson_here(inside: Path | None) -> str:
    """Return the number of the lesson whose folder the student is in, or gave with --in."""
    place = (inside or Path.cwd()).resolve()
    folders = [one.name for one in (place, *place.parents) if LESSON_NAME.fullmatch(one.name)]
    notebooks = [one.name for one in place.glob("*.ipynb") if LESSON_NAME.fullmatch(one.stem)]
    names = folders[:1] or notebooks
    if len(names) == 1:
        return names[0][:2]
    raise click.UsageError(
        "Which lesson? Type its number after the command, such as 00, or change to its folder."
    )


def own_copy(here: Path, name: str) -> Path | None:
    """Return the student's own copy of a lesson: the current folder, or one beside it.

    The current folder may also be inside a lesson. A central installation is nobody's own copy.
    """
    lessons = (place for place in (here, *here.parents) if LESSON_NAME.fullmatch(place.name))
    inside = next(lessons, here)
    for place in (inside, inside / name, inside.parent / name):
        if place.name[:3] == name[:3] and notebook_in(place).is_file():
            return place.resolve()
    return None


def shown(folder: Path) -> Path:
    """Return the path as it can be typed in the current folder."""
    here = Path.cwd().resolve()
    return folder.relative_to(here) if folder.is_relative_to(here) and folder != here else folder


def chosen_course() -> Path:
    """Return the course that the student means: the current one, or else the installed one.

    Courses can share an environment. A course that has none links to another course's environment,
    or the site provides one that links to another course's packages (the box's module). A course
    with other packages is refused, because its checks may differ.
    """
    here = checkout_of(Path.cwd())
    if here is None or here == course_root():
        return course_root()
    own = here / ".venv"
    if not own.exists() or (own / "lib").resolve() == Path(sys.prefix, "lib").resolve():
        return here
    raise click.ClickException(
        f"You are in the course {here}, but the active environment is {sys.prefix}. "
        f"Type `source {own}/bin/activate` first, or name the folder that you mean with --in."
    )


def checkout_of(place: Path) -> Path | None:
    """Return the cloned or unpacked course folder that contains `place`."""
    around = (place, *place.parents)
    return next((one for one in around if (one / "lessons" / "toolkit").is_dir()), None)


def choose_places(inside: Path, number: str) -> list[Path]:
    prefix = number.split("_")[0].zfill(2)
    return sorted(path for path in inside.glob(f"{prefix}_*") if path.is_dir())
