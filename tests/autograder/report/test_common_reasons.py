"""Reasons to look that many students share, shown above the class's table."""

from autograder.classroom.rows import Row
from autograder.codes import FindingCode
from autograder.report.class_page.matrix import common_reasons
from autograder.verdict import LookReason


def test_what_many_have_in_common_is_counted_once_whatever_their_files_are_called():
    """The summary gives the words that all reasons begin with, and whether more follows."""
    shared = "the parameters equal those of a run with another accuracy"
    looks = {
        "ada": (shared, " (02_serial.out:5; zoe: a.out:7)"),
        "ben": (shared, " (work (1).zip/keras.out:5; zoe: a.out:7)"),
        "eve": ("Left out", ": keras_7.out is damaged in the archive"),
        "ida": ("Left out", ": 02_torch.out is damaged in the archive"),
        "joy": ("One node where two are asked for", ""),
        "kim": ("Several hand-ins have the same time, and a person has to say which counts", ""),
    }
    rows = [
        Row(name, "02", "Title", "graded", 1.0, 1.0, 2.0, "confirmed",
            (LookReason(FindingCode.SHARED_RUN, *texts),), (), "")
        for name, texts in looks.items()
    ]  # fmt: skip
    assert common_reasons(rows) == [
        (shared, True, 2),
        ("Left out", True, 2),
        ("One node where two are asked for", False, 1),
        ("Several hand-ins have the same time, and a person has to say", True, 1),
    ]
