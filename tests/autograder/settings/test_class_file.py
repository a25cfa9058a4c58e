"""class.yaml: what a class is graded by, in one file."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.cli import main
from autograder.commands.options import with_options
from autograder.errors import SettingsError
from autograder.settings.class_file import ClassFile, read_class_file, read_words
from autograder.settings.rubric import load_rubric
from autograder.settings.strict_yaml import read_yaml
from tests.autograder.make_record import hand_in

ROOT = Path(__file__).parents[3]
OVERRIDE = "student,lesson,points,reason\nada,02,{},talked\n"


@pytest.fixture
def home(tmp_path):
    """A class of one student, and tables beside it."""
    hand_in(tmp_path / "class" / "ada" / "02", answers={})
    for points in (3, 4):
        (tmp_path / f"{points}.csv").write_text(OVERRIDE.format(points))
    return tmp_path


def points_of(result):
    return result.table[0][2]


def test_the_file_in_the_class_is_used_and_named(home, grade):
    (home / "class/class.yaml").write_text("overrides: ../3.csv\n")
    result = grade(home / "class")
    assert points_of(result) == "3/10"
    assert "class.yaml" in result.stderr


def test_another_file_and_a_field_on_the_command_line(home, grade):
    (home / "class/class.yaml").write_text("overrides: ../3.csv\n")
    (home / "other.yaml").write_text("overrides: 4.csv\n")
    assert points_of(grade(home / "class", "--class", home / "other.yaml")) == "4/10"
    assert points_of(grade(home / "class", "--set", f"overrides={home / '4.csv'}")) == "4/10"


def test_an_option_replaces_its_field(home, grade):
    (home / "class/class.yaml").write_text("profile: smoke\ntitle: HPC\n")
    index = grade(home / "class").folder / "index.html"
    assert '<p class="dim">HPC</p>' in index.read_text()
    again = grade(home / "class", "--profile", "full", "--set", "title=Other")
    assert '<p class="dim">Other</p>' in (again.folder / "index.html").read_text()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("overides: x.csv\n", ":1: overides: no such field; known are title, term_key,"),
        ("title: x\nroster: none.csv\n", ":2: roster: there is no file "),
        ("rubrics: none\n", ":1: rubrics: there is no folder "),
        ("roster: .\n", "there is no file "),
        ("title: x\nmoodle: [none.csv]\n", ":2: moodle.0: there is no file "),
        ("profile: fast\n", ":1: profile: should be 'smoke' or 'full'; found"),
        ("round: 5\n", ":1: round: should be less than or equal to 1; found 5"),
        ("timezone: Mars\n", ":1: timezone: unknown timezone 'Mars'"),
        (
            "late: {dues: {}}\n",
            ":1: late.dues: no such field; known are due, free_days,",
        ),
        ("- a\n", ":1: the file: should be "),
        ("title: x\naccounting_is: required\n", ":2: accounting_is does nothing without "),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path, text, words):
    path = tmp_path / "class.yaml"
    path.write_text(text)
    with pytest.raises(SettingsError) as refused:
        with_options(read_class_file(path), {})
    assert f"{path}" in str(refused.value)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("overides=x.csv", "no such field; known are title,"),
        ("overrides=none.csv", "overrides=none.csv: there is no file none.csv"),
        ("profile=fast", "should be 'smoke' or 'full'"),
        ("late=no", "should be `name: value` lines"),
        ("roster", "FIELD=VALUE"),
    ],
)
def test_a_mistake_on_the_command_line(word, words):
    with pytest.raises(SettingsError) as refused:
        read_words([word])
    assert str(refused.value).startswith(f"--set {word}")
    assert words in str(refused.value)


def test_init_class_explains_every_field(tmp_path):
    for code in (0, 2):  # what is there is not replaced
        result = CliRunner().invoke(main, ["init-class", str(tmp_path / "class")])
        assert result.exit_code == code, result.output
    text = (tmp_path / "class/class.yaml").read_text()
    assert not read_class_file(tmp_path / "class/class.yaml").model_fields_set
    used = "\n".join(line[2:] for line in text.splitlines() if re.match(r"# *[a-z_0-9]+:", line))
    (tmp_path / "all.yaml").write_text(used)
    data, _ = read_yaml(tmp_path / "all.yaml")
    assert set(data) == set(ClassFile.model_fields)


def test_the_page_lists_every_field():
    text = (ROOT / "docs/grading.md").read_text()
    page = text.partition("## Settings of a class")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE) == list(ClassFile.model_fields)


def test_collect_reads_the_roster_and_groups(tmp_path, collect):
    home = tmp_path / "class"
    home.mkdir()
    (home / "class.yaml").write_text("roster: ../roster.csv\ngroups: ../groups.csv\n")
    (tmp_path / "roster.csv").write_text("student,name\nal1,Ada L.\nbm2,Ben M.\n")
    (tmp_path / "groups.csv").write_text("group,student\nred,al1\nred,bm2\n")
    hand_in(tmp_path / "down" / "red" / "02_serial")
    done = collect(tmp_path / "down", into=home)
    [row] = done.rows.values()
    assert sorted(row.owners) == ["al1", "bm2"]
    assert (home / "class.yaml").is_file()


def test_a_new_rubric_passes_the_check(tmp_path):
    words = ["init-class", str(tmp_path / "class"), "--rubric"]
    assert CliRunner().invoke(main, [*words, "shears"]).exit_code == 0
    assert load_rubric(tmp_path / "rubrics" / "shears.yaml").points == 10
    assert not (tmp_path / "class").exists()  # a folder there would be a student
    refused = CliRunner().invoke(main, [*words, "../x"])
    assert refused.exit_code == 2
    assert [path.name for path in tmp_path.rglob("*.yaml")] == ["shears.yaml"]
