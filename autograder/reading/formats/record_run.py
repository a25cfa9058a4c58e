"""Make a Run from the launch that the record's lines describe."""

from dataclasses import replace

from autograder.codes import Outcome, ProblemCode
from autograder.reading.formats.record import FORMAT, Launch
from autograder.reading.formats.record_values import header_of
from autograder.reading.printed_numbers import count
from autograder.records import Run


def to_run(launch: Launch) -> Run:
    """Return the launch as a Run. The record states its outcome."""
    epochs = []
    for number in sorted(launch.epochs):
        accuracy, loss = launch.validations.get(number, (None, None))
        epochs.append(replace(launch.epochs[number], val_accuracy=accuracy, val_loss=loss))
    if not launch.header and launch.first is not None:
        launch.complain(launch.first, launch.run[:80], "the record has no header line")
    if launch.left_out and launch.last is not None:
        reason = f"{launch.left_out} more record lines were ignored"
        launch.complain(launch.last, "record", reason)
    place = launch.first

    def complain(name: str, reason: str) -> None:
        if place is not None:
            launch.complain(place, name, reason, ProblemCode.OTHER)

    header = header_of(launch.machine | launch.header, complain)
    outcome = {None: Outcome.INCOMPLETE, "success": Outcome.COMPLETED}.get(
        launch.status, Outcome.FAILED
    )
    return Run(
        files=tuple(launch.files),
        format=FORMAT,
        outcome=outcome,
        job_id=header.job_id,
        workers=count(header.world_size, 1),
        epochs=tuple(epochs),
        ranks=tuple(launch.ranks[rank] for rank in sorted(launch.ranks)),
        test_accuracy=launch.test_accuracy,
        test_loss=launch.test_loss,
        total_seconds=launch.total_seconds,
        launch=launch.run,
        header=header,
        end=launch.end,
        program=launch.program,
        measures=tuple(launch.measures),
        began_ms=launch.began_ms,
        ended_ms=launch.ended_ms,
        chain_intact=bool(launch.chains) and not any(c.broken for c in launch.chains.values()),
        problems=tuple(launch.problems),
        places=launch.places,
    )
