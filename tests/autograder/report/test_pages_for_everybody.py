"""The pages for people who use a keyboard or screen reader, no JavaScript, or the dark theme."""

from dataclasses import replace

import pytest

from autograder.classroom.class_settings import ClassSettings
from autograder.codes import CheckStatus, EvidenceLevel, FindingCode, GradeStatus
from autograder.notes import make_note
from autograder.report.class_page import class_pages
from autograder.report.student.page import Absent, student_page
from autograder.settings.class_file import LatePolicy
from autograder.settings.policy import Policy
from autograder.settings.roster import Person
from autograder.verdict import Check, Grade

pytestmark = pytest.mark.browser

LOOKS = tuple(
    replace(make_note(FindingCode.OTHER_TOOLKIT), title=text)
    for text in ("accuracy is borderline", "late by 2 days", "not in the roster")
)
ODD = make_note(FindingCode.RUN_TOO_SMALL, "a", "b", (), "look", name="one")
PAST, FUTURE = "2020-03-01T12:00:00+00:00", "2099-03-01T12:00:00+00:00"


def row(student, lesson, score, look=()):
    title = f"Lesson {lesson}"
    if score is None:
        return Grade(student, lesson, title, "full", GradeStatus.MISSING, None, 10.0, findings=look)
    status = CheckStatus.PASSED if score == 10 else CheckStatus.PARTIAL
    judged = (Check("a", "", 10.0, score, status, "", ""),)
    return Grade(student, lesson, title, "full", GradeStatus.GRADED, score, 10.0, findings=look,
                 tier=EvidenceLevel.SELF_CONSISTENT, checks=judged)  # fmt: skip


def checks():
    states = (("passed", 1.0), ("failed", 0.0), ("partial", 0.5), ("not measured", 0.0),
              ("borderline", 1.0))  # fmt: skip
    return tuple(
        Check(state, f"Check {state}", 1, score, state, "≥ 1", "0.5 `x`", advice="try it again")
        for state, score in states
    )


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Write a class of two hundred with realistic names.

    gil has not submitted a lesson that is due.
    """
    folder = tmp_path_factory.mktemp("pages")
    rows = [row("gil", "01", 10.0), row("gil", "02", None), row("gil", "03", None)]
    rows += [row("hana", "01", 10.0), row("hana", "02", 5.0, LOOKS), row("hana", "03", None)]
    for number in range(198):
        rows += [row(f"s{number:03d}", name, 10.0) for name in ("01", "02", "03")]
    people = {"s000": Person("s000", "محمد عبد الرحمن"), "s001": Person("s001", "x" * 150)}
    policy = Policy(LatePolicy(due={"01": PAST, "02": PAST, "03": FUTURE}))
    settings = ClassSettings({}, {}, policy=policy)
    (folder / "index.html").write_text(class_pages(rows, people, settings)["index.html"])
    given = {"tier": "unverified", "tier_reason": "no run", "checks": checks(), "findings": (ODD,)}
    grade = Grade("hana", "02", "Lesson", "smoke", "graded", 2.5, 5.0, **given)
    page = student_page("Hana", [grade] * 3, absent=[Absent("03", "2099-03-01 12:00 UTC")])
    (folder / "hana.html").write_text(page)
    return folder


@pytest.fixture
def opened(browser, pages):
    made = []

    def open_page(name, **settings):
        made.append(browser.new_page(**settings))
        made[-1].goto((pages / name).as_uri())
        return made[-1]

    yield open_page
    for page in made:
        page.close()


# Return every text whose contrast with its background is below 4.5.
FAINT = """() => {
  const light = colour => colour.map(c => c / 255)
    .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
  const numbers = text => text.match(/[\\d.]+/g).map(Number);
  const behind = element => { for (let at = element; at; at = at.parentElement) {
    const [r, g, b, a = 1] = numbers(getComputedStyle(at).backgroundColor);
    if (a > 0) return [r, g, b]; } return [255, 255, 255]; };
  const found = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || element.closest("svg, script, style, noscript")) continue;
    const ink = numbers(getComputedStyle(element).color).slice(0, 3);
    const [high, low] = [light(ink), light(behind(element))].sort((a, b) => b - a);
    if ((high + 0.05) / (low + 0.05) < 4.5) found.push(texts.currentNode.data.trim());
  }
  return found; }"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_word_can_be_read(opened, scheme):
    for name in ("index.html", "hana.html"):
        page = opened(name, color_scheme=scheme)
        assert page.evaluate(FAINT) == []


def test_a_missing_lesson_counts_when_it_is_due(opened):
    page = opened("index.html")
    total = page.locator("#grades tbody tr[data-n]", has_text="gil").locator("td").first
    assert total.inner_text() == "10 / 20"
    page.get_by_role("button", name="points").click()
    assert page.locator("#grades tbody tr[data-n] th").first.inner_text() == "gil"


# When lessons 02 and 07 are due, zoe's extension for 02, her cells, and the ones shown as due.
ABSENT = [
    ({}, 0, ["—", "—"], []),
    ({"02": PAST, "07": FUTURE}, 0, ["—", "·"], ["02"]),
    ({"02": PAST}, 0, ["—", "·"], ["02"]),
    ({"02": FUTURE, "07": PAST}, 0, ["·", "—"], ["07"]),
    ({"02": PAST, "07": PAST}, 365 * 99, ["·", "—"], ["02", "07"]),
]


@pytest.mark.parametrize(("due", "days", "cells", "shown"), ABSENT)
def test_nothing_is_missing_before_it_is_due(browser, tmp_path, due, days, cells, shown):
    policy = Policy(LatePolicy(due=due), extensions={("zoe", "02"): (days, "")} if days else {})
    rows = [row("ada", lesson, 10.0) for lesson in ("02", "07")]
    rows += [row("zoe", lesson, None) for lesson in ("02", "07")]
    settings = ClassSettings({}, {}, policy=policy)
    (tmp_path / "index.html").write_text(class_pages(rows, {}, settings)["index.html"])
    page = browser.new_page()
    page.goto((tmp_path / "index.html").as_uri())
    absent = page.locator("#grades tbody tr", has_text="zoe").locator("td.cell")
    assert absent.all_inner_texts() == cells
    assert page.locator(".chip.missing").inner_text() == f"{cells.count('—')} missing"
    page.get_by_role("combobox").select_option("due")
    assert page.locator("#grades thead th[data-lesson]:visible").all_inner_texts() == shown
    page.close()


def test_without_javascript_there_is_the_table_and_a_word_about_it(browser, pages):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((pages / "index.html").as_uri())
    assert page.locator("noscript p").is_visible()
    assert not page.get_by_role("searchbox").is_visible()
    assert page.locator("#grades tbody tr:visible").count() == 200
    assert page.locator("#grades tbody tr", has_text="gil").first.inner_text().split()[1] == "10"
    page.goto((pages / "hana.html").as_uri())
    page.locator("summary").first.click()
    assert page.get_by_text("What to do next").is_visible()
    context.close()


def test_who_listens_hears_what_the_signs_show(opened):
    page = opened("hana.html")
    first = page.locator("section.lesson").first
    assert first.get_by_role("img", name="passed").count() == 1
    assert first.get_by_role("img", name="failed").count() == 1
    assert page.get_by_role("img", name="2 of 5 passed").count() == 3
