"""Tests of the page for unknown addresses, which leads back from any depth."""

from pathlib import Path

import pytest

from lessons.book.site import NOT_FOUND

pytestmark = pytest.mark.browser

GONE = {
    "/gone.html": "/",
    "/course/gone.html": "/course/",
    "/course/lessons/07_horovod/gone.html": "/course/",
    "/lessons/lessons/02_serial/train.py": "/lessons/",
    "/group/docs/docs/gone.html": "/group/docs/",
}


@pytest.mark.parametrize("address", GONE)
def test_it_leads_to_the_first_page_and_to_the_search(browser, address):
    page, asked = browser.new_page(), []
    page.route("**/*", lambda route: asked.append(route.request.url) or
               route.fulfill(status=404, content_type="text/html", body=text()))  # fmt: skip
    page.goto(f"http://book.example{address}")
    links = page.locator("main a").evaluate_all("all => all.map(one => new URL(one.href).pathname)")
    assert links == [f"{GONE[address]}index.html", f"{GONE[address]}search.html"]
    assert len([url for url in asked if "favicon" not in url]) == 1
    page.close()


def text() -> str:
    return Path(NOT_FOUND).read_text(encoding="utf-8")
