"""Tabulate speed jobs for `cluster scale`. Each job compares its ranks with one rank."""

from collections.abc import Sequence

from autograder.measuring import rounds
from autograder.measuring.interval import Measure, NotMeasured, middle
from autograder.records import Run

ROW = "{:>5} {:>5} {:>7}  {:<13} {:>7} {:>6}  {:<13}"


def table(runs: Sequence[Run]) -> str:
    """Return a table with the median speedup, ceiling and share for each number of ranks.

    The table is empty if no run has rounds.
    """
    found: dict[int, list[tuple[Measure, Measure, Measure]]] = {}
    remarks = []
    for run in runs:
        if not rounds.has_rounds(run):
            continue
        try:
            values = (rounds.speedup(run), rounds.ceiling(run), rounds.share(run))
            found.setdefault(rounds.ranks_of(run), []).append(values)
        except NotMeasured as missing:
            remarks.append(f"{', '.join(run.files)}: {missing.reason}")
    if not found:
        return "\n".join(remarks)
    lines = [ROW.format("ranks", "jobs", "speedup", "range", "ceiling", "share", "range")]
    for ranks in sorted(found):
        gain, most, share = (middle(values) for values in zip(*found[ranks], strict=True))
        lines.append(
            ROW.format(
                ranks,
                len(found[ranks]),
                f"{gain.value:.2f}",
                f"{gain.low:.2f} to {gain.high:.2f}",
                f"{most.value:.2f}",
                f"{share.value:.2f}",
                f"{share.low:.2f} to {share.high:.2f}",
            ).rstrip()
        )
    return "\n".join([*lines, *remarks])
