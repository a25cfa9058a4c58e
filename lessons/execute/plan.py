"""Check a run's inputs before it starts, and copy each lesson's folder."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from lessons.edition.build import solution_notebook
from lessons.edition.gaps import SourceError
from lessons.folders import choose_lessons, made_by_hand, notebook_in

# Seconds for a cell and for a lesson, which should take 60 in `smoke`. In `full`, jobs also queue.
LIMITS = {"smoke": (600, 1800), "full": (4 * 3600, 4 * 3600)}


@dataclass(frozen=True)
class Plan:
    name: str
    source: Path  # the lesson's folder in its edition
    notebook: Any
    parameters: dict[str, Any]


def plan_lessons(
    root: Path, edition: str, asked: tuple[str, ...], parameters: dict[str, Any]
) -> list[Plan]:
    """Read all requested lessons. If one of them cannot run, refuse them all and say why."""
    plans, problems = [], []
    for folder in choose_lessons(root / edition, asked).values():
        try:
            notebook = read_lesson(folder)
            problems.append(parameter_problem(folder.name, notebook, parameters))
            plans.append(Plan(folder.name, folder, notebook, parameters))
        except SourceError as error:
            problems.append(str(error))
    if any(problems):
        raise click.UsageError("\n".join(filter(None, problems)))
    return plans


def read_lesson(folder: Path) -> Any:
    """Return the notebook of a lesson from either edition."""
    import nbformat

    source, page = folder / "lesson.py", notebook_in(folder)
    if source.is_file():
        text = source.read_text(encoding="utf-8")
        return solution_notebook(text, f"{folder.parent.name}/{folder.name}/lesson.py", folder.name)
    if not page.is_file():
        raise SourceError(str(folder), 1, f"there is neither lesson.py nor {page.name}.")
    try:
        return nbformat.read(page, as_version=4)
    except Exception as error:
        raise SourceError(str(page), 1, f"this is not a notebook: {error}") from error


def parameter_problem(name: str, notebook: Any, parameters: dict[str, Any]) -> str | None:
    """Return a sentence if the notebook's `parameters` cell does not set these names."""
    tagged = [c.source for c in notebook.cells if "parameters" in c.metadata.get("tags", [])]
    if not tagged:
        return f"{name}: no cell is tagged `parameters`, so nothing can be set; tag the first one."
    declared = re.findall(r"^(\w+)\s*(?::[^=]+)?=(?!=)", tagged[0], re.MULTILINE)
    unknown = sorted(set(parameters) - set(declared))
    if unknown:
        return (
            f"{name}: there is no parameter {', '.join(unknown)}; "
            f"its `parameters` cell sets: {', '.join(declared) or 'nothing'}."
        )
    return None


def parse_parameter(text: str) -> tuple[str, Any]:
    """Return the name and the value in a text such as `name=value`, read as YAML."""
    import yaml

    name, equals, value = text.partition("=")
    if not equals or not name.strip().isidentifier():
        raise click.UsageError(f"-p {text}: write name=value, for example -p epochs=2.")
    try:
        return name.strip(), yaml.safe_load(value)
    except yaml.YAMLError:
        return name.strip(), value.strip()


def copy_lesson(plan: Plan, out: Path) -> Path:
    """Copy the lesson's folder for this run, so that its source stays clean."""
    import nbformat

    folder = out / plan.name
    folder.mkdir(parents=True)
    for relative in made_by_hand(plan.source):
        if plan.source / relative in (plan.source / "lesson.py", notebook_in(plan.source)):
            continue
        (folder / relative).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(plan.source / relative, folder / relative)
    nbformat.write(plan.notebook, folder / f"{plan.name}.ipynb")
    return folder


def prepare_out(out: Path, plans: list[Plan]) -> None:
    """Create the output folder. Refuse to overwrite an earlier run."""
    if earlier := [out / plan.name for plan in plans if (out / plan.name).exists()]:
        raise click.UsageError(
            f"{earlier[0]} is from an earlier run; choose another --out or move it away."
        )
    out.mkdir(parents=True, exist_ok=True)
