"""Report what the grader will not find in a bundle."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from autograder.codes import Outcome
from autograder.evidence.programs import files_that_ran
from autograder.judging.conditions import RUN_AGAIN, cases_of, judge_condition
from autograder.judging.hand_in import HandIn, matching
from autograder.records import Run
from autograder.settings import rubric
from autograder.settings.draws import ID, for_person, key_of_release
from autograder.settings.rubric_schema import Question, Rubric, needed_runs
from autograder.submissions.answers import answers_of
from autograder.submissions.kinds import Kind, kind_of
from autograder.submissions.texts import read_programs
from autograder.verdict import PASSED
from lessons.questions.forms import form_fault
from lessons.student.bundle import Bundle
from lessons.student.cell_errors import NO_NOTEBOOK
from lessons.student.ended_badly import how_it_ended, source_of

WITH_GAPS = (".ipynb", ".py", ".sbatch")  # not what a job printed
NAME = r"(Exercise \d+\.\d+[a-z]?|Predict|Answer)"
GAP = re.compile(rf"NotImplementedError\(\s*[\"']{NAME}: ")
# In a job file, a gap is a name followed by directives without values, or commands that print the
# name.
JOB_GAP = re.compile(
    rf"^(?:# {NAME}: .*\n(?:#SBATCH .*\n)*?#SBATCH --[a-z-]+=\s*$|echo .{NAME}: )", re.M
)
PROGRAM = re.compile(r"^\s*launch\b.*?\s(\w+\.py)\b", re.M)
SOURCE = re.compile(r"\bsource *= *(.*)")  # of a program's record
WORD = re.compile(r"\"([\w-]+)\"")
COPIED = 2.0  # seconds between the times of files that were copied together


def what_is_missing(bundle: Bundle, lesson: str, runs: list[Run]) -> Iterator[str]:
    """Yield sentences about everything that the grader will not find."""
    file = rubric.FOLDER / f"{lesson}.yaml"
    asked = rubric.load_rubric(file) if file.exists() else None
    if asked and asked.pools:
        asked = for_person(asked, {ID: own_id(bundle)}, None, key_of_release(rubric.FOLDER))
    outputs = bundle.files.get("outputs", [])
    known = [run for run in runs if run.format != "unknown"]  # no run is expected in err.txt
    if not outputs:
        yield "no output of any job (*.out): submit the lesson's jobs and wait until they end"
    elif not known:
        yield "no run in any output: did the jobs start their programs? look at the .err files"
    ended = [run for run in known if run.outcome == Outcome.COMPLETED]
    good = {source_of(run) for run in ended}
    yield from (
        how_it_ended(run, bundle.folder)
        for run in known
        if run not in ended and source_of(run) not in good
    )
    if asked and outputs:
        for name in sorted(needed_runs(check for check in asked.checks if not check.if_present)):
            if not matching(ended, asked, name):
                facts = ", ".join(f"{key} {value}" for key, value in asked.runs[name].where.items())
                job = job_of(bundle, asked.runs[name].where.get("source"))
                yield f"no completed run of `{name}` ({facts}){job}"
        yield from not_as_asked(asked, ended)
        yield from to_run_again(asked, ended)
    yield from another_program(latest_runs(ended), bundle)
    yield from without_real_data(latest_runs(ended))
    yield from missing_answers(bundle, asked, lesson)
    if asked and any(check.report for check in asked.checks) and "report" not in bundle.files:
        yield "no report.md: one of the notebook's last cells writes it"
    for path in bundle.everything():
        if path.suffix in WITH_GAPS:
            yield from gaps_in(bundle.folder, path)
    if "notebook" not in bundle.files:
        yield "no notebook"


def own_id(bundle: Bundle) -> str:
    """Return the id by which the student's questions are drawn, as answers.txt has it."""
    files = {bundle.folder / one: str(one) for one in bundle.files.get("answers", [])}
    given, _ = answers_of(files, [ID])
    return given[ID].text if ID in given else ""


def in_every_profile(asked: Rubric) -> dict[str, Question]:
    """Return the questions that are graded in every profile."""
    named = [
        {key for check in asked.checks if check.only in (None, profile) for key in check.answers}
        for profile in ("smoke", "full")
    ]
    return {key: asked.answers[key] for key in asked.answers if all(key in one for one in named)}


def not_as_asked(asked: Rubric, ended: list[Run]) -> Iterator[str]:
    """Yield a sentence about each run that fails a condition on a text value.

    The result of such a condition does not depend on the machine or the profile.
    """
    hand_in = HandIn(asked, ended, {}, "full")
    for check in asked.checks:
        for condition in check.require:
            there = all(hand_in.runs_by_name[name] for name in condition.of)
            if not there or not isinstance(condition.threshold.value, str):
                continue
            for part in judge_condition(cases_of(hand_in, condition)):
                if part.status != PASSED:
                    reason = f"Found: {part.actual}. Expected: {part.expected}."
                    yield f"a check would fail: {check.title}. {reason} {check.try_}".rstrip()


def to_run_again(asked: Rubric, ended: list[Run]) -> Iterator[str]:
    """Yield sentences about points that may have been lost to noise in every grading profile."""
    hand_ins = [HandIn(asked, ended, {}, profile) for profile in ("smoke", "full")]
    for check in asked.checks:
        for condition in check.require:
            if all(hand_ins[0].runs_by_name[name] for name in condition.of):
                cases = (cases_of(hand_in, condition) for hand_in in hand_ins)
                parts = [part for own in cases for part in judge_condition(own)]
                if parts and all(part.advice == RUN_AGAIN for part in parts):
                    found = f"{check.title}. Found: {parts[0].actual}."
                    yield f"a job has to run again: {found} {RUN_AGAIN}"


def job_of(bundle: Bundle, source: object) -> str:
    """Return a phrase that names the job file for this source, if there is exactly one."""
    makers = set()
    for path in bundle.files.get("job files", []):
        for program in PROGRAM.findall(text_of(bundle.folder / path)):
            if source in sources_in(text_of(bundle.folder / program)):
                makers.add(str(path))
    return f"; its job file is {makers.pop()}" if len(makers) == 1 else ""


def sources_in(program: str) -> set[str]:
    """Return the sources that a program states, or the one that its Run finds by itself."""
    stated = {word for line in SOURCE.findall(program) for word in WORD.findall(line)}
    if stated or "Run(" not in program:
        return stated
    kind = "keras" if "import tensorflow" in program else "torch"
    if "import horovod" in program:
        return {f"{kind}-horovod"}
    return {"ddp" if "torch.distributed" in program else kind}


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def latest_runs(ended: list[Run]) -> list[Run]:
    """Return the latest of all runs with the same settings, which is the one that counts."""
    facts = ("source", "program", "model", "world_size", "global_batch", "lr", "dataset")
    latest = {}
    for run in sorted(ended, key=lambda run: run.began_ms or 0):
        latest[tuple(str(run.header.get(fact)) for fact in facts)] = run
    return list(latest.values())


def another_program(latest: list[Run], bundle: Bundle) -> Iterator[str]:
    """Yield sentences about runs whose program was changed afterwards.

    The change is detected from the record or, failing that, from the files' modification times.
    """
    packed = {bundle.folder / path: path.as_posix() for path in bundle.files.get("programs", [])}
    for file in files_that_ran(latest, read_programs(packed)):
        if file.replaced_by:
            yield (
                f"{file.replaced_by.name} is not the program that ran in {Path(file.output).name}: "
                "run the job again, or submit the program that ran"
            )
    for run in latest:
        program = bundle.folder / Path(run.header.program or "").name
        output = Path(run.files[0])
        told = run.program and run.program.files.get(program.name)
        if told or not program.is_file():
            continue
        if program.stat().st_mtime > output.stat().st_mtime + COPIED:
            yield f"{output.name} is older than {program.name}: run the job again"


def without_real_data(latest: list[Run]) -> Iterator[str]:
    files = {Path(run.files[0]).name: None for run in latest if run.header.dataset.synthetic}
    if files:
        yield (
            f"{', '.join(files)}: trained on synthetic data. Submit a run on real data instead: "
            "`lessons data fetch` gets it, on a login node"
        )


def missing_answers(bundle: Bundle, asked: Rubric | None, lesson: str) -> Iterator[str]:
    wanted = in_every_profile(asked) if asked else {}
    if not asked or not wanted:
        return
    if "answers" not in bundle.files:
        kinds = {name: kind_of(Path(name).name) for name in bundle.left_out}
        unread = next((name for name in kinds if kinds[name] == Kind.UNREAD_ANSWERS), "")
        also = f"; {unread} is not a text file, so the grader ignores it" if unread else ""
        yield f"no answers.txt: the notebook's cells with `answers.note(…)` write it{also}"
        return
    answers = {bundle.folder / one: str(one) for one in bundle.files["answers"]}
    given, findings = answers_of(answers, wanted)
    file = ", ".join(answers.values())
    for finding in findings:
        yield f"{file}: {finding.title}: {finding.actual}"
    for name, question in wanted.items():
        text = given[name].text if name in given else ""
        if text and (fault := form_fault(lesson, name, question, text)):
            yield f"{file}: {name} = {text} {fault}"
    without = sorted(set(wanted) - set(given))
    if without:
        yield f"{file} has no {', '.join(without)}"
    if unknown := sorted(set(given) - set(asked.answers)):
        yield f"{file} has {', '.join(unknown)}: no question has this name. Is it misspelt?"


def gaps_in(folder: Path, path: Path) -> Iterator[str]:
    """Yield the open gaps, each once, and notebooks that cannot be read."""
    try:
        names = open_gaps(folder / path)
    except ValueError:
        yield f"{path} {NO_NOTEBOOK}"
        return
    for name in names:
        yield f"{path} still has the gap of {name}"


def open_gaps(path: Path) -> list[str]:
    """Return the names of a file's unfilled gaps. An invalid notebook raises a ValueError."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".ipynb":
        try:
            cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
            text = "\n".join("".join(cell["source"]) for cell in cells)
        except (LookupError, TypeError, RecursionError) as error:
            raise ValueError(f"{path} {NO_NOTEBOOK}") from error
    if path.suffix in (".sbatch", ".sh"):
        names = ["".join(parts) for parts in JOB_GAP.findall(text)]
    else:
        names = GAP.findall(text)
    return sorted(set(names))
