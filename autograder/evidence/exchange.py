"""Check whether an exchange between ranks can be as fast as it claims."""

from collections.abc import Iterator

from autograder.codes import FindingCode
from autograder.evidence.findings import finding
from autograder.measuring import measure
from autograder.records import Run
from autograder.verdict import Finding

# Every rank reads and writes each number of its array at least once. A core moves up to 0.6 TB/s
# while everything is in its nearest cache, and an allreduce over the fastest links between GPUs has
# less than 1 TB/s. Nothing reaches another core in less than about 50 ns.
FASTEST = 4e12  # bytes of an array per second
SHORTEST = 20e-9  # seconds


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
            yield finding(
                FindingCode.ALLREDUCE_TOO_FAST,
                f"at least {1e6 * least:.3g} µs for {size:,.0f} bytes on {ranks} ranks",
                f"{1e6 * seconds:.3g} µs",
                run.rank_lines,
            )
            return
