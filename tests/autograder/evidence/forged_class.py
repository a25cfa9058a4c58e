"""A class with a forger's submissions and a roster, graded with and without accounting."""

import copy
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from click.testing import CliRunner

from autograder.cli import main
from tests.autograder.class_yaml import setting
from tests.autograder.evidence import rewriting as forge
from tests.autograder.evidence.rewriting import Lines, events

HEADER = "JobID|User|State|Start|End|NCPUS|AllocTRES|NodeList|TotalCPU"
# The origin of each output (lesson, saved output, job name), and how much slower the machine was.
JOBS = {
    "numpy": ("01", "right", "01_numpy", 1),
    "numpy-long": ("01", "right", "01_numpy", 600),
    "keras": ("03", "right", "03_baseline", 1),
    "horovod-1": ("07", "one-rank", "07_keras", 1),
    "horovod-2": ("07", "right", "07_keras", 1),
    "sweep": ("09", "the-sweep", "09_sweep", 1),
}
IMPORT_S, END_S = 12, 3  # seconds of a real step before the record's first line and after its last


@dataclass
class Case:
    """A student's outputs, which a forgery changes, and what the scheduler knows about the jobs."""

    outputs: dict[str, Lines]  # by the names above
    cpu: dict[str, int] = field(default_factory=dict)  # seconds of CPU time
    # How a classmate changed the same outputs; that classmate is then the forger.
    classmate: Callable[[dict[str, Lines]], None] | None = None
    logins: bool = True  # the roster says who owns which account

    def __getitem__(self, name: str) -> Lines:
        return self.outputs[name]


@dataclass(frozen=True)
class Forgery:
    """A change to some outputs.

    `alone` and `accounted` are the findings expected without and with the scheduler's accounting,
    given as a code or as words of what students have in common. Empty means no finding.
    """

    what: str
    jobs: tuple[str, ...]
    change: Callable[[Case], None]
    alone: str
    accounted: str = ""


# --- graded -----------------------------------------------------------------------------------


class Said(NamedTuple):
    tier: str
    findings: tuple[str, ...]  # codes, also those of what students have in common


def honest_outputs(jobs: tuple[str, ...]) -> dict[str, Lines]:
    numbers = {name: number for number, name in enumerate(JOBS, start=1001)}
    found = {}
    for name in jobs:
        lesson, kept, job, times = JOBS[name]
        lines = forge.kept(lesson, kept)
        lines = forge.slowed(lines, times) if times > 1 else lines
        found[name] = forge.as_job(lines, numbers[name], job)
    return found


def accounting(outputs: dict[str, Lines], case: Case) -> str:
    """Return what the scheduler knows: the jobs as they really ran, and another user's GPU job."""
    rows = [HEADER, "900|eve|COMPLETED|2|3|1|cpu=1,gres/gpu=1|vm|00:01.000"]
    for name, lines in outputs.items():
        job = forge.event_of(lines, "machine")["value"]["job_id"]
        ranks = forge.event_of(lines, "header")["value"]["world_size"]
        times = [event["time_ms"] // 1000 for event in events(lines)]
        first, last = min(times) - IMPORT_S, max(times) + END_S
        cpu = case.cpu.get(name, ranks * (last - first))
        had = f"{ranks}|cpu={ranks},mem=4G,node=1|vm|{cpu // 60:02}:{cpu % 60:02}.000"
        rows.append(f"{job}|ada|COMPLETED|{first}|{last}|{had}")
    return "\n".join(rows) + "\n"


def said_of(forgery: Forgery, accounted: bool) -> Said:
    honest = honest_outputs(forgery.jobs)
    case = Case(copy.deepcopy(honest))
    forgery.change(case)
    lesson = JOBS[forgery.jobs[0]][0]
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        hand_in(root / "class" / "ada" / lesson, case.outputs)
        if case.classmate:
            theirs = copy.deepcopy(honest)
            case.classmate(theirs)
            hand_in(root / "class" / "ben" / lesson, theirs)
        roster = "student,login\nada,ada\nben,ben\n" if case.logins else "student\nada\nben\n"
        (root / "roster.csv").write_text(roster)
        (root / "sacct.txt").write_text(accounting(honest, case))
        words = ["grade", root / "class", "--out", root / "grades", "--profile", "smoke"]
        words += ["--jobs", "1", "--roster", root / "roster.csv"]
        words += [*setting("accounting", root / "sacct.txt")] if accounted else []
        done = CliRunner().invoke(main, [str(word) for word in words])
        assert done.exit_code in (0, 1), done.output
        rows = json.loads((root / "grades" / "grades.json").read_text())["grades"]
    forger = "ben" if case.classmate else "ada"
    [row] = [row for row in rows if (row["student"], row["lesson"]) == (forger, lesson)]
    codes = dict.fromkeys(reason["code"] for reason in row["look"])
    return Said(row["tier"], tuple(code for code in codes if not code.startswith("check ")))


def hand_in(folder: Path, outputs: dict[str, Lines]) -> None:
    folder.mkdir(parents=True)
    for number, (name, lines) in enumerate(outputs.items(), start=1001):
        (folder / f"{JOBS[name][2]}_{number}.out").write_text(forge.written(lines), "utf-8")
