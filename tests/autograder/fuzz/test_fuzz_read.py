"""No content of a file makes reading raise, hang or return something that is not a number."""

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from autograder.reading import ends
from autograder.reading.files import read_bytes
from autograder.reading.formats import presets, template
from tests.autograder.fuzz.invariants import check_facts, read_and_check
from tests.autograder.make_record import make_record

pytestmark = pytest.mark.slow

SAMPLES = {
    path.stem: path.read_bytes()
    for path in (Path(__file__).parents[1] / "reading/formats/samples").glob("*.txt")
}
SAMPLES |= {preset["name"]: preset["example"].encode() for preset in presets.data()}
SAMPLES["record"] = "\n".join(make_record(size=2)).encode()
SAMPLES["signs"] = "\n".join(
    [
        *(line for group in ends.data()["signs"] for _, line in group["lines"]),
        "Traceback (most recent call last):",
        '  File "train.py", line 1',
        "ValueError: x",
        "slurmstepd: error: *** JOB 4711 ON n1 CANCELLED AT 2026-03-02T10:00:00 DUE TO TIME LIMIT",
        "srun: error: n1: task 3: Exited with exit code 1",
        "Training time with 4 GPUs 12.5",
        "rank 0 out of 4",
        "Test accuracy: 97.5 %",
    ]
).encode()
WORDS = sorted({word for sample in SAMPLES.values() for word in sample.split(b" ")})
ODD = [b"\r", b"\n", b"\b", b"\0", b"\xff", b"\x1b[1m", b"nan", b"1e999", b"-1", b"9" * 400, b"0: "]


@given(st.binary(max_size=600))
def test_any_bytes(data):
    read_and_check({"job.out": data})


@given(st.lists(st.one_of(st.sampled_from(WORDS), st.sampled_from(ODD)), max_size=60))
def test_words_of_real_lines_in_any_order(words):
    read_and_check({"job.out": b" ".join(words)})


OWN = template.load_reader(
    "ours",
    ["Epoch {epoch}/{of}", "loss: {train_loss}", "accuracy: {test_accuracy}", "step {step}"],
)
READERS = [*presets.readers(), OWN]


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.format)
@given(words=st.lists(st.one_of(st.sampled_from(WORDS), st.sampled_from(ODD)), max_size=12))
def test_a_reader_says_what_a_line_can_say(reader, words):
    check_facts(reader.read(b" ".join(words).decode("utf-8", "replace")))


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.format)
def test_a_reader_says_of_real_lines_what_a_line_can_say(reader):
    for sample in SAMPLES.values():
        for line in sample.decode().splitlines():
            check_facts(reader.read(line))


@st.composite
def damaged(draw, sample: bytes) -> bytes:
    """Return a sample with bytes changed, cut out or doubled, or with its lines moved."""
    data = bytearray(sample)
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(data)))
        length = draw(st.integers(0, 40))
        what = draw(st.sampled_from(["insert", "cut", "double", "odd", "digit"]))
        if what == "insert":
            data[at:at] = draw(st.binary(max_size=8))
        elif what == "cut":
            del data[at : at + length]
        elif what == "double":
            data[at:at] = data[at : at + length * 10]
        elif what == "odd":
            data[at : at + 1] = draw(st.sampled_from(ODD))
        else:
            data[at : at + 1] = b"%d" % draw(st.integers(0, 99))
    lines = bytes(data).split(b"\n")
    if draw(st.booleans()):
        lines = draw(st.permutations(lines[:40])) + lines[40:]
    return b"\n".join(lines)


@pytest.mark.parametrize("name", sorted(SAMPLES))
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_damaged_samples(name, data):
    out = data.draw(damaged(SAMPLES[name]))
    other = data.draw(st.sampled_from(sorted(SAMPLES)))
    read_and_check({"job_4711.out": out, "job_4711.err": SAMPLES[other][:500]})


@given(st.lists(st.sampled_from(sorted(SAMPLES)), min_size=2, max_size=4), st.randoms())
@settings(max_examples=60)
def test_samples_in_each_others_midst(names, dice):
    """The lines of several programs are interleaved, each program's in their own order."""
    queues = [SAMPLES[name].split(b"\n") for name in names]
    mixed = []
    while queues:
        queue = dice.choice(queues)
        mixed.append(queue.pop(0))
        queues = [queue for queue in queues if queue]
    read_and_check({"job.out": b"\n".join(mixed)})


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
