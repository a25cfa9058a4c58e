"""Submitted programs compared with those that ran, and the changes that instructors see."""

import json
import re
import zipfile
from hashlib import blake2b
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.cli import main
from autograder.codes import FindingCode
from autograder.settings.released import load_released
from tests.autograder.class_yaml import setting
from tests.autograder.make_record import RIGHT_ANSWERS, hand_in, make_record

RELEASED = load_released(Path("autograder/rubrics/released/02.json"))
NOT_THE_ONE = FindingCode.OTHER_PROGRAM.heading
CHANGED = FindingCode.CHANGED_OUTSIDE_GAPS.heading
SACCT = (
    "JobID|User|State|Start|End|NNodes|NCPUS|AllocTRES|NodeList\n"
    "1234|ada|COMPLETED|1772445590|1772445700|1|1|cpu=1|n1\n"
    "1235|ada|COMPLETED|1772445590|1772445700|1|1|cpu=1|n1\n"
)


def solved(name: str, body: str = "    return None") -> str:
    """Return a program as it was released, with the same lines in each gap."""
    gap = f"\n{body}\n"
    return gap.join("\n".join(piece) for piece in RELEASED[name]) + "\n"


TRAIN, TORCH = solved("train.py"), solved("train_torch.py")


def hash_of(text: str) -> str:
    return blake2b("\n".join(text.splitlines()).encode()).hexdigest()[:16]


def ran(**files: str | None) -> dict:
    """Return the record's entry on which programs ran; train="text" is train.py."""
    named = {f"{name}.py": text and hash_of(text) for name, text in files.items()}
    return {"main": next(iter(named)), "toolkit": "0" * 16, "files": named}


def student(folder: Path, keras=None, torch=None, **programs: str) -> Path:
    """Write a complete lesson 02 whose runs record their programs, with the submitted programs."""
    hand_in(
        folder / "02",
        make_record(program=keras or ran(train=TRAIN)),
        make_record(
            source="torch",
            run="77aa77aa",
            job_id="1235",
            test_accuracy=0.975,
            program=torch or ran(train_torch=TORCH),
        ),
    )
    for name, text in programs.items():
        path = folder / "02" / f"{name}.py"
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return folder


@pytest.fixture
def graded(tmp_path, grade):
    """Return a function that grades one student and gives the record and the output folder."""

    def command(*options):
        result = grade(tmp_path / "class", *options)
        [path] = (result.folder / "records").glob("ada.json")
        [found] = json.loads(path.read_text())["grades"]
        found["codes"] = [finding["code"] for finding in found["findings"]]
        return found, result.folder

    return command


def test_who_hands_in_what_ran_hears_nothing(tmp_path, graded):
    student(tmp_path / "class/ada", train=TRAIN, train_torch=TORCH)
    found, _ = graded()
    assert (found["score"], found["findings"], found["look"]) == (10.0, [], [])
    assert {program["said"] for program in found["programs"]} <= {
        "train.py as released",
        "train_torch.py as released",
    }
    assert not any(program["look"] or program["lines"] for program in found["programs"])
    assert found["tier_reason"] == "the run record is consistent"


SAME = {
    "as it is": lambda folder: None,
    "line ends of another system": lambda folder: (folder / "02/train.py").write_bytes(
        TRAIN.replace("\n", "\r\n").encode()
    ),
    "under another name": lambda folder: (folder / "02/train.py").rename(folder / "02/mine.py"),
    "an old copy beside it": lambda folder: (folder / "02/train_old.py").write_text(TRAIN + "x\n"),
    "an older one deeper": lambda folder: [
        (folder / "02/before").mkdir(),
        (folder / "02/before/train.py").write_text(TRAIN.replace("0.001", "0.1") + "record.end()"),
    ],
}


@pytest.mark.parametrize("how", SAME)
def test_it_is_found_wherever_it_lies(tmp_path, graded, how):
    SAME[how](student(tmp_path / "class/ada", train=TRAIN, train_torch=TORCH))
    found, _ = graded()
    assert found["findings"] == []
    assert "not submitted" not in found["tier_reason"]
    assert found["look"] == []


def test_another_text_than_ran_is_said_to_the_student_and_costs_nothing(tmp_path, graded):
    later = TRAIN + "# a comment, after the run\n"
    student(tmp_path / "class/ada", train=later, train_torch=TORCH)
    found, out = graded()
    assert found["score"] == 10.0
    assert found["tier"] == "self-consistent"
    [finding] = found["findings"]
    assert (finding["code"], finding["look"]) == (FindingCode.OTHER_PROGRAM, True)
    assert not finding["contradicts"]
    assert "train.py" in finding["expected"]
    assert "02_serial_1.out" in finding["expected"]
    assert "run the job again" in finding["try_"]
    assert NOT_THE_ONE in (out / "students/ada.html").read_text()


def test_a_module_beside_it_is_part_of_the_program(tmp_path, graded):
    keras = ran(train=TRAIN, network="x = 1\n")
    student(tmp_path / "class/ada", keras, train=TRAIN, train_torch=TORCH, network="x = 2\n")
    found, _ = graded()
    assert found["codes"] == [FindingCode.OTHER_PROGRAM]
    assert found["findings"][0]["found"] == "another text in network.py"


def test_mended_between_two_runs_is_honest_and_told_to_the_instructor(tmp_path, graded):
    """A job ran with the first gap filled, and another after the second gap was filled, too."""
    torch = ran(train=TRAIN + "# the second gap\n")
    student(tmp_path / "class/ada", torch=torch, train=TRAIN + "# the second gap\n")
    found, out = graded()
    assert found["findings"] == []
    [said] = [program["said"] for program in found["programs"] if not program["gaps"]]
    assert said == "another version of it ran in 02_serial_1.out"
    assert said in (out / "programs/ada.txt").read_text()
    assert NOT_THE_ONE not in (out / "students/ada.html").read_text()


def test_no_programs_handed_in_is_said_once_and_is_no_finding(tmp_path, graded):
    student(tmp_path / "class/ada")
    found, _ = graded()
    assert (found["findings"], found["look"]) == ([], [])
    reason = "the run record is consistent; not submitted: train.py, train_torch.py"
    assert found["tier_reason"] == reason


def test_what_nobody_has_to_change_need_not_be_handed_in(tmp_path, graded):
    folder = tmp_path / "edition"
    folder.mkdir()
    programs = RELEASED | {"plan.py": [["STEPS = 3"]]}  # one piece, so it has no gap
    (folder / "02.json").write_text(json.dumps(programs))
    keras = ran(train=TRAIN, plan="STEPS = 3\n")
    student(tmp_path / "class/ada", keras, train=TRAIN, train_torch=TORCH)
    reason = graded(*setting("released", folder))[0]["tier_reason"]
    assert reason == "the run record is consistent"


def test_what_changed_while_it_ran_cannot_be_compared(tmp_path, graded):
    student(tmp_path / "class/ada", ran(train=None), train=TRAIN, train_torch=TORCH)
    assert graded()[0]["findings"] == []


def test_a_record_that_says_nothing_of_its_program_is_as_before(tmp_path, graded):
    hand_in(tmp_path / "class/ada/02")
    (tmp_path / "class/ada/02/train.py").write_text(TRAIN)
    found, _ = graded()
    assert found["findings"] == []
    assert found["tier_reason"] == "the run record is consistent"


@pytest.mark.parametrize("same", [True, False])
def test_only_the_program_that_ran_is_confirmed(tmp_path, graded, same):
    text = TRAIN if same else TRAIN + "x = 1\n"
    student(tmp_path / "class/ada", train=text, train_torch=TORCH)
    (tmp_path / "sacct.txt").write_text(SACCT)
    found, _ = graded(*setting("accounting", tmp_path / "sacct.txt"))
    assert found["tier"] == ("confirmed" if same else "self-consistent")
    if not same:
        assert found["tier_reason"].lower().startswith(NOT_THE_ONE.lower())


# --- what the instructor sees -----------------------------------------------------------------

LAZY = TORCH.replace("test_accuracy=accuracy,", "test_accuracy=0.99,  # <script>hit()</script>")
HOSTILE = '    print("<img src=x onerror=hit()>", "\u202egnp")\n'


def test_the_instructor_sees_each_line_and_the_student_none(tmp_path, graded):
    text = LAZY.replace("def main():\n", f"def main():\n{HOSTILE}")
    student(tmp_path / "class/ada", torch=ran(train_torch=text), train=TRAIN, train_torch=text)
    found, out = graded()
    assert found["score"] == 10.0
    [finding] = found["findings"]
    assert finding["code"] == FindingCode.CHANGED_OUTSIDE_GAPS
    assert (finding["private"], finding["look"]) == (True, True)
    assert re.search(r"train_torch.py:\d+ test_accuracy=0.99", finding["found"])
    lines = {(line["kind"], line["text"].strip(), line["telling"]) for line in program_lines(found)}
    assert ("-", "test_accuracy=accuracy,", True) in lines
    assert ("+", HOSTILE.strip().replace("\u202e", "\\u202e"), False) in lines
    number = 1 + text.splitlines().index(HOSTILE.rstrip("\n"))
    told = (out / "programs/ada.txt").read_text()
    assert f" {number:5} +   {HOSTILE.rstrip()}".replace("\u202e", "\\u202e") in told
    assert re.search(r"^! +\d+ \+   +test_accuracy=0.99,", told, re.M)
    page = Page((out / "programs/ada.html").read_text())
    assert HOSTILE.rstrip().replace("\u202e", "\\u202e") in page.texts
    assert {"script", "img"}.isdisjoint(page.tags)
    assert 'href="programs/ada.html"' in (out / "index.html").read_text()
    for mine in (out / "students/ada.html").read_text(), *page_of_gradescope(tmp_path):
        assert "0.99,  #" not in mine
        assert CHANGED not in mine


def program_lines(found):
    return [line for program in found["programs"] for line in program["lines"]]


def page_of_gradescope(tmp_path):
    results = tmp_path / "results.json"
    words = ["grade", str(tmp_path / "class"), "--gradescope", str(results), "--profile", "full"]
    CliRunner().invoke(main, words)
    return [results.read_text()]


class Page(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        self.texts.append(data)


def test_what_is_mended_goes_from_the_pages(tmp_path, graded):
    student(tmp_path / "class/ada", torch=ran(train_torch=LAZY), train=TRAIN, train_torch=LAZY)
    _, out = graded()
    assert "0.99" in (out / "programs/ada.html").read_text()
    student(tmp_path / "class/ada", train=TRAIN, train_torch=TORCH)
    _, out = graded()
    assert "0.99" not in (out / "programs/ada.html").read_text()
    hand_in(tmp_path / "class/ada/02")
    for path in (tmp_path / "class/ada/02").glob("*.py"):
        path.unlink()
    _, out = graded()
    assert list((out / "programs").iterdir()) == []
    assert "programs/" not in (out / "index.html").read_text()


def test_gaps_are_beside_the_solution_and_escaped(tmp_path, graded):
    body = "    x = '<script>alert(1)</script>\u202e'  # {{ 7 * 7 }}\n    time.sleep(1)"
    mine = solved("train.py", body)
    student(tmp_path / "class/ada", keras=ran(train=mine), train=mine, train_torch=TORCH)
    found, out = graded()
    [program] = [one for one in found["programs"] if one["file"] == "train.py"]
    assert {line["unusual"] for gap in program["gaps"] for line in gap["lines"]} == {"", "sleep"}
    assert all(gap["solution"] for gap in program["gaps"])
    page = (out / "programs/ada.html").read_text()
    assert "<script>alert" not in page
    assert "\u202e" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert program["gaps"][0]["solution"][0].strip() in (out / "programs/ada.txt").read_text()


def test_changes_in_a_job_file_are_on_the_page_and_no_finding(tmp_path, graded):
    mine = solved("job.sbatch").replace("#SBATCH --time", "#SBATCH --account=ml\n#SBATCH --time")
    student(tmp_path / "class/ada", train=TRAIN, train_torch=TORCH)
    job = tmp_path / "class/ada/02/job.sbatch"
    job.write_text(mine)
    found, _ = graded()
    assert "job.sbatch" not in [program["file"] for program in found["programs"]]
    job.write_text(mine + "python busy.py &\n")
    found, out = graded()
    [program] = [one for one in found["programs"] if one["file"] == "job.sbatch"]
    [line] = program["lines"]
    assert (line["kind"], line["unusual"], line["telling"]) == ("+", "thread or process", False)
    assert found["findings"] == []
    assert "busy.py" in (out / "programs/ada.txt").read_text()


def test_parts_of_a_class_bring_their_pages(tmp_path, grade):
    student(tmp_path / "class/ada", torch=ran(train_torch=LAZY), train=TRAIN, train_torch=LAZY)
    hand_in(tmp_path / "class/ben/02", make_record(run="12341234"), answers=RIGHT_ANSWERS)
    whole = grade(tmp_path / "class", out=tmp_path / "whole").folder
    for part in ("1/2", "2/2"):
        grade(tmp_path / "class", "--shard", part, out=tmp_path / "parts" / part[0])
    parts = [str(path) for path in (tmp_path / "parts").iterdir()]
    words = ["merge", *parts, "--out", str(tmp_path / "merged"), "--profile", "full"]
    CliRunner().invoke(main, words)
    for name in ("ada.html", "ada.txt"):
        made = (tmp_path / "merged/programs" / name).read_bytes()
        assert made == (whole / "programs" / name).read_bytes()


def test_explain_shows_the_lines(tmp_path, graded):
    student(tmp_path / "class/ada", torch=ran(train_torch=LAZY), train=TRAIN, train_torch=LAZY)
    _, out = graded()
    said = CliRunner().invoke(main, ["explain", "ada", "02", "--grades", str(out)]).stdout
    assert "look: train_torch.py: 2 lines outside the gaps differ from train_torch.py" in said
    assert re.search(r"! +\d+ \+ +test_accuracy=0.99,", said)


def test_another_edition_can_be_named(tmp_path, graded):
    """A class with an older edition can name it; only then do its programs count as unchanged."""
    folder = tmp_path / "before"
    folder.mkdir()
    torch = [list(piece) for piece in RELEASED["train_torch.py"]]
    torch[-1][torch[-1].index("        test_accuracy=accuracy,")] = "        test_accuracy=0.99,"
    programs = {"train.py": RELEASED["train.py"], "train_torch.py": torch}
    (folder / "02.json").write_text(json.dumps(programs))
    old = TORCH.replace("test_accuracy=accuracy,", "test_accuracy=0.99,")
    student(tmp_path / "class/ada", torch=ran(train_torch=old), train=TRAIN, train_torch=old)
    assert graded()[0]["codes"] == [FindingCode.CHANGED_OUTSIDE_GAPS]
    assert graded(*setting("released", folder))[0]["codes"] == []


@pytest.mark.parametrize("text", ["[]", "{", '{"train.py": []}', '{"train.py": [[3]]}', '{"a": 3}'])
def test_an_edition_that_cannot_be_read_is_said(tmp_path, grade, text):
    student(tmp_path / "class/ada")
    folder = tmp_path / "before"
    folder.mkdir()
    (folder / "02.json").write_text(text)
    done = grade(tmp_path / "class", *setting("released", folder))
    assert done.exit_code == 2
    assert "02.json is not what `lessons build` writes" in done.stderr


def test_gradescope_gets_the_edition_too(tmp_path):
    words = ["gradescope-zip", "02", "--out", str(tmp_path / "02.zip"), "--profile", "full"]
    CliRunner().invoke(main, words)
    with zipfile.ZipFile(tmp_path / "02.zip") as archive:
        packed = archive.read("rubrics/released/02.json")
    assert packed == Path("autograder/rubrics/released/02.json").read_bytes()
