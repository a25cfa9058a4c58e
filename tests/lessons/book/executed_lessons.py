"""Executed lessons as papermill would save them, with given outputs and without a kernel."""

import shutil

import nbformat
from nbformat.v4 import new_output

from lessons.execute.plan import read_lesson
from lessons.folders import made_by_hand


def printed(text, name="stdout"):
    return new_output("stream", name=name, text=text)


def value(**data):
    mimes = {"plain": "text/plain", "png": "image/png", "html": "text/html"}
    return new_output("execute_result", data={mimes[kind]: what for kind, what in data.items()})


def leave_executed(source, runs, outputs, failed_at=None):
    """Save executed notebooks. `outputs` maps a piece of a cell's code to its output. `failed_at`
    is such a piece.
    """
    notebook, ended = read_lesson(source), True
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        fails = bool(failed_at) and failed_at in cell.source
        cell.metadata["papermill"] = {"end_time": "04:01" if ended else None, "exception": fails}
        ended = ended and not fails
        cell.outputs = [
            one for code, all_ in outputs.items() if code in cell.source for one in all_
        ]
    notebook.metadata["papermill"] = {
        "start_time": "2026-11-23T04:00:00",
        "parameters": {"profile": "smoke"},
    }
    folder = runs / source.name
    folder.mkdir(parents=True)
    for relative in made_by_hand(source):
        (folder / relative).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / relative, folder / relative)
    (folder / "lesson.py").unlink()
    nbformat.write(notebook, folder / f"{folder.name}.ipynb")
    return folder
