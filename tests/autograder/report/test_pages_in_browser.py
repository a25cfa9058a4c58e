"""The pages in a real browser: sorting and filtering, phone width, light and dark, print."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.cli import main
from tests.autograder.class_yaml import late_rules, setting
from tests.autograder.make_record import RIGHT_ANSWERS, hand_in, make_record

pytestmark = pytest.mark.browser


LONG = "<script>document.title='hit'<" + "x" * 90


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    hand_in(folder / "class" / "ada" / "02")
    keras = make_record(job_id="5", test_accuracy=0.965)
    hand_in(folder / "class" / "ben" / "02", keras=keras, torch=[], answers={})
    answers = RIGHT_ANSWERS | {"predict_accuracy": LONG, "cpu_gpu_is_speedup": LONG}
    hand_in(folder / "class" / LONG / "02", keras=make_record(job_id="6"), answers=answers)
    changed = (
        Path("lessons/02_serial/train.py")
        .read_text()
        .replace(
            "        test_accuracy=accuracy,",
            f"        test_accuracy={'9' * 200},\n# {LONG}\n{LONG}\n",
        )
    )
    (folder / "class" / LONG / "02" / "train.py").write_text(changed)
    words = ["grade", folder / "class", "--profile", "full", "--out", folder / "grades"]
    CliRunner().invoke(main, [*map(str, words)], catch_exceptions=False)
    return folder / "grades"


@pytest.fixture
def class_page(browser, pages):
    page = browser.new_page()
    page.complaints = []
    page.on("console", lambda message: page.complaints.append(message.text))
    page.goto((pages / "index.html").as_uri())
    yield page
    assert page.complaints == []


def names(page) -> list[str]:
    return page.locator("#grades tbody tr[data-n]:visible th").all_inner_texts()


def test_the_class_sorts_and_filters(class_page):
    page = class_page
    assert [name[:4] for name in names(page)] == ["<scr", "ada", "ben"]  # reasons to look are first
    page.get_by_role("button", name="points").click()
    assert names(page)[0] == "ben"
    assert page.locator("#grades tbody tr").first.locator("td").first.inner_text() == "1 / 10"
    page.get_by_role("button", name="points").click()
    assert names(page)[0] != "ben"
    page.get_by_role("button", name="student").click()
    assert names(page)[-1] == "ben"
    page.get_by_role("searchbox").fill("ben self")
    assert names(page) == ["ben"]
    assert page.get_by_role("status").inner_text() == "1 of 3 shown"
    page.get_by_role("searchbox").fill("no such student")
    assert page.get_by_text("Nobody matches").is_visible()
    page.get_by_role("searchbox").fill("")
    page.get_by_role("checkbox").check()
    assert [name[:4] for name in names(page)] == ["<scr", "ada"]


DUE = {"past": "2020-03-01T12:00:00+00:00", "future": "2099-03-01T12:00:00+00:00"}
# When lessons 02 and 07 are due, zoe's extension for 02, her cells, and the ones shown as due.
ABSENT = [
    (None, None, 0, ["—", "—"], []),
    ("past", "future", 0, ["—", "·"], ["02"]),
    ("past", None, 0, ["—", "·"], ["02"]),
    ("future", "past", 0, ["·", "—"], ["07"]),
    ("past", "past", 365, ["—", "—"], ["02", "07"]),
]


@pytest.mark.parametrize(("first", "second", "days", "cells", "due"), ABSENT)
def test_nothing_is_missing_before_it_was_due(
    browser, tmp_path, grade, first, second, days, cells, due
):
    hand_in(tmp_path / "class" / "ada" / "02")
    horovod = make_record(lesson="07", source="keras-horovod", size=2, job_id="9")
    hand_in(tmp_path / "class" / "ada" / "07", keras=horovod, torch=[])
    (tmp_path / "class" / "dan").mkdir()
    (tmp_path / "class" / "dan" / "submission.zip").write_bytes(b"cut off")  # of no known lesson
    (tmp_path / "roster.csv").write_text("student\nada\nzoe\n")
    times = {"02": first, "07": second}
    text = ", ".join(f"'{key}': '{DUE[when]}'" for key, when in times.items() if when)
    words = ["--roster", tmp_path / "roster.csv", *late_rules(tmp_path, f"due: {{{text}}}\n")]
    if days:
        (tmp_path / "longer.csv").write_text(f"student,lesson,days\nzoe,02,{days}\n")
        words += [*setting("extensions", tmp_path / "longer.csv")]
    out = grade(tmp_path / "class", *words).folder
    page = browser.new_page()
    page.goto((out / "index.html").as_uri())
    absent = page.locator("#grades tbody tr", has_text="zoe").locator("td.cell")
    assert absent.all_inner_texts()[:2] == cells
    everybody = page.locator("#grades tbody td.cell").all_inner_texts()
    assert everybody.count("missing") == 1
    told = everybody.count("—") + 1
    assert page.locator(".chip.missing").inner_text() == f"{told} missing"
    page.get_by_role("combobox").select_option("due")
    shown = page.locator("#grades thead th[data-lesson]:visible").all_inner_texts()
    assert shown == due


def test_from_the_class_to_the_lines_that_a_student_changed(browser, pages):
    page = browser.new_page()
    page.goto((pages / "index.html").as_uri())
    page.get_by_role("link", name="programs").click()
    lines = page.locator("table.code tbody tr")
    gone, new, script = (lines.nth(number).inner_text() for number in range(3))
    assert gone.endswith("test_accuracy=accuracy,")
    assert "test_accuracy=999" in new
    assert "<script>document.title='hit'<xxx" in script
    assert page.title() != "hit"


PUSHED = "[...document.querySelectorAll('div')].filter(d => d.scrollWidth > d.clientWidth).length"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_and_run_nothing_of_the_students(browser, pages, scheme):
    page = browser.new_page(color_scheme=scheme)
    programs = [*(pages / "programs").glob("*.html")]
    assert len(programs) == 1
    for path in (*(pages / "students").glob("*.html"), *programs, pages / "index.html"):
        page.goto(path.as_uri())
        for width in (390, 1000, 1400):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path.name
            assert page.evaluate(PUSHED) == 0, f"{path.name} has to be pushed sideways"
        assert page.title() != "hit"
        ink = page.evaluate("getComputedStyle(document.body).color")
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (light(paper) > light(ink)) == (scheme == "light")


def test_what_is_folded_away_is_printed(browser, tmp_path, grade):
    for number in (2, 3, 4):
        hand_in(tmp_path / "class" / "ada" / f"{number:02d}")
    page = browser.new_page()
    page.goto((grade(tmp_path / "class").folder / "students" / "ada.html").as_uri())
    runs = page.locator("table.runs").first
    assert not runs.is_visible()
    page.emulate_media(media="print")
    assert runs.is_visible()
    page.emulate_media(media="screen")
    page.get_by_role("link", name="04").click()
    assert page.evaluate("scrollY") > 0
    page.locator("summary", has_text="Your runs").first.click()
    assert runs.is_visible()


def light(colour: str) -> float:
    numbers = [float(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    return sum(numbers) / 3


def test_a_page_prints_on_white_even_when_dark(browser, pages):
    page = browser.new_page(color_scheme="dark")
    page.goto((pages / "students" / "ada.html").as_uri())
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
