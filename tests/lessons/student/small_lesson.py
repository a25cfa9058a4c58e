"""Helpers to fill a small lesson's gaps, and to read the table of its checks."""

import nbformat

NAME = "01_small"


def fill(folder, *changes):
    """Replace a gap with other code, in the file of the folder that has it."""
    for label, code in changes:
        notebook = nbformat.read(folder / f"{NAME}.ipynb", as_version=4)
        for cell in notebook.cells:
            lines = cell.source.splitlines()
            cell.source = "\n".join(code if label in line else line for line in lines)
        nbformat.write(notebook, folder / f"{NAME}.ipynb")
        for file in folder.glob("*.py"):
            lines = file.read_text().splitlines()
            file.write_text("".join((code if label in x else x) + "\n" for x in lines))


RIGHT = [
    ("Predict:", "guess = 1"),
    ("Exercise 1.1", "    return 2 * x"),
    ("Exercise 1.2", "    return 3 * x"),
]


def rows(output):
    """Return exercise -> (result, text) from the table."""
    cells = [[part.strip() for part in line.split("│")] for line in output.splitlines()]
    return {cell[1]: (cell[2], cell[3]) for cell in cells if len(cell) == 5 and cell[1]}


def whole(output, exercise):
    """Return the table's text about an exercise in one line."""
    lines, wanted = [], False
    for line in output.splitlines():
        cells = [part.strip() for part in line.split("│")]
        if len(cells) == 5:
            wanted = cells[1] == exercise or (wanted and not cells[1])
            lines += [cells[3]] * wanted
    return " ".join(lines)
