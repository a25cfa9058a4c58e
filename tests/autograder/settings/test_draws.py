"""Questions that are drawn for each student: who gets which, and who may answer them."""

import json

import pytest
from click.testing import CliRunner

from autograder.cli import main
from autograder.settings.draws import drawn

ITEMS = [f"a{number:02}" for number in range(1, 31)]
RUBRIC = """\
lesson: "17"
title: A clinic
points: 6
checks:
  - {id: named, title: Three incidents, points: 6, draw: {pool: cases, count: 3}}
pools:
  cases:
    ask:
      rank: {ask: Which rank?, kind: number}
      kind: {ask: What?, kind: word, choices: [late, killed]}
"""


OTHER = """\
lesson: "02"
title: Another lesson
points: 1
checks:
  - {id: answers, title: Questions, points: 1, answers: [cpu_speed]}
answers:
  cpu_speed: {ask: How fast is it?, kind: prediction}
"""


def test_everybody_draws_other_items_and_draws_them_again():
    people = [f"student{number}" for number in range(100)]
    all_drawn = {person: drawn(ITEMS, person, "2027", 6) for person in people}
    assert all(len(set(items)) == 6 for items in all_drawn.values())
    assert len({frozenset(items) for items in all_drawn.values()}) == 100
    assert {item for items in all_drawn.values() for item in items} == set(ITEMS)
    assert drawn(ITEMS, " Student7 ", "2027", 6) == all_drawn["student7"]
    assert drawn(ITEMS, "student7", "2028", 6) != all_drawn["student7"]


def test_a_new_item_changes_no_other_order():
    before = drawn(ITEMS, "ada", "", 30)
    assert [item for item in drawn([*ITEMS, "a31"], "ada", "", 31) if item != "a31"] == before


@pytest.fixture
def klass(tmp_path):
    """Return a function that grades a class: folder -> answers.txt."""
    rubrics = tmp_path / "rubrics"
    (rubrics / "pools").mkdir(parents=True)
    (rubrics / "expected" / "pools").mkdir(parents=True)
    (rubrics / "17.yaml").write_text(RUBRIC)
    (rubrics / "pools" / "cases.yaml").write_text("".join(f"- {item}\n" for item in ITEMS))
    (rubrics / "expected" / "pools" / "cases.yaml").write_text(
        "".join(f"{item}: {{rank: [2, 3], kind: [late]}}\n" for item in ITEMS)
    )
    (rubrics / "02.yaml").write_text(OTHER)
    roster = tmp_path / "roster.csv"
    roster.write_text("student,login,email\ns1,ada,lovelace@x.org\ns2,bob,bob@x.org\n")
    settings = tmp_path / "class.yaml"
    settings.write_text("rubrics: rubrics\nroster: roster.csv\nterm_key: autumn\n")

    def grade(roster=True, lesson="17", **answers):
        if not roster:
            settings.write_text(settings.read_text().replace("roster: roster.csv\n", ""))
        for student, text in answers.items():
            folder = tmp_path / "class" / student / lesson
            folder.mkdir(parents=True)
            (folder / "answers.txt").write_text(text)
        out = tmp_path / "out"
        command = ["grade", str(tmp_path / "class"), "--class", str(settings), "--out", str(out)]
        done = CliRunner().invoke(main, command)
        assert done.exit_code in (0, 1), done.output
        grades = json.loads((out / "grades.json").read_text())["grades"]
        return {grade["student"]: grade for grade in grades}

    return grade


def solved(my_id, drawn_for, rank=2, kind="late"):
    items = drawn(ITEMS, drawn_for, "autumn", 3)
    lines = [f"{item}_rank = {rank}\n{item}_kind = {kind}\n" for item in items]
    return f"my_id = {my_id}\n" + "".join(lines)


def drawn_by(person, key="autumn"):
    return f"my_draw = {' '.join(drawn(ITEMS, person, key, 3))}\n"


def test_another_key_in_the_release_is_not_measured_and_to_look_at(klass):
    right = solved("ada", "ada")
    grades = klass(s1=right + drawn_by("ada"), s2=solved("bob", "bob") + drawn_by("bob", "spring"))
    assert grades["s1"]["score"] == 6
    assert grades["s2"]["checks"] == [["named", 0.0, 6.0, "not measured"]]
    assert "check not measured" in {reason["code"] for reason in grades["s2"]["look"]}


def test_without_a_roster_any_id_may_be_the_students(klass):
    assert klass(roster=False, s1=solved("ada", "ada"))["s1"]["score"] == 6


def test_prose_in_another_lessons_answers_is_no_reason_to_look(klass):
    text = "Ada Lovelace\nNote: I was ill\ncpu_speed = 3\n"
    grade = klass(lesson="02", s1=text)["s1"]
    assert (grade["score"], grade["look"]) == (1, [])


@pytest.mark.parametrize("my_id", ["ada", "lovelace", "Lovelace@x.org", "ADA", "s1"])
def test_the_own_incidents_give_all_points(klass, my_id):
    assert klass(s1=solved(my_id, my_id, rank=3))["s1"]["score"] == 6


def test_wrong_answers_give_a_part(klass):
    assert klass(s1=solved("ada", "ada", kind="killed"))["s1"]["score"] == 3


def test_a_classmates_answers_are_answers_to_other_incidents(klass):
    items = set(drawn(ITEMS, "ada", "autumn", 3)) & set(drawn(ITEMS, "bob", "autumn", 3))
    grades = klass(s1=solved("ada", "ada"), s2=solved("bob", "ada"))
    assert (grades["s1"]["score"], grades["s2"]["score"]) == (6, 2 * len(items))


@pytest.mark.parametrize("my_id", ["ada", "", "nobody"])
def test_an_id_of_somebody_else_is_not_measured_and_to_look_at(klass, my_id):
    grade = klass(s2=solved(my_id, "ada"))["s2"]
    assert grade["score"] == 0
    assert grade["checks"] == [["named", 0.0, 6.0, "not measured"]]
    assert "check not measured" in {reason["code"] for reason in grade["look"]}
