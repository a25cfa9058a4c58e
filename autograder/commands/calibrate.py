"""`autograder calibrate`: measure the solution on a site, as the reference for rubrics."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import yaml

from autograder.codes import Outcome
from autograder.commands.options import NEW_FILE, THERE, rubrics_option
from autograder.errors import SettingsError
from autograder.judging.hand_in import HandIn, matching, says
from autograder.judging.runs_that_count import program_of, run_that_counts
from autograder.judging.values import condition_value, reference_key
from autograder.measuring import interval, measure
from autograder.measuring.interval import Measure, measured_or_none
from autograder.measuring.metrics import Value, metric_named
from autograder.reading.files import read_files
from autograder.records import Run
from autograder.safe_text import shortened
from autograder.settings import rubric
from autograder.settings.calibration import on_workers
from autograder.settings.rubric_schema import Condition, Rubric, own_readers
from autograder.submissions.class_folder import listed
from autograder.submissions.kinds import folder_lesson
from autograder.submissions.lesson_files import LessonFiles, read_places
from autograder.wording import enumerated
from autograder.writing import write_if_new

EXPECTED = "Expected: one folder per lesson with the solution's outputs, such as RUNS/02/*.out"


@click.command()
@click.argument("runs", type=THERE)
@click.option("--out", type=NEW_FILE, required=True, help="The calibration, for class.yaml.")
@rubrics_option
def calibrate_command(runs: Path, out: Path, rubrics: Path) -> None:
    """Measure the solution's own outputs in RUNS/<lesson>/ and write the site's calibration."""
    lessons = [path.stem for path in rubric.files_in(rubrics)]
    data: dict[str, dict] = {}
    others = []
    is_lesson = folder_lesson(runs.resolve().name, lessons)
    for folder in [runs.resolve()] if is_lesson else (Path(entry.path) for entry in listed(runs)):
        # The folders of a class have students' names. Their speeds are no reference.
        lesson = folder_lesson(folder.name, lessons) if folder.is_dir() else None
        if lesson is None:
            others.append(shortened(folder.name))
        elif lesson in data:
            raise SettingsError(f"{runs} contains lesson {lesson} twice: remove one of them")
        elif found := values_of(read_places(lesson, [folder]), lesson, rubrics):
            data[lesson] = found
    if others:
        click.echo(f"Left out, because no lesson has this name: {enumerated(others)}", err=True)
    if not any(lesson["values"] for lesson in data.values()):
        raise SettingsError(f"{runs} has no finished run that a rubric refers to. {EXPECTED}")
    text = "# What the solution reaches on this site. Written by `autograder calibrate`.\n"
    write_if_new(out, text + yaml.safe_dump(data, sort_keys=True, allow_unicode=True))
    for lesson, values in sorted(data.items()):
        for name, found in values["values"].items():
            click.echo(f"{lesson}: {name}: {found['value']:g} {found['unit']}".rstrip())
    click.echo(f"Written to {out}")


def values_of(files: LessonFiles, lesson: str, rubrics: Path) -> dict[str, Any] | None:
    """Return the reference values of a lesson. If it has no rubric, say so and return None."""
    path = rubrics / f"{lesson}.yaml"
    if not path.exists():
        click.echo(f"{lesson}: no rubric, left out", err=True)
        return None
    asked = rubric.load_rubric(path)
    values = reference_values(asked, read_files(files.outputs, own_readers(asked)))
    if not values["values"]:
        click.echo(f"{lesson}: no references: its rubric needs none, or no run finished", err=True)
    return values


def reference_values(asked: Rubric, runs: Sequence[Run]) -> dict:
    """Return every reference value that the rubric's conditions need, and the speedup curves."""
    solution = HandIn(asked, runs, {}, None, "full")
    values: dict[str, Value | None] = {}
    devices = set()
    for check in asked.checks:
        for condition in check.require:
            if condition.threshold.of_reference is None:
                continue
            for name in condition.of:
                title = reference_key(condition, name)
                values[title] = measured_or_none(_value, solution, condition, name)
                for workers, only in _by_workers(solution, condition, name):
                    value = measured_or_none(_value, only, condition, name)
                    values[on_workers(title, workers)] = value
    for name in asked.runs:
        finished = [r for r in matching(runs, asked, name) if r.outcome == Outcome.COMPLETED]
        devices |= {str(r.header.device) for r in finished}
    return {
        "devices": sorted(devices),
        "values": {
            title: {"value": v.value, "low": v.low, "high": v.high, "unit": v.unit}
            for title, v in values.items()
            if isinstance(v, Measure)
        },
        "speedups": _curves([run for run in runs if says(run, "lesson", asked.lesson)]),
    }


def _by_workers(solution: HandIn, condition: Condition, name: str) -> Iterator[tuple[int, HandIn]]:
    """Yield each number of workers, with its named runs and all runs under other names."""
    own = solution.runs_by_name[name]
    others = filter(None, (condition.base, condition.over, condition.minus))
    kept = {run.id for other in others for run in solution.runs_by_name[other]}
    kept |= {run.id for run in solution.runs} - {run.id for run in own}
    for workers in sorted({measure.workers(run) or 0 for run in own} - {0}):
        runs = [r for r in solution.runs if r.id in kept or measure.workers(r) == workers]
        yield workers, replace(solution, runs=runs)


def _value(solution: HandIn, condition: Condition, name: str) -> Value | None:
    """Return the median over repeated runs, or the metric's value for the runs that count.

    The median is used if the metric describes a single run.
    """
    if condition.minus or condition.over or not metric_named(condition.metric).of_a_run:
        return condition_value(solution, condition, name)
    last = run_that_counts(solution, name)
    alike = [
        run
        for run in solution.runs_by_name[name]
        if run.outcome == Outcome.COMPLETED and measure.workers(run) == measure.workers(last)
    ]
    return _median(condition.metric, alike)


def _median(metric: str, runs: Sequence[Run]) -> Measure | None:
    values = [measured_or_none(metric_named(metric).function, run) for run in runs]
    measures = [value for value in values if isinstance(value, Measure)]
    return interval.middle(measures) if measures else None


def _curves(runs: Sequence[Run]) -> dict[str, dict[int, float]]:
    """Return speedup by number of workers, for each program that ran on one worker and on more."""
    finished = [r for r in runs if r.outcome == Outcome.COMPLETED and measure.workers(r)]
    lines = {}
    for program in sorted({program_of(run) for run in finished}):
        same = [run for run in finished if program_of(run) == program]
        base = next((r for r in same if measure.workers(r) == 1), None)
        line = {
            measure.workers(run) or 1: round(gain.value, 4)
            for run in same
            if base and (gain := measured_or_none(measure.speedup, base, run))
        }
        if len(line) > 1:
            lines[program] = dict(sorted(line.items()))
    return lines
