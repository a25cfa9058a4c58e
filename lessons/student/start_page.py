"""Write the page that JupyterLab opens first: the next step, its duration, and what is done."""

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import click

from autograder.errors import SettingsError
from autograder.reading.files import read_files
from autograder.report.self_report import own_standing
from autograder.wording import counted
from cluster.sites import site_files
from lessons.folders import START_PAGE, lesson_folders, notebook_in
from lessons.student.bundle import choose_files
from lessons.student.grader_misses import open_gaps, what_is_missing
from lessons.student.lesson_folder import chosen_course
from lessons.student.own_grade import own_grade

TITLE = re.compile(r"^# (\d\d · .+)$", re.M)
TIME = re.compile(r"\bAllow ([\w +]+? (?:minutes|hours?)(?: for the first half)?)\b")
EXERCISE = re.compile(r"\d+\.\d+[a-z]?")
HOW = """In a lesson, run the cells from the top, one after the other, with Shift+Enter. Replace
each `raise NotImplementedError(…)` with your own lines."""
BACK = """Each check, `lessons submit` and `lessons start` update this page. To see what is new,
close its tab and open `START.md` again."""
MOST_MISSING = 6  # lines

FIRST_JOB = " Its first job trains a small language model on two processes."
CHOOSE_SITE = """ Before you start, choose where your jobs run: open a terminal (*File → New →
Terminal*), type `cluster sites`, and then `cluster use` with one of these names."""


@dataclass(frozen=True)
class Progress:
    """A student's progress in a lesson."""

    title: str
    page: str  # relative to lessons/
    takes: str
    open_exercises: int
    open_gaps: int  # of answers and predictions, too
    begun: bool
    has_outputs: bool
    packed: bool
    points: str = ""
    missing: tuple[str, ...] = ()
    complete: bool = True  # no point is known to be lost

    @property
    def done(self) -> bool:
        return not self.open_gaps and self.has_outputs

    @property
    def tick(self) -> str:
        return "✓ " if self.done and self.complete else ""

    @property
    def state(self) -> str:
        to_do = counted(self.open_exercises, "exercise")
        words = [f"{to_do} to fill in" if self.open_exercises else "exercises filled in"]
        words += ["answers to fill in"] * (self.open_gaps > self.open_exercises == 0)
        words += ["jobs ran"] * self.has_outputs + [self.points] * bool(self.points)
        return ", ".join(words + ["packed"] * self.packed)


def progress_of(folder: Path) -> Progress | None:
    """Return the progress in a lesson, from its files; None if its notebook cannot be read."""
    page = notebook_in(folder)
    try:
        cells = json.loads(page.read_text(encoding="utf-8"))["cells"]
        pages = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
        files = [page, *folder.glob("*.py"), *folder.glob("*.sbatch")]
        gaps = {gap for file in files for gap in open_gaps(file)}
    except (OSError, ValueError, LookupError, TypeError):
        return None
    text = "\n".join(pages)
    title, takes = TITLE.search(text), TIME.search(" ".join(text.split()))
    has_outputs = any(folder.glob("*.out"))
    begun = (folder / "answers.txt").is_file() or has_outputs
    present = at_present(folder, newest_in(folder)) if begun else ("", (), True)
    points, missing, complete = present
    package = f"{folder.name}.zip"
    return Progress(
        title=title[1] if title else folder.name,
        page=f"{folder.name}/{page.name}",
        takes=takes[1] if takes else "",
        open_exercises=len({number for gap in gaps for number in EXERCISE.findall(gap)}),
        open_gaps=len(gaps),
        begun=begun,
        has_outputs=has_outputs,
        packed=any((place / package).is_file() for place in (folder, folder.parent)),
        points=points,
        missing=missing,
        complete=complete,
    )


def newest_in(folder: Path) -> float:
    return max(file.stat().st_mtime for file in folder.iterdir())


@cache
def at_present(folder: Path, _: float) -> tuple[str, tuple[str, ...], bool]:
    """Return a lesson's points, what its submission lacks, and whether no point is lost.

    They are kept until a file of the folder is newer.
    """
    bundle = choose_files(folder, folder.with_suffix(".zip"))
    runs = read_files(folder / path for path in bundle.files.get("outputs", []))
    missing = tuple(dict.fromkeys(what_is_missing(bundle, folder.name[:2], runs)))
    own = own_grade(bundle, folder.name[:2])
    return own_standing(own) if own else "", missing, own is None or own.complete


def start_page(lessons: Path) -> str:
    """Return the page for a folder of lessons, as Markdown."""
    known = [progress_of(folder) for folder in lesson_folders(lessons).values()]
    all_ = [progress for progress in known if progress]
    rows = ["| lesson | takes | state |", "|---|---|---|"]
    rows += [f"| {one.tick}[{one.title}]({one.page}) | {one.takes} | {one.state} |" for one in all_]
    parts = ["# Deep Learning on Supercomputers", next_step(all_)]
    if lost := [one.title[:2] for one in all_ if one.done and not one.complete]:
        parts.append(
            f"Points are lost in {', '.join(lost)}: `lessons submit {lost[0]}` shows them."
        )
    return "\n\n".join([*parts, HOW, "\n".join(rows), BACK]) + "\n"


def next_step(all_: Sequence[Progress]) -> str:
    following = next((one for one in all_ if not one.done), None)
    if following is None:
        to_pack = [one.title[:2] for one in all_ if not one.packed]
        commands = "".join(f"\n    lessons submit {number}" for number in to_pack)
        return (
            f"**All lessons are done.** Pack them:\n{commands}" if to_pack else "**All is done.**"
        )
    begun = "Go on with" if following.begun else "Next:"
    takes = f" It takes about {following.takes}." if following.takes else ""
    own = ""
    if following is all_[0] and not following.begun:
        own = FIRST_JOB + CHOOSE_SITE * no_site_is_chosen()
    missing = [f"- {sentence}" for sentence in following.missing[:MOST_MISSING]]
    if more := len(following.missing) - len(missing):
        missing.append(f"- and {more} more: `lessons submit {following.title[:2]}` lists them")
    still = "\n\nStill missing:\n\n" + "\n".join(missing) if missing else ""
    return f"**{begun} [{following.title}]({following.page}).**{takes}{own}{still}"


def no_site_is_chosen() -> bool:
    """Return whether the first job would stop because the user has not chosen a site."""
    try:
        site_files.chosen_file(None)
    except site_files.NoSiteError:
        return True
    except SettingsError:  # another fault, which the job reports
        return False
    return False


def write_again(folder: Path) -> None:
    """Update the start page beside a lesson's folder, if there is one that can be written."""
    page = folder.resolve().parent / START_PAGE
    if page.is_file() and os.access(page, os.W_OK):
        page.write_text(start_page(page.parent), encoding="utf-8")


@click.command("start")
def start_command() -> None:
    """Write the page that says what to do next, how long it takes and what is done."""
    file = chosen_course() / "lessons" / START_PAGE
    try:
        file.write_text(start_page(file.parent), encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"{file}: {error.strerror}; the page was not written") from error
    click.echo(file)
    click.echo("If the page is open in JupyterLab, close its tab and open it again.", err=True)
