"""Tests of the record's program hashes, written by the toolkit and read by the grader."""

import os
import subprocess
import sys
from hashlib import blake2b
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from record_lines import TAG, events, of, run_program

from autograder.reading.files import read_bytes
from autograder.text_hash import text_hash
from lessons.toolkit.record import program, run_record

MAIN = """
import network
from parts import layers
from lessons.toolkit.record import Record
record = Record("02", source="x")
import late
record.end()
"""


def beside(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        path = folder / name.replace("__", "/")
        path = path.with_suffix(".py")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


def by_the_contract(text: str) -> str:
    """Compute it as docs/run-record.md says."""
    lines = [line.rstrip() for line in text.splitlines() if not line.lstrip().startswith("#")]
    return blake2b("\n".join(line for line in lines if line).encode()).hexdigest()[:16]


def test_the_program_and_what_it_imports_of_its_folder(tmp_path):
    beside(tmp_path, network="x = 1\n", parts__layers="y = 2\n", late="z = 3\n", unused="0\n")
    found = events(run_program(MAIN, folder=tmp_path))
    first, late = [event["value"] for event in of(found, "program")]
    assert first["main"] == "train.py"
    assert first["files"] == {
        "train.py": by_the_contract(MAIN),
        "network.py": by_the_contract("x = 1\n"),
        "parts/layers.py": by_the_contract("y = 2\n"),
    }
    assert late == {"files": {"late.py": by_the_contract("z = 3\n")}}
    assert of(found, "rank_end")[0]["value"]["program"] == by_the_contract(MAIN)
    toolkit = Path(program.__file__).parents[1]
    lines = [
        f"{path.relative_to(toolkit).as_posix()} {by_the_contract(path.read_text())}"
        for path in toolkit.rglob("*.py")
    ]
    assert first["toolkit"] == by_the_contract("\n".join(sorted(lines)))


def test_the_grader_reads_what_the_toolkit_wrote(tmp_path):
    beside(tmp_path, network="x = 1\n", parts__layers="y = 2\n", late="z = 3\n")
    output = run_program(MAIN, folder=tmp_path)
    [run] = read_bytes({"a.out": output.encode()})
    assert run.chain_intact
    assert run.program.main == "train.py"
    assert run.program.files["late.py"] == text_hash(b"z = 3")
    assert len(run.program.files) == 4
    assert run.ranks[0].program == run.program.files["train.py"] == text_hash(MAIN.encode())


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_line_ends_make_no_difference_and_words_do(ends):
    lines = ["a = 1", "", "b = 2"]
    assert text_hash(ends.join(lines).encode()) == by_the_contract("a = 1\n\nb = 2\n")
    assert text_hash(ends.join([*lines, "c"]).encode()) != text_hash(ends.join(lines).encode())
    assert text_hash(b"a = 1  \n\n  # why\n") == text_hash(b"a = 1")
    assert text_hash(b"a = 1  # why") != text_hash(b"a = 1")


def test_a_file_that_changed_while_it_ran_has_no_hash(tmp_path):
    beside(tmp_path, network="x = 1\n")
    text = f"""
import network, os
os.utime("network.py", (4e9, 4e9))
{MAIN.replace("from parts import layers", "").replace("import late", "")}
"""
    [line] = of(events(run_program(text, folder=tmp_path)), "program")
    assert line["value"]["files"] == {"train.py": by_the_contract(text), "network.py": None}


@pytest.mark.parametrize("start", [["-c", "{}"], ["-"]])
def test_without_a_file_there_is_nothing_to_say(tmp_path, start):
    text = "from lessons.toolkit.record import Record; Record('02', source='x').end()"
    words = [word.format(text) for word in start]
    done = subprocess.run(
        [sys.executable, *words], input=text, capture_output=True, text=True, cwd=tmp_path
    )
    found = events(done.stdout)
    [line] = of(found, "program")
    assert (line["value"]["main"], line["value"]["files"]) == (None, {})
    assert of(found, "rank_end")[0]["value"]["program"] is None


def test_a_program_reached_by_a_link_is_the_file_that_it_leads_to(tmp_path):
    home, place = tmp_path / "home", tmp_path / "scratch"
    home.mkdir()
    place.mkdir()
    beside(home, network="x = 1\n", parts__layers="y = 2\n", late="z = 3\n", train=MAIN)
    os.symlink(home / "train.py", place / "mine.py")
    done = subprocess.run(
        [sys.executable, "mine.py"], cwd=place, capture_output=True, text=True, check=True
    )
    first = of(events(done.stdout), "program")[0]["value"]
    assert first["main"] == "mine.py"
    assert set(first["files"]) == {"mine.py", "network.py", "parts/layers.py"}


def test_at_the_top_of_the_course_only_the_program_is_its_own(tmp_path):
    """There, the toolkit, the grader and installed packages are below the program's folder."""
    for package in ("lessons", "autograder", "cluster"):
        os.symlink(Path(program.COURSE) / package, tmp_path / package)
    text = "import click\nfrom lessons.toolkit.record import Record\nRecord('02', source='x').end()"
    here = {"PYTHONPATH": str(tmp_path)}
    [line] = of(events(run_program(text, folder=tmp_path, **here)), "program")
    assert set(line["value"]["files"]) == {"train.py"}


# Any letters of any language; a program called by thirty emoji gets its name cut on the line.
LETTERS = st.characters(codec="utf-8", max_codepoint=0xFFFF)


@given(st.lists(st.text(LETTERS, min_size=1, max_size=80), max_size=40))
def test_whatever_the_names_every_line_is_whole(names):
    files = {name: Path("/nowhere") / "x" for name in names}
    chain = run_record.Chain("5f0c2a91", 0)
    told = {}
    for number, group in enumerate(program.in_lines(files)):
        head = {"main": names[0][-program.LONGEST_NAME :], "toolkit": "0" * 16}
        value = {**head, "files": group} if number == 0 else {"files": group}
        line = chain.line("POINT_IN_TIME", "program", value)
        assert len(line) <= 1000
        assert run_record.encode(group) in line
        told |= group
    assert set(told) == {name[-program.LONGEST_NAME :] for name in names}


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"files": 3},
        {"files": {"a": 3, "b": "x" * 99}},
        {"main": [], "toolkit": {}},
        {"files": {}},
    ],
)
def test_no_value_makes_reading_raise(value):
    chain = run_record.Chain("5f0c2a91", 0)
    lines = [chain.line("POINT_IN_TIME", "program", value) for _ in range(2)]
    [run] = read_bytes({"a.out": "\n".join(lines).encode()})
    assert (run.program.main, run.program.toolkit) == (None, None)
    assert set(run.program.files.values()) <= {None}
    assert TAG in lines[0]
