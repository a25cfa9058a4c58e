"""A notebook shows an open gap in one line, and explains a name that no cell has defined yet."""

from pathlib import Path

import nbformat
import pytest

from lessons.student import jupyter_config
from lessons.student.run_cells import run_cells
from lessons.toolkit.checks.shared.gaps_in_cells import RUN_FIRST

GAP = 'raise NotImplementedError("Predict: set predict_lines to a number")\n'
CELLS = [
    "from lessons.toolkit import checks",
    GAP,
    "import program\nprogram.facts()",
    'raise NotImplementedError("not a gap")',
    "1 / 0",
    "len(files)",
    "import program\nprogram.misspelt()",
]


@pytest.fixture(scope="module")
def errors(tmp_path_factory):
    """Return what each cell shows as an error: its kind, its message and its lines."""
    folder = tmp_path_factory.mktemp("lesson")
    (folder / "program.py").write_text(
        f"def facts():\n    {GAP}\ndef misspelt():\n    return fiels\n"
    )
    cells = [nbformat.v4.new_code_cell(source, metadata={"tags": []}) for source in CELLS]
    run_cells(notebook := nbformat.v4.new_notebook(cells=cells), folder)
    assert not notebook.cells[0].outputs
    return [cell.outputs[-1] for cell in notebook.cells[1:]]


def test_a_gap_has_no_traceback_and_is_still_an_error(errors):
    for error, place in zip(errors[:2], ("this cell", "program.py"), strict=True):
        assert (error.ename, error.evalue) == (
            "NotImplementedError", "Predict: set predict_lines to a number")  # fmt: skip
        assert len(error.traceback) == 2
        assert error.evalue in error.traceback[0]
        assert place in error.traceback[1]


def test_other_errors_keep_their_traceback(errors):
    assert [error.ename for error in errors[2:4]] == ["NotImplementedError", "ZeroDivisionError"]
    assert all("Traceback" in "\n".join(error.traceback) for error in errors[2:])


def test_a_name_that_no_cell_has_defined_leads_to_the_cells_above(errors):
    in_cell, in_program = errors[4:]
    assert (in_cell.ename, in_program.ename) == ("NameError", "NameError")
    assert in_cell.evalue == "name 'files' is not defined"
    assert '"files"' in in_cell.traceback[-1]
    assert "Run All Above" in in_cell.traceback[-1]
    assert "Run All Above" not in "\n".join(in_program.traceback)


def test_a_new_kernel_says_that_its_first_cells_have_to_run(tmp_path, monkeypatch):
    first = Path(jupyter_config.__path__[0], "first_in_kernel.py")
    monkeypatch.setenv("PYTHONSTARTUP", str(first))
    cell = nbformat.v4.new_code_cell('course.submit("job.sbatch")', metadata={"tags": []})
    run_cells(nbformat.v4.new_notebook(cells=[cell]), tmp_path)
    assert cell.outputs[-1].traceback[-1] == RUN_FIRST
