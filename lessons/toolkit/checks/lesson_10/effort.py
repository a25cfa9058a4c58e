"""Changed lines, counted (10.5)."""

from collections.abc import Callable
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, compare, exercise, number

OLD = "import torch\n\nmodel = build()\nloss = step(model)\nprint(loss)\n"
TWICE = "a line that stands there once more"
SPACES = "a line of nothing but spaces"
COMMENT = "a comment"
# the new program, how many of its lines are new, what it is
CASES = [
    (OLD, 0, "an equal program"),
    (f"import torch.distributed\n{OLD}end()\n", 2, "two added lines"),
    (OLD.replace("build()", "wrap(build())"), 1, "one changed line"),
    (OLD.replace("print(loss)\n", ""), 0, "a line taken out"),
    (OLD.replace("\n\n", "\n\n\n\n"), 0, "two more empty lines"),
    (OLD.replace("print(loss)", "if rank == 0:\n    print(loss)"), 2, "a line moved to the right"),
    (OLD.replace("print", "    \nprint"), 0, SPACES),
    (OLD.replace("print", "++count\nprint"), 1, "a line that begins with ++"),
    ("++a\n++ b\n" + OLD, 2, "lines that begin with ++"),
    (f"{OLD}print(loss)\n", 1, TWICE),
    (f"# once\n{OLD}", 1, COMMENT),
]
COUNT = (
    "Skip the first two lines of the diff, the headers, by their place: a program's line may begin "
    "with ++ too. Of the others count those that begin with + and are not empty behind it"
)
NO_HEADERS = (
    "The diff of two equal programs is empty: it has no headers, either. list(…)[2:] of nothing is "
    "nothing, where next(…) fails."
)


@exercise("10.5")
def check_10_5(changed_lines: Callable[..., Any]) -> str:
    """The lines of the new program that the old one has not; empty ones do not count."""
    for new, right, what in CASES:
        try:
            found = number(changed_lines(OLD, new), "changed_lines(old, new)")
        except (StopIteration, IndexError) as nothing:
            if new != OLD:
                raise
            wanted = f"changed_lines for {what} is {right}"
            raise CheckFailed(wanted, type(nothing).__name__, NO_HEADERS) from None
        mistakes = {
            2.0 * right: f"A changed line stands twice in a diff, with - and with +. {COUNT}.",
            3.0: f"The header +++ is no line of the program. {COUNT}.",
        }
        otherwise = f"{COUNT}."
        if what == TWICE:
            otherwise = "A line that the old program has once and the new one twice is new once."
        if what == COMMENT:
            otherwise = "A comment counts, too: it is a line that somebody writes and reads."
        if what == SPACES:
            otherwise = (
                "A line of spaces is empty, too: line[1:].strip() says what is behind the +."
            )
        compare(found, right, f"changed_lines for {what}", mistakes if right else {}, otherwise)
    return "0, 1, 2 lines; what is taken out and empty lines do not count."
