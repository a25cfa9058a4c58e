"""`autograder calibrate`: measure the solution on a site, as the reference for rubrics."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click
import yaml

from autograder.commands.options import NEW_FILE, THERE, rubrics_option
from autograder.data_files import write
from autograder.errors import SettingsError
from autograder.judging.conditions import condition_value, reference_key
from autograder.judging.hand_in import HandIn
from autograder.measuring import measure
from autograder.measuring.interval import Measure, measured_or_none
from autograder.measuring.metrics import Value
from autograder.reading.files import read_files
from autograder.records import Run
from autograder.safe_text import shortened
from autograder.settings import rubric
from autograder.settings.calibration import on_workers
from autograder.settings.rubric_schema import Condition, Rubric, own_readers
from autograder.submissions.class_folder import listed
from autograder.submissions.kinds import folder_lesson
from autograder.submissions.lesson_files import read_places
from autograder.wording import enumerated

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
        else:
            asked = rubric.load_rubric(rubrics / f"{lesson}.yaml")
            outputs = read_places(lesson, [folder]).outputs
            data[lesson] = {"values": values_of(asked, read_files(outputs, own_readers(asked)))}
    if others:
        click.echo(f"Left out, because no lesson has this name: {enumerated(others)}", err=True)
    if not any(lesson["values"] for lesson in data.values()):
        raise SettingsError(f"{runs} has no finished run that a rubric refers to. {EXPECTED}")
    text = "# What the solution reaches on this site. Written by `autograder calibrate`.\n"
    write(out, text + yaml.safe_dump(data, sort_keys=True, allow_unicode=True))
    for lesson, known in sorted(data.items()):
        for name, row in known["values"].items():
            click.echo(f"{lesson}: {name}: {row['value']:g} {row['unit']}".rstrip())
    click.echo(f"Written to {out}")


def values_of(asked: Rubric, runs: Sequence[Run]) -> dict[str, dict]:
    """Return every reference value that the rubric's conditions need."""
    solution = HandIn(asked, runs, {}, "full")
    values: dict[str, Value | None] = {}
    conditions = [condition for check in asked.checks for condition in check.require]
    for condition in conditions:
        for name in condition.of if condition.threshold.of_reference is not None else ():
            title = reference_key(condition, name)
            values[title] = measured_or_none(condition_value, solution, condition, name)
            for workers, same in _by_workers(solution, condition, name):
                value = measured_or_none(condition_value, same, condition, name)
                values[on_workers(title, workers)] = value
    return {
        title: {"value": v.value, "low": v.low, "high": v.high, "unit": v.unit}
        for title, v in values.items()
        if isinstance(v, Measure)
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
