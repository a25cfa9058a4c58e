"""The key of a kept output: a hash of the lesson's program, the planted change and how it is run.

Comments, docstrings and the layout of the code do not count. Neither do the course's modules that a
program imports: the program shows the mistake, and `make planted` runs them all.
"""

import ast
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from lessons.toolkit.record.run_record import RECORD_VERSION
from tests.lessons.planted.plants import Lesson, patched

# The job file of a way to start.
JOB_FILES = {"queued": "job.sbatch", "elastic": "job_elastic.sbatch", "shards": "job_shards.sbatch"}
RUN = ("run", "ranks", "start", "program", "before", "after", "as_long_as", "environ")


def key_of(lesson: Lesson, name: str) -> str:
    """Return twelve hex digits that change with everything that the job's output depends on."""
    parts: list[object] = [RECORD_VERSION]
    for needed in lesson.needed(name):
        job = lesson.jobs[needed]
        texts = patched(lesson.source, job.patch)
        parts.append({name: getattr(job, name) for name in RUN})
        programs = {job.program, *(command.split()[0] for command in job.before)}
        programs |= {"probe.py"} if job.probe else set()
        parts += [code_of(lesson.source / program, texts) for program in sorted(programs)]
        if file := JOB_FILES.get(job.start):
            parts.append(texts.get(file) or (lesson.source / file).read_text("utf-8"))
    return digest(json.dumps(parts))


def code_of(program: Path, texts: Mapping[str, str]) -> str:
    """Return a hash of a changed program and of the modules that it imports from its own folder."""
    trees: dict[Path, str] = {}
    collect(program, texts, trees)
    return digest("\n".join(f"{file.name} {trees[file]}" for file in sorted(trees)))


def collect(file: Path, texts: Mapping[str, str], trees: dict[Path, str]) -> None:
    """Add the syntax tree of a file and of those beside it that it imports."""
    tree = ast.parse(texts.get(file.name) or file.read_text("utf-8"))
    trees[file] = bare(tree)
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        for name in names:
            beside = file.with_name(f"{name}.py")
            if beside.is_file() and beside not in trees:
                collect(beside, texts, trees)


def bare(tree: ast.Module) -> str:
    """Return the code without strings that stand alone, as docstrings do."""
    for node in ast.walk(tree):
        if isinstance(body := getattr(node, "body", None), list):
            body[:] = [line for line in body if not is_text(line)]
    return ast.dump(tree)


def is_text(line: ast.stmt) -> bool:
    value = line.value if isinstance(line, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def digest(text: str) -> str:
    return hashlib.blake2b(text.encode()).hexdigest()[:12]
