"""No content of a file makes reading raise, hang or return something that is not a number."""

import random

import pytest
from hypothesis import given, strategies as st

from autograder.reading.formats import presets, template
from tests.autograder.fuzz.invariants import SAMPLES, check_facts, read_and_check
from tests.autograder.fuzz.many_inputs import KERAS, READING, keras, losses, run_inputs
from tests.autograder.in_memory import read_bytes

pytestmark = pytest.mark.slow

WORDS = sorted({word for sample in SAMPLES.values() for word in sample.split(b" ")})
ODD = [b"\r", b"\n", b"\b", b"\0", b"\xff", b"\x1b[1m", b"nan", b"1e999", b"-1", b"9" * 400, b"0: "]


@given(st.binary(max_size=600))
def test_any_bytes(data):
    read_and_check({"job.out": data})


@given(st.lists(st.one_of(st.sampled_from(WORDS), st.sampled_from(ODD)), max_size=60))
def test_words_of_real_lines_in_any_order(words):
    read_and_check({"job.out": b" ".join(words)})


OWN = template.load_reader(
    "ours", ["Epoch {epoch}/{of}", "loss: {train_loss}", "accuracy: {test_accuracy}", "step {step}"]
)
READERS = [*presets.readers(), OWN]


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.format)
@given(words=st.lists(st.one_of(st.sampled_from(WORDS), st.sampled_from(ODD)), max_size=12))
def test_a_reader_says_what_a_line_can_say(reader, words):
    check_facts(reader.read(b" ".join(words).decode("utf-8", "replace")))


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_cut_at_any_place(name):
    sample = SAMPLES[name]
    for cut in range(0, len(sample), max(1, len(sample) // 150)):
        read_and_check({"job.out": sample[:cut]})


LONG = 300_000


@pytest.mark.parametrize(
    "character", [b"1", b" ", b".", b"a", b"=", b"(", b"|", b"/", b":", b"-", b"\t"]
)
@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_long_lines_take_no_longer_than_they_are(name, character):
    """There is no timeout: a pattern with runaway backtracking would keep this test from ending."""
    lines = SAMPLES[name].split(b"\n")
    longest = max(lines, key=len)
    stretched = longest[: len(longest) // 2] + character * LONG + longest[len(longest) // 2 :]
    read_and_check({"job.out": b"\n".join([*lines, stretched])})
    read_and_check({"job.out": (longest[:40] + character * 20) * 2000})


def test_the_same_bytes_read_the_same_in_any_blocks(monkeypatch):
    """It does not matter where a block of the file ends."""
    dice = random.Random(1)
    texts = [sample + b"\n" + SAMPLES["signs"] for sample in SAMPLES.values()]
    whole = [read_bytes({"job.out": text}) for text in texts]
    for _ in range(10):
        monkeypatch.setattr("autograder.reading.lines.BLOCK", dice.randrange(400, 4000))
        monkeypatch.setattr(
            "autograder.reading.lines.blocks.__defaults__", (dice.randrange(300, 900), 10**6)
        )
        assert [read_bytes({"job.out": text}) for text in texts] == whole


@pytest.mark.parametrize("seed", range(5))
def test_what_nobody_printed_is_read_and_changes_no_other_run(seed):
    assert run_inputs((seed, 200 * len(READING), READING)) == []


def test_a_run_that_counts_its_epochs_otherwise_is_another_run():
    """One run was cut off in the first of epochs 0 and 1; the other one counts epochs 1 and 2."""
    cut = b"Epoch 0/1\ntrain Loss: 0.4012 Acc: 0.8279\n"
    *_, run = read_bytes({"job.out": cut + KERAS})
    assert (losses(run), run.outcome) == (keras(), "completed")
