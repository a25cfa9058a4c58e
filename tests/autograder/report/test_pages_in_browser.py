"""The pages in a real browser: sorting and filtering, phone width, light and dark, print."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.cli import main
from tests.autograder.make_record import RIGHT_ANSWERS, hand_in, make_record

pytestmark = pytest.mark.browser


LONG = "<script>document.title='hit'<" + "x" * 90


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    hand_in(folder / "class" / "ada" / "02")
    keras = make_record(job_id="5", test_accuracy=0.965)
    hand_in(folder / "class" / "ben" / "02", keras=keras, torch=[], answers={})
    answers = RIGHT_ANSWERS | {"predict_accuracy": LONG, "faults_serial": LONG}
    hand_in(folder / "class" / LONG / "02", keras=make_record(job_id="6"), answers=answers)
    changed = (
        Path("lessons/02_serial/train.py")
        .read_text()
        .replace(
            "    run.end(test_loss=loss, test_accuracy=accuracy)",
            f"    run.end(test_accuracy={'9' * 200})\n# {LONG}\n{LONG}\n",
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


def test_from_the_class_to_the_lines_that_a_student_changed(browser, pages):
    page = browser.new_page()
    page.goto((pages / "index.html").as_uri())
    page.get_by_role("link", name="programs").click()
    lines = page.locator("table.code tbody tr")
    gone, new, script = (lines.nth(number).inner_text() for number in range(3))
    assert gone.endswith("test_accuracy=accuracy)")
    assert "test_accuracy=999" in new
    assert "<script>document.title='hit'<xxx" in script
    assert page.title() != "hit"


PUSHED = "[...document.querySelectorAll('div')].filter(d => d.scrollWidth > d.clientWidth).length"


def test_pages_fit_and_run_nothing_of_the_students(browser, pages):
    page = browser.new_page()
    programs = [*(pages / "programs").glob("*.html")]
    assert len(programs) == 1
    for path in (*(pages / "students").glob("*.html"), *programs, pages / "index.html"):
        page.goto(path.as_uri())
        for width in (390, 1000, 1400):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path.name
            assert page.evaluate(PUSHED) == 0, f"{path.name} has to be pushed sideways"
        assert page.title() != "hit"
