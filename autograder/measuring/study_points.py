"""Points of a scaling study that one launch measured: each of its rounds a pass on every size.

A point is made a run of its own, on as many workers and of the work that its line tells, so that a
study in one launch and a study of many jobs are measured by the same functions.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from autograder.measuring import measure
from autograder.measuring.interval import Measure, NotMeasured, is_number, printed
from autograder.records import Epoch, Number, Run, Where

NAME = "point"  # of the record's measures
ROUND = "round"  # a fact in the header of a point, and of no run


def expanded(runs: Sequence[Run]) -> list[Run]:
    """The runs, with the points of a study in its place; what stands twice counts once."""
    found: list[Run] = []
    seen = set()
    for run in runs:
        events = [event for event in run.measures if event.get("name") == NAME]
        if not events:
            found.append(run)
        for event in events:
            said = (event.get(name) for name in (ROUND, "ranks", "value"))
            key = (*launch_of(run), *map(str, said))
            if key not in seen:
                seen.add(key)
                found.append(as_run(run, event))
    return found


def launch_of(run: Run) -> tuple[str, str]:
    return run.launch, str(run.header.get("scaling"))


def as_run(run: Run, event: Mapping[str, Any]) -> Run:
    where = event.get("where")
    place = where if isinstance(where, Where) else None
    numbers = {key: measure.whole(event.get(key)) for key in ("ranks", "local_batch", ROUND)}
    steps, samples = (measure.whole(event.get(key)) for key in ("steps", "samples"))
    seconds = event.get("value")
    if None in (*numbers.values(), steps, samples) or not (is_number(seconds) and seconds > 1e-9):
        raise NotMeasured(
            "a point of the study does not say its round, its ranks, what they read and a time",
            "hand in the output as the job wrote it",
            (place,) if place else (),
        )
    ranks, batch = numbers["ranks"] or 0, numbers["local_batch"] or 0
    epoch = Epoch(1, Number(float(seconds), 5e-7, place), steps, samples, where=place)
    header = {
        **run.header,
        ROUND: numbers[ROUND],
        "world_size": ranks,
        "local_batch": batch,
        "global_batch": batch * ranks,
        "moved": event.get("moved"),
        "spread": event.get("spread"),
    }
    return replace(run, workers=ranks, epochs=(epoch,), header=header, measures=())


def is_point(run: Run) -> bool:
    return ROUND in run.header and len(run.epochs) == 1


def pass_time(run: Run) -> Measure:
    """Seconds of a point's pass, which was warmed up; of another run those of its later epochs."""
    seconds = run.epochs[0].seconds if is_point(run) else None
    return printed(seconds, "s") if seconds else measure.epoch_time(run)


def by_round(runs: Sequence[Run]) -> Iterator[dict[int, Run]]:
    """The points of each round of each launch, by ranks."""
    found: dict[tuple, dict[int, Run]] = {}
    for run in runs:
        if is_point(run):
            found.setdefault((*launch_of(run), run.header[ROUND]), {})[run.workers or 0] = run
    yield from found.values()
