"""A small lesson: its gaps filled, and the table of its checks read."""

import nbformat

NAME = "01_small"


def fill(folder, *changes):
    """Replace a gap by other code in whichever file of the folder has it."""
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
    """exercise -> (result, what) from the table."""
    cells = [[part.strip() for part in line.split("│")] for line in output.splitlines()]
    return {cell[1]: (cell[2], cell[3]) for cell in cells if len(cell) == 5 and cell[1]}


def whole(output, exercise):
    """Everything that the table says about an exercise, in one line."""
    lines, wanted = [], False
    for line in output.splitlines():
        cells = [part.strip() for part in line.split("│")]
        if len(cells) == 5:
            wanted = cells[1] == exercise or (wanted and not cells[1])
            lines += [cells[3]] * wanted
    return " ".join(lines)
