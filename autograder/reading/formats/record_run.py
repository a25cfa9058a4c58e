"""Make a Run from the launch that the record's lines describe."""

from autograder.codes import FindingCode, Outcome
from autograder.reading.formats.record import FORMAT, Launch
from autograder.reading.formats.record_values import header_of
from autograder.reading.printed_numbers import count
from autograder.records import Epoch, Rank, Run


def to_run(launch: Launch) -> Run:
    """Return the launch as a Run. The record states its outcome."""
    if not launch.header or "header" not in launch.places:
        launch.complain(launch.first, launch.run, "the record has no header line")
    if launch.left_out:
        reason = f"{launch.left_out} more record lines were ignored"
        launch.complain(launch.last, "record", reason)

    def complain(name: str, reason: str) -> None:
        launch.complain(launch.first, name, reason, FindingCode.READ_PROBLEM)

    header = header_of(launch.header, complain)
    outcomes = {None: Outcome.INCOMPLETE, "success": Outcome.COMPLETED}
    return Run(
        files=tuple(launch.files),
        format=FORMAT,
        outcome=outcomes.get(launch.status, Outcome.FAILED),
        job_id=header.job_id,
        workers=count(header.world_size, 1),
        epochs=tuple(Epoch(n, **e) for n, e in sorted(launch.epochs.items()) if "where" in e),
        ranks=tuple(Rank(rank, **facts) for rank, facts in sorted(launch.ranks.items())),
        launch=launch.run,
        header=header,
        measures=tuple(launch.measures),
        chain_intact=bool(launch.chains) and not any(c.broken for c in launch.chains.values()),
        problems=tuple(launch.problems),
        places=launch.places,
        **launch.facts,
    )
