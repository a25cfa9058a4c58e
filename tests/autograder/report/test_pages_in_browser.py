"""The pages in a real browser: sorting and filtering, phone width, light and dark, print."""

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from tests.autograder.make_record import RIGHT_ANSWERS, hand_in, make_record

pytestmark = pytest.mark.browser
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome") or "chromium"


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


@pytest.fixture
def pages(tmp_path, grade):
    hand_in(tmp_path / "class" / "ada" / "02")
    keras = make_record(job_id="5", test_accuracy=0.965)
    hand_in(tmp_path / "class" / "ben" / "02", keras=keras, torch=[], answers={})
    long = "<script>document.title='hit'<" + "x" * 90
    answers = RIGHT_ANSWERS | {"predict_two_ranks": long, "cpu_gpu_is_speedup": long}
    hand_in(tmp_path / "class" / long / "02", keras=make_record(job_id="6"), answers=answers)
    changed = (
        Path("lessons/02_serial/train.py")
        .read_text()
        .replace(
            "        test_accuracy=accuracy,",
            f"        test_accuracy={'9' * 200},\n# {long}\n{long}\n",
        )
    )
    (tmp_path / "class" / long / "02" / "train.py").write_text(changed)
    return grade(tmp_path / "class").folder


def test_class_table_sorts_and_filters(browser, pages):
    page = browser.new_page()
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto((pages / "index.html").as_uri())
    first = page.locator("#grades tbody tr:visible td:nth-child(3)")
    page.get_by_role("button", name="points").click()
    assert first.first.inner_text() == "1 / 10"
    page.get_by_role("button", name="points").click()
    assert first.first.inner_text() == "10 / 10"
    page.get_by_role("searchbox").fill("ben 02")
    assert first.count() == 1
    assert complaints == []


def test_from_the_class_to_the_lines_that_a_student_changed(browser, pages):
    page = browser.new_page()
    page.goto((pages / "index.html").as_uri())
    page.get_by_role("link", name="programs").click()
    lines = page.locator("table.code tbody tr")
    gone, new, script = (lines.nth(number).inner_text() for number in range(3))
    assert gone.split("\t")[0] == new.split("\t")[0] == "!"
    assert gone.endswith("test_accuracy=accuracy,")
    assert "test_accuracy=999" in new
    assert "<script>document.title='hit'<xxx" in script
    assert page.title() != "hit"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1000, 1400])
def test_pages_fit_and_run_nothing_of_the_students(browser, pages, width, scheme):
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    programs = [*(pages / "programs").glob("*.html")]
    assert len(programs) == 1
    for path in (*(pages / "students").glob("*.html"), *programs, pages / "index.html"):
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path.name
        hidden = "[...document.querySelectorAll('div')].filter(d => d.scrollWidth > d.clientWidth)"
        assert page.evaluate(f"{hidden}.length") == 0, f"{path.name} has to be pushed sideways"
        assert page.title() != "hit"
        ink = page.evaluate("getComputedStyle(document.body).color")
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (light(paper) > light(ink)) == (scheme == "light")


def light(colour: str) -> float:
    numbers = [float(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    return sum(numbers) / 3


def test_a_page_prints_on_white_even_when_dark(browser, pages):
    page = browser.new_page(color_scheme="dark")
    page.goto((pages / "students" / "ada.html").as_uri())
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
