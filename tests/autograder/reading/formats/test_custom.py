"""Formats from a rubric: what they read, and which patterns are refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.errors import SettingsError
from autograder.reading.files import read_bytes
from autograder.reading.formats.custom import BadFormatError, load
from autograder.reading.formats.runaway import flat as flat_parts
from autograder.reading.formats.runaway import steps
from autograder.reading.plain_summary import summary
from autograder.settings.rubric import FOLDER, load_rubric

OURS = (
    r"epoch (?P<epoch>\d+)/(?P<of>\d+) done in (?P<seconds>[\d.]+) s, "
    r"loss (?P<train_loss>\S+) acc (?P<train_accuracy>[\d.]+)",
    r"checked: (?P<val_accuracy>[\d.]+)%",
    r"finished (?P<done>all) with (?P<workers>\d+) tasks: (?P<test_accuracy>[\d.]+)",
)
TEXT = """epoch 1/2 done in 12.25 s, loss 0.5 acc 71.5
checked: 70.0%
epoch 2/2 done in 11.75 s, loss nan acc 81.5
checked: 80.5%
finished all with 4 tasks: 0.79
"""


def test_a_course_can_bring_its_own_format():
    (run,) = read_bytes({"job.out": TEXT.encode()}, [load("ours", OURS)])
    read = summary(run)
    assert (read["format"], read["outcome"], read["workers"]) == ("ours", "completed", 4)
    assert read["epoch_seconds"] == [12.25, 11.75]
    assert run.epochs[0].seconds.half_width == pytest.approx(0.005)
    assert read["final_train_accuracy"] == pytest.approx(0.815)
    assert read["final_val_accuracy"] == pytest.approx(0.805)
    assert read["test_accuracy"] == 0.79
    assert run.epochs[1].train_loss is None
    assert any("diverged" in problem.reason for problem in run.problems)


def test_a_courses_own_format_comes_before_the_others():
    text = "Epoch 1/1\nOURS 1 took 2.5\n9/9 - 3s - loss: 0.5 - accuracy: 0.75\n"
    ours = load("ours", [r"OURS (?P<epoch>\d+) took (?P<seconds>[\d.]+)"])
    (run,) = read_bytes({"job.out": text.encode()}, [ours])
    assert run.format == "ours"


GOOD = [
    r"loss (?P<train_loss>[\d.]+)",
    r"Epoch (?P<epoch>\d+)[^\d]{1,40}(?P<seconds>[\d.]+)s",
    r"^\s*Epoch\s+(?P<epoch>\d+): loss=(?P<train_loss>\d+\.\d+), time (?P<seconds>\d+)",
    r"(?:train|val) loss at (?P<epoch>\d+)",
    r"step .*loss (?P<train_loss>[\d.]+)",
]
BAD = {
    r"loss (?P<train_loss>(\d+)+)x": "may not hold a repetition",
    r"loss (?P<train_loss>(?:a|ab)*)x": "may not hold a repetition",
    r"loss (?P<train_loss>(?:\d*\.?)*)": "may not hold a repetition",
    r"loss .*.*.*(?P<train_loss>\d+)x": "busy for too long",
    r"loss.*(?P<train_loss>\d+).*(?P<val_loss>\d+) end": "busy for too long",
    r"loss \d*\d*\d*(?P<train_loss>\d+)x": "busy for too long",
    r"loss (?P<train_loss>\d+)(?P=train_loss)": "by reference",
    r"loss (?P<train_loss>\d+)(?=x)": "look ahead",
    r"(?<!val_)loss (?P<train_loss>\d+)": "look ahead or behind",
    r"loss (?P<loss>\d+)": "no group may be named loss",
    r"loss \d+": "no named group",
    r"(?P<train_loss>\d+)": "needs a word",
    r"(?i)loss (?P<train_loss>\d+)": "needs a word",
    r"loss (?P<train_loss>\d+": "missing )",
    r"loss (?P<train_loss>\d+)" + "x" * 1000: "longer than",
}


@pytest.mark.parametrize("pattern", GOOD)
def test_good_patterns_are_taken(pattern):
    assert load("ours", [pattern])


@pytest.mark.parametrize(("pattern", "reason"), BAD.items())
def test_bad_patterns_are_refused_with_the_reason(pattern, reason):
    with pytest.raises(BadFormatError, match="format ours") as error:
        load("ours", [pattern])
    assert reason in str(error.value)


def test_a_format_needs_patterns():
    with pytest.raises(BadFormatError, match="1 to 20"):
        load("ours", [])


PIECES = st.sampled_from(
    ["loss ", "x", r"\d+", r"\d{1,9}", ".*", r"[^,]*", r"\s+", r"(?:ab)?", r"(?:a|b)", r"[\d.]+"]
)


@given(st.lists(PIECES, max_size=7), st.sampled_from("1 .x,aloss"))
def test_patterns_that_are_taken_are_quick_on_bad_lines(pieces, character):
    """Not timed: a pattern that runs away would keep this test from ending."""
    pattern = "loss (?P<train_loss>[0-9]{1,5})" + "".join(pieces) + "$"
    try:
        reader = load("ours", [pattern])
    except BadFormatError:
        return
    reader.read("loss 1" + character * 994 + "!")


def test_the_estimate_counts_what_can_be_split_in_many_ways():
    import re._parser as parser

    def estimate(pattern: str) -> int:
        return steps(flat_parts(parser.parse(pattern)))

    assert estimate("abc") == 333
    assert estimate(r"\d+x") == 1000 * 1000
    assert estimate(r"\d+\d+x") == 1000 * 1000 * 1000
    assert estimate(r"\d{1,9}.{0,40}x") == 1000 * 9 * 40


def rubric_with(tmp_path, formats: str):
    source = (FOLDER / "02.yaml").read_text()
    (tmp_path / "02.yaml").write_text(f"{source}\nformats:\n{formats}\n")
    return load_rubric(tmp_path / "02.yaml")


def test_a_rubric_brings_a_format(tmp_path):
    pattern = r"'epoch (?P<epoch>\d+) took (?P<seconds>[\d.]+)'"
    rubric = rubric_with(tmp_path, f"  - name: ours\n    lines: [{pattern}]")
    assert [own.name for own in rubric.formats] == ["ours"]


def test_a_rubric_with_a_runaway_pattern_is_refused_with_its_line(tmp_path):
    pattern = r"'epoch (?P<epoch>(\d+)+) took'"
    with pytest.raises(SettingsError, match=r"02\.yaml:\d+.*may not hold a repetition"):
        rubric_with(tmp_path, f"  - name: ours\n    lines: [{pattern}]")
