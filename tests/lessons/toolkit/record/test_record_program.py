"""Tests of the record's program hashes, written by the toolkit and read by the grader."""

from hashlib import blake2b
from pathlib import Path

import pytest
from record_lines import events, of, run_program

from autograder.text_hash import text_hash
from lessons.toolkit.record import program

MAIN = """
import network
from parts import layers
from lessons.toolkit.record import Run
run = Run("02", source="x")
import late
run.end()
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
    toolkit = Path(program.__file__).parents[1]
    lines = [
        f"{path.relative_to(toolkit).as_posix()} {by_the_contract(path.read_text())}"
        for path in toolkit.rglob("*.py")
    ]
    assert first["toolkit"] == by_the_contract("\n".join(sorted(lines)))


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


def test_a_file_that_changed_before_the_toolkit_was_imported_has_no_hash(tmp_path):
    beside(tmp_path, network="x = 1\n")
    text = f"""
import network, pathlib, time
time.sleep(1.3)
pathlib.Path("network.py").touch()
{MAIN.replace("from parts import layers", "").replace("import late", "")}
"""
    [line] = of(events(run_program(text, folder=tmp_path)), "program")
    assert line["value"]["files"] == {"train.py": by_the_contract(text), "network.py": None}


def test_installed_packages_and_endless_lists_are_not_the_programs(tmp_path, monkeypatch):
    beside(tmp_path, network="x = 1\n", parts__layers="y = 2\n", late="z = 3\n")
    package = tmp_path / "venv/lib64/python3.11/site-packages/package.py"
    package.parent.mkdir(parents=True)
    package.write_text("")
    text = f"import sys\nsys.path.append({str(package.parent)!r})\nimport package\n{MAIN}"
    lines = of(events(run_program(text, folder=tmp_path)), "program")
    names = [name for line in lines for name in line["value"]["files"]]
    assert names == ["train.py", "network.py", "parts/layers.py", "late.py"]
    monkeypatch.setattr(program, "main_file", lambda: tmp_path / "train.py")
    assert len(program.program_files({f"{n}.py": Path(f"{n}.py") for n in range(300)})) == 200
