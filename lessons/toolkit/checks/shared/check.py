"""The base of public checks.

A check calls the student's function and raises CheckFailed, or returns a few words about the
correct result. `@exercise` converts every other event (a gap, an error in the student's code, no
result) into the same three lines. Students see the first line of a check's docstring.
"""

import copy
import dis
import functools
import itertools
import linecache
import math
import os
import re
import textwrap
from collections.abc import Callable, Sequence
from inspect import isfunction, ismodule
from pathlib import Path
from typing import Any

from lessons.toolkit.checks.shared.tensorflow_errors import what_is_wrong, written_lines
from lessons.toolkit.checks.shared.time_limit import limited_time

Function = Callable[..., Any]
ALL_CHECKS = str(Path(__file__).parents[1])
PYTHON = str(Path(copy.__file__).parent)
SIMULATED_RANKS = str(Path(__file__).parents[2] / "ranks")
GAP = re.compile(r"(Exercise \d+\.\d+[a-z]?|Predict|Answer): (.+)")
NOTHING = ("None", "NoneType", "a NoneType")  # a check may find it if there is no `return`
SAVE_FILE = "Replace `raise …` with your own lines. Did you save the file (Ctrl+S)?"
RUN_CELL = "Replace `raise …` with your own lines, run that cell (Shift+Enter), then this one."
RETURN = "Does the function return its result? Write `return …` in its last line."
# What beginners' errors say, and what to try.
BY_HAND = "Do the arithmetic by hand for these numbers and compare."
ADVICE_BY_MESSAGE = {
    "bitwise_xor": "`^` is not the power: write `**`.",
    "for ^": "`^` is not the power: write `**`.",
    "'int' object is not iterable": "To go from 0 to n - 1, write `range(n)`.",
    "'NoneType' object": "A value is None: a function returned nothing, or it is not set yet.",
    " not implemented for '": "The values have a type that this function does not take. Is their "
    "order right? A loss function takes the outputs first, then the labels.",
    "Invariant encountered": "`fully_shard` takes the blocks first, then the network around them.",
}
ADVICE_BY_TYPE = {
    "NameError": "A name is misspelt, or it is not defined here.",
    "UnboundLocalError": "A name is used before it has a value.",
    "TypeError": "A value has the wrong type, or a call the wrong number of arguments.",
    "ZeroDivisionError": "Which number can be 0 here?",
    "KeyError": "This key does not always exist.",
    "ImportError": "Is the course's environment active?",
    "NeverEnds": "Does the condition of its loop ever become false? Print what the loop changes.",
    "RecursionError": "A function calls itself. If it replaces another one, keep the old one in a "
    "variable first: `old = block.forward`.",
}


class CheckFailed(Exception):  # noqa: N818 - students read this name
    """A failed check: expected, found and advice, the three lines that a notebook shows."""

    def __init__(self, expected: Any, found: Any, try_: str) -> None:
        super().__init__(expected, found, try_)
        self.exercise = ""
        self.saved = ""  # which files were read, and when they were saved

    def lines(self) -> list[str]:
        expected, found, try_ = self.args
        named = f"Exercise {self.exercise}\n" if self.exercise else ""
        text = f"{named}expected  {expected}\nfound     {found}\ntry       {try_}\n{self.saved}"
        return text.splitlines()

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _render_traceback_(self) -> list[str]:
        return [textwrap.fill(line, 96, subsequent_indent=" " * 10) for line in self.lines()]


class StillAGap(CheckFailed):
    """A check of an exercise that has not been begun."""

    def lines(self) -> list[str]:
        expected, _, try_ = self.args
        return [f"Exercise {self.exercise} is still a gap: {expected}. {try_}"]


def refuse_gap(job_file: str, number: str) -> None:
    """Raise StillAGap if the job file of this exercise still has its gap."""
    for line in Path(job_file).read_text(encoding="utf-8").splitlines():
        if line.startswith("echo") and f"Exercise {number}:" in line:
            advice = "Replace the lines `echo …` and `exit 1`."
            raise StillAGap(f"the commands in {job_file}", None, advice)


def exercise(number: str) -> Callable[[Callable[..., str]], Callable[..., None]]:
    """Turn a function into a check.

    The function returns a few words about a correct result, or raises CheckFailed.
    """

    def decorate(function: Callable[..., str]) -> Callable[..., None]:
        @functools.wraps(function)
        def check(*students: Any, **options: Any) -> None:
            # TensorFlow reads a lambda's source through this cache. After a reload, the cache still
            # has the old version of the program, whose lines would run.
            linecache.checkcache()
            try:
                with limited_time():
                    right = function(*students, **options)
            except CheckFailed as failed:
                raise named(failed, number, students) from None
            except Exception as error:
                if task := task_of(error):
                    place = Path(written_lines(error)[-1].filename)  # no file if it is a cell
                    saved = place.is_file() or "COURSE_RUN_MARK" in os.environ  # `lessons check`
                    gap = StillAGap(task, None, SAVE_FILE if saved else RUN_CELL)
                    raise named(gap, number) from None
                raise named(failure(error, function), number) from None
            except KeyboardInterrupt as stopped:
                at = student_line(stopped, function)
                line = f"You stopped the check of exercise {number}{at}"
                stopped._render_traceback_ = lambda: [line]  # type: ignore[attr-defined]
                raise
            print(f"Exercise {number}: right. {right}")

        check.number = number  # type: ignore[attr-defined]
        return check

    return decorate


def named(failed: CheckFailed, number: str, students: Sequence[Any] = ()) -> CheckFailed:
    """Return the failure with its exercise, and with advice if a function has no `return`."""
    expected, found, try_ = failed.args
    if str(found) in NOTHING and "`return" not in try_:
        words = set(re.findall(r"\w+", str(expected)))
        parts = [vars(each).get(name) for each in students if ismodule(each) for name in words]
        if any(map(returns_nothing, [*students, *parts])):
            failed.args = expected, found, RETURN
    failed.exercise = number
    return failed


def returns_nothing(function: Any) -> bool:
    """Return whether no line of a function returns a value."""
    steps = list(dis.get_instructions(function)) if isfunction(function) else []
    ends = [(a, b) for a, b in itertools.pairwise(steps) if b.opname.startswith("RETURN_")]
    values = [a if b.opname == "RETURN_VALUE" else b for a, b in ends]  # Python 3.12: RETURN_CONST
    return bool(ends) and all(
        each.opname in ("LOAD_CONST", "RETURN_CONST") and each.argval is None for each in values
    )


def task_of(error: BaseException) -> str:
    """Return the task of an open gap, or "" for another error, such as a library's own."""
    said = what_is_wrong(error).removeprefix("NotImplementedError: ")
    gap = isinstance(error, NotImplementedError) and GAP.match(said)
    return gap[2] if gap else ""


def not_loaded(error: Exception, program: Path) -> CheckFailed:
    """Convert an error of a program that is loaded into a failure that names file and line."""
    own = [f for f in written_lines(error) if Path(f.filename).parent == program.parent]
    file, line, text, said = program.name, None, None, what_is_wrong(error)
    if isinstance(error, SyntaxError) and error.filename:
        file, line, text = Path(error.filename).name, error.lineno, error.text
        said = f"{type(error).__name__}: {error.msg}"
    elif own:
        file, line, text = Path(own[-1].filename).name, own[-1].lineno, own[-1].line
    kind, _, said = said.partition(": ")
    found = f"{kind} in {file}" + (f", line {line}" if line else "") + f": {said}"
    found += f"\n          {text.strip()}" if text else ""
    advice = f"Correct {file}, save it, and run this cell again."
    return CheckFailed(f"{program.name} without an error", found, advice)


def failure(error: BaseException, check: Function) -> CheckFailed:
    """Convert an error in the student's code into a failure that names the line."""
    said, place = what_is_wrong(error)[:200], student_line(error, check)
    if not place:
        advice = (
            "The first line of your function (`def …`) has the wrong arguments, or the function "
            "returned a value of the wrong type. Compare both with the text above it."
        )
        return CheckFailed(summary(check), said, RETURN if "NoneType" in said else advice)
    advice = f"Read the message, then this line. {advice_on(error)}"
    return CheckFailed(summary(check), said + place, advice)


def student_line(error: BaseException, check: Function) -> str:
    """Return the innermost line of the student's code, or "" if the error is not in it."""
    frames = written_lines(error)
    checks = check.__code__.co_filename
    entered = min((i for i, frame in enumerate(frames) if frame.filename == checks), default=-1)
    not_theirs = ("site-packages", PYTHON, ALL_CHECKS, SIMULATED_RANKS, str(Path(checks).parent))
    inside = [f for f in frames[entered + 1 :] if not any(n in f.filename for n in not_theirs)]
    places = [f", in line {f.lineno} of {f.name}" + f": {f.line}" * bool(f.line) for f in inside]
    return places[-1] if places else ""


def advice_on(error: BaseException) -> str:
    """Return what to try after an error in the student's code."""
    by_message = (advice for words, advice in ADVICE_BY_MESSAGE.items() if words in str(error))
    by_type = ADVICE_BY_TYPE.get(type(error).__name__, "Print the values just before it.")
    return next(by_message, by_type)


def summary(check: Callable[..., Any]) -> str:
    return (check.__doc__ or "").strip().splitlines()[0].rstrip(".")


def checks_of(module: Any) -> dict[str, Callable[..., None]]:
    """Return a module's checks, keyed by exercise number."""
    found = [v for v in vars(module).values() if isinstance(getattr(v, "number", None), str)]
    return {check.number: check for check in found}


def number(value: Any, name: str) -> float:
    """Return the value as a finite number; a student's function may return anything."""
    if not isinstance(value, bool | str | bytes):
        try:
            result = float(value)
        except (TypeError, ValueError):
            result = math.nan
        if math.isfinite(result):
            return result
    raise CheckFailed(f"{name} is a number", shown(value), "Return one number, not text or a list.")


def pair(value: Any, name: str, parts: tuple[str, str] = ("low", "high")) -> tuple[float, float]:
    """Return the value as two numbers. `parts` contains their names."""
    try:
        first, second = value
    except (TypeError, ValueError):
        advice = f"Return both: `return {', '.join(parts)}`."
        wanted = f"{name} are two numbers, {' and '.join(parts)}"
        raise CheckFailed(wanted, shown(value), advice) from None
    return number(first, f"{parts[0]} of {name}"), number(second, f"{parts[1]} of {name}")


def check_number(
    function: Function,
    name: str,
    arguments: tuple[Any, ...],
    right: float,
    mistakes: dict[Any, str] | None = None,
    otherwise: str = BY_HAND,
) -> None:
    """Check the number that a student's function of this name returns, as `compare` does."""
    call = f"{name}({', '.join(map(repr, arguments))})"
    found = function(*copy.deepcopy(arguments))
    compare(number(found, call), right, call, mistakes, otherwise)


def compare(
    found: float,
    right: float,
    what: str,
    mistakes: dict[Any, str] | None = None,
    otherwise: str = BY_HAND,
) -> None:
    """Raise CheckFailed if `found` differs from `right`, the correct value, by more than 0.1 %.

    If a known mistake gives the same result, its advice is used.
    """
    if close(found, right):
        return
    if otherwise == BY_HAND and close(found, math.floor(right)):
        otherwise = "Is the result rounded down? `//` and `int()` do that, `/` does not."
    elif close(found, -right):
        otherwise = "Only the sign is wrong."
    for wrong, advice in (mistakes or {}).items():
        if close(found, wrong):
            otherwise = advice
            break
    raise CheckFailed(f"{what} = {right:.4g}", f"{found:.4g}", otherwise)


def close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-3, abs_tol=1e-9)


def shown(value: Any) -> str:
    text = " ".join(repr(value).split())  # an array's has several lines
    return text if len(text) <= 120 else text[:117] + "..."
