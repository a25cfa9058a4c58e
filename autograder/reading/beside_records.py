"""Read lines printed around a run record: the same facts from Keras, the program or the job file.

Keras prints a line per epoch, the course's programs print losses and the test result, and a job
file begins with facts about the job. Text is read in only three places: after the end of an epoch,
between record lines that mention a test, and before a run.
"""

import re
from dataclasses import dataclass, field
from typing import Any

from autograder.reading import lines
from autograder.reading.formats import keras, mllog
from autograder.reading.line_facts import EPOCH_NUMBERS
from autograder.reading.printed_numbers import VALUE, finite, placed, printed
from autograder.records import Beside, Epoch, Number, Where

WINDOW = 1500  # bytes after the end of an epoch in which its printed line is looked for
MOST_RUNS, MOST_EPOCHS = 5_000, 20_000  # per file
SHORTEST = 12  # bytes between two record lines; a shorter text cannot contain a fact

# "Epoch 3: loss 0.2156, accuracy 0.9384" and "Epoch 1/4: 2.34 s, {'loss': 0.3, 'accuracy': 0.91}"
EPOCH = re.compile(
    rf"^Epoch (\d{{1,6}})(?:/\d{{1,6}})?: (?:({VALUE}) s, \{{)?'?loss'?:? ({VALUE})"
    rf"(?:, '?accuracy'?:? ({VALUE}))?"
)
TEST = re.compile(rb"(?:^|[>\d]: ?)Test (accuracy|loss): ([-+.\deE]{1,40})\r?$", re.MULTILINE)
TEST_OF_RUN = re.compile(rb"^N +\d[^\n]{0,80}: test accuracy ([.\d]{1,40})\r?$", re.MULTILINE)
FACTS = re.compile(
    rb"^(site|job|ranks|gpus on this node|started): ([^\n]{1,200})$",
    re.MULTILINE,
)


@dataclass(slots=True)
class BesideSoFar:
    """The printed lines that belong to one run, read so far."""

    epochs: list[Epoch] = field(default_factory=list)
    tests: dict[str, Number] = field(default_factory=dict)
    evaluated: tuple[float | None, float | None] | None = None
    job: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class BesideRecords:
    """The printed lines of all runs in a file, and facts not yet assigned to a run."""

    runs: dict[str, BesideSoFar] = field(default_factory=dict)
    job: dict[str, str] = field(default_factory=dict)
    tests: dict[str, Number] = field(default_factory=dict)
    stopped: str | None = None  # the run that reported its end last
    epochs: int = 0  # number of printed epochs, of all runs


def add(
    all_: BesideRecords,
    event: dict[str, Any],
    run: str,
    data: bytes,
    place: tuple[int, int, int],
    where: Where,
) -> None:
    """Read the text since the previous record line, and then this line's event.

    `place` has three byte positions: the end of the previous line, and the beginning and end of
    this one.
    """
    previous_end, tag, end = place
    between(all_, data, previous_end, tag, where)
    key, about = event.get("key"), event.get("metadata")
    if not isinstance(about, dict) or about.get("rank") != 0:
        return
    beside = all_.runs.get(run)
    if beside is None:
        if len(all_.runs) >= MOST_RUNS:
            return
        beside = all_.runs[run] = BesideSoFar(job=all_.job)
    if key == "header":
        all_.tests = {}
    elif key == "epoch_stop":
        number = about.get("epoch_num")
        if type(number) is not int or all_.epochs >= MOST_EPOCHS:
            return
        if epoch := epoch_after(data, end, number, where):
            beside.epochs.append(epoch)
            all_.epochs += 1
    elif key == "eval_accuracy" and about.get("split") == "test":
        beside.evaluated = finite(event.get("value")), finite(about.get("loss"))
    elif key == "run_stop":
        beside.tests, all_.tests = all_.tests, {}
        all_.stopped = run


def between(all_: BesideRecords, data: bytes, first: int, last: int, where: Where) -> None:
    """Read the test result and facts about the job from the text between two record lines.

    Most programs print the test result before the end of the run. Sweeps print it after the end.
    The facts of a job are printed before all its runs.
    """
    if last - first < SHORTEST:
        return
    if data.find(b"est accuracy", first, last) >= 0:
        for match in TEST.finditer(data, first, last):
            if number := printed(match[2].decode()):
                all_.tests[match[1].decode()] = placed(number, where)
        stopped = all_.runs.get(all_.stopped or "")
        of_run = TEST_OF_RUN.search(data, first, last)
        if stopped is not None and of_run and (number := printed(of_run[1].decode())):
            stopped.tests.setdefault("accuracy", placed(number, where))
    if data.find(b"gpus on this node: ", first, last) >= 0:
        facts = FACTS.findall(data[first:last][-20_000:])
        all_.job = {name.decode(): text.decode("utf-8", "replace").strip() for name, text in facts}


def epoch_after(data: bytes, end: int, number: int, where: Where) -> Epoch | None:
    """Return what was printed about an epoch right after its end in the record."""
    following = data[end + 1 : end + WINDOW].split(b"\n")[:8]
    for line, raw in enumerate(following, start=where.line + 1):
        if mllog.TAG in raw:
            if b'"rank":0,' in raw:  # the record continues
                return None
        elif b"oss" in raw:
            label, text = lines.shown(raw)
            if label in (None, 0) and (epoch := read_epoch(text, number, Where(where.file, line))):
                return epoch
    return None


def read_epoch(text: str, number: int, where: Where) -> Epoch | None:
    """Return the values that Keras or one of the course's loops printed for this epoch, or None."""
    own = EPOCH.match(text)
    if own:
        if int(own[1]) != number:
            return None
        seconds, loss, accuracy = (printed(own[n]) if own[n] else None for n in (2, 3, 4))
        return Epoch(number, seconds=seconds, train_loss=loss, train_accuracy=accuracy, where=where)
    facts = keras.read(text)
    if facts is None or not facts.closes:
        return None
    numbers: dict[str, Any] = {name: facts.numbers.get(name) for name in EPOCH_NUMBERS}
    return Epoch(number, steps=facts.steps, where=where, **numbers)


def of_run(all_: BesideRecords, run: str) -> Beside:
    beside = all_.runs.get(run)
    if beside is None:
        return Beside()
    return Beside(
        epochs=tuple(beside.epochs),
        test_accuracy=beside.tests.get("accuracy"),
        test_loss=beside.tests.get("loss"),
        evaluated=beside.evaluated,
        job=beside.job,
    )
