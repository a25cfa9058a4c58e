"""Update the start page after each check in a notebook."""

from pathlib import Path
from typing import Any


def follow(shell: Any) -> None:
    shell.events.register("post_run_cell", update)


def update(result: Any) -> None:
    """Update the start page if the cell that has just run has a check."""
    if "course.check(" in (result.info.raw_cell or ""):
        from lessons.student.start_page import write_again  # takes a while to load

        write_again(Path.cwd())
