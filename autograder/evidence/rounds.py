"""Compare a speed job's rounds with its run, with each other, and with plausible limits."""

from collections.abc import Iterator, Sequence

from autograder.codes import FindingCode as Code
from autograder.evidence.findings import finding
from autograder.measuring import rounds
from autograder.measuring.interval import is_number, measured_or_none
from autograder.records import MeasureEvent, Run, Where
from autograder.verdict import Finding

# Medians of honest runs reached 1.1 times the limits on the noisiest machine that we saw. More than
# this factor is not noise.
BEYOND_NOISE = 1.5


def rounds_add_up(run: Run) -> Iterator[Finding]:
    events = run.measured(rounds.NAME)
    where = [event.where for event in events]
    complete = [times for e in events if (times := rounds.seconds_of_phases(e)) is not None]
    different = len(set(complete))
    if different < len(complete):
        expected = "different times in each round, to the microsecond"
        found = f"{different} different rounds of {len(complete)}"
        yield finding(Code.ROUNDS_COPIED, expected, found, where)
    seconds, total = sum(sum(times) for times in complete), run.total_seconds
    if not events or total is None or not is_number(total.value):
        return
    if seconds > 1.001 * (total.value + total.half_width) + 0.01:
        expected = f"at most {total.value:.4g} s together"
        yield finding(Code.ROUNDS_EXCEED_RUN, expected, f"{seconds:.4g} s", [total.where, *where])


def both_phases(
    events: Sequence[MeasureEvent], what: str
) -> Iterator[tuple[float, float, Where | None]]:
    """Yield this number for the *together* and *silent* phases of each round that reports both."""
    for event in events:
        together, silent = event.number(f"together_{what}"), event.number(f"silent_{what}")
        if together is not None and silent is not None:
            yield together, silent, event.where


def as_many_cores(run: Run) -> Iterator[Finding]:
    """Compare a rank's cores in the together and silent phases. Older records do not state them.

    In lesson 10, a single rank that uses all cores of its node would earn too many points.
    """
    events = [*run.measured(rounds.NAME), *run.measured(rounds.PIPELINE)]
    more = [phases for phases in both_phases(events, "cores") if phases[0] > phases[1]]
    if 2 * len(more) > len(events):
        together, silent, _ = more[0]
        expected = f"{silent:g} cores per rank, as for the silent ranks"
        found, where = f"{together:g} in most rounds", [where for *_, where in more]
        advice = "leave each rank the cores that the launcher gives it"
        yield finding(Code.MORE_CORES_TOGETHER, expected, found, where, advice)


# In the together phase, a rank does the silent phase's work, and also communicates. Honest jobs had
# ratios of 0.93 to 1.18. Released code that its environment slowed down had 0.49 and 0.51.
LESS_WORK = 0.75


def as_much_work(run: Run) -> Iterator[Finding]:
    """Compare the CPU time of all together phases with that of all silent phases.

    On a GPU, most of the work is not done by the CPU. Older records do not state the CPU time.
    Lesson 11 states it for all of its pipelines together, so it cannot be compared there.
    """
    phases = list(both_phases(run.measured(rounds.NAME), "cpu_s"))
    together = sum(together for together, _, _ in phases)
    silent = sum(silent for _, silent, _ in phases)
    if (run.header.device or "").startswith("CPU") and together < LESS_WORK * silent:
        expected = f"about the {silent:.3g} CPU seconds of the silent phases"
        found, where = f"{together:.3g} CPU seconds", [where for *_, where in phases]
        advice = "run the same steps on the ranks that communicate, in the same environment"
        yield finding(Code.LESS_WORK_TOGETHER, expected, found, where, advice)


COMPUTED_AGAIN = "update_computed_again"  # a measure


def faster_than_ranks_can_be(run: Run) -> Iterator[Finding]:
    """Check that the speedup and the share that the ranks report are possible.

    Only an interval that lies entirely above its limit is a finding, so noise causes none.
    """
    gain, share = (measured_or_none(metric, run) for metric in (rounds.speedup, rounds.share))
    if gain is None or share is None:
        return
    count = rounds.ranks_of(run)
    if gain.low > BEYOND_NOISE * count:
        expected = f"about {count} at most on {count} ranks"
        found = f"{gain.value:.2f}, at least {gain.low:.2f}"
        advice = "run the same steps on rank 0 alone as on all ranks together"
        yield finding(Code.SPEEDUP_BEYOND_RANKS, expected, found, gain.where, advice)
    if share.low > BEYOND_NOISE:
        found = f"{share.value:.2f}, at least {share.low:.2f}"
        advice = "run the same steps with and without communication"
        expected = "a share of at most about 1"
        yield finding(Code.SHARE_BEYOND_ONE, expected, found, share.where, advice)
