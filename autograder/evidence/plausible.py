"""Check whether a run's claimed speed and accuracy are possible, and whether its data was real."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from autograder import data_files
from autograder.codes import FindingCode as Code
from autograder.codes import ProblemCode
from autograder.evidence.findings import finding
from autograder.measuring import measure
from autograder.measuring.interval import measured_or_none
from autograder.records import DataSet, Run
from autograder.safe_text import shortened
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
# Every rank reads and writes each number of its array at least once. A core moves up to 0.6 TB/s
# while everything is in its nearest cache, and an allreduce over the fastest links between GPUs has
# less than 1 TB/s. Nothing reaches another core in less than about 50 ns.
FASTEST = 4e12  # bytes of an array per second
SHORTEST = 20e-9  # seconds

# --- speed ----------------------------------------------------------------------------------------


def physically_possible(run: Run) -> Iterator[Finding]:
    device, params = run.header.device or "", run.header.params
    rate, count = measured_or_none(measure.throughput, run), measure.workers(run)
    peak = next((p for name, p in PEAK_FLOPS.items() if name in device), None)
    if rate is None or params is None or peak is None or count is None:
        return
    if 6 * params * rate.low > peak * count:
        most = f"at most {peak * count / (6 * params):,.0f} samples/s"
        expected = f"{most} on {count} × {shortened(device, 40)}"
        found = f"{rate.value:,.0f} samples/s"
        advice = "synchronise the device before the clock is read"
        yield finding(Code.FASTER_THAN_HARDWARE, expected, found, rate.where, advice)


def exchanges_possible(run: Run) -> Iterator[Finding]:
    """Check the speed of exchanges. A single rank exchanges nothing, so any speed is possible."""
    ranks = measure.workers(run)
    if ranks is None or ranks < 2:
        return
    for event in run.measured("allreduce_s"):
        seconds, size = event.value, event.number("bytes")
        if seconds is None or size is None:
            continue
        least = max(SHORTEST, size / FASTEST)
        if seconds < least:
            expected = f"at least {1e6 * least:.3g} µs for {size:,.0f} bytes on {ranks} ranks"
            found = f"{1e6 * seconds:.3g} µs"
            yield finding(Code.ALLREDUCE_TOO_FAST, expected, found, run.rank_lines)
            return


# --- learning -------------------------------------------------------------------------------------


def diverged(run: Run) -> Iterator[Finding]:
    """Report a run that ended without learning anything.

    A sweep may contain such runs on purpose, so only runs that count are checked.
    """
    losses = [p for p in run.problems if p.code == ProblemCode.DIVERGED]
    if losses:
        where, found = [p.where for p in losses], shortened(losses[0].reason, 120)
        advice = "use a smaller learning rate, scale inputs to 0 to 1, and submit the job again"
        yield finding(Code.DIVERGED, "a loss that is a finite number", found, where, advice)


# --- data sets ------------------------------------------------------------------------------------

KNOWN = Path(__file__).parents[1] / "rubrics" / "facts" / "data_sets.yaml"


@cache
def known_data() -> dict[str, DataSet]:
    """Return the course's data sets by name."""
    sets = data_files.load(KNOWN)
    return {name: DataSet(name, synthetic=False, **facts) for name, facts in sets.items()}


def data_as_known(run: Run) -> Iterator[Finding]:
    dataset, where = run.header.dataset, run.rank_lines[:1]
    name, synthetic = str(dataset.name), dataset.synthetic
    by_hash = {data.sha256: called for called, data in known_data().items()}
    name_by_hash, known = by_hash.get(dataset.sha256), known_data().get(name)
    if name_by_hash is not None and (name_by_hash != name or synthetic):
        expected = f"{name_by_hash}, the real data set, by its hash"
        found = f"{shortened(name, 40)}, {'synthetic' if synthetic else 'real'}"
        yield finding(Code.DATA_HASH_AND_NAME, expected, found, where)
    if known is None:
        return
    if name_by_hash is None and synthetic is False:
        expected = f"the hash {str(known.sha256)[:12]}… of {name}"
        found = shortened(str(dataset.sha256), 16)
        advice = "`lessons data check`, then run the job again"
        yield finding(Code.DATA_IS_ANOTHER, expected, found, where, advice, name=name)
    for part in ("train_samples", "test_samples"):
        count, most = dataset[part], known[part]
        if count is not None and count > most:
            expected = f"at most {most:,} {part.replace('_', ' ')}"
            yield finding(Code.DATA_TOO_SMALL, expected, f"{count:,.0f}", where)


def real_data(run: Run) -> Iterator[Finding]:
    if run.header.dataset.synthetic:
        found = "synthetic data, whose accuracy says nothing about the task"
        advice = "`lessons data fetch` on a login node, then run the job again"
        where = run.rank_lines[:1]
        yield finding(Code.SYNTHETIC_DATA, "the real data set", found, where, advice)
