"""The table that `lessons check` prints."""


def rows(output):
    """exercise -> (result, what) from the table."""
    cells = [[part.strip() for part in line.split("│")] for line in output.splitlines()]
    return {cell[1]: (cell[2], cell[3]) for cell in cells if len(cell) == 5 and cell[1]}
