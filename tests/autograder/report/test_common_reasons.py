"""The reasons to look that many students have, above the class's table."""

from autograder.classroom.rows import Row
from autograder.report.class_page.matrix import common_reasons


def test_what_many_have_in_common_is_counted_once_whatever_their_files_are_called():
    """The words that all begin with, and whether more follows."""
    said = "the parameters are those of a run with another accuracy"
    looks = {
        "ada": f"{said} (02_serial.out:5; zoe: a.out:7)",
        "ben": f"{said} (work (1).zip/keras.out:5; zoe: a.out:7)",
        "eve": "Left out: keras_7.out is damaged in the archive",
        "ida": "Left out: 02_torch.out is damaged in the archive",
        "joy": "One node where two are asked for",
        "kim": "Two hand-ins have the same time; `01 (1).zip` was taken: say which is meant",
    }
    rows = [
        Row(name, "02", "Title", "graded", 1.0, 1.0, 2.0, "confirmed", (look,), (), "")
        for name, look in looks.items()
    ]
    assert common_reasons(rows) == [
        (said, True, 2),
        ("Left out", True, 2),
        ("One node where two are asked for", False, 1),
        ("Two hand-ins have the same time", True, 1),
    ]
