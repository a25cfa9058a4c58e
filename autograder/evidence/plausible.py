"""Check whether a run's claimed speed and accuracy are possible, and whether its data was real."""

from collections.abc import Iterable, Iterator, Mapping

from autograder.codes import FindingCode, ProblemCode
from autograder.evidence.findings import finding
from autograder.measuring import measure
from autograder.measuring.interval import Measure, is_number, measured_or_none
from autograder.records import Run
from autograder.safe_text import shortened
from autograder.settings.calibration import FIRST_ACCURACY, of_run
from autograder.verdict import Finding

# Peak FLOP/s of one device at its fastest dense 16-bit rate, from the makers' data sheets. The keys
# are parts of device names. Training takes at least 6 operations per parameter and sample, and
# convolutions take more, so this limit is generous.
PEAK_FLOPS = {
    "GH200": 990e12,
    "H200": 990e12,
    "H100": 990e12,
    "A100": 312e12,
    "V100": 125e12,
    "P100": 21e12,
    "T4": 65e12,
    "L40": 362e12,
    "MI250": 383e12,
    "MI300": 1307e12,
    "CPU": 20e12,  # a whole node of the fastest kind
}


def real_data(run: Run) -> Iterator[Finding]:
    if run.header.dataset.synthetic:
        yield finding(
            FindingCode.SYNTHETIC_DATA,
            "the real data set",
            "synthetic data, whose accuracy says nothing about the task",
            run.rank_lines[:1],
            "`lessons data fetch` on a login node, then submit again",
        )


def physically_possible(run: Run) -> Iterator[Finding]:
    device, params = run.header.device, run.header.params
    rate, count = measured_or_none(measure.throughput, run), measure.workers(run)
    if rate is None or params is None or device is None:
        return
    peak = next((p for name, p in PEAK_FLOPS.items() if name in device), None)
    if peak is None or count is None:
        return
    needed = 6 * params * rate.low
    if needed > peak * count:
        yield finding(
            FindingCode.FASTER_THAN_HARDWARE,
            f"at most {peak * count / (6 * params):,.0f} samples/s on {count} × "
            f"{shortened(device, 40)}",
            f"{rate.value:,.0f} samples/s",
            list(rate.where),
            "synchronise the device before the clock is read",
        )


def diverged(run: Run) -> Iterator[Finding]:
    """Report a run that ended without learning anything.

    A sweep may contain such runs on purpose, so only runs that count are checked.
    """
    losses = [p for p in run.problems if p.code == ProblemCode.DIVERGED]
    if losses:
        yield finding(
            FindingCode.DIVERGED,
            "a loss that is a finite number",
            shortened(losses[0].reason, 120),
            [p.where for p in losses],
            "use a smaller learning rate, scale inputs to 0 to 1, and submit the job again",
        )


def convergence(
    run: Run, names: Iterable[str], references: Mapping[str, Measure]
) -> Iterator[Finding]:
    """Report a first epoch that is far better than the solution's own.

    If a run has several names in the rubric, the best of their references is used.
    """
    titles = [of_run(FIRST_ACCURACY, name) for name in names]
    highest = [references[title].high for title in titles if title in references]
    first = run.epochs[0].train_accuracy if run.epochs else None
    if not highest or first is None or not is_number(first.value):
        return
    limit = max(highest) + 0.05
    if first.value > limit:
        yield finding(
            FindingCode.CONVERGES_TOO_FAST,
            f"training accuracy up to {limit:.3g} after the first epoch",
            f"{first.value:.4g}",
            [first.where or run.epochs[0].where],
            "check that training data and labels are those of the lesson",
        )
