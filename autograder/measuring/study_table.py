"""Build the table of a scaling study, for reports, `cluster scale` and grading."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autograder.codes import Outcome
from autograder.measuring import scaling_study as study
from autograder.measuring import study_points
from autograder.measuring.interval import Measure, NotMeasured
from autograder.records import Run

HEAD = ("ranks", "runs", "seconds", "from", "to", "speedup", "low", "high", "efficiency")
SIGNIFICANT = 4  # significant digits of seconds


@dataclass(frozen=True, slots=True)
class Row:
    """The row of one size: its runs, its seconds (or rate), and the ratio to the fewest ranks."""

    ranks: int
    runs: int
    seconds: Measure
    speedup: Measure
    efficiency: Measure

    @property
    def values(self) -> dict[str, float]:
        """Return the row's numbers, keyed by the columns in HEAD."""
        seconds, gain = self.seconds, self.speedup
        numbers = (seconds.value, seconds.low, seconds.high, gain.value, gain.low, gain.high)
        return dict(
            zip(HEAD, (self.ranks, self.runs, *numbers, self.efficiency.value), strict=True)
        )

    @property
    def cells(self) -> list[str]:
        values = self.values
        seconds = [f"{values[name]:.{SIGNIFICANT}g}" for name in ("seconds", "from", "to")]
        gains = [f"{values[name]:.2f}" for name in ("speedup", "low", "high", "efficiency")]
        return [str(self.ranks), str(self.runs), *seconds, *gains]


def rows(runs: Sequence[Run]) -> list[Row]:
    """Return a row for each size whose runs did the same work, or raise NotMeasured."""
    sized = study.by_size(runs)
    times, gains = dict(study.epoch_times(runs)), dict(study.speedups(runs))
    shares = dict(study.efficiencies(runs))
    return [
        Row(count, len(same), times[count], gains[count], shares[count])
        for count, same in sized.items()
    ]


def by_kind(runs: Sequence[Run]) -> Iterator[tuple[str, list[Row]]]:
    """Yield one table for each kind of scaling that the runs of one launch measured."""
    done = [run for run in runs if run.outcome == Outcome.COMPLETED]
    points = [run for run in study_points.expanded(done) if run.point]
    for kind in ("strong", "epoch", "weak"):
        same_kind = [run for run in points if run.header.scaling == kind]
        if same_kind:
            try:
                yield kind, rows(same_kind)
            except NotMeasured:
                yield kind, []
