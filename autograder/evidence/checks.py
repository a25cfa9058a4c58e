"""Check one run's record against itself: each row of CHECKS finds one kind of contradiction."""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

from autograder import data_files
from autograder.codes import FindingCode as Code
from autograder.measuring import measure, rounds
from autograder.measuring.course_metrics import shard_uncovered
from autograder.measuring.interval import is_number, measured_or_none
from autograder.measuring.record_facts import train_samples
from autograder.notes import Note, make_note
from autograder.records import DataSet, Run, Where
from autograder.safe_text import shortened
from autograder.wording import counted

AS_WRITTEN = "submit the output as the job wrote it, or run the job again"
Places = Iterable[Where | None]
Odd = tuple[str, str, Places] | None  # what was expected and found, and where

# A wall clock is corrected now and then. Steps between the header and the first line also take
# time.
CLOCK_SLACK_S = 5.0
# Medians of honest runs reached 1.1 times the ceiling on the noisiest machine that we saw.
BEYOND_NOISE = 1.5
KNOWN = Path(__file__).parents[1] / "rubrics" / "facts" / "data_sets.yaml"


# --- lines and times --------------------------------------------------------------------------


def broken_chain(run: Run) -> Odd:
    if run.chain_intact is not False:
        return None
    where = [w for p in run.problems if p.code == Code.CHAIN_BROKEN for w in p.where]
    expected = "every line as the program wrote it, in order"
    return expected, "a line is missing, moved or changed", where


def never_written(run: Run) -> Odd:
    """Compare the record with everything that an honest program can write."""
    odd = [p for p in run.problems if p.code == Code.NEVER_WRITTEN][:3]
    if not odd:
        return None
    found = "; ".join(dict.fromkeys(shortened(p.title, 160) for p in odd))
    expected = "each line once, with numbers in the valid range"
    return expected, found, [place for p in odd for place in p.where]


def parts_longer_than_run(run: Run) -> Odd:
    """Compare the seconds of the epochs, and those of a speed job's rounds, with the whole run."""
    total = run.total_seconds
    if total is None or not is_number(total.value):
        return None
    most = total.value + total.half_width
    epochs = sum(e.seconds.value - e.seconds.half_width for e in run.epochs if e.seconds)
    events = run.measured(rounds.NAME)
    phases = sum(sum(rounds.seconds_of_phases(event) or ()) for event in events)
    if max(epochs, phases) <= most * 1.001 + 0.01:
        return None
    parts: Places = [e.where for e in (run.epochs if epochs > phases else events)]
    expected = f"at most {most:.4g} s together"
    return expected, f"{max(epochs, phases):.4g} s", [total.where, *parts]


def clock_backwards(run: Run) -> Odd:
    """Compare only until the first step back, after which the clock is wrong anyway."""
    moments: list[tuple[float | None, Where | None]] = [(run.began_ms, None)]
    for epoch in run.epochs:
        moments += [(epoch.began_ms, epoch.where), (epoch.ended_ms, epoch.where)]
    moments.append((run.ended_ms, run.total_seconds.where if run.total_seconds else None))
    in_order = [(ms / 1000, where) for ms, where in moments if ms is not None]
    for (before, place), (after, where) in pairwise(in_order):
        if after < before - CLOCK_SLACK_S:
            found = f"a line that is {before - after:,.1f} s earlier than the one before"
            return "each line later than the one before", found, [place, where]
    return None


# --- ranks and samples ------------------------------------------------------------------------


def absent_ranks(run: Run) -> Odd:
    size, present = run.header.world_size, {r.rank for r in run.ranks}
    if any(measure.failed for measure in run.measures):  # ranks that never met cannot all report
        return None
    if not present or size is None or (len(present) == size and max(present) < size):
        return None
    return f"ranks 0 to {size - 1:g}", f"{counted(len(present), 'rank')} reported", run.rank_lines


def other_rank_count(run: Run) -> Odd:
    requested, size = run.header.ranks_asked, run.header.world_size
    if requested is None or size is None or requested == size:
        return None
    return counted(requested, "rank"), counted(size, "rank"), run.rank_lines


def impossible_samples(run: Run) -> Odd:
    """Compare the samples with the data set, the steps of each epoch, and the ranks' shares."""
    dataset, known = run.header.dataset, known_data().get(str(run.header.dataset.name))
    for part in ("train_samples", "test_samples") if known else ():
        count, most = dataset[part], known and known[part]
        if count is not None and most is not None and count > most:
            expected = f"at most {most:,} {part.replace('_', ' ')}"
            return expected, f"{count:,.0f}", run.rank_lines[:1]
    batch, size = run.header.global_batch, measured_or_none(train_samples, run)
    for epoch in run.epochs:
        unique, steps = epoch.unique_samples or 0, epoch.steps
        if size and unique > size.value:
            return f"at most {size.value:g}", f"{unique}", [epoch.where]
        if batch is not None and steps is not None and unique > steps * batch:
            expected = f"at most {steps} steps × batch {batch:g} = {steps * batch:g} samples"
            return expected, f"{unique} samples", [epoch.where]
    uncovered = measured_or_none(shard_uncovered, run)
    claimed = measured_or_none(measure.unique_samples, run)
    if size and uncovered and claimed and claimed.value > size.value - uncovered.value:
        expected = f"at most {size.value - uncovered.value:g} different samples"
        return expected, f"{claimed.value:g}", run.rank_lines
    return None


# --- data sets --------------------------------------------------------------------------------


@cache
def known_data() -> dict[str, DataSet]:
    """Return the course's data sets by name."""
    sets = data_files.load(KNOWN)
    return {name: DataSet(name, synthetic=False, **facts) for name, facts in sets.items()}


def other_data(run: Run) -> Odd:
    """Compare the data set's hash with its name."""
    dataset, data_sets = run.header.dataset, known_data()
    name, synthetic = str(dataset.name), dataset.synthetic
    by_hash = {data.sha256: called for called, data in data_sets.items()}
    real = by_hash.get(dataset.sha256)
    found = f"{shortened(name, 40)}, {'synthetic' if synthetic else 'real'}"
    if real is not None and (real != name or synthetic):
        return f"{real}, the real data set, by its hash", found, run.rank_lines[:1]
    if real is None and name in data_sets and synthetic is False:
        expected = f"the hash {str(data_sets[name].sha256)[:12]}… of {name}"
        return expected, shortened(str(dataset.sha256), 16), run.rank_lines[:1]
    return None


def synthetic_data(run: Run) -> Odd:
    if not run.header.dataset.synthetic:
        return None
    found = "synthetic data, whose accuracy says nothing about the task"
    return "the real data set", found, run.rank_lines[:1]


# --- a speed job's rounds ---------------------------------------------------------------------


def copied_rounds(run: Run) -> Odd:
    events = run.measured(rounds.NAME)
    complete = [times for e in events if (times := rounds.seconds_of_phases(e)) is not None]
    different = len(set(complete))
    if different == len(complete):
        return None
    expected = "different times in each round, to the microsecond"
    found = f"{different} different rounds of {len(complete)}"
    return expected, found, [event.where for event in events]


def share_beyond_one(run: Run) -> Odd:
    """Compare the whole interval with its limit, so noise alone is never reported."""
    share = measured_or_none(rounds.share, run)
    if share is None or share.low <= BEYOND_NOISE:
        return None
    found = f"{share.value:.2f}, at least {share.low:.2f}"
    return "a share of at most about 1", found, share.where


# --- all checks -------------------------------------------------------------------------------


DATA = "`lessons data status`, then run the job again"
LAUNCH = "start the program with `launch`, which uses the job's own launcher"
ONCE = "submit each output once, as the job wrote it"
FETCH = "`lessons data fetch` on a login node, then run the job again"
SAME_STEPS = "run the same steps with and without communication"
# Each with its code and its advice, in the order in which their findings are listed.
CHECKS: tuple[tuple[Code, Callable[[Run], Odd], str], ...] = (
    (Code.CHAIN_BROKEN, broken_chain, AS_WRITTEN),
    (Code.RANK_MISSING, absent_ranks, AS_WRITTEN),
    (Code.OTHER_RANK_COUNT, other_rank_count, LAUNCH),
    (Code.PARTS_EXCEED_RUN, parts_longer_than_run, AS_WRITTEN),
    (Code.CLOCK_BACKWARDS, clock_backwards, AS_WRITTEN),
    (Code.NEVER_WRITTEN, never_written, ONCE),
    (Code.SAMPLES_IMPOSSIBLE, impossible_samples, AS_WRITTEN),
    (Code.DATA_IS_ANOTHER, other_data, DATA),
    (Code.SYNTHETIC_DATA, synthetic_data, FETCH),
    (Code.ROUNDS_COPIED, copied_rounds, AS_WRITTEN),
    (Code.SHARE_BEYOND_ONE, share_beyond_one, SAME_STEPS),
)


def check_run(run: Run) -> Iterator[Note]:
    for code, compare, advice in CHECKS:
        if odd := compare(run):
            yield make_note(code, *odd, advice)
