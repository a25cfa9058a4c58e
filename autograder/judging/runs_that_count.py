"""Select the runs that a rubric names, the run that counts, and the runs judged together."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

from autograder.codes import FindingCode, Outcome, ReasonCode
from autograder.judging.hand_in import HandIn, by_time, plain_outputs, says, unprinted_facts
from autograder.measuring.interval import Measure, NotMeasured, attempt, measured_or_none
from autograder.measuring.metrics import metric_named
from autograder.measuring.record_facts import first_line, last_epoch
from autograder.notes import Note
from autograder.reading.ends import ECHO
from autograder.reading.failed_ranks import SOURCE_PLACE
from autograder.reading.files import problems_of
from autograder.records import Program, Run, Where
from autograder.safe_text import printable, shortened
from autograder.settings.rubric_schema import Rubric, RunChoice
from autograder.submissions.doubts import SUBMIT_FILE, file_of
from autograder.submissions.kinds import is_answers, output_name
from autograder.wording import counted

WORDS = re.compile(r"[_.\d]+")  # separators of words in a file name
UNREAD = "unknown"  # the format of an output without a run
SUBMIT_IT = "submit the job to the scheduler, and later its output to your instructor"
PRINT_IT = (
    "submit a run as the rubric asks for it; if {file} is that run, let the program print so; "
    "`autograder read` shows what the grader finds in a file"
)
ORDERS = ("start time", "job number", "file name")  # as `by_time` compares them
MAY_BE_WHOLE = (Outcome.COMPLETED, Outcome.UNKNOWN)


def is_probe(choice: RunChoice) -> bool:
    """Return whether a run of this name tests programs, so that its own text has to be released."""
    return choice.program_of is not None or choice.where.get("source") == "probe"


def program_of(run: Run) -> str:
    """Return the program and model that the record names, whatever the size of the run."""
    names = ", ".join(filter(None, (run.header.source, run.header.model)))
    return printable(names or run.format, 80)


def run_that_counts(hand_in: HandIn, name: str) -> Run:
    """Return the latest finished run of the required size, or raise NotMeasured with the reason."""
    if name not in hand_in.counted:
        hand_in.counted[name] = attempt(lambda: preferred(hand_in, name)[0][-1])
    run = hand_in.counted[name]
    if isinstance(run, NotMeasured):
        raise run
    return run


def preferred(hand_in: HandIn, name: str) -> tuple[list[Run], list[str]]:
    """Return the finished runs of which the latest counts, and how the others differ from them."""
    candidates, left = hand_in.runs_by_name[name], finished(hand_in, name)
    if not left:
        raise did_not_finish(name, candidates[-1]) if candidates else no_run(hand_in, name)
    choice = hand_in.rubric.runs[name]
    same = of_program(hand_in, name, choice, left)
    whole = [run for run in same if size_shortfall(hand_in, name, run) is None] or same
    steps = [(same, f"with the program of `{choice.program_of}`"), (whole, "of the required size")]
    for metric, pick in ((choice.smallest, min), (choice.largest, max)):
        sized = by_size(metric, steps[-1][0])
        if metric and sized:
            best = pick(value for value, _ in sized)
            words = (
                f"with the {'largest' if pick is max else 'smallest'} {metric_named(metric).label}"
            )
            steps.append(([run for value, run in sized if value == best], words))
    differences = []
    for kept, words in steps:
        differences += [words] if len(kept) < len(left) else []
        left = kept
    return left, differences


def of_program(hand_in: HandIn, name: str, choice: RunChoice, done: list[Run]) -> list[Run]:
    """Return the runs with the program, and the facts, of the run that counts for `program_of`.

    Without such a run, nothing is compared.
    """
    other = choice.program_of
    compared = measured_or_none(run_that_counts, hand_in, other) if other else None
    if compared is None:
        return done
    for fact in choice.same_facts:
        latest, stated = done[-1], compared.header.get(fact)
        done = [run for run in done if run.header.get(fact) == stated]
        if not done:
            values = f"{printable(latest.header.get(fact), 40)} and {printable(stated, 40)}"
            reason = f"no run of `{name}` has the same {fact} as the run of `{other}`: {values}"
            hint = "submit the job again, with the same options for all its programs"
            raise NotMeasured(reason, hint, first_line(latest), ReasonCode.NO_RUN)
    for run in (compared, done[-1]):
        if run.program is None or not run.program.files:
            reason = f"whether the runs of `{name}` and `{other}` have the same program: "
            reason += f"{run.files[0]} does not record it"
            hint = "submit the whole output of the job"
            raise NotMeasured(reason, hint, first_line(run), ReasonCode.RUN_UNCLEAR)
    files = choice.program_files
    differences = [(run, *unlike(run.program, compared.program, files)) for run in done]
    if same := [run for run, changed, unsure in differences if not (changed or unsure)]:
        return same
    unclear = [difference for difference in differences if not difference[1]]
    run, changed, unsure = (unclear or differences)[-1]
    if unclear:
        reason = f"whether a run of `{name}` has the same program as the run of `{other}`: "
        reason, code = f"{reason}{unsure[0]} changed while a job ran", ReasonCode.RUN_UNCLEAR
    else:
        reason = f"no run of `{name}` has the same {changed[0]} as the run of `{other}`"
        code = ReasonCode.NO_RUN
    hint = "submit the job again, and change no program until it has ended"
    raise NotMeasured(reason, hint, first_line(run), code)


def unlike(
    own: Program | None, compared: Program | None, files: Sequence[str] = ()
) -> tuple[list[str], list[str]]:
    """Return the files in which two programs differ, and those that changed while one of them ran.

    The named files, or else the main program, must be in both programs. Any other file that only
    one of them imports, such as a module for plots, is not compared.
    """
    if own is None or compared is None:
        return ["program"], []
    shared = [file for file in compared.files if file in own.files]
    texts = {
        file: (own.files.get(file, "missing"), compared.files.get(file, "absent"))
        for file in [*(files or [compared.main or "program"]), *shared]
    }
    unsure = [file for file, pair in texts.items() if None in pair]
    return [file for file, (a, b) in texts.items() if a != b and file not in unsure], unsure


def no_run(hand_in: HandIn, name: str) -> NotMeasured:
    """Return the reason why there is no run with this name."""
    choice = hand_in.rubric.runs[name]
    unclear = plain_outputs(hand_in.runs, choice)  # with all facts, one of these would be the run
    if unclear:
        facts = ", ".join(dict.fromkeys(f for run in unclear for f in unprinted_facts(run, choice)))
        files = [file for run in unclear[:3] for file in run.files[:1]]
        return NotMeasured(
            f"whether {shortened(', '.join(files))} is a run of `{name}`: the output does not "
            f"report {facts}",
            "let the program print its workers or write a run record",
            [Where(file, 1) for file in files],
            ReasonCode.RUN_UNCLEAR,
        )
    recorded_nothing = [run for run in hand_in.runs if not run.has_header and not run.epochs]
    for run in sorted(recorded_nothing, key=by_time, reverse=True):
        cause = problem_to_read(replace(run, problems=tuple(p for p in run.problems if p.actual)))
        if cause and run.outcome not in MAY_BE_WHOLE and is_job_of(run, choice, name):
            reason = f"no run of `{name}`: its job ended before the program began to record; "
            reason += f"{run.outcome} ({how_it_failed(run, cause)})"
            return NotMeasured(reason, last_lines(run), cause.where, ReasonCode.NO_RUN)
    facts = ", ".join(f"{fact} {value}" for fact, value in choice.where.items())
    reason, code = f"no run of `{name}` ({facts}) was submitted", ReasonCode.NO_RUN
    hint = SUBMIT_IT
    copies = problems_of(hand_in.runs, FindingCode.TERMINAL_COPY)
    unseen = [note for note in hand_in.unseen if not is_answers(PurePath(file_of(note)).name)]
    spare = [run for run in hand_in.runs if fits_no_run(run, hand_in, name)]
    size = choice.where.get("world_size")
    spare.sort(key=lambda run: (run.workers != size, -(run.workers or 0)))  # the likeliest first
    other = [run for run in hand_in.runs if not run.has_header and run.format in choice.or_format]
    if copies:
        file = copies[0].where[0].file
        reason = f"no run of `{name}` can be read; {file} is a copy from a terminal"
        hint = SUBMIT_FILE
    elif unseen:
        reason = f"no readable run of `{name}` was submitted: {unseen[0].actual}"
        hint = f"{unseen[0].advice}; if this run is not in it, {hint}"
        if unseen[0].code == FindingCode.FILE_EMPTY:  # it was submitted, but shows no run
            hint, code = unseen[0].advice, ReasonCode.RUN_UNCLEAR
    elif spare:
        hint, code = PRINT_IT.format(file=spare[0].files[0]), ReasonCode.RUN_UNCLEAR
        reason = f"no run of `{name}`. {read_as(spare[0], hand_in.rubric, name)}"
        more = [run.files[0] for run in spare[1:4]]
        reason += f". Nor is one in {shortened(', '.join(more))}" if more else ""
    elif other:
        reason += f". Another run is in {read_as(other[-1], hand_in.rubric, name)}"
    return NotMeasured(reason, hint, [Where(run.files[0], 1) for run in spare[:3]], code)


def fits_no_run(run: Run, hand_in: HandIn, name: str) -> bool:
    """Return whether an output counts for no run, but may be one with this name."""
    choice = hand_in.rubric.runs[name]
    if run.outcome not in MAY_BE_WHOLE or not run.is_job_output:
        return False
    if run.has_header:
        is_source = choice.where.get("source") in (None, run.header.source)
        named = {other.id for same in hand_in.runs_by_name.values() for other in same}
        return is_source and run.id not in named and says(run, "lesson", hand_in.rubric.lesson)
    latest = [done[-1] for each in hand_in.rubric.runs if (done := finished(hand_in, each))]
    if run.id in {other.id for other in (*latest, *runs_compared(hand_in))}:
        return False
    asked = [each for each in hand_in.rubric.runs.values() if run.format in each.or_format]
    repeated = {(other.format, other.workers) for other in latest}
    is_short = sum(other.format == run.format for other in hand_in.runs) < len(asked)
    if is_short and (run.format, run.workers) in repeated:
        return False  # with an output for each run, the printed workers may be wrong
    return run.format in choice.or_format or is_strange(run, hand_in)


def is_strange(run: Run, hand_in: HandIn) -> bool:
    """Return whether an output has no record and is no run of the rubric's, but may be one."""
    is_named = any(plain_outputs([run], choice) for choice in hand_in.rubric.runs.values())
    return run.outcome in MAY_BE_WHOLE and not (run.has_header or is_named)


def read_as(run: Run, rubric: Rubric, name: str) -> str:
    """Describe how an output was read, and which facts of the named run it lacks."""
    choice, own = rubric.runs[name], {format.name for format in rubric.formats}
    facts = {"lesson": rubric.lesson} | choice.where
    if run.has_header:
        how = "read as a run record"
        missing = [f"{key} {value}" for key, value in facts.items() if not says(run, key, value)]
    else:
        how = "read with the course's own template" if run.format in own else "read as"
        how += f" `{run.format}`"
        is_format = run.format in choice.or_format or not choice.or_format
        missing = [] if is_format else ["the format " + " or ".join(choice.or_format)]
        size = choice.where.get("world_size")
        missing += (
            [counted(size, "worker")] if isinstance(size, int) and size != run.workers else []
        )
    if run.format == UNREAD:
        how = "no training run was recognised"
    workers = f", {counted(run.workers, 'worker')}" if run.workers else ""
    asked = " and ".join(filter(None, missing)) or "a run record"
    return f"`{shortened(run.files[0])}`: {how}{workers}; the rubric asks for {asked}"


def why_it_counts(hand_in: HandIn, name: str) -> str:
    """Return why a name's run counts, and no other finished run; empty if there is no other."""
    done = finished(hand_in, name)
    if len(done) < 2:
        return ""
    left, differences = preferred(hand_in, name)
    orders = zip(ORDERS, *map(by_time, left[-2:]), strict=True) if left[1:] else ()
    order = next((order for order, *values in orders if values[0] != values[1]), ORDERS[-1])
    which = f"the latest by {order}" if left[1:] else "the only one"
    return f"of {len(done)}, {' '.join([which, ', '.join(differences)]).strip()}"


def is_job_of(run: Run, choice: RunChoice, name: str) -> bool:
    """Return whether an output is named after these runs' job, such as 10_multiworker_7.out."""
    source = str(choice.where.get("source"))
    called = {name, source, source.partition("-")[0]}
    return any(called & set(WORDS.split(PurePath(file).name)) for file in run.files)


def did_not_finish(name: str, run: Run, which: str = "the run") -> NotMeasured:
    """Return the error for a run that ended early, with the problem shown in its output."""
    problem, ended, try_ = problem_to_read(run), str(run.outcome), last_lines(run)
    if problem:
        ended += f" ({how_it_failed(run, problem)})"
    reason, code = f"{which} of `{name}` did not finish: {ended}", ReasonCode.RUN_UNFINISHED
    if run.outcome == Outcome.INCOMPLETE:
        reason += ", the output stops before the end of the run"
        try_ = "submit the whole output; if the job itself ended there, " + try_
    elif run.outcome == Outcome.UNKNOWN:  # perhaps it ended in words that are not read
        code = ReasonCode.RUN_UNCLEAR
        if run.epochs:
            reason += ", nothing in its output shows that this epoch was the last"
            try_ = "also submit the job's error output, or let the program print when it is done"
    elif run.outcome == Outcome.TIMEOUT:
        try_ = f"ask for more time (`--time`), or find out which rank waited for which: {try_}"
    elif run.outcome == Outcome.OOM:
        try_ = f"use a smaller batch or network, or ask for more memory (`--mem`); {try_}"
    return NotMeasured(reason, try_, problem.where if problem else last_epoch(run), code)


def problem_to_read(run: Run) -> Note | None:
    """Return the problem that a student should read first.

    For a stall, a limit or a lack of memory, it is the line that reports it; the launcher reports
    killed processes only later. An exception precedes the messages that it causes on other ranks.
    """
    if run.outcome != Outcome.FAILED:
        where = run.places.get("outcome")
        reported = [p for p in run.problems if p.where == (where,)] or run.problems[-1:]
        return reported[0] if reported else None
    raised = [p for p in run.problems if p.code == FindingCode.EXCEPTION]
    first = [p for p in raised if not ECHO.search(p.actual)]
    return next(reversed(first or raised or run.problems), None)


def how_it_failed(run: Run, problem: Note) -> str:
    """Return which rank failed first and where, or else the problem."""
    if run.failed_ranks:
        return shortened(run.failed_ranks[0], 300)
    if problem.code == FindingCode.BAD_LINE:  # the page already lists damaged lines of the record
        return problem.title
    text = shortened(SOURCE_PLACE.sub("", problem.actual), 160)
    return f"{problem.title}: {text}" if text else problem.title


def last_lines(run: Run) -> str:
    """Return advice to read the last lines of the error file, or of the output if there is none."""
    errors = [file for file in run.files if output_name(file).is_error]
    return "look at the last lines of " + (shortened(errors[0]) if errors else "the output")


def by_size(metric: str | None, runs: Sequence[Run]) -> list[tuple[float, Run]]:
    """Return the runs that can be measured, each with its value."""
    function = metric_named(metric).function if metric else None
    values = [(measured_or_none(function, run), run) for run in runs] if function else []
    return [(value.value, run) for value, run in values if isinstance(value, Measure)]


def larger_unfinished(hand_in: HandIn, name: str, counts: Run) -> Run | None:
    """Return the latest unfinished run that is larger than the one that counts."""
    sized = by_size(hand_in.rubric.runs[name].largest, [counts, *hand_in.runs_by_name[name]])
    most = sized[0][0] if sized else 0
    larger = [run for size, run in sized if size > most and run.outcome != Outcome.COMPLETED]
    return larger[-1] if larger else None


def size_shortfall(hand_in: HandIn, name: str, run: Run) -> tuple[float, float] | None:
    """Return the samples used and those required, if a run trained on fewer than required."""
    samples = hand_in.rubric.runs[name].train_samples or hand_in.rubric.train_samples
    required = samples.fixed(hand_in.profile) if samples else None
    used = run.header.dataset.train_samples
    if used is None or not isinstance(required, int | float) or used >= required:
        return None
    return used, required


def finished(hand_in: HandIn, name: str) -> list[Run]:
    """Return the finished runs with this name, oldest first."""
    return [run for run in hand_in.runs_by_name[name] if run.outcome == Outcome.COMPLETED]


def runs_compared(hand_in: HandIn) -> list[Run]:
    """Return all finished runs that a condition judges together."""
    asked = (condition for check in hand_in.rubric.checks for condition in check.require)
    compared = [condition.of for condition in asked if metric_named(condition.metric).all_runs]
    return [run for names in compared for name in names for run in finished(hand_in, name)]
