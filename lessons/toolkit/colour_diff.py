"""Show in colour how a program differs from the one it is based on."""

import difflib
import html
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

COLOURS = {"+": "rgba(46, 160, 67, 0.18)", "-": "rgba(248, 81, 73, 0.18)", "@": "none"}
LESSONS = Path(__file__).parents[1]  # the students' edition
GAP = re.compile(r"\s*(### (BEGIN|END) SOLUTION|raise NotImplementedError)")


def changed_lines(old: str, new: str, steps: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return each added or removed line with the steps to which it belongs, such as "2 wrap".

    steps: a pattern for each step, in order. Gaps and blank lines are left out. A line "@" stands
    between places of the program.
    """
    before, after = (
        [line for line in text.splitlines() if not GAP.match(line)] for text in (old, new)
    )
    found = []
    for line in list(difflib.unified_diff(before, after, n=0, lineterm=""))[2:]:
        if line[1:].strip():
            of = [
                f"{number} {name.replace('_', ' ')}"
                for number, (name, pattern) in enumerate(steps.items(), 1)
                if line[0] == "+" and re.search(pattern, line)
            ]
            found.append(("@", "") if line[0] == "@" else (line, ", ".join(of)))
    return found


def show_diff(old: str | Path, new: str | Path, **steps: str) -> Any:
    """Return the difference from an earlier lesson's program, for a notebook to show in colour.

    old: as in "02_serial/train.py". steps: names of steps, with patterns of their lines.
    """
    from IPython.display import HTML

    before, after = (Path(path).read_text(encoding="utf-8") for path in (LESSONS / old, new))
    if "raise NotImplementedError" in after:
        print(f"There are gaps left in {new}. Their solutions are not shown here.")
    rows = [
        f'<div style="background: {COLOURS[line[0]]}; display: flex">'
        f'<span style="white-space: pre; flex: 1">{html.escape("⋯" if line == "@" else line)}'
        f"</span><b>{html.escape(step)}</b></div>"
        for line, step in changed_lines(before, after, steps)
    ]
    return HTML(f'<div style="font-family: monospace; line-height: 1.3">{"".join(rows)}</div>')
