"""Changed lines, counted (10.5)."""

from collections.abc import Callable
from typing import Any

from lessons.toolkit.checks.shared.check import compare, exercise, number

OLD = "import torch\n\nmodel = build()\nloss = step(model)\nprint(loss)\n"
# what the new program is, the lines that are new in it, what goes wrong
CASES = [
    (OLD, 0, "an equal program"),
    (OLD.replace("build()", "wrap(build())"), 1, "one changed line"),
    (f"import torch.distributed\n{OLD}end()\n", 2, "two added lines"),
    (OLD.replace("print(loss)\n", ""), 0, "a line taken out"),
    (OLD.replace("\n\n", "\n\n\n\n"), 0, "two more empty lines"),
    (OLD.replace("print(loss)", "if rank == 0:\n    print(loss)"), 2, "a line moved to the right"),
    (OLD.replace("print", "    \n++count\nprint"), 1, "a line that begins with ++"),
    ("++a\n++b\n" + OLD, 2, "lines that begin with ++"),
]
SIGNS = "each line of the diff begins with one sign: count those that begin with +"


@exercise("10.5")
def check_10_5(changed_lines: Callable[..., Any]) -> str:
    """The lines of the new program that the old one has not; empty ones do not count."""
    for new, right, what in CASES:
        mistakes = {
            right + 1.0: f"One too many: the header line +++ is no line of the program; {SIGNS}.",
            right + 2.0: "Two too many: neither the header line +++ nor empty lines count.",
            right - 1.0: f"One is missing: only the header is skipped, the first line; {SIGNS}.",
            right - 2.0: "Skip the two header lines by their place; a line may begin with ++.",
        }
        if right == 0:
            mistakes[1.0] = "A line taken out or an empty one is not work: count new lines only."
        if "one changed" in what:
            mistakes[2.0] = "A changed line stands twice in a diff, with - and with +: count +."
        found = number(changed_lines(OLD, new), "changed_lines(old, new)")
        compare(found, right, f"lines of {what}", mistakes, f"For {what}: {SIGNS}.")
    return "0, 1, 2 lines; what is taken out and empty lines do not count."
