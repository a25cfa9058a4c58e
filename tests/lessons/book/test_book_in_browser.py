"""Tests of this course's book, with lesson 02 really executed, in a real browser."""

import functools
import html
import os
import re
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from lessons.edition.gaps import find_gaps
from lessons.edition.release import TELLING
from tests.lessons.programs.all_points import course

pytestmark = [pytest.mark.browser, pytest.mark.slow]
ROOT = Path(__file__).parents[3]
LESSONS = sorted(path.name for path in (ROOT / "solutions").iterdir())
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("book")
    if demo := os.environ.get("COURSE_DEMO"):  # tests/test_demo.py
        runs = f"{demo}/run"
    else:
        runs = f"{folder}/runs"
        ran = course(f"lessons run 02 --site laptop --out {runs}", folder)
        assert ran.returncode == 0, ran.stdout + ran.stderr
    made = course(f"lessons book --from {runs} --out {folder}/book --partial", folder)
    assert made.returncode == 0, made.stdout + made.stderr
    assert f"1 of {len(LESSONS)} lessons have outputs" in made.stdout
    assert made.stdout.count("without outputs: ") == len(LESSONS) - 1
    return folder / "book"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address(site):
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture
def page(browser, address):
    """Open a page that fails the test after an error or a request to another host."""
    page, wrong = browser.new_page(viewport={"width": 1300, "height": 900}), []
    own = (address, "data:", "blob:")
    page.on("request", lambda asked: asked.url.startswith(own) or wrong.append(asked.url))
    page.on("console", lambda said: said.type == "error" and wrong.append(said.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    yield page
    page.close()
    assert not wrong


def reader_sees(text):
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", text)).split())


def test_no_solution_is_on_any_page(site):
    """Search for whole blocks and expected answers as plain text, unlike the command itself."""
    texts = {path: reader_sees(path.read_text()) for path in site.rglob("*.html")}
    assert len(texts) > 100
    block = re.compile(r"### BEGIN SOLUTION.*?### END SOLUTION", re.DOTALL)
    programs = [path.read_text() for path in sorted((ROOT / "solutions").glob("*/*.py"))]
    shown = " ".join(" ".join(block.sub("", text).split()) for text in programs)
    looked_for = 0
    for source in sorted((ROOT / "solutions").rglob("*.py")):
        for gap in find_gaps(source.read_text(), source.name):
            body = " ".join("\n".join(gap.body).split())
            if len(body) >= TELLING and body not in shown:
                looked_for += 1
                assert not [path for path, text in texts.items() if body in text], body
    assert looked_for > 90
    of_lessons = [text for path, text in texts.items() if path.is_relative_to(site / "lessons")]
    assert not [text for text in of_lessons if "BEGIN SOLUTION" in text]


def test_every_lesson_program_and_page_is_there(site):
    contents = (site / "index.html").read_text()
    for page in (ROOT / "docs").glob("*.md"):
        assert f'href="docs/{page.stem}.html"' in contents
    for lesson in LESSONS:
        assert f'href="lessons/{lesson}/lesson.html"' in contents
        text = (site / "lessons" / lesson / "lesson.html").read_text()
        for file in (ROOT / "lessons" / lesson).iterdir():
            if file.suffix in (".py", ".sbatch"):
                assert f'href="{file.name}.html"' in text
    executed = (site / "lessons" / "02_serial" / "lesson.html").read_text()
    described = re.findall(r'<img alt="([^"]*)"[^>]*src="../../_images/', executed)
    assert len(described) == 4
    assert "Training accuracy after each epoch" in described[3]
    assert executed.count('src="../../_images/') == 4
    assert "test accuracy 0.9" in reader_sees(executed)
    assert "NotImplementedError" in executed


def test_no_page_is_wider_than_a_phone(page, address, site):
    page.set_viewport_size(PHONE)
    pages = ["index", "docs/*", "lessons/*/lesson", "lessons/07_horovod/train.py"]
    for path in sorted(path for name in pages for path in site.glob(f"{name}.html")):
        page.goto(f"{address}/{path.relative_to(site)}")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], path
    page.goto(f"{address}/search.html?q=allreduce")
    page.wait_for_selector("#search-results a")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
