"""Execute the lessons whose outputs are missing or were made from older files."""

import shutil
from pathlib import Path

import click

from autograder.wording import counted
from lessons.book.executed import look_up
from lessons.folders import lesson_folders

SMOKE_MINUTES = 1.5  # for a lesson on two cores of a shared machine


def run_missing(root: Path, runs: Path) -> None:
    """Execute the missing lessons in `runs`. Failures are reported later, when `runs` is read."""
    folders = lesson_folders(root / "solutions")
    missing = {
        number: reason
        for number, folder in folders.items()
        if isinstance(reason := look_up(runs, folder), str)
    }
    current = len(folders) - len(missing)
    if not missing:
        click.echo(f"The outputs of all {current} lessons in {runs} are up to date.")
        return
    minutes = counted(max(1, round(len(missing) * SMOKE_MINUTES)), "minute")
    click.echo(
        f"Executing {', '.join(missing)} (about {minutes} on two cores); "
        f"the outputs of {current} others in {runs} are up to date."
    )
    for number in missing:
        name = folders[number].name
        for left in runs.glob(f"{name}*"):
            shutil.rmtree(left) if left.is_dir() else left.unlink()
    run_them(list(missing), runs)


def run_them(numbers: list[str], runs: Path) -> None:
    """Run the lessons as `lessons run` does, with its progress bars.

    An exit code of 128 or more means that a signal stopped the run.
    """
    from lessons.execute.run_command import run_command

    options = ["--edition", "solutions", "--out", str(runs)]
    try:
        run_command.main([*numbers, *options], standalone_mode=False)
    except SystemExit as ended:
        if isinstance(ended.code, int) and ended.code >= 128:
            raise
