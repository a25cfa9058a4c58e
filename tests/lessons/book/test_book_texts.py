"""Tests of the book's texts: links, the glossary, the contents."""

import re
from pathlib import Path

import pytest

from lessons.book.alt_texts import UNKNOWN, alt_text, called
from lessons.book.cross_links import below_the_title, linked
from lessons.book.front_page import SHORT, contents
from lessons.book.glossary import SECTION, glossary_page, terms
from lessons.book.links import broken, external, read_pages

ROOT = Path(__file__).parents[3]
LESSONS = {"02": "../02_serial/lesson.ipynb", "06": "../06_allreduce/lesson.ipynb"}


@pytest.mark.parametrize(
    ("text", "in_the_book"),
    [
        ("`train.py` is lesson 02's.", "[`train.py`](train.py.md) is "
         "[lesson 02](../02_serial/lesson.ipynb)'s."),
        ("Lesson 06 and `other.py`", "[Lesson 06](../06_allreduce/lesson.ipynb) and `other.py`"),
        ("    lessons check 02  # lesson 02", "    lessons check 02  # lesson 02"),
        ("```\n`train.py` of lesson 02\n```\n", "```\n`train.py` of lesson 02\n```\n"),
        ("# As in lesson 02", "# As in lesson 02"),
        ("[lesson 02](x.md), `lesson 02`", "[lesson 02](x.md), `lesson 02`"),
        ("lesson 99, 02 s, lesson 022", "lesson 99, 02 s, lesson 022"),
        ("| `train.py` | lesson 02 |", "| [`train.py`](train.py.md) | "
         "[lesson 02](../02_serial/lesson.ipynb) |"),
    ],
)  # fmt: skip
def test_lessons_and_programs_are_links_where_a_text_names_them(text, in_the_book):
    assert linked(text, ["train.py"], LESSONS) == in_the_book


def test_a_page_has_one_title():
    assert below_the_title("# Second\n\n## Third\n") == "## Second\n\n## Third\n"
    assert below_the_title("```sh\n# comment\n```\n") == "```sh\n# comment\n```\n"


GLOSSARY = (ROOT / "docs" / "glossary.md").read_text()


def test_the_glossary_is_in_order_and_each_word_is_in_its_lesson():
    sections = [terms(section) for section in SECTION.split(GLOSSARY)[1:]]
    ours, lessons = sections
    assert len(ours) <= 40
    assert len(ours) + len(lessons) == GLOSSARY.count("\n- ") > 80
    for section in sections:
        first = [term.names[0].lower() for term in section]
        assert first == sorted(first)
    names = [term.names[0].lower() for term in (*ours, *lessons)]
    assert len(set(names)) == len(names)
    assert all(term.lesson for term in lessons)
    for term in (*ours, *lessons):
        if term.lesson:
            [lesson] = (ROOT / "solutions").glob(f"{term.lesson}_*/lesson.py")
            page = " ".join(lesson.read_text().replace("\n# ", " ").split()).lower()
            assert any(name.lower() in page for name in term.names), term


def test_the_glossary_of_the_book_has_every_word_with_its_lesson():
    ours = "## Ours\n\n- **a, b** (02): one\n  and more.\n- **d**: no lesson.\n"
    page = glossary_page(f"# Words\n\nIntro.\n\n{ours}\n## Theirs\n\n- **c** (06): two.\n", LESSONS)
    assert page.startswith("# Words\n\nIntro.\n")
    assert "## Ours\n\n:::{glossary}\na\nb\n  one and more. [Lesson 02](../02_serial" in page
    assert "\nd\n  no lesson.\n\n:::\n" in page
    assert "## Theirs\n\n:::{glossary}\nc\n  two. [Lesson 06]" in page


def test_every_page_and_lesson_is_in_the_contents_once():
    docs = [page.stem for page in (ROOT / "docs").glob("*.md")]
    lines = contents(["01_a"], [*docs, "quite-new"], ["elsewhere/README"]).split("\n")
    for page in (*docs, "quite-new"):
        assert (
            sum(line in (f"docs/{page}", f"{SHORT.get(page)} <docs/{page}>") for line in lines) == 1
        )
    assert {"lessons/01_a/lesson", "elsewhere <elsewhere/README>"} <= set(lines)


@pytest.mark.parametrize(
    ("code", "described"),
    [
        ("plots.losses(runs)", "The loss after each step"),
        ("a = plots.whole_seconds(b)\ndisplay(plots.replica_scaling(a))", "Epoch time, speedup"),
        ("%matplotlib inline\nplots.losses(runs)", UNKNOWN),
        ("show(picture)", UNKNOWN),
    ],
)
def test_a_picture_is_described_by_the_function_that_drew_it(code, described):
    assert alt_text(code).startswith(described)


@pytest.mark.parametrize("lesson", sorted((ROOT / "solutions").glob("*/lesson.py")), ids=str)
def test_every_picture_of_a_lesson_has_words(lesson):
    for cell in re.split(r"^# %%.*$", lesson.read_text(), flags=re.MULTILINE):
        for name in called(cell):
            assert alt_text(f"plots.{name}()") != UNKNOWN or name in PREPARE, name


PREPARE = {"whole_seconds", "times_by_replicas", "shares_of", "median_of_measure", "staleness_of"}


PAGE = '<a href="{}">x</a><h1 id="here">x</h1>'


@pytest.mark.parametrize(
    ("html", "said"),
    [
        (PAGE.format("b.html#there"), None),
        (PAGE.format("#here"), None),
        (PAGE.format("https://example.org/x"), None),
        (PAGE.format("gone.html"), "a.html links to gone.html, which does not exist"),
        (PAGE.format("b.html#gone"), "a.html links to b.html#gone, but that page has no such"),
        ('<img src="gone.png">', "a.html links to gone.png"),
        ('<script src="https://example.org/x.js">', "a.html asks another host for https://exam"),
        ('<link rel="stylesheet" href="//example.org/x.css">', "a.html asks another host for //"),
    ],
)
def test_links_that_lead_nowhere_and_requests_to_other_hosts_are_named(tmp_path, html, said):
    (tmp_path / "a.html").write_text(html)
    (tmp_path / "b.html").write_text('<p id="there"></p>')
    pages = read_pages(tmp_path)
    found = broken(tmp_path, pages)
    assert (len(found) == 1 and found[0].startswith(said)) if said else not found
    assert external(pages) == [x for x in ["https://example.org/x"] if x in html and "href" in html]
