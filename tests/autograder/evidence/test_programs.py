"""Submitted programs compared with those that ran, and with the edition that was released."""

import json

import pytest

from autograder.codes import FindingCode
from tests.autograder.class_yaml import setting
from tests.autograder.evidence.handed_in_programs import (
    RELEASED,
    TORCH,
    TRAIN,
    ran,
    solved,
    student,
)
from tests.autograder.make_record import make_record, write_lines

NOT_THE_ONE = FindingCode.OTHER_PROGRAM.heading
SACCT = (
    "JobID|User|State|Start|End|NNodes|NCPUS|AllocTRES|NodeList\n"
    "1234|ada|COMPLETED|1772445590|1772445700|1|1|cpu=1|n1\n"
    "1235|ada|COMPLETED|1772445590|1772445700|1|1|cpu=1|n1\n"
)


def test_who_hands_in_what_ran_hears_nothing(tmp_path, graded):
    student(tmp_path / "class/ada", train=TRAIN, train_torch=TORCH)
    found, _ = graded()
    assert (found["score"], found["findings"], found["look"]) == (10.0, [], [])
    assert {program["said"] for program in found["programs"]} <= {
        "train.py as released",
        "train_torch.py as released",
    }
    assert not any(program["lines"] for program in found["programs"])
    assert found["tier_reason"] == "the run record is consistent"


SAME = {
    "as it is": lambda folder: None,
    "line ends of another system": lambda folder: (folder / "02/train.py").write_bytes(
        TRAIN.replace("\n", "\r\n").encode()
    ),
    "a comment and a blank line after the run": lambda folder: (folder / "02/train.py").write_text(
        TRAIN.replace("import argparse\n", "import argparse  \n\n# why\n") + "\n\n# a comment\n"
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
    later = TRAIN + "changed = True  # after the run\n"
    student(tmp_path / "class/ada", train=later, train_torch=TORCH)
    found, out = graded()
    assert found["score"] == 10.0
    assert found["tier"] == "self-consistent"
    [finding] = found["findings"]
    assert (finding["code"], finding["severity"]) == (FindingCode.OTHER_PROGRAM, "doubt")
    assert "train.py" in finding["expected"]
    assert "02_serial_1.out" in finding["expected"]
    assert "run the job again" in finding["advice"]
    assert NOT_THE_ONE in (out / "students/ada.html").read_text()


def test_a_module_beside_it_is_part_of_the_program(tmp_path, graded):
    keras = ran(train=TRAIN, network="x = 1\n")
    student(tmp_path / "class/ada", keras, train=TRAIN, train_torch=TORCH, network="x = 2\n")
    found, _ = graded()
    assert found["codes"] == [FindingCode.OTHER_PROGRAM]
    assert found["findings"][0]["actual"] == "another text in network.py"


def test_mended_between_two_runs_is_honest(tmp_path, graded):
    """A job ran with the first gap filled, and another after the second gap was filled, too."""
    torch = ran(train=TRAIN + "second = 1\n")
    student(tmp_path / "class/ada", torch=torch, train=TRAIN + "second = 1\n")
    assert graded()[0]["findings"] == []


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


@pytest.mark.parametrize("recorded", [ran(train=None), None], ids=["it changed", "no program"])
def test_what_the_record_does_not_tell_cannot_be_compared(tmp_path, graded, recorded):
    student(tmp_path / "class/ada", train=TRAIN, train_torch=TORCH)
    keras = make_record(program=recorded)
    write_lines(tmp_path / "class/ada/02/02_serial_1.out", keras)
    found, _ = graded()
    assert found["findings"] == []


@pytest.mark.parametrize("same", [True, False])
def test_only_the_program_that_ran_is_confirmed(tmp_path, graded, same):
    text = TRAIN if same else TRAIN + "x = 1\n"
    student(tmp_path / "class/ada", train=text, train_torch=TORCH)
    (tmp_path / "sacct.txt").write_text(SACCT)
    found, _ = graded(*setting("accounting", tmp_path / "sacct.txt"))
    assert found["tier"] == ("confirmed" if same else "self-consistent")
    if not same:
        assert found["tier_reason"].endswith(f", but: {NOT_THE_ONE}")


# --- what the instructor sees -----------------------------------------------------------------


def test_another_edition_can_be_named(tmp_path, graded):
    """A class with an older edition can name it; only then do its programs count as unchanged."""
    folder = tmp_path / "before"
    folder.mkdir()
    torch = [list(piece) for piece in RELEASED["train_torch.py"]]
    end = "    run.end(test_loss=loss, test_accuracy=accuracy)"
    torch[-1][torch[-1].index(end)] = end.replace("=accuracy", "=0.99")
    programs = {"train.py": RELEASED["train.py"], "train_torch.py": torch}
    (folder / "02.json").write_text(json.dumps(programs))
    old = TORCH.replace("test_accuracy=accuracy)", "test_accuracy=0.99)")
    student(tmp_path / "class/ada", torch=ran(train_torch=old), train=TRAIN, train_torch=old)
    for words, changed in (((), True), (setting("released", folder), False)):
        texts = graded(*words)[0]["programs"]
        assert any(text["lines"] for text in texts) == changed


@pytest.mark.parametrize(
    ("text", "place"), [("[]", "the file"), ('{"train.py": [[3]]}', "train.py.0.0")]
)
def test_an_edition_that_cannot_be_read_is_said(tmp_path, grade, text, place):
    student(tmp_path / "class/ada")
    folder = tmp_path / "before"
    folder.mkdir()
    (folder / "02.json").write_text(text)
    done = grade(tmp_path / "class", *setting("released", folder))
    assert done.exit_code == 2
    assert f"02.json is not what `lessons build` writes ({place}" in done.stderr


PROBE = solved("probe.py")


@pytest.mark.parametrize("text", [PROBE, PROBE.replace("yield", "yield 0 and", 1)])
def test_an_edited_probe_is_a_finding_for_the_instructor(text, tmp_path, graded):
    student(tmp_path / "class/ada", train=TRAIN, train_torch=TORCH)
    program = ran(probe=text, train_torch=TORCH)
    lines = make_record(source="probe", run="88aa88aa", job_id="1235", program=program)
    write_lines(tmp_path / "class/ada/02/probe.out", lines)
    found, out = graded()
    assert found["codes"] == [FindingCode.PROBE_CHANGED] * (text != PROBE)
    page = (out / "students/ada.html").read_text()
    assert FindingCode.PROBE_CHANGED.heading not in page
