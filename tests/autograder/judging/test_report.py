"""report.md and the records: tables match within their rounding, and sections are there."""

import pytest

from autograder.codes import ReasonCode
from autograder.judging.hand_in import HandIn
from autograder.judging.judge_report import agrees, different_words, judge_report
from autograder.measuring import study_table
from autograder.settings import rubric
from autograder.submissions.report import parse_report
from tests.autograder.make_study import study

ROUNDS = [(8.0, 5.0), (16.0, 9.0), (8.2, 4.9)]
RUBRIC = rubric.load_rubric(rubric.FOLDER / "12.yaml")
ASKED = {check.id: check.report for check in RUBRIC.checks if check.report}
WORDS = (
    "We want to know how many ranks are worth their price for this one small network: 2 have 0.84."
)


def table(kind, runs):
    rows = [study_table.HEAD, ["---"] * 9, *(row.cells for row in study_table.rows(runs))]
    return f"### {kind}\n\n" + "\n".join("| " + " | ".join(row) + " |" for row in rows)


RUNS = [run for kind in ("strong", "epoch", "weak") for run in study(kind, ROUNDS)]
TABLES = "\n\n".join(
    table(kind, [run for run in RUNS if run.header["scaling"] == kind])
    for kind in ("strong", "epoch", "weak")
)
PARTS = ("Question", "Hardware", "Picture", "Law", "Recommendation", "What is not known")
WRITTEN = "".join(f"## {part}\n\n{part}: {WORDS}\n" for part in PARTS)
REPORT = f"# A study\n{WRITTEN}## Table\n{TABLES}\n"


def judged(text, check="table", runs=RUNS):
    report = parse_report(text, "report.md") if text else None
    return judge_report(HandIn(RUBRIC, runs, {}, None, "smoke", report=report), ASKED[check])


def test_a_report_from_the_records_is_right():
    for check in ASKED:
        assert all(part.credit == 1 for part in judged(REPORT, check)), check


WRONG_TABLES = {
    "another speedup": ("| 1.67 |", "| 1.97 |", "speedup on 2 is 1.97, the records say 1.673"),
    "another time": ("| 4.9 |", "| 3.9 |", "from on 2 is 3.9, the records say 4.9"),
    "no range": ("| 1.60 | 1.78 |", "| | |", "low on 2 is missing"),
    "a size too many": ("| 2 | 3 |", "| 4 | 3 |", "no line for 2 ranks"),
    "words": ("| 1.67 |", "| about two |", "speedup on 2 is about two"),
    "more runs": ("| 2 | 3 |", "| 2 | 30 |", "runs on 2 is 30"),
    "too coarse": ("| 1.60 | 1.78 |", "| 2 | 2 |", "low on 2 is 2"),
    "another head": ("| efficiency |", "| share |", "lacks efficiency"),
    "under another heading": ("### epoch", "### epochs", "no table under a heading"),
}


@pytest.mark.parametrize("name", WRONG_TABLES)
def test_a_table_that_says_something_else_earns_nothing(name):
    old, new, words = WRONG_TABLES[name]
    begin = REPORT.index("### epoch")
    text = REPORT[:begin] + REPORT[begin:].replace(old, new, 1)
    strong, epoch, weak = judged(text)
    assert (strong.credit, epoch.credit, weak.credit) == (1, 0, 1), epoch.found
    assert words in epoch.found


def test_a_table_of_other_runs_earns_nothing():
    other = [run for kind in ("strong", "epoch", "weak") for run in study(kind, [(9.0, 5.0)] * 3)]
    assert [part.credit for part in judged(REPORT, runs=other)] == [0, 0, 0]


@pytest.mark.parametrize("part", PARTS)
def test_a_part_that_is_empty_or_gone_loses_its_share(part):
    for text in (REPORT.replace(f"## {part}\n\n{part}: {WORDS}", f"## {part}\n"),
                 REPORT.replace(f"## {part}\n", "## Something\n")):  # fmt: skip
        lost = [found for found in judged(text, "report") if found.credit < 1]
        assert [part in found.name for found in lost] == [True]
        assert lost[0].try_


def test_the_same_word_again_and_again_is_no_sentence():
    text = REPORT.replace(f"## Question\n\nQuestion: {WORDS}", "## Question\n\n" + "faster " * 30)
    assert sum(part.credit for part in judged(text, "report")) == len(PARTS) - 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Is a second GPU, or a third, worth it? GPU!", 7),
        ("这个小网络值得申请两个GPU吗", 12),
        ("ранги и ранги", 1),
        ("a 2 _", 0),
    ],
)
def test_different_words_are_counted_in_any_script(text, words):
    assert len(different_words(text)) == words


def test_a_recommendation_names_a_number():
    text = REPORT.replace(
        f"Recommendation: {WORDS}", "Ask for many: " + WORDS.replace("2 have 0.84", "two do")
    )
    [lost] = [part for part in judged(text, "report") if part.credit < 1]
    assert (lost.code, "Recommendation" in lost.found) == (ReasonCode.TEXT, True)


@pytest.mark.parametrize(
    ("figures", "right"),
    [("2 and 0.84", True), ("2 and 84 %", True), ("2 and 1.67", True), ("2 and 5.0 s", True),
     ("1, because 2 have 0.84", True), ("2", False), ("2 and 0.94", False), ("3 and 0.84", False),
     ("1 and 1.00", False), ("2 and 2", False)],
)  # fmt: skip
def test_a_recommendation_quotes_the_table_of_the_records(figures, right):
    words = "apple pear plum fig grape kiwi lemon lime mango melon orange papaya peach quince nut"
    text = REPORT.replace(f"Recommendation: {WORDS}", f"{words} {figures}")
    lost = [part for part in judged(text, "report") if part.credit < 1]
    assert [part.found for part in lost] == ([] if right else [
        "the report's part “Recommendation” does not quote a size and a value from the table epoch"
    ])  # fmt: skip


def test_one_text_is_no_answer_to_two_questions():
    # Changes of case, spaces and punctuation do not make it a different text.
    again = f"question -  {WORDS.upper()}.."
    text = REPORT.replace(f"Recommendation: {WORDS}", again)
    [lost] = [part for part in judged(text, "report") if part.credit < 1]
    assert lost.code == ReasonCode.TEXT
    assert "“Question”" in lost.found
    assert ASKED["report"].hints["Recommendation"] in lost.try_


@pytest.mark.parametrize("check", ["table", "report"])
def test_no_report_is_said(check):
    for part in judged("", check):
        assert part.credit == 0
        assert part.code == ReasonCode.NO_REPORT


@pytest.mark.parametrize(
    ("text", "value", "right"),
    [("1.67", 1.6734, True), ("1.67", 1.6762, False), ("5", 4.98, True), ("1", 0.8, False),
     ("5e3", 5100.0, True), ("84 %", 0.84, True), ("nan", 1.0, False), ("", 1.0, False)],
)  # fmt: skip
def test_a_print_agrees_within_its_rounding(text, value, right):
    assert agrees(text, value) == right


def test_hostile_reports_are_read():
    for text in ("|" * 9999, "### x\n" + "|a|\n" * 5000, "## \x00\n|", "#" * 500, "<!--" * 300):
        parse_report(text, "report.md")
        judged(text)
