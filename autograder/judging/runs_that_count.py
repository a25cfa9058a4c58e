"""Select the runs that a rubric names, the run that counts, and the runs judged together."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

from autograder.codes import FindingCode, Outcome, ReasonCode
from autograder.judging.hand_in import HandIn, by_time, plain_outputs, says
from autograder.measuring.interval import Measure, NotMeasured, attempt, measured_or_none
from autograder.measuring.metrics import metric_named
from autograder.measuring.record_facts import first_line, last_epoch
from autograder.notes import Note
from autograder.reading.ends import ECHO
from autograder.reading.failed_ranks import SOURCE_PLACE
from autograder.records import Run, Where
from autograder.safe_text import printable, shortened
from autograder.settings.rubric_schema import RunChoice
from autograder.submissions.doubts import file_of
from autograder.submissions.kinds import is_answers, output_name

WORDS = re.compile(r"[_.\d]+")  # separators of words in a file name
SUBMIT_IT = "submit the job to the scheduler, and later its output to your instructor"
PRINT_IT = (
    "submit a run as the rubric asks for it; if {file} is that run, let the program print its "
    "number of workers or write a run record; `autograder read` shows what the grader finds"
)
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
        hand_in.counted[name] = attempt(preferred, hand_in, name)
    run = hand_in.counted[name]
    if isinstance(run, NotMeasured):
        raise run
    return run


def preferred(hand_in: HandIn, name: str) -> Run:
    candidates, done = hand_in.runs_by_name[name], finished(hand_in, name)
    if not done:
        raise did_not_finish(name, candidates[-1]) if candidates else no_run(hand_in, name)
    choice = hand_in.rubric.runs[name]
    done = of_program(hand_in, name, done)
    done = [run for run in done if size_shortfall(hand_in, name, run) is None] or done
    for metric, pick in ((choice.smallest, min), (choice.largest, max)):
        if metric and (sized := by_size(metric, done)):
            best = pick(value for value, _ in sized)
            done = [run for value, run in sized if value == best]
    return done[-1]


def of_program(hand_in: HandIn, name: str, done: list[Run]) -> list[Run]:
    """Return the runs with the program, and the facts, of the run that counts for `program_of`.

    Without such a run, nothing is compared.
    """
    choice = hand_in.rubric.runs[name]
    other = choice.program_of
    compared = measured_or_none(run_that_counts, hand_in, other) if other else None
    if compared is None:
        return done
    differences = [(run, unlike(run, compared, choice)) for run in done]
    if same := [run for run, names in differences if not names]:
        return same
    unclear = [(run, names) for run, names in differences if not any(names.values())]
    run, names = (unclear or differences)[-1]
    changed = max(names, key=lambda name: names[name])
    which = "it is not clear whether a run" if unclear else "no run"
    reason = f"{which} of `{name}` has the same {changed} as the run of `{other}`"
    hint = "submit the job again with the same options, and change no program until it has ended"
    code = ReasonCode.RUN_UNCLEAR if unclear else ReasonCode.NO_RUN
    raise NotMeasured(reason, hint, first_line(run), code)


def unlike(run: Run, compared: Run, choice: RunChoice) -> dict[str, bool]:
    """Return the facts and files in which two runs differ, each with whether that is certain.

    It is not if a record has no program, or if the file changed while a job ran. The named files,
    or else the main program, must be in both programs. Any other file that only one of them
    imports, such as a module for plots, is not compared.
    """
    facts = [
        fact for fact in choice.same_facts if run.header.get(fact) != compared.header.get(fact)
    ]
    certain = dict.fromkeys(facts, True)
    own, texts = (each.program.files if each.program else {} for each in (run, compared))
    if not (compared.program and own and texts):
        return certain | {"program": False}
    named = choice.program_files or [compared.program.main or "program"]
    shared = [file for file in texts if file in own]
    pairs = {file: (own.get(file, ""), texts.get(file, "")) for file in [*named, *shared]}
    different = [file for file, pair in pairs.items() if pair[0] != pair[1] or not all(pair)]
    return certain | {file: None not in pairs[file] for file in different}


def no_run(hand_in: HandIn, name: str) -> NotMeasured:
    """Return the reason why there is no run with this name."""
    choice = hand_in.rubric.runs[name]
    recorded_nothing = [run for run in hand_in.runs if not run.has_header and not run.epochs]
    for run in sorted(recorded_nothing, key=by_time, reverse=True):
        cause = problem_to_read(replace(run, problems=tuple(p for p in run.problems if p.actual)))
        if cause and run.outcome not in MAY_BE_WHOLE and is_job_of(run, choice, name):
            reason = f"no run of `{name}`: its job ended before the program began to record; "
            reason += f"{run.outcome} ({how_it_failed(run, cause)})"
            return NotMeasured(reason, last_lines(run), cause.where, ReasonCode.NO_RUN)
    facts = ", ".join(f"{fact} {value}" for fact, value in choice.where.items())
    reason, hint, code = f"no run of `{name}` ({facts}) was submitted", SUBMIT_IT, ReasonCode.NO_RUN
    unseen = [note for note in hand_in.unseen if not is_answers(PurePath(file_of(note)).name)]
    spare = plain_outputs(hand_in.runs, choice)  # which do not show all of the facts
    spare = spare or [run for run in hand_in.runs if may_be(run, hand_in, name)]
    spare.sort(key=lambda run: run.workers == choice.where.get("world_size"))
    if unseen:
        reason = f"no readable run of `{name}` was submitted: {unseen[0].actual}"
        hint = f"{unseen[0].advice}; if this run is not in it, {hint}"
        if unseen[0].code == FindingCode.FILE_EMPTY:  # it was submitted, but shows no run
            hint, code = unseen[0].advice, ReasonCode.RUN_UNCLEAR
    elif spare:
        file, code = shortened(spare[-1].files[0]), ReasonCode.RUN_UNCLEAR
        reason, hint = f"{reason}, unless it is in `{file}`", PRINT_IT.format(file=file)
    return NotMeasured(reason, hint, [Where(run.files[0], 1) for run in spare[-3:]], code)


def may_be(run: Run, hand_in: HandIn, name: str) -> bool:
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
    return run.format in choice.or_format or is_strange(run, hand_in)


def is_strange(run: Run, hand_in: HandIn) -> bool:
    """Return whether an output has no record and is no run of the rubric's, but may be one."""
    is_named = any(plain_outputs([run], choice) for choice in hand_in.rubric.runs.values())
    return run.outcome in MAY_BE_WHOLE and not (run.has_header or is_named)


def is_job_of(run: Run, choice: RunChoice, name: str) -> bool:
    """Return whether an output is named after these runs' job, such as 10_multiworker_7.out."""
    source = str(choice.where.get("source"))
    called = {name, source, source.partition("-")[0]}
    return any(called & set(WORDS.split(PurePath(file).name)) for file in run.files)


def did_not_finish(name: str, run: Run) -> NotMeasured:
    """Return the error for a run that ended early, with the problem shown in its output."""
    problem, ended, try_ = problem_to_read(run), str(run.outcome), last_lines(run)
    if problem:
        ended += f" ({how_it_failed(run, problem)})"
    reason, code = f"the run of `{name}` did not finish: {ended}", ReasonCode.RUN_UNFINISHED
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
    is_record = problem.code == FindingCode.BAD_LINE  # whose text says nothing to people
    text = "" if is_record else shortened(SOURCE_PLACE.sub("", problem.actual), 160)
    return f"{problem.title}: {text}" if text else problem.title


def last_lines(run: Run) -> str:
    """Return advice to read the last lines of the error file, or of the output if there is none."""
    errors = [file for file in run.files if output_name(file).is_error]
    return "look at the last lines of " + (shortened(errors[0]) if errors else "the output")


def by_size(metric: str, runs: Sequence[Run]) -> list[tuple[float, Run]]:
    """Return the runs that can be measured, each with its value."""
    values = [(measured_or_none(metric_named(metric).function, run), run) for run in runs]
    return [(value.value, run) for value, run in values if isinstance(value, Measure)]


def larger_unfinished(hand_in: HandIn, name: str, run: Run, metric: str) -> NotMeasured | None:
    """Return why a run on more workers did not finish, if that may be why `run` is too small."""
    choice = hand_in.rubric.runs[name]
    asked = choice.largest and (metric == choice.largest or run.workers == 1)
    for each in filter(None, (name, choice.program_of)) if asked else ():
        ended = [one for one in hand_in.runs_by_name[each] if one.outcome != Outcome.COMPLETED]
        larger = [one for one in ended if (one.workers or 0) > (run.workers or 0)]
        if larger:
            return did_not_finish(each, larger[-1])
    return None


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
