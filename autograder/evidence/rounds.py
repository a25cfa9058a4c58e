"""Compare the rounds of a speed job with their run, with each other, and with what is possible."""

from collections.abc import Iterator

from autograder.codes import FindingCode
from autograder.evidence.findings import finding
from autograder.measuring import rounds
from autograder.measuring.interval import is_number, measured_or_none
from autograder.records import Run
from autograder.verdict import Finding

# Medians of honest runs reached 1.1 times the limits on the noisiest machine that we saw. More than
# this factor is not noise.
BEYOND_NOISE = 1.5


def rounds_add_up(run: Run) -> Iterator[Finding]:
    events = run.measured(rounds.NAME)
    if not events:
        return
    where = [event.where for event in events]
    # If an output was submitted twice, each round appears twice; its number identifies it.
    numbered = {str(e.facts.get("round")): rounds.seconds_of_phases(e) for e in events}
    complete = [times for times in numbered.values() if times is not None]
    if len(set(complete)) < len(complete):
        yield finding(
            FindingCode.ROUNDS_COPIED,
            "different times in each round, to the microsecond",
            f"{len(set(complete))} different rounds of {len(complete)}",
            where,
        )
    seconds = sum(sum(times) for times in complete)
    total = run.total_seconds
    if total is None or not is_number(total.value):
        return
    if seconds > 1.001 * (total.value + total.half_width) + 0.01:
        yield finding(
            FindingCode.ROUNDS_EXCEED_RUN,
            f"at most {total.value:.4g} s together",
            f"{seconds:.4g} s",
            [total.where, *where],
        )


def faster_than_ranks_can_be(run: Run) -> Iterator[Finding]:
    """Check that the speedup and the share of the ranks are possible.

    Only an interval that is entirely above its limit is a finding, so noise does not cause one.
    """
    if not rounds.has_rounds(run):
        return
    gain, share = (measured_or_none(metric, run) for metric in (rounds.speedup, rounds.share))
    if gain is None or share is None:
        return
    count = rounds.ranks_of(run)
    if gain.low > BEYOND_NOISE * count:
        yield finding(
            FindingCode.SPEEDUP_BEYOND_RANKS,
            f"about {count} at most on {count} ranks",
            f"{gain.value:.2f}, at least {gain.low:.2f}",
            list(gain.where),
            "let rank 0 do the same steps alone that each rank does together with the others",
        )
    if share.low > BEYOND_NOISE:
        yield finding(
            FindingCode.SHARE_BEYOND_ONE,
            "a share of about 1 at most",
            f"{share.value:.2f}, at least {share.low:.2f}",
            list(share.where),
            "let the silent ranks do the same steps as those that exchange",
        )
