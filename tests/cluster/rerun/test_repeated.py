"""Tests of running a submission again: its programs as submitted, its jobs as recorded."""

import json
import os

import click
import pytest

from autograder.settings import rubric
from autograder.settings.roster import meant_by
from autograder.submissions.class_folder import read_class
from cluster.rerun.repeated import LARGEST, take
from tests.autograder.make_record import make_record, sealed_again, write_lines

WORDS = ["--epochs", "3", "--train-samples", "60000"]
PROGRAM = b"print('keras')\n"


def keras(program="train.py", **facts):
    lines = make_record(**{"arguments": WORDS, "threads": 2} | facts)
    said = f'"program":{json.dumps(program)}'
    return sealed_again([line.replace('"program":"train.py"', said) for line in lines])


def torch(**facts):
    known = {"source": "torch", "run": "77aa77aa", "job_id": "1235", "program": "train_torch.py"}
    return keras(**known | facts)


def lesson_02(folder, files, outputs):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text)
    for number, lines in enumerate(outputs, 1):
        write_lines(folder / f"02_{number}.out", lines)
    return folder


def taken(place, number="02"):
    [submission] = read_class(place.parent, [number], meant_by({}))
    return take(submission, rubric.load_rubric(rubric.FOLDER / f"{number}.yaml"), "full")


def test_programs_and_jobs_of_a_hand_in(tmp_path):
    files = {"train.py": PROGRAM, "train_torch.py": b"2", "nets/cnn.py": b"3", "job.sbatch": b"rm"}
    files |= {"__pycache__/train.py": b"stale", "weights.npy": b"4", ".hidden.py": b"5"}
    files |= {"lessons/toolkit/record/__init__.py": b"forged"}  # the instructor's own is used
    lesson_02(tmp_path / "ada" / "02_serial", files, [keras(), torch(size=2)])
    programs, (first, second) = taken(tmp_path / "ada")
    assert programs == {"train.py": PROGRAM, "train_torch.py": b"2", "nets/cnn.py": b"3"}
    assert (first["program"], first["arguments"]) == ("train.py", WORDS)
    assert (first["ranks"], first["threads"]) == (1, 2)
    assert (first["launches"], first["before"]) == (["5f0c2a91"], [])
    assert (second["program"], second["ranks"]) == ("train_torch.py", 2)
    assert second["launches"] == ["77aa77aa"]


def test_links_and_pipes_are_not_followed(tmp_path):
    folder = lesson_02(tmp_path / "ada" / "02_serial", {"train.py": PROGRAM}, [keras()])
    (folder / "passwords.py").symlink_to("/etc/passwd")
    os.mkfifo(folder / "pipe.py")
    assert list(taken(tmp_path / "ada")[0]) == ["train.py"]


# What is wrong, the programs, the outputs, and words of the message.
NOT_REPEATABLE = [
    ("no program", {}, [keras()], "not submitted"),
    ("another program", {"main.py": b""}, [keras()], "train.py, which was not submitted"),
    ("no arguments", {"train.py": b""}, [make_record()], "missing or damaged"),
    ("cut arguments", {"train.py": b""}, [keras(arguments=["--mod..."])], "missing or"),
    ("a hidden mark", {"train.py": b""}, [keras(arguments=["a\u202eb"])], "missing or"),
    ("no finished run", {"train.py": b""}, [keras(finished=False)], "no run that"),
    ("too large", {"train.py": b"#" * LARGEST, "a.py": b"#"}, [keras()], "more than 1,000,000"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "files", "outputs", "words"), NOT_REPEATABLE, ids=[n[0] for n in NOT_REPEATABLE]
)
def test_what_cannot_be_run_again(tmp_path, name, files, outputs, words):
    lesson_02(tmp_path / "ada" / "02_serial", files, outputs)
    (tmp_path / "ada" / "02_serial").mkdir(parents=True, exist_ok=True)
    with pytest.raises(click.ClickException, match=words):
        taken(tmp_path / "ada")


@pytest.mark.parametrize(
    ("word", "instead"),
    [
        ("/scratch/ada/parts", "/tmp/parts"),
        ("--folder=/scratch/ada/parts", "--folder=/tmp/parts"),
        ("data/parts", "data/parts"),
    ],
)
def test_a_folder_of_the_student_s_machine_lies_in_tmp(tmp_path, word, instead):
    lines = keras(arguments=["--folder", word])
    lesson_02(tmp_path / "ada" / "02_serial", {"train.py": b""}, [lines])
    assert taken(tmp_path / "ada")[1][0]["arguments"] == ["--folder", instead]


@pytest.mark.parametrize(
    ("member", "strange"), [("world_size", 1e308), ("threads", -1), ("launcher", "x")]
)
def test_strange_facts_of_a_record_ask_for_no_strange_job(tmp_path, member, strange):
    lesson_02(tmp_path / "ada" / "02_serial", {"train.py": b""}, [keras(**{member: strange})])
    _, [job] = taken(tmp_path / "ada")
    assert (job["ranks"], job["threads"], job["launcher"]) == (
        1,
        1 if member == "threads" else 2,
        "",
    )


def test_runs_of_one_job_are_one_job(tmp_path):
    """A program that trains several times prints several runs in one job."""
    both = [*keras(), *torch(job_id="1234", program="train.py")]
    lesson_02(tmp_path / "ada" / "02_serial", {"train.py": b""}, [both])
    _, [job] = taken(tmp_path / "ada")
    assert set(job["launches"]) == {"5f0c2a91", "77aa77aa"}


def test_lesson_08_makes_its_parts_first(tmp_path):
    facts = {
        "lesson": "08",
        "source": "keras-sharded",
        "size": 2,
        "samples": 6400,
        "train_samples": 6400,
    }
    files = {"train.py": b"", "make_parts.py": b""}
    lesson_02(tmp_path / "ada" / "08_data", files, [keras(**facts)])
    _, [job] = taken(tmp_path / "ada", "08")
    assert job["before"] == ["make_parts.py", "--train-samples", "6400"]
