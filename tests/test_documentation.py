"""The documentation: links work, every page has a kind, and only reference pages are long."""

import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest
import yaml

from cluster.job_file import jobfile
from cluster.job_file.jobfile import request

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.glob("*.md"), *ROOT.glob("benchmarks/*.md")])
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s]+)\)")
LONGEST = 120  # lines of a page that is not a reference page


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub generates them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading(page):
    for link in LINK.findall(page.read_text()):
        file, _, heading = link.partition("#")
        target = page.parent / file if file else page
        assert target.exists(), link
        if heading:
            assert heading in anchors(target), link


def index() -> dict[str, list[str]]:
    """Return the pages of each group in docs/README.md."""
    _, *sections = re.split(r"^## ", (DOCS / "README.md").read_text(), flags=re.MULTILINE)
    return {
        section.partition("\n")[0]: re.findall(r"^\| \[[^]]+\]\(([\w-]+)\.md\)", section, re.M)
        for section in sections
    }


def test_every_page_is_in_the_index_once():
    listed = [name for names in index().values() for name in names]
    assert sorted(listed) == sorted({page.stem for page in DOCS.glob("*.md")} - {"README"})


def test_only_reference_is_long():
    for kind, names in index().items():
        for name in names:
            lines = len((DOCS / f"{name}.md").read_text().splitlines())
            assert kind == "Reference" or lines <= LONGEST, (name, lines)


def test_the_plan_of_a_course_adds_up_what_the_job_files_request():
    hours = Counter()
    for path in ROOT.glob("solutions/*/*.sbatch"):
        wanted = request(jobfile.read(path))
        runs = len(wanted.array or [0])
        hours[path.parent.name[:2]] += wanted.ntasks * wanted.seconds * runs / 3600
    text = (DOCS / "teaching.md").read_text()
    rows = re.findall(r"^\| (\d\d) [^|]+ \| [^|]+ \| ([\d.]+) \|", text, re.MULTILINE)
    assert dict(rows) == {lesson: f"{most:.1f}" for lesson, most in hours.items()}
    assert f"and {sum(hours.values()):.1f} for all lessons" in " ".join(text.split())


def test_changelog_and_citation_have_the_version():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert f"\n## {version} " in (ROOT / "CHANGELOG.md").read_text()
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert str(citation["version"]) == version
    assert all("name" in author for author in citation["authors"])


def test_every_picture_is_small_and_on_a_page():
    texts = "".join(page.read_text() for page in PAGES)
    for picture in (DOCS / "pictures").iterdir():
        assert picture.stat().st_size < 150_000, picture
        assert f"pictures/{picture.name})" in texts or f'pictures/{picture.name}"' in texts, picture


@pytest.mark.parametrize("page", ["README.md", "docs/for-students.md", "lessons/book/front.md"])
def test_pages_that_count_the_lessons_count_all(page):
    lessons = len([*ROOT.glob("solutions/[0-9][0-9]_*")])
    numbers = {17: "seventeen", 18: "eighteen", 19: "nineteen", 20: "twenty"}
    counted = re.findall(r"(\w+teen|twenty)\s+(?:Jupyter\s+)?lessons", (ROOT / page).read_text())
    assert counted == [numbers[lessons]]
