"""Find the lane of a line: the latest lane that fits the line's epoch or heading.

A line that names no epoch belongs to the heading above it. Ranks without labels print their
headings one after another. With several lanes, such a line therefore goes to the lane whose turn it
is.
"""

import re

from autograder.reading.formats.reader import Reader
from autograder.reading.lanes import (
    MOST_EPOCHS,
    MOST_LANES,
    Lane,
    Lanes,
    add_to_lane,
    fits,
)
from autograder.reading.line_facts import EpochNumber, EpochPart, LineFacts

NUMBERS = re.compile(r"[-+]?\d[\d.:,]{0,40}(?:e[-+]?\d{1,3})?|\bnan\b|[\s=>#.|█-▏]{1,300}")
LOOK_BACK = 130  # lanes that a line may belong to; runs with more ranks print labels
CLOSE_BY = 2  # lines below a heading in which its values are expected
APART = 4  # the same per labelled rank, because the lines of ranks are mixed
PARTS: tuple[EpochPart, EpochPart] = ("train", "val")
CHECKED: dict[EpochNumber, EpochNumber] = {
    "train_loss": "val_loss",
    "train_accuracy": "val_accuracy",
}


def add_line(all_: Lanes, reader: Reader, label: int | None, line: int, facts: LineFacts) -> bool:
    """Add a reader's facts to the lane to which they belong, if there is one."""
    if facts.loose:
        return add_loose(all_, reader, label, line, facts)
    lanes = all_.open.setdefault((reader.after or reader.format, label), [])
    number = facts.number
    if facts.heading and lanes and heads_again(lanes, line, facts):
        return True
    back = 2 if all_.left_out else LOOK_BACK
    lane = next((lane for lane in lanes[: -back - 1 : -1] if fits(lane, facts)), None)
    if lane is None:
        if number is None:
            return False  # a result without an epoch: an evaluation outside training
        if all_.count >= MOST_LANES or all_.epochs >= MOST_EPOCHS:
            all_.left_out += 1
            return False
        all_.count += 1
        beside = lanes[-1] if lanes and not facts.opens else None
        words = NUMBERS.sub("", facts.text[:300])
        lane = Lane(reader.format, label, line, line, base=0 if number == 0 else 1, words=words)
        lanes.append(lane)
        added = add_to_lane(all_, lanes, lane, reader, line, facts)
        if added and beside and beside.heading and beside.current == lane.current:
            # This rank has no heading, so another rank's heading was for it too. Another run would
            # have its own.
            lane.epochs[lane.current].opened = beside.epochs[beside.current].opened
            lane.first = min(lane.first, beside.last)
        return added
    return add_to_lane(all_, lanes, lane, reader, line, facts)


def add_loose(all_: Lanes, reader: Reader, label: int | None, line: int, facts: LineFacts) -> bool:
    """Add a line that names no epoch to the lane that contains the latest epoch before it."""
    # Keras' heading is the most common.
    candidates = [all_.open.get((format_, label)) for format_ in (reader.format, "keras")]
    lanes = max(
        (lanes for lanes in candidates if lanes), key=lambda lanes: lanes[-1].last, default=None
    )
    if lanes is None:
        return False
    latest = lanes[-1]
    if latest.format == "keras" and any(epoch.numbers for epoch in latest.epochs.values()):
        return False  # Keras prints these values itself
    twice: list[Lane] = []
    for lane in lanes[: -LOOK_BACK - 1 : -1]:
        if lane.last < latest.first - LOOK_BACK or abs(lane.current - latest.current) > 1:
            break  # belongs to another run, which is over
        if facts.after_heading and line - lane.heading > near(all_, lanes, label):
            continue
        split_parts(lane, facts)
        if not fits(lane, facts):
            continue
        if facts.step is not None or lane.epochs[lane.current].loose.isdisjoint(facts.numbers):
            return add_to_lane(all_, lanes, lane, reader, line, facts)
        twice.append(lane)  # another rank has already printed these values of the epoch
    return bool(twice) and add_to_lane(all_, lanes, twice[0], reader, line, facts)


def near(all_: Lanes, lanes: list[Lane], label: int | None) -> int:
    """Return how many lines below a heading its values may appear.

    Lines of other ranks may be in between.
    """
    if label is None:
        ranks = sum(lane.last >= lanes[-1].first for lane in lanes[-LOOK_BACK:])
        return CLOSE_BY * max(ranks, len(all_.open) - 1)
    return CLOSE_BY * APART * len(all_.open)


def split_parts(lane: Lane, facts: LineFacts) -> None:
    """If a loss names no data set, infer it from the heading or from restarted counts."""
    if facts.passes and facts.part is None and facts.step is not None:
        epoch = lane.epochs.get(lane.current)
        trained, checked = (epoch.last_step.get(part) if epoch else None for part in PARTS)
        goes_on = trained is None or facts.step >= trained
        facts.part = "train" if checked is None and goes_on else "val"
    part = facts.part or lane.part
    if part == "val" and facts.unnamed:
        numbers = {CHECKED.get(name, name): value for name, value in facts.numbers.items()}
        facts.numbers = {n: v for n, v in numbers.items() if n not in ("seconds", "throughput")}
        facts.unnamed = False


def heads_again(lanes: list[Lane], line: int, facts: LineFacts) -> bool:
    """Return whether a heading repeats the current epoch, for another part or from another rank.

    If there are several ranks, the heading goes to the rank whose last heading is the oldest. If
    the epoch already has values and the heading begins an epoch, a new run has begun.
    """
    begins = facts.part is None or (facts.part == "train" and not facts.results)
    ranks = [lane for lane in lanes[-LOOK_BACK:] if lane.last >= lanes[-1].first]
    candidates = [
        lane
        for lane in ranks
        if facts.number == lane.current + lane.base - 1
        and not (begins and lane.epochs[lane.current].numbers)
    ]
    behind = any(facts.number == lane.current + lane.base for lane in ranks)
    if not candidates or (begins and behind):
        return False
    lane = min(candidates, key=lambda lane: lane.heading)
    lane.part, lane.heading = facts.part, line
    return True
