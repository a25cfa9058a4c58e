"""Tests of `lessons release`: everything that a student needs, and no solutions."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.settings.draws import key_of_release
from lessons.cli import main
from lessons.edition.gaps import find_gaps
from lessons.edition.release import TELLING, gather, leaks, write_folder

ROOT = Path(__file__).parents[3]


def test_what_is_in_it_and_what_is_not(released):
    for name in (
        *("pyproject.toml", "Makefile", "README.md", "environment.yml", "docs/run-record.md"),
        *("lessons/02_serial/02_serial.ipynb", "lessons/toolkit/record/run.py", "lessons/cli.py"),
        *("cluster/sites/laptop.sh", "autograder/reading/files.py", "autograder/rubrics/02.yaml"),
    ):
        assert name in released
    tops = {name.split("/")[0] for name in released}
    assert not tops & {"solutions", "tests", "benchmarks", "build", ".venv", ".git", ".ci"}
    assert not [name for name in released if "/expected/" in name or name.endswith(".pyc")]


def test_no_solution_is_in_any_file(released):
    """Search for blocks and expected answers as plain text, unlike the command itself."""
    texts = {
        name: re.sub(r'\\n",?\s*"|\s+', " ", content.decode(errors="replace").replace('\\"', '"'))
        for name, content in released.items()
    }
    looked_for = 0
    block = re.compile(r"### BEGIN SOLUTION.*?### END SOLUTION", re.DOTALL)
    programs = [path.read_text() for path in sorted((ROOT / "solutions").glob("*/*.py"))]
    shown = " ".join(" ".join(block.sub("", text).split()) for text in programs)
    for source in sorted((ROOT / "solutions").rglob("*.py")):
        for gap in find_gaps(source.read_text(), source.name):
            body = " ".join("\n".join(gap.body).split())
            if len(body) > TELLING and body not in shown:  # 02 shows openly what 07 asks for
                looked_for += 1
                assert [name for name, text in texts.items() if body in text] == [], body
    assert looked_for >= 3
    for expected in (ROOT / "autograder" / "rubrics" / "expected").glob("*.yaml"):
        for line in expected.read_text().splitlines():
            if re.match(r"[a-z]\w*: \S", line):
                looked_for += 1
                whole = re.compile(rf"{re.escape(line)}(?!\w)")
                assert [name for name, text in texts.items() if whole.search(text)] == [], line
    assert looked_for >= 5
    assert not [name for name, text in texts.items() if "### END SOLUTION" in text and "0" in name]


@pytest.mark.parametrize(
    ("leak", "found"),
    [
        (b" total = 0\n\n  for _ in range(3):\n total  += x\n return total\nand more\n", 1),
        (b"so:\n    answer_of_everything: 42.5\n", 1),
        (b"    return total\n", 0),
        (b"answer_of_everything: 42.55\n", 0),
    ],
)
def test_a_leak_is_found_however_it_is_indented(small, leak, found):
    assert len(list(leaks(small, gather(small) | {"docs/hint.md": leak}))) == found


def test_a_leak_stops_the_release(small, lessons_command):
    (small / "docs").mkdir()
    (small / "docs" / "help.yml").write_text("answer_of_everything: 42.5\n")
    done = lessons_command("release", "--out", small / "course.zip")
    assert done.exit_code == 1
    assert (
        "docs/help.yml contains what autograder/rubrics/expected/01.yaml:1 withholds" in done.output
    )
    assert not (small / "course.zip").exists()


def test_an_old_edition_is_not_released(small, lessons_command):
    (small / "lessons" / "01_small" / "train.py").write_text("print(1)\n")
    done = lessons_command("release", "--out", small / "course.zip")
    assert done.exit_code == 1
    assert "lessons build" in done.output


def test_the_same_bytes_every_time(small, lessons_command):
    for name in ("a.zip", "b.zip"):
        assert lessons_command("release", "--out", small / name).exit_code == 0
    assert (small / "a.zip").read_bytes() == (small / "b.zip").read_bytes()
    with zipfile.ZipFile(small / "a.zip") as archive:
        names = archive.namelist()
    assert "dl-on-supercomputers/lessons/01_small/01_small.ipynb" in names
    assert not [name for name in names if "tests" in name or "solutions" in name]


def test_the_terms_key_is_where_students_draw_by_it(small, lessons_command, tmp_path):
    out = tmp_path / "release"
    assert lessons_command("release", "--out", out, "--term-key", "winter").exit_code == 0
    assert key_of_release(out / "autograder" / "rubrics") == "winter"


@pytest.fixture(scope="module")
def edition(tmp_path_factory):
    """Return the folder that the command makes of this course."""
    folder = tmp_path_factory.mktemp("release") / "course"
    done = CliRunner().invoke(main, ["release", "--out", str(folder)])
    assert done.exit_code == 0, done.output
    return folder


def test_everybody_can_read_a_release_that_was_made_with_a_strict_umask(tmp_path):
    before = os.umask(0o077)
    try:
        write_folder(tmp_path / "a" / "b", {"docs/x.md": b"x"}, frozenset(), {"docs/x.md": 0})
    finally:
        os.umask(before)
    made = {path.stat().st_mode & 0o777 for path in (tmp_path / "a").rglob("*") if path.is_dir()}
    assert made == {0o755}


def test_a_folder_with_something_in_it_is_left_alone(small, lessons_command, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("x")
    done = lessons_command("release", "--out", tmp_path / "full")
    assert done.exit_code == 2
    assert "is not empty" in done.output
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["mine"]


@pytest.mark.slow
def test_the_students_edition_runs_on_its_own(edition, tmp_path):
    """Run it from another place, with nothing of this checkout on the path."""
    home, copy = tmp_path / "home", shutil.copytree(edition, tmp_path / "course")
    home.mkdir()
    keep = ("COURSE_DATA", "LANG")
    environment = {key: os.environ[key] for key in keep if key in os.environ} | {
        "HOME": str(home),
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "PYTHONPATH": str(copy),
        "COURSE_SITE": str(copy / "cluster/sites/laptop.sh"),
    }

    def run(package, *arguments, where=copy):
        code = f"from {package}.cli import main; import {package}; main()"
        return subprocess.run(
            [sys.executable, "-c", code, *map(str, arguments)],
            cwd=where,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )

    lesson = copy / "lessons" / "01_learning"
    check = run("lessons", "check", "01")
    assert check.returncode == 1, check.stderr
    assert check.stdout.count("still a gap") >= 5
    assert "0 of 5 exercises passed" in check.stdout
    assert run("lessons", "data", "status", "mnist").returncode == 0
    for words in (("run", "--edition", "solutions"), ("build",), ("release", "--out", "x.zip")):
        refused = run("lessons", *words)
        assert refused.returncode in (1, 2)
        assert "Traceback" not in refused.stderr
        assert re.search(r"students' edition|already a release", refused.stderr)
    submitted = run("cluster", "submit", "--wait", "job.sbatch", where=lesson)
    assert submitted.returncode == 1
    [errors] = lesson.glob("*.err")
    assert "NotImplementedError: Exercise 1." in errors.read_text()
    [output] = lesson.glob("*.out")
    assert run("autograder", "read", output).returncode in (0, 1)
    packed = run("lessons", "submit", "01", "--out", tmp_path / "you.zip")
    assert packed.returncode == 0
    graded = run("autograder", "check-mine", "--profile", "smoke", where=lesson)
    assert graded.returncode in (0, 1), graded.stderr
    assert "Traceback" not in graded.stderr


@pytest.mark.slow
def test_the_students_edition_installs(edition, tmp_path):
    """Install it as its own package, in an environment that sees only what this one has."""
    if shutil.which("uv") is None and not (Path(sys.executable).parent / "pip").exists():
        pytest.fail("neither uv nor pip is here to install with")
    copy, target = shutil.copytree(edition, tmp_path / "course"), tmp_path / "installed"
    install = ["install", "--no-deps", "--no-build-isolation", "--target", str(target), str(copy)]
    subprocess.run([sys.executable, "-m", "pip", *install], check=True, capture_output=True)
    modules = "lessons.toolkit.record, cluster.sites.site_files, autograder.reading.files"
    code = f"import {modules}; print(lessons.__file__)"
    environment = os.environ | {"PYTHONPATH": str(target)}
    shown = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd="/", capture_output=True, text=True
    )
    assert shown.stdout.startswith(str(target)), shown.stderr


def test_students_get_a_page_of_their_own_and_no_targets_that_cannot_work(released, tmp_path):
    assert b"make lab" in released["README.md"]
    assert b"make demo" not in released["README.md"]
    assert released["AGENTS.md"] == (ROOT / "lessons/edition/AGENTS.md").read_bytes()
    assert "lessons/edition/AGENTS.md" not in released
    assert not (ROOT / "AGENTS.md").exists()  # it would also bind the course's own developers
    (tmp_path / "Makefile").write_bytes(released["Makefile"])
    done = subprocess.run(["make", "demo"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode != 0
    assert "This is the students' edition" in done.stdout


@pytest.fixture
def unpacked(released, tmp_path):
    """Return what `make` needs of the released course, with a .venv that records its calls."""
    for name in ("Makefile", "docs/install.md", "cluster/jupyter/terminal.sh"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(released[name])
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/activate").write_text(f"PATH={tmp_path}/.venv/bin:$PATH\n")
    for program, told in {"jupyter": 'pwd; printf "%s\\n" "$@"', "lessons": "echo found"}.items():
        (tmp_path / ".venv/bin" / program).write_text(f"#!/bin/sh\n{told}\n")
        (tmp_path / ".venv/bin" / program).chmod(0o755)
    (tmp_path / "lessons").mkdir()
    return tmp_path


@pytest.mark.parametrize("number", [0, 1000])
def test_make_lab_starts_as_root_too_and_its_terminals_have_the_commands(unpacked, number):
    (unpacked / "bin").mkdir()
    (unpacked / "bin/id").write_text(f"#!/bin/sh\necho {number}\n")
    (unpacked / "bin/id").chmod(0o755)
    (unpacked / ".bashrc").write_text("PATH=/usr/bin:/bin  # as a site or conda may do\n")
    home = os.environ | {"HOME": str(unpacked), "PATH": f"{unpacked}/bin:/usr/bin:/bin"}
    make = ["make", "lab", "PYTHON=true", "LAB_OPTIONS=--no-browser"]
    done = subprocess.run(make, cwd=unpacked, env=home, capture_output=True, text=True)
    where, command, *words, setting, last = done.stdout.splitlines()
    assert (where, command, last) == (f"{unpacked}/lessons", "lab", "--no-browser")
    assert words == (["--allow-root"] if number == 0 else [])
    shell = json.loads(setting.removeprefix("--ServerApp.terminado_settings="))["shell_command"]
    typed = [*shell, "-i", "-c", "lessons submit 02"]
    said = subprocess.run(typed, env=home, capture_output=True, text=True).stdout
    assert said == "found\n"
