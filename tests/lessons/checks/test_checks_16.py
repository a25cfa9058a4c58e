"""The public checks of lesson 16: workers without a barrier, rows of a table, and a barrier."""

import heapq
from types import ModuleType

import pytest
from advice import ROOT, assert_advice, failure

from lessons.toolkit.checks.lesson_16 import (
    check_16_1,
    check_16_2,
    check_16_3,
    wrong_missed,
    wrong_reads,
)

PS = ROOT / "solutions" / "16_tensorflow" / "train_ps.py"


def synchronous(old="", new=""):
    """Return a program with synchronous_epoch, changed, and without TensorFlow."""
    text = PS.read_text(encoding="utf-8")
    text = text[text.index("def synchronous_epoch") : text.index("def who(")]
    assert text.count(old) == 1 or not old
    found = ModuleType("train_ps")
    found.who = None
    exec(text.replace(old, new) if old else text, found.__dict__)
    return found


def test_the_solution_waits_for_all_workers():
    check_16_3(synchronous())


def test_other_ways_to_wait_for_all_workers():
    check_16_3(synchronous("coordinator.join()", "while not coordinator.done(): pass"))
    assert failure(check_16_3, synchronous("coordinator.join()", "coordinator.done()"))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("        coordinator.join()\n", "", "after join"),
        ("sum(len(y) for _, y in together)", "len(together[0][1]) * workers", "fewer batches"),
        ("first + workers]", "first + 1]", "divided by"),
        ("before - read", "before", "with read"),
        ("before - read", "0", "with read"),
        ("return results", "return None", "with read"),
        (
            "for batch in together]\n",
            "for batch in together if coordinator.join() is None]\n",
            "before you wait",
        ),
    ],
)
def test_mistakes_in_synchronous_training(old, new, words):
    assert_advice(failure(check_16_3, synchronous(old, new)), words)


def missed(reads, rows):
    return [len(own & set().union(*rows[read:update]))
            for update, (read, own) in enumerate(zip(reads, rows, strict=True))]  # fmt: skip


def test_rows_that_others_have_changed():
    check_16_2(missed)
    assert wrong_missed(missed) == wrong_missed(lambda *own: iter(missed(*own))) == 0


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        (lambda reads, rows: [update - read for update, read in enumerate(reads)], "not updates"),
        (lambda reads, rows: [len(own) for own in rows], "of others count"),
        (lambda reads, rows: [0] * len(rows), "before reads[k]"),
    ],
)
def test_mistakes_in_missed_rows(mistake, words):
    assert_advice(failure(check_16_2, mistake), words)
    assert wrong_missed(mistake) > 0


def simulated(p, delays, updates=400, *, own=1, barrier=False, again=True, equal=False):
    ready = [(delays[worker], worker) for worker in range(p)]
    heapq.heapify(ready)
    read = [0] * p
    reads = []
    for update in range(updates):
        now, worker = heapq.heappop(ready)
        reads.append(update // p * p if barrier else read[worker])
        if again:
            read[worker] = update + own
        heapq.heappush(ready, (now + (1.0 if equal else delays[worker]), worker))
    return reads


def test_a_right_simulation_passes(capsys):
    check_16_1(simulated)
    assert "16.1: right" in capsys.readouterr().out
    assert wrong_reads(simulated) == 0


def test_a_simulation_may_change_its_delays_and_yield_its_reads():
    def right(p, delays, updates):
        yield from simulated(p, delays, updates)
        delays.clear()

    check_16_1(right)
    assert wrong_reads(right) == 0


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        (lambda p, delays, updates=400: simulated(p, delays, updates)[p:], "one number for each"),
        (lambda p, delays, updates=400: simulated(p, delays, updates, own=0), "seen that one"),
        (lambda p, delays, updates=400: simulated(p, delays, updates, barrier=True), "barrier"),
        (lambda p, delays, updates=400: simulated(p, delays, updates, again=False), "reads again"),
        (lambda p, delays, updates=400: simulated(p, [1.0] * p, updates), "ready again"),
        (lambda p, delays, updates=400: list(range(updates)), "by hand"),
        (lambda p, delays, updates=400: [
            n - read for n, read in enumerate(simulated(p, delays, updates))], "staleness"),
    ],
)  # fmt: skip
def test_mistakes_in_the_simulation(mistake, words):
    assert_advice(failure(check_16_1, mistake), words)
