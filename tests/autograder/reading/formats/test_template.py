"""A rubric's own formats, written as template lines: what they match, ignore and reject."""

import pytest
from hypothesis import given, settings, strategies as st

from autograder.errors import SettingsError
from autograder.reading.formats.template import BadTemplateError, load_reader
from autograder.reading.plain_summary import summary
from autograder.records import Number
from autograder.settings.rubric import FOLDER, load_rubric
from tests.autograder.fuzz.invariants import check_facts
from tests.autograder.in_memory import read_bytes

OURS = (
    "pass {epoch} of {of} begins{begins}",
    "pass {epoch} took {seconds} s, loss {train_loss}",
    "checked: {val_accuracy}%",
    "finished on {workers} tasks after {total_seconds}{done}",
)
TEXT = """pass 1 of 2 begins
pass 1 took 12.25 s, loss 0.5
checked: 0.9%
pass 2 of 2 begins
pass 2   took 11.75 s, loss 0.25
checked: 80.5%
finished on 4 tasks after 0:00:25.5
"""


def read(text: str, *templates: str) -> dict:
    (run,) = read_bytes({"job.out": text.encode()}, [load_reader("ours", templates)])
    return summary(run)


def test_a_course_writes_its_format_as_its_program_prints_it():
    said = read(TEXT, *OURS)
    assert (said["format"], said["outcome"], said["workers"]) == ("ours", "completed", 4)
    assert said["epoch_seconds"] == [12.25, 11.75]
    assert said["final_train_loss"] == 0.25
    assert said["final_val_accuracy"] == pytest.approx(0.805)
    (run,) = read_bytes({"job.out": TEXT.encode()}, [load_reader("ours", OURS)])
    assert run.epochs[0].val_accuracy.value == pytest.approx(0.009)
    assert run.total_seconds.value == 25.5
    assert run.epochs[0].seconds.where.line == 2


def test_a_courses_own_format_comes_before_the_others():
    text = "Epoch 1/1\nOURS 1 took 2.5\n9/9 - 3s - loss: 0.5 - accuracy: 0.75\n"
    assert read(text, "OURS {epoch} took {seconds}")["format"] == "ours"


def test_the_longest_template_is_tried_first():
    ours = load_reader("ours", ["loss {train_loss}", "test loss {test_loss}"])
    assert ours.read("test loss 0.25").run.numbers["test_loss"].value == 0.25


# A template, a line, and the values of its fields (None: the line does not match).
LINES = [
    ("loss {train_loss}", "step loss 0.25", {"train_loss": 0.25}),
    ("loss {train_loss}", "val_loss 0.25", None),
    ("loss {train_loss}", "loss 1.2.3", None),
    ("loss {train_loss}", "loss 0.5, acc 0.7", {"train_loss": 0.5}),
    ("loss {train_loss}.", "the loss 1.25.", {"train_loss": 1.25}),
    ("loss {train_loss}", "loss nan", {"train_loss": None}),
    ("run,{epoch},{seconds},{train_loss}", "run,3,4.5,0.5", {"epoch": 3, "seconds": 4.5}),
    ("row {epoch},{train_loss},{val_loss} x", "row 1,2,3,4 x", None),
    ("row {epoch},{train_loss},{val_loss} x", "row 1,2,3 x", {"train_loss": 2.0, "val_loss": 3.0}),
    ("row {epoch},{train_loss}", "row 1,2,3", None),
    ("{train_loss},{val_loss} row", "2,3,4 row", None),
    ("loss={train_loss},acc={train_accuracy}", "loss=2,5,acc=0,5", {"train_loss": 2.5}),
    ("time {seconds}", "time 3.5s", {"seconds": 3.5}),
    ("time {seconds}", "time 3 s/epoch", None),
    *(
        ("time {seconds}", f"time {other}", None)
        for other in (
            *("1.5 hrs", "1 day, 3:00:00", "350 msec", "9 Min", "2  h", "1.5 [h]", "3 Stunden"),
            *("1-03:00:00", "3'20", "9 s / it"),
        )
    ),
    ("time {seconds}", "time 3 Seconds", {"seconds": 3.0}),
    ("time {seconds}", "time 0:00:40 (0.1 s / it)", {"seconds": 40.0}),
    ("time {seconds} loss {train_loss}", "time 3 loss 1", {"seconds": 3.0}),
    ("time {seconds} msec", "time 350 msec", {"seconds": 0.35}),
    ("time {seconds} min", "time 2.5 min", {"seconds": 150.0}),
    ("time {seconds} min", "time 2.5 minutes", None),
    ("time {seconds}", "time 1:02:03", {"seconds": 3723.0}),
    ("time {seconds}", "time 02:03.5", {"seconds": 123.5}),
    ("epoch {epoch}", "epoch 1.5", None),
    ("epoch {epoch}", "subepoch 3", None),
    ("loss {any} mean {train_loss}", "loss 1 of 5 mean 2", {"train_loss": 2.0}),
    ("loss {any} mean {train_loss}", "loss 1 of " + "5" * 200 + " mean 2", None),
    ("{{loss}} {train_loss}", "{loss} 2", {"train_loss": 2.0}),
    ("acc {train_accuracy} %", "acc 12.5 %", {"train_accuracy": 0.125}),
    ("{throughput} samples/s", "at 123.5 samples/s", {"throughput": 123.5}),
    ("{throughput} samples/s", "at 1,234.5 samples/s", None),
    ("{seconds} s in all", "1-03:00:00 s in all", None),
]


@pytest.mark.parametrize(("source", "line", "values"), LINES)
def test_what_a_template_takes(source, line, values):
    facts = load_reader("ours", [source]).read(line)
    if values is None:
        assert facts is None
        return
    found = {"epoch": facts.number, "of": facts.of, **facts.numbers}
    for name, value in values.items():
        number = found[name]
        assert (number.value if isinstance(number, Number) else number) == value, name


BAD = {
    "epoch {epoc}": "no field is called {epoc}; there are: epoch, of,",
    "loss {train_loss} {epoch}{of}": "{epoch}{of}: there has to be",
    "loss {train_loss": "a brace is not closed",
    "a {epoch}": "it needs a word of 3 or more characters",
    "epoch {any} nothing": "it has no field",
    "{any} loss {train_loss}": "{any} must be between",
    "epoch {epoch}, last {epoch}": "{epoch} appears twice",
    "epoch {epoch}{begins} loss {train_loss}": "may have the epoch's number",
    "epoch {epoch}" + "x" * 300: "longer than 300",
    "epoch {epoch}\nloss {train_loss}": "it has several lines",
    "epoch {epoch}" + " x{any}" * 5 + " y": "more than",
}


@pytest.mark.parametrize(("source", "reason"), BAD.items())
def test_bad_templates_are_refused_in_one_sentence(source, reason):
    with pytest.raises(BadTemplateError) as error:
        load_reader("ours", [source])
    said = str(error.value)
    assert said.startswith("format ours, template '")
    assert reason in said
    assert "\n" not in said.split("':", 1)[1]


PIECES = st.sampled_from(
    ["loss ", "x", " {any} a", ", ", " {train_loss}", " {epoch}/", "{seconds} s", "{val_accuracy}%"]
)


@settings(max_examples=60)
@given(
    st.lists(PIECES, max_size=9), st.sampled_from(["1 ", "1", "1.", "a", " a", "1:", "1e", "x,"])
)
def test_no_line_keeps_a_template_busy(pieces, filling):
    """There is no timeout: a pattern with runaway backtracking would keep this test from ending."""
    source = "loss " + "".join(pieces)
    try:
        reader = load_reader("ours", [source])
    except BadTemplateError:
        return
    line = "loss " + filling * 500
    check_facts(reader.read(line))
    check_facts(reader.read("loss 1" * 200))


def rubric_with(tmp_path, formats: str):
    source = (FOLDER / "02.yaml").read_text()
    (tmp_path / "02.yaml").write_text(f"{source}\nformats:\n{formats}\n")
    return load_rubric(tmp_path / "02.yaml")


def test_a_rubric_with_a_bad_template_is_refused_with_its_line(tmp_path):
    with pytest.raises(SettingsError, match=r"02\.yaml:\d+: .*no field is called \{epoche\}"):
        rubric_with(tmp_path, "  - name: ours\n    templates: ['epoch {epoche} took']")
    with pytest.raises(SettingsError, match=r"02\.yaml:\d+: .*1 to 20 templates"):
        rubric_with(tmp_path, "  - name: ours")
