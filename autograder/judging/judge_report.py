"""Judge the tables and parts of a student's report, using the student's own records."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from autograder.codes import ReasonCode
from autograder.judging.hand_in import HandIn
from autograder.judging.runs_that_count import finished
from autograder.measuring import study_table
from autograder.measuring.interval import NotMeasured, measured_or_none
from autograder.measuring.study_table import HEAD, Row
from autograder.records import Where
from autograder.safe_text import shortened
from autograder.settings.rubric_schema import ReportAsked
from autograder.submissions.answer_values import as_number
from autograder.submissions.report import Report, Table
from autograder.verdict import FAILED, NOT_MEASURED, PASSED, Part

COARSEST = 0.03  # maximum error, as a fraction: "1" does not report 0.6, whatever its rounding
NO_REPORT = "no report.md was submitted"
WRITE_IT = "run the notebook's cell that writes report.md after your last job, and submit it"
# Chinese and Japanese have no spaces, so each character counts as a word
SIGNS = r"\u3040-\u30ff\u3400-\u9fff"
WORD = re.compile(rf"[{SIGNS}]|[^\W\d_{SIGNS}]{{2,}}")
NUMBER = re.compile(r"\d")
FIGURE = re.compile(r"\d+(?:[.,]\d+)*(?:\s?%)?")
QUOTED = ("seconds", "speedup", "efficiency")  # columns of a table that a text may quote


def judge_report(hand_in: HandIn, asked: ReportAsked) -> tuple[Part, ...]:
    """Return one check part for each table and each heading that the rubric requires."""
    tables = tuple(judge_table(hand_in, name) for name in asked.tables)
    return (*tables, *(judge_part(hand_in, title, asked) for title in asked.parts))


# --- tables ----------------------------------------------------------------------------------


def judge_table(hand_in: HandIn, name: str) -> Part:
    title = f"the report's table {name}"
    expected = f"{title} agrees with the records"
    part = Part(title, FAILED, 0, expected, "", try_=WRITE_IT, code=ReasonCode.TABLE)
    if hand_in.report is None:
        return replace(part, found=NO_REPORT, code=ReasonCode.NO_REPORT)
    try:
        rows = study_table.rows(finished(hand_in, name))
    except NotMeasured as missing:
        found, where = f"{title}: {missing.reason}", missing.where
        return replace(part, status=NOT_MEASURED, found=found, where=where, try_=missing.try_)
    table = hand_in.report.tables.get(name)
    if table is None:
        found, where = f"no table under a heading `### {name}`", (Where(hand_in.report.name, 0),)
        return replace(part, found=found, where=where, code=ReasonCode.NO_TABLE)
    wrong = list(differences(table, rows))
    if wrong:
        found = shortened(f"{title}: " + "; ".join(text for text, _ in wrong[:3]), 300)
        return replace(part, found=found, where=tuple(dict.fromkeys(w for _, w in wrong))[:4])
    found = f"{title}: {len(rows)} sizes, as the records say"
    return replace(part, status=PASSED, credit=1, found=found, try_="")


def differences(table: Table, rows: Sequence[Row]) -> Iterator[tuple[str, Where]]:
    """Yield each difference between a table and the records, with its place."""
    columns = [column for column in HEAD if column in table.head]
    if columns != list(HEAD):
        lacking = ", ".join(column for column in HEAD if column not in table.head)
        yield f"its first line lacks {lacking or 'the order of the columns'}", table.where
        return
    by_ranks = {}
    for cells, where in table.rows:
        row_cells = dict(zip(table.head, cells, strict=False))
        by_ranks[as_number(row_cells.get("ranks", ""))] = (row_cells, where)
    for row in rows:
        row_cells, where = by_ranks.pop(float(row.ranks), ({}, table.where))
        if not row_cells:
            yield f"it has no line for {row.ranks} ranks", where
            continue
        for column, value in row.values.items():
            text = row_cells.get(column, "")
            if not agrees(text, value):
                what = f"{column} on {row.ranks} is {shortened(text, 20) or 'missing'}"
                yield f"{what}, the records say {value:.4g}", where
    for _, where in by_ranks.values():
        yield "it has a row for a size that is not in the records", where


def agrees(text: str, value: float) -> bool:
    """Return whether the number in a text is this value after rounding."""
    number = as_number(text)
    if number is None:
        return False
    digits = text.strip().removesuffix("%").strip().partition("e")[0].partition(".")[2]
    half = 0.5 * 10.0 ** -len(digits) if "e" not in text.lower() else COARSEST * abs(value)
    return abs(number - value) <= min(half, COARSEST * abs(value)) * (1 + 1e-6) + 1e-12


# --- written parts --------------------------------------------------------------------------


def judge_part(hand_in: HandIn, title: str, asked: ReportAsked) -> Part:
    report = hand_in.report
    name = f"the report's part “{title}”"
    fewest = asked.words.get(title, 1)
    quoted = asked.quotes.get(title)
    parts = [f"at least {fewest} words"] * (fewest > 1) + ["a number"] * (title in asked.numbers)
    parts += [f"a size and a value from the table {quoted}"] * (quoted is not None)
    expected = f"{name} with {' and '.join(parts)}" if parts else f"{name} is there"
    part = Part(name, FAILED, 0, expected, "", try_=WRITE_IT, code=ReasonCode.TEXT)
    if report is None:
        return replace(part, found=NO_REPORT, code=ReasonCode.NO_REPORT)
    text, where = report.parts.get(title.casefold(), ("", Where(report.name, 0)))
    part = replace(part, where=(where,))
    if title.casefold() not in report.parts:
        return replace(part, found=f"no heading `## {title}`", code=ReasonCode.NO_HEADING)
    words = different_words(text)
    earlier = asked.parts[: asked.parts.index(title)]
    same = [one for one in earlier if as_read(text) == as_read(text_of(report, one))]
    if len(words) < fewest:
        flaw = f"has {len(words)} different words"
    elif title in asked.numbers and not NUMBER.search(text):
        flaw = "has no number in digits"
    elif quoted and not quotes_table(text, table_of(hand_in, quoted)):
        flaw = f"does not quote a size and a value from the table {quoted}"
    elif same:
        flaw = f"repeats “{same[0]}”"
    else:
        return replace(part, status=PASSED, credit=1, found=f"{name} is there", try_="")
    hint = f"write a sentence of your own. Say {asked.hints.get(title, 'what you found')}."
    return replace(part, found=f"{name} {flaw}", try_=hint)


def text_of(report: Report, title: str) -> str:
    return report.parts.get(title.casefold(), ("", None))[0]


def table_of(hand_in: HandIn, name: str) -> list[Row]:
    return measured_or_none(study_table.rows, finished(hand_in, name)) or []


def quotes_table(text: str, rows: Sequence[Row]) -> bool:
    """Return whether a text quotes both a size and a measured value from the table.

    The value must be a time, or a speedup or efficiency on more than the smallest number of ranks.
    The value needs at least two digits; otherwise, a rank count would always match some rounded
    value.
    """
    numbers = FIGURE.findall(text)
    values = [
        row.values[column]
        for row in rows
        for column in QUOTED
        if column == "seconds" or row.ranks > rows[0].ranks
    ]
    size = any(as_number(number) == row.ranks for number in numbers for row in rows)
    exact = [number for number in numbers if len(re.sub(r"\D", "", number).lstrip("0")) > 1]
    return size and any(agrees(number, value) for number in exact for value in values)


def as_read(text: str) -> str:
    """Return a text in lower case without spaces and punctuation, for comparisons."""
    return " ".join(re.findall(r"\w+", text)).casefold()


def different_words(text: str) -> set[str]:
    return {word.casefold() for word in WORD.findall(text)}
