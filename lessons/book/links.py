"""Check all links of the written site. Internal links must work; external links are only listed."""

from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ASKS = {"img": "src", "script": "src", "iframe": "src", "source": "src", "link": "href"}
NO_REQUEST = ("canonical", "author", "license", "next", "prev", "search", "index")


@dataclass
class Page:
    anchors: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=set)
    asks_for: set[str] = field(default_factory=set)  # what the browser fetches with the page


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.page.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.page.links.add(values["href"])
        if tag in ASKS and values.get(ASKS[tag]) and values.get("rel") not in NO_REQUEST:
            self.page.asks_for.add(values[ASKS[tag]])


def read_pages(site: Path) -> dict[Path, Page]:
    pages = {}
    for file in sorted(site.rglob("*.html")):
        if "_static" in file.relative_to(site).parts:
            continue
        reader = Reader()
        reader.feed(file.read_text(encoding="utf-8"))
        pages[file] = reader.page
    return pages


def is_external(link: str) -> bool:
    return bool(urlsplit(link).netloc)


def broken(site: Path, pages: dict[Path, Page]) -> list[str]:
    """Return sentences about broken links, and about files that a page loads from elsewhere."""
    found = []
    file_of = cache(file_at)  # all pages of a folder have the same links in their sidebar
    for file, page in pages.items():
        name = file.relative_to(site)
        for link in sorted(page.asks_for):
            if is_external(link):
                found.append(f"{name} asks another host for {link}")
        for link in sorted(page.links | page.asks_for):
            parts = urlsplit(link)
            if parts.netloc or parts.scheme:
                continue
            where = file_of(file.parent, parts.path) if parts.path else file
            if where is None:
                found.append(f"{name} links to {link}, which does not exist")
                continue
            anchors = pages[where].anchors if where in pages else {parts.fragment}
            if parts.fragment and not anchors & {parts.fragment, unquote(parts.fragment)}:
                found.append(f"{name} links to {link}, but that page has no such anchor")
    return found


def file_at(folder: Path, path: str) -> Path | None:
    """Return the file that a link in a page of this folder points to."""
    where = (folder / unquote(path)).resolve()
    where = where / "index.html" if where.is_dir() else where
    return where if where.is_file() else None


def external(pages: dict[Path, Page]) -> list[str]:
    links = {link for page in pages.values() for link in page.links if is_external(link)}
    return sorted(links)
