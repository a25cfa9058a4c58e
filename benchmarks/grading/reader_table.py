"""Show for each file what `autograder read` gets right in other people's outputs, and what not.

python benchmarks/grading/reader_table.py              # COURSE_LOGS=folder with expected.json
python benchmarks/grading/reader_table.py --names      # with the names of wrong and missing facts
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.autograder.reading.known_outputs import LOGS, Row, rows  # noqa: E402


def totals(table: list[Row]) -> tuple[str, str]:
    """Return two sentences: the facts and the outcomes of all files."""
    right, silent, wrong = (
        sum(len(getattr(row, kind)) for row in table) for kind in ("right", "silent", "wrong")
    )
    asked = right + silent + wrong
    ends = [row.outcome for row in table]
    of_ends = ", ".join(f"{ends.count(w)} {w}" for w in ("right", "unrecognised", "wrong"))
    return (
        f"facts: {right} right ({right / asked:.0%}), {wrong} wrong, {silent} silent of {asked}",
        f"outcomes: {of_ends} of {len(ends)} ({ends.count('right') / len(ends):.0%} right)",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--names", action="store_true", help="name what is silent and wrong")
    args = parser.parse_args()
    if LOGS is None:
        sys.exit("No folder of outputs with an expected.json: set COURSE_LOGS to it.")
    table = rows(LOGS)
    print("| file | right | silent | wrong | outcome | as |\n|---|---|---|---|---|---|")
    for row in table:
        counts = f"{len(row.right)} | {len(row.silent)} | {len(row.wrong)}"
        print(f"| {row.file} | {counts} | {row.said} | {row.outcome} |")
        if args.names and (row.silent or row.wrong):
            print(f"  silent: {', '.join(row.silent)}  wrong: {', '.join(row.wrong)}")
    print("\n" + "\n".join(totals(table)))


if __name__ == "__main__":
    main()
