"""Check how lesson 08's program uses the files of a folder: the second half of 8.3."""

import io
import os
from contextlib import redirect_stderr
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

from lessons.toolkit.checks.shared.check import CheckFailed, shown


def check_program(program: Any) -> None:
    made: list[tuple[Any, Any]] = []
    real = program.DataDistributor

    def watched(comm: Any, shutdown_on_error: bool = False, **more: Any) -> Any:
        made.append((comm, shutdown_on_error))
        return real(comm, shutdown_on_error, **more)

    names = [f"part_{n:02d}.npz" for n in range(5)]
    with TemporaryDirectory() as folder, mock.patch.object(program, "DataDistributor", watched):
        for name in names:
            (Path(folder) / name).touch()
        mine = files_of(program, folder)
    if not made:
        raise CheckFailed(
            "my_files uses DataDistributor",
            "it does not",
            "DataDistributor(MPI.COMM_WORLD, shutdown_on_error=True)(list_parts) is the decorated "
            "function; call it with the folder.",
        )
    if mine != names:
        advice = "Call the decorated function and return its result."
        if mine is None:
            advice = "Is there a `return` in front of the call of the decorated function?"
        elif isinstance(mine, list) and sorted(map(str, mine)) == names:
            advice = (
                "os.listdir promises no order, so the next run may distribute the files "
                "differently. Return sorted(os.listdir(folder)), or decorate list_parts, which "
                "sorts."
            )
        raise CheckFailed(
            f"my_files on one rank returns all {len(names)} names", shown(mine), advice
        )
    if not made[-1][1]:
        raise CheckFailed(
            "shutdown_on_error=True",
            "False",
            "If one rank raises an error, the best the program can do is to end all ranks with "
            "the message.",
        )


def files_of(program: Any, folder: str) -> Any:
    """Return the result of `my_files` when `os.listdir` returns the files in reverse order."""
    listdir = os.listdir

    def backwards(*place: Any, **by_name: Any) -> list[Any]:
        return sorted(listdir(*place, **by_name), reverse=True)

    said = io.StringIO()
    try:
        with mock.patch.object(os, "listdir", backwards), redirect_stderr(said):
            return program.my_files(folder)
    except SystemExit as ended:
        problem = said.getvalue().strip(" *\n") or f"sys.exit({ended.code!r})"
        advice = "The folder given here exists and has 5 files: list it, and return their names."
        if "NoneType" in problem:
            advice = "Does the decorated function end with a `return`?"
        elif "sys.exit" in problem:
            advice = (
                "Raise an error instead of calling sys.exit: DataDistributor sends the "
                "error to all ranks and, with shutdown_on_error=True, ends all ranks."
            )
        expected = "my_files returns this rank's names"
        raise CheckFailed(expected, f"the program ends: {problem}", advice) from None
