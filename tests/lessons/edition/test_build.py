"""Tests of `lessons build`: from solutions to the students' edition."""

import ast
import re

import nbformat
import pytest
from hypothesis import given, strategies as st

from lessons.edition.build import build, build_lesson
from lessons.edition.gaps import SourceError, without_solutions
from lessons.edition.notebook_pages import KERNEL

NAME = "01_small"


def source(course):
    return course / "solutions" / NAME / "lesson.py"


def page(course):
    return nbformat.read(course / "lessons" / NAME / f"{NAME}.ipynb", as_version=4)


def rebuilt_ids(course):
    files = build(course).files
    [notebook] = [made for path, made in files.items() if path.suffix == ".ipynb"]
    return [cell["id"] for cell in nbformat.reads(notebook.decode(), as_version=4).cells]


def test_build_makes_what_a_student_gets(course, lessons_command):
    done = lessons_command("build")
    assert done.exit_code == 0, done.stderr
    made = course / "lessons" / NAME
    names = {path.name for path in made.iterdir()}
    assert names == {f"{NAME}.ipynb", "train.py", "job.sbatch", "small_checks.py", "table.csv"}
    assert (made / "table.csv").read_bytes() == (source(course).parent / "table.csv").read_bytes()
    program = (made / "train.py").read_text()
    assert 'raise NotImplementedError("Exercise 1.2: three times the number")' in program
    assert "total" not in program
    job = (made / "job.sbatch").read_text()
    assert "#SBATCH --nodes=\n#SBATCH --ntasks-per-node=\n" in job
    assert "# Exercise 1.3: ask for two nodes with one task each" in job
    assert "SOLUTION" not in "".join(path.read_text() for path in made.iterdir())


def test_a_link_to_another_file_becomes_a_plain_file(course, lessons_command):
    (source(course).parent / "again.csv").symlink_to("table.csv")
    lessons_command("build")
    made = course / "lessons" / NAME / "again.csv"
    assert not made.is_symlink()
    assert made.read_bytes() == made.with_name("table.csv").read_bytes()


def test_a_built_notebook_is_clean_valid_and_has_its_kernel(course, lessons_command):
    lessons_command("build")
    notebook = page(course)
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert notebook.metadata.kernelspec == KERNEL
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)
    assert code[0].metadata.tags == ["parameters"]
    assert "jupyter" not in code[0].metadata
    assert code[1].metadata.tags == ["setup", "hide-input"]
    assert code[1].metadata.jupyter == {"source_hidden": True}
    [double] = [cell for cell in code if "def double" in cell.source]
    assert (
        """raise NotImplementedError('Exercise 1.1: twice the number, whatever its "kind"')"""
        in (double.source)
    )


def test_nbgrader_metadata(course, lessons_command):
    """Check the metadata with nbgrader's own validator of version 3."""
    lessons_command("build")
    cells = {
        cell.metadata.nbgrader.grade_id: cell.metadata.nbgrader
        for cell in page(course).cells
        if "nbgrader" in cell.metadata
    }
    assert list(cells) == ["predict", "exercise-1-1", "check-1-1", "check-1-2", "check-1-3"]
    for name, cell in cells.items():
        assert re.fullmatch(r"[a-zA-Z0-9_\-]+", name)
        assert cell.schema_version == 3
        is_check = name.startswith("check")
        assert (cell.grade, cell.locked, cell.solution) == (is_check, is_check, not is_check)
        assert cell.get("points") == (0 if is_check else None)


def test_building_twice_gives_the_same_bytes(course, lessons_command):
    assert build(course).files == build(course).files
    lessons_command("build")
    assert lessons_command("build").stdout == "lessons/ is up to date\n"
    assert lessons_command("build", "--check").exit_code == 0


def test_an_insertion_changes_no_other_cell_id(course):
    before = rebuilt_ids(course)
    text = source(course).read_text()
    new = text.replace("# %% [markdown]\n# **Exercise 1.1", "# %%\nx = 1\n\n# %% [markdown]\n# **E")
    assert new != text
    source(course).write_text(new)
    after = rebuilt_ids(course)
    assert len(after) == len(before) + 1
    changed = set(before) - set(after)
    assert len(changed) == 1  # the text cell that the replacement shortened


@pytest.mark.parametrize(
    ("edit", "shown"),
    [
        (lambda made: (made / "train.py").write_text("print(1)\n"), "+++ built/01_small/train.py"),
        (lambda made: (made / "train.py").unlink(), "--- /dev/null"),
        (lambda made: (made / "old.py").write_text(""), "01_small/old.py should not be there"),
        (
            lambda made: (
                (made.parent / "09_gone").mkdir()
                or (made.parent / "09_gone" / "train.py").write_text("")
            ),
            "09_gone/train.py should not be there",
        ),
    ],
    ids=["edited", "missing", "stranger", "old lesson"],
)
def test_check_shows_drift_and_build_repairs_it(course, lessons_command, edit, shown):
    lessons_command("build")
    edit(course / "lessons" / NAME)
    check = lessons_command("build", "--check")
    assert check.exit_code == 1
    assert shown in check.stdout
    assert "run `lessons build`" in check.stderr
    assert lessons_command("build").exit_code == 0
    assert lessons_command("build", "--check").exit_code == 0


def test_a_replaced_file_is_kept(course, lessons_command):
    lessons_command("build")
    program = course / "lessons" / NAME / "train.py"
    program.write_text("# my work in this very folder\n")
    assert "the previous files are in build/" in lessons_command("build").output
    [kept] = course.glob(f"build/replaced-in-lessons/*/{NAME}/train.py")
    assert kept.read_text() == "# my work in this very folder\n"
    assert "NotImplementedError" in program.read_text()


def test_a_stranger_is_moved_and_never_deleted(course, lessons_command):
    lessons_command("build")
    (course / "lessons" / NAME / "notes.txt").write_text("mine")
    lessons_command("build")
    [moved] = (course / "build").rglob("notes.txt")
    assert moved.read_text() == "mine"


def test_what_a_run_left_is_no_drift(course, lessons_command):
    made = course / "lessons" / NAME
    lessons_command("build")
    (made / "01_small_7.out").write_text("")
    (made / "answers.txt").write_text("")
    (made / "__pycache__").mkdir()
    (made / "__pycache__" / "train.cpython-311.pyc").write_bytes(b"")
    packs = course / "solutions" / NAME / "data" / "input"  # a solution may have been run too
    packs.mkdir(parents=True)
    (packs / "pack_0001.bin").write_bytes(b"\xff")
    assert lessons_command("build", "--check").exit_code == 0


GOOD = "### BEGIN SOLUTION Exercise 2.1: build it\nx = 1\n### END SOLUTION\n"

WRONG_MARKERS = [
    ("x = 1\n### END SOLUTION\n", 2, "without a BEGIN"),
    ("### BEGIN SOLUTION Exercise 2.1: a\nx = 1\n", 1, "without an END"),
    (GOOD + "### BEGIN SOLUTION Exercise 2.1: a\n" + GOOD, 5, "inside the gap of line 4"),
    ("### BEGIN SOLUTION Exercise: a\nx = 1\n### END SOLUTION\n", 1, "not a marker"),
    ("## BEGIN SOLUTION Exercise 2.1: a\nx = 1\n## END SOLUTION\n", 1, "not a marker"),
    ("x = 1  ### BEGIN SOLUTION Exercise 2.1: a\n", 1, "not a marker"),
    ("### begin solution Exercise 2.1: a\nx = 1\n### END SOLUTION\n", 1, "not a marker"),
    (
        "if 1:\n    ### BEGIN SOLUTION Exercise 2.1: a\n    x = 1\n### END SOLUTION\n",
        4,
        "like its BEGIN",
    ),
]


@pytest.mark.parametrize(("text", "line", "words"), WRONG_MARKERS)
def test_wrong_markers_are_named_with_file_and_line(text, line, words):
    with pytest.raises(SourceError, match=rf"^solutions/x/train.py:{line}: .*{words}"):
        without_solutions(text, "solutions/x/train.py")


@pytest.mark.parametrize(
    ("gap", "stub"),
    [
        ("#SBATCH --nodes=2\n", "# Exercise 0.1: ask\n#SBATCH --nodes=\n"),
        ("launch python x.py\n", "echo 'Exercise 0.1: ask is still a gap' >&2\nexit 1\n"),
    ],
)
def test_gaps_of_job_files(gap, stub):
    text = f"#!/bin/bash\n### BEGIN SOLUTION Exercise 0.1: ask\n{gap}### END SOLUTION\nfacts\n"
    assert without_solutions(text, "job.sbatch") == f"#!/bin/bash\n{stub}facts\n"


@given(
    depth=st.integers(0, 4),
    label=st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1),
    body=st.lists(st.sampled_from(["x = 1", "for i in []:\n    pass", "return 2", "# why", ""])),
)
def test_any_gap_leaves_python_that_raises_its_label(depth, label, body):
    indent = " " * 4 * depth
    code = "\n".join([*body, "y = 3"])
    frame = "".join(" " * 4 * level + f"def f{level}():\n" for level in range(depth))
    inside = "".join(indent + line + "\n" for line in code.split("\n"))
    begin, end = (
        f"{indent}### BEGIN SOLUTION Exercise 2.1: {label}\n",
        f"{indent}### END SOLUTION\n",
    )
    if depth == 0 and "return 2" in body:
        return
    student = without_solutions(frame + begin + inside + end, "train.py")
    [raised] = [node for node in ast.walk(ast.parse(student)) if isinstance(node, ast.Raise)]
    assert ast.literal_eval(raised.exc.args[0]) == f"Exercise 2.1: {label}"
    assert "y = 3" not in student


def long_cell(lines):
    return "\n# %%\n" + "\n".join(f"x{n} = {n}" for n in range(lines)) + "\n"


LINTS = [
    (lambda text: text.replace("# # 01 · A small lesson", "# Hello"), 9, "the first cell must be"),
    (lambda text: text.replace('# %% tags=["parameters"]', "# %%"), 12, "the cell after the title"),
    (lambda text: text + '\n# %% tags=["parameters"]\nn = 1\n', None, "a second `parameters`"),
    (lambda text: text + long_cell(16), None, "16 lines of code"),
    (lambda text: text + "\n# %%\nx = 1\n" * 20, None, "28 code cells"),
    (lambda text: text + '\n# %% tags=["exercise"]\nx = 1\n', None, "belong together"),
    (lambda text: text + "\n# %%\n" + GOOD.replace("2.1", "1.1"), None, "belong together"),
    (lambda text: text + '\n# %% tags=["check"]\nx = 1\n', None, "belong together"),
    (lambda text: text + '\n# %% tags=["exercise"]\n' + GOOD, None, "2.1 does not belong"),
    (
        lambda text: text + '\n# %% tags=["exercise"]\n' + GOOD.replace("2.1", "1.9"),
        None,
        "exercise 1.9 has no `check` cell",
    ),
    (lambda text: "x = 1\n\n" + text, 1, "text before the first"),
    (
        lambda text: text + GOOD.replace("x = 1\n", "x = 1\n\n# %%\n").replace("2.1", "1.1"),
        None,
        "past the end of its cell",
    ),
]


@pytest.mark.parametrize(("edit", "line", "words"), LINTS)
def test_the_rules_for_a_notebook(course, lessons_command, edit, line, words):
    text = source(course).read_text()
    source(course).write_text(edit(text))
    done = lessons_command("build")
    assert done.exit_code == 1
    number = line or r"\d+"
    where = rf"solutions/{NAME}/lesson.py:{number}: .*{re.escape(words)}"
    assert re.search(where, done.stderr), done.stderr
    assert not (course / "lessons").exists()


@pytest.mark.parametrize(
    ("name", "lines", "words"),
    [("train.py", 201, "201 lines; a program"), ("job.sbatch", 31, "31 lines; a job file")],
)
def test_the_rules_for_programs_and_jobs(course, name, lines, words):
    file = source(course).parent / name
    file.write_text("# line\n" * lines)
    problems = build_lesson(source(course).parent).problems
    assert any(f"{NAME}/{name}:1: {words}" in problem for problem in problems)
