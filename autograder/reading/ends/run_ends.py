"""Decide whether a run reached its end, from lines that follow its last epoch but no earlier one.

The surest sign is the number of epochs. Without that number, an output that was cut off after an
epoch looks like a finished one. In that case, the output must also contain a message, a total, a
test or a summary line. Failing that, the job's error output must be available, because a scheduler
would have written to it.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import replace

from autograder.reading import lines
from autograder.reading.ends.run_drafts import RunDraft
from autograder.reading.formats import bars, mllog, record
from autograder.reading.formats.plain.steps import FORMAT as STEPS
from autograder.reading.line_facts import RunFacts
from autograder.reading.outcome import EndLine
from autograder.reading.scanned_file import KEPT, ScannedFile
from autograder.records import Run, Where
from autograder.submissions import output_names

TESTS = ("test_accuracy", "test_loss")
MOST_TESTS = 3  # maximum number of distinct results
NEAR = 20  # lines after the end of a run in which its summary is looked for
MOST_TELLING = 3  # lines per rank that may belong to an exception's own message

# Launchers, schedulers and services may still print after an exception has ended a program. If
# anything else follows, the program may have caught the exception.
OTHERS = re.compile(
    r"\W*$"  # rulers and blank lines
    r"|\s"  # frames, and continuations of a message
    r"|\d{1,3}%\||.{0,200}\d%\|"  # bars
    r"|(?:wandb|COMET|srun|slurmstepd|sbatch|mpirun|prterun|orterun|make|conda|sys|free)\b.{0,30}:"
    r"|\+{1,3} \S"  # a shell that prints its commands
    r"|\[[WEIFC] ?\w{0,30}\.\w{1,4}:\d|\[[WEIF]\d{0,4} |[WEIF]\d{4} "  # logs of C++ programs
    r"|[\[\d :,.T-]{10,30}\]? ?(?:torch\.distributed|INFO|WARNING|ERROR|\[(?:INFO|WARN|ERR))"
    r"|(?:INFO|WARNING|ERROR|DEBUG|CRITICAL|FATAL)\b"
    r"|Traceback \(|During handling of|The above exception|Exception |Error in atexit"
    r"|File \"|terminate called|what\(\):|Fatal Python error|Current thread|Thread 0x"
    r"|Killing subprocess \d|Sending process \d|Terminating process"
    r"|Primary job|Failures?:|Root Cause|(?:time|host|rank|exitcode|error_file|traceback) *:"
    r"|\*\*\*|---|===|###|real\t|user\t|sys\t|\w{3} \w{3} {1,2}\d{1,2} \d\d:\d\d:\d\d"
    r"|(?i:(?:end|start|finish|date|job|state|node|nodes|cores|cpu|memory|exit|elapsed|host)"
    r"[a-z]{0,20}\b)"
    r"|/.{1,300}: (?:\w{0,40}Warning|.{0,20}resource_tracker)"
    r"|\S{1,300}:\d{1,6}: \w{0,40}Warning"
)


def with_end(draft: RunDraft, files: list[ScannedFile]) -> tuple[Run, bool | None]:
    """Return the run, and whether it is complete.

    A program that reports its end, or a total time, has finished its last epoch.
    """
    run, whole = draft.run, draft.whole
    if whole is None and not draft.followed and any(file.open_bar for file in files):
        whole = False
    if whole or draft.certain or run.format in (record.FORMAT, mllog.FORMAT):
        return run, whole
    if not draft.ended:
        place = end_told(draft, whole) or tested_at_end(draft, files)
        if place is None:
            return run, whole
        draft.places["outcome"] = place
    if run.unfinished is not None and run.epochs_done is None and run.format != STEPS:
        run = replace(run, epochs=(*run.epochs, run.unfinished), unfinished=None)
    return run, True


def end_told(draft: RunDraft, whole: bool | None) -> Where | None:
    """Return the line after the last epoch that rules out any further epochs.

    A line that also follows earlier epochs does not count. After a single epoch, such lines cannot
    be recognised.
    """
    epochs = len(draft.run.epochs) + (draft.run.unfinished is not None)
    unsure = whole is False or not draft.known or draft.run.format == STEPS
    alone = epochs < 2 and not unsure
    # A message of another program that began without an epoch does not belong to this run.
    starts = (line for line, facts in draft.file.facts if facts.starts and line > draft.last)
    before_next = min(starts, default=math.inf) if draft.followed else math.inf
    before = {
        kind
        for file, line, facts in draft.closings
        if file is draft.file and draft.first <= line <= draft.begun
        for kind in kinds_of(facts)
    }
    for file, line, facts in draft.closings:
        if file is draft.file and not draft.begun < line < before_next:
            continue
        for kind in kinds_of(facts):
            if kind in before or (alone and kind not in ("done", "early")):
                continue
            if kind == "total" and draft.unmet:
                continue
            if unsure and kind not in ("done", "early", "total"):
                continue
            if facts.sums_up == kind and not sums_up(draft, file, line, kind):
                continue
            return Where(file.name, line)
    return None


def kinds_of(facts: RunFacts) -> Iterator[str]:
    if facts.done:
        yield "done"
    if facts.early:
        yield "early"
    if "total_seconds" in facts.numbers:
        yield "total"
    if not facts.numbers.keys().isdisjoint(TESTS):
        yield "test"
    if facts.sums_up:
        yield facts.sums_up


def sums_up(draft: RunDraft, file: ScannedFile, line: int, kind: str) -> bool:
    """Return whether a line summarises a run of unknown length.

    The line must directly follow the run, and no similar line may appear before the run.
    """
    return line - draft.last <= NEAR and not any(
        kind == facts.sums_up for at, facts in file.facts if at <= draft.begun
    )


def tested_at_end(draft: RunDraft, files: list[ScannedFile]) -> Where | None:
    """Return where the first test result is, in a file of steps or in a file without a run.

    The training is over at that point. A repeated test may belong to each step.
    """
    if draft.known or (draft.run.format != STEPS and any(file.unread for file in files)):
        return None
    for file in files:
        tests = {
            (name, number and number.value): line
            for line, facts in file.facts
            for name, number in facts.numbers.items()
            if name in TESTS
        }
        if 0 < len(tests) <= MOST_TESTS:
            return Where(file.name, max(tests.values()))
    return None


def nothing_else_ended_it(draft: RunDraft, files: list[ScannedFile]) -> bool:
    """Return whether the output would show an early end.

    A complete bar shows how much work there was, and schedulers write to the error output.
    """
    if draft.run.format == bars.FORMAT:
        return not any(file.bar and file.bar.one_of_many for file in files)
    errors = any(output_names.read(file.name).is_error for file in files)
    return errors and len(files) > 1 and not draft.followed


def final_ends(draft: RunDraft, files: list[ScannedFile]) -> list[EndLine]:
    """Return the final ends: nothing after them in their file shows that the program continued.

    If an end is between two runs in a file, it belongs to the first of them.
    """
    if draft.followed:
        return draft.ends
    final: list[EndLine] = []
    for file in files:
        if ends := [end for end in draft.ends if end.where.file == file.name]:
            results = (line for line, facts in file.facts if facts.done or facts.numbers)
            after = max(last_telling(file), *results, 0)
            final += [end for end in ends if end.where.line > after]
    return final


def last_telling(file: ScannedFile) -> int:
    """Return the line after which only launchers, schedulers, services and exceptions print.

    Up to `MOST_TELLING` other lines per rank may follow it.
    """
    end_lines = {end.where.line for end in file.ends}
    number, telling = file.lines + 1, dict[int | None, int]()  # per rank
    for raw in reversed(file.tail.split(b"\n")):
        number -= 1
        if not raw or number in end_lines:
            continue
        rank, text = lines.shown(raw)
        if OTHERS.match(text[:400]):
            continue
        telling[rank] = telling.get(rank, 0) + 1
        if telling[rank] > MOST_TELLING:
            return number
    return number if len(file.tail) >= KEPT else 0
