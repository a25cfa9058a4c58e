"""What TensorFlow's long errors say is wrong, for the checks of lessons 03, 04 and 05.

An error inside of `.map` or of a graph begins with "in user code:" or with the name of a node,
tells the whole way through the graph, and says in its last line what is wrong.
"""

import functools
import re
from collections.abc import Callable
from types import TracebackType
from typing import Any

from lessons.toolkit.checks.check import CheckFailed

NAMED_ERROR = re.compile(r"(\w+(?:Error|Exception)): (.+)")
NODE = re.compile(r"\{\{\w+ [^}]*\}\}\s*|\s*\[Op:\w+\]( name: ?)?")


def last_line_of_errors(check: Callable[..., str]) -> Callable[..., str]:
    """A check whose student's errors say in one line what is wrong."""

    @functools.wraps(check)
    def shorter(*students: Any, **options: Any) -> str:
        try:
            return check(*students, **options)
        except (CheckFailed, NotImplementedError):
            raise
        except Exception as error:
            name, said = what_is_wrong(error)
            # Not of TensorFlow's own type: that one needs a graph to be made. Its name is shown.
            one_line = type(name, (Exception,), {})(said)
            leave_out_generated_code(error.__traceback__)
            raise one_line.with_traceback(error.__traceback__) from None

    return shorter


def leave_out_generated_code(trace: TracebackType | None) -> None:
    """End a traceback at the student's line, before TensorFlow's own version of what it calls."""
    while trace and trace.tb_next:
        if "__autograph_generated_file" in trace.tb_next.tb_frame.f_code.co_filename:
            trace.tb_next = None
        trace = trace.tb_next


def what_is_wrong(error: Exception) -> tuple[str, str]:
    """The error's name, and of its text the line that says what is wrong."""
    text = str(error).partition("Call arguments received by")[0]  # Keras lists them at the end
    lines = [NODE.sub("", line).strip() for line in text.splitlines()]
    lines = [line for line in lines if line.strip("[] ")]  # "[[{{node Sum}}]]": where, not what
    last = lines[-1] if lines else ""
    named = NAMED_ERROR.fullmatch(last)
    return (named[1], named[2]) if named else (type(error).__name__, last)
