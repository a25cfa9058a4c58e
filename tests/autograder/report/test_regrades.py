"""Regrade requests: shown on the class page beside the evidence, answered by an override."""

import json
import re

import pytest

from tests.autograder.class_yaml import setting
from tests.autograder.make_record import RIGHT_ANSWERS, hand_in, make_record

HEADER = "student,lesson,check,says\n"
OVERRIDES = "student,lesson,check,points,reason\n"


def text_of(path) -> str:
    page = path.read_text().partition("<body")[2].partition("<script")[0]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


@pytest.fixture
def asked(tmp_path, grade):
    hand_in(tmp_path / "class" / "ada" / "02", answers=RIGHT_ANSWERS | {"s4_epoch_s": "9"})
    hand_in(tmp_path / "class" / "ben" / "02", keras=make_record(job_id="5"), torch=[])

    def run(requests, overrides="", **more):
        words = []
        files = {"regrades": HEADER + requests, "overrides": OVERRIDES + overrides, **more}
        for name, text in files.items():
            path = tmp_path / f"{name}.csv"
            path.write_text(text)
            words += ["--roster", path] if name == "roster" else setting(name, path)
        return grade(tmp_path / "class", *words)

    return run


# The request, the overrides, and what the class page and the student's page show.
REQUESTS = {
    "open": (
        'ada,02,answers,"the 9, I read it <b>twice</b>"\n',
        "",
        ["1 of 1 without an answer", "the 9, I read it &lt;b&gt;twice", "s4_epoch_s: 9, which is",
         "ada,02,answers,POINTS,REASON", "evidence: self-consistent"],
        ["you said", "answer not yet"],
    ),
    "answered": (
        "ada,2,answers,look again\n",
        "ada,02,answers,2,the log says both\n",
        ["0 of 1 without an answer", "2 points: the log says both", "2 of 2"],
        ["answer 2 points: the log says both"],
    ),
    "of the whole lesson": (
        "ada,02_serial,,I was ill\n",
        "ada,02,,excused,ill\n",
        ["0 of 1 without an answer", "excused: ill"],
        ["answer excused: ill"],
    ),
    "another check was changed": (
        "ada,02,answers,look again\n",
        "ada,02,accuracy,1,seen\n",
        ["1 of 1 without an answer"],
        ["answer not yet"],
    ),
    "stays as it is": (
        "ada,02,answers,look again\n",
        "ada,02,answers,1.67,the question asks for the second epoch\n",
        ["1.67 points: the question asks for the second epoch"],
        ["answer 1.67 points: the question asks"],
    ),
    "nothing was submitted": (
        "ben,07,speed,my zip was there\n",
        "",
        ["ben , 07, speed", "nothing was submitted for this lesson"],
        ["my zip was there"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REQUESTS)
def test_it_is_shown_and_answered(asked, case):
    requests, overrides, on_class, on_own = REQUESTS[case]
    out = asked(requests, overrides).folder
    student = requests.split(",")[0]
    page, own = text_of(out / "index.html"), text_of(out / "students" / f"{student}.html")
    for words in on_class:
        assert words in page, page
    for words in on_own:
        assert words in own, own
    other = {"ada": "ben", "ben": "ada"}[student]
    assert "Your requests" not in text_of(out / "students" / f"{other}.html")


def test_what_the_class_tells_stands_beside_a_request(asked, tmp_path):
    """ada and eve submitted the same run, which neither of their records shows."""
    hand_in(tmp_path / "class" / "eve" / "02", answers=RIGHT_ANSWERS)
    out = asked("ada,02,answers,look again\nben,02,,and again\n").folder
    requests = text_of(out / "index.html").partition("Regrade requests")[2]
    of_ada, of_ben = requests.split("and again")
    assert re.search(r"evidence: \S+ .* to look at .*also submitted by eve \(", of_ada)
    assert "also submitted by" not in of_ben
    assert "also submitted" not in text_of(out / "students" / "ada.html")


def test_the_tier_beside_a_request_is_that_of_the_class(asked, tmp_path):
    """If two students submit one run and no account is known, the accounting confirms neither."""
    hand_in(tmp_path / "class" / "eve" / "02", answers=RIGHT_ANSWERS)
    jobs = "".join(
        f"{number}|al1|COMPLETED|1772445590|1772445700|1|8|cpu=8,node=1|n1\n"
        for number in (1234, 1235)
    )
    sacct = "JobID|User|State|Start|End|NNodes|NCPUS|AllocTRES|NodeList\n" + jobs
    out = asked("ada,02,,look again\n", accounting=sacct).folder
    (found,) = json.loads((out / "records/ada.json").read_text())["grades"]
    assert found["tier"] == "confirmed"
    page = text_of(out / "index.html").partition("Regrade requests")[2]
    assert "evidence: self-consistent" in page
    assert "accounting agrees" not in page
    assert "confirmed" not in page.partition("none yet")[0]


def test_a_new_request_reaches_a_page_that_was_graded_before(asked):
    asked("")
    out = asked("ada,02,answers,look again\n").folder
    assert "look again" in text_of(out / "students" / "ada.html")
    assert "look again" in text_of(out / "index.html")
    out = asked("").folder
    assert "look again" not in text_of(out / "students" / "ada.html")


MISTAKES = [
    ("ada,02,speling,x\n", "has no check 'speling'"),
    ("ada,77,,x\n", "there is no rubric for lesson '77'"),
    ("ada,02,answers,\n", "`says` is empty"),
    ("zoe,02,,x\n", "there is no student zoe in this class"),
]


@pytest.mark.parametrize(("requests", "said"), MISTAKES)
def test_slips_are_found_before_anything_is_graded(asked, requests, said):
    result = asked(requests)
    assert result.exit_code == 2
    assert said in result.stderr
    assert not (result.folder / "index.html").exists()
