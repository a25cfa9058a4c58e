"""Draw docs/pictures/lessons.svg, the map of which lesson needs which.

python -m tests.example.lesson_map
"""

from pathlib import Path

PICTURE = Path(__file__).parents[2] / "docs" / "pictures" / "lessons.svg"
WIDTH, HEIGHT = 150, 40  # size of a box
STEP_X, STEP_Y, MARGIN = 190, 62, 12

# Lesson -> its short title, its column and row, and the lessons it depends on.
LESSONS = {
    "00": ("The cluster", 0, 1, ()),
    "01": ("Curve fitting", 1, 1, ("00",)),
    "02": ("A serial program", 2, 1, ("01",)),
    "03": ("A baseline", 3, 0, ("02",)),
    "04": ("Feeding the model", 4, 0, ("03",)),
    "05": ("MirroredStrategy", 5, 0, ("04",)),
    "06": ("Allreduce by hand", 2, 2, ("01",)),
    "07": ("Horovod", 3, 1, ("02", "06")),
    "08": ("Distributing data", 4, 1, ("07",)),
    "09": ("The learning rate", 4, 2, ("06", "07")),
    "10": ("DDP", 3, 3, ("02", "06")),
    "11": ("Splitting a model", 4, 3, ("10",)),
    "12": ("The scaling study", 4, 4, ("10",)),
    "13": ("Shard everything", 5, 3, ("10", "11")),
    "14": ("Milliseconds", 5, 1, ("04",)),
    "15": ("A job that survives", 5, 4, ("10", "13")),
    "16": ("TensorFlow", 3, 4, ("02", "06")),
}


def corner(lesson: str) -> tuple[int, int]:
    _, column, row, _ = LESSONS[lesson]
    return MARGIN + column * STEP_X, MARGIN + row * STEP_Y


def box(lesson: str) -> str:
    x, y = corner(lesson)
    title = f"{lesson} {LESSONS[lesson][0]}"
    return (
        f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="6"/>'
        f'<text x="{x + WIDTH / 2:g}" y="{y + HEIGHT / 2 + 5:g}">{title}</text>'
    )


def arrow(start: str, end: str) -> str:
    (x1, y1), (x2, y2) = corner(start), corner(end)
    return (
        f'<path d="M{x1 + WIDTH} {y1 + HEIGHT / 2:g} L{x2 - 3} {y2 + HEIGHT / 2:g}" '
        'marker-end="url(#tip)"/>'
    )


def drawing() -> str:
    """Return the map as SVG."""
    width = 2 * MARGIN + 5 * STEP_X + WIDTH
    height = 2 * MARGIN + 4 * STEP_Y + HEIGHT
    arrows = [arrow(need, lesson) for lesson, (*_, needs) in LESSONS.items() for need in needs]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">',
            "<style>rect {fill: #eef3fa; stroke: #3465a4} path {stroke: #555; fill: none}",
            "text {font: 13px sans-serif; text-anchor: middle; fill: #222}</style>",
            '<defs><marker id="tip" markerWidth="9" markerHeight="8" refX="8" refY="4" '
            'orient="auto"><path d="M0 0 L8 4 L0 8 z" style="fill: #555"/></marker></defs>',
            f'<rect width="{width}" height="{height}" style="fill: white; stroke: none"/>',
            *arrows,
            *map(box, LESSONS),
            "</svg>",
            "",
        ]
    )


if __name__ == "__main__":
    PICTURE.write_text(drawing(), encoding="utf-8")
    print(PICTURE)
