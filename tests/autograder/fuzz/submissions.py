"""Build almost valid submissions from any bytes, and check what every graded class must satisfy.

The bytes are choices: which folders, archives, records, answers and accounting there are, and what
is wrong with them. A fuzzer that changes bytes therefore changes submissions in meaningful ways.
"""

import io
import json
import shutil
import tarfile
import tempfile
import zipfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from click import ClickException

from autograder.classroom import grading
from autograder.classroom.adjust import with_policy
from autograder.classroom.class_settings import ClassSettings
from autograder.classroom.whole_class import find_copies, prints_of
from autograder.collect.collect import Wanted, collect
from autograder.evidence import accounting
from autograder.grouping import grouped
from autograder.measuring.interval import exact
from autograder.report import gradescope
from autograder.report.class_page import class_pages
from autograder.report.exports import EXPORTS
from autograder.report.student.page import student_page
from autograder.settings import rubric
from autograder.settings.roster import Person, meant_by, who_is
from autograder.settings.rubric_schema import Profile
from autograder.submissions.class_folder import Submission, read_class
from autograder.verdict import GRADER_ERROR, TIERS, Grade
from tests.autograder.fuzz.invariants import SAMPLES
from tests.autograder.make_record import make_record, sealed_again

EVIL = "<script>evil()</script>"
ODD: tuple = (
    None, True, False, 0, -1, 1, 2, 0.5, 1e-9, 1e308, -1e308, 2**53, 10**40, "nan", "inf", "-inf",
    "", "1", "=1+1", EVIL, "\u202eabc\x1b[31m\n\0", "é" * 300, [], [0, None, 2], [1, 2, 0], [[]],
    {}, {"name": 3}, {"train_samples": -5}, {"train_samples": 10**12}, [None], ["n1", 2], "02",
    "2026-03-02T10:00:00+00:00", "2026-13-99", "\ud800",
)  # fmt: skip
NAMES = (
    "job_1.out", "job_1.err", "slurm-12.out", "a b.out", EVIL.replace("/", "") + ".out", "=x.out",
    "é\u202e.log", "x" * 200 + ".out", "noending", "README.txt", "a.o123", "a\nb.out", "-rf.out",
)  # fmt: skip
LESSONS = ("02_serial", "02", "lesson-07", "08_data", "09", "13", "notes", "../up", "02/deep/er")
PACKED = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz", ".ZIP")


class Choices:
    """Bytes read as choices; after the last byte, the first option is always chosen."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def number(self, below: int) -> int:
        width = 1 if below <= 256 else 2
        piece = self.data[self.at : self.at + width]
        self.at += width
        return int.from_bytes(piece, "big") % below

    def pick(self, of: Any) -> Any:
        return of[self.number(len(of))]

    def flag(self) -> bool:
        return self.number(4) == 3

    def raw(self, most: int) -> bytes:
        length = self.number(most)
        piece = self.data[self.at : self.at + length]
        self.at += length
        return piece


@cache
def loaded() -> tuple[dict, dict]:
    rubrics = {p.stem: rubric.load_rubric(p) for p in sorted(rubric.FOLDER.glob("[0-9]*.yaml"))}
    folder = rubric.FOLDER / "expected"
    return rubrics, {n: rubric.load_expected(folder / f"{n}.yaml", r) for n, r in rubrics.items()}


# --- what students submit -----------------------------------------------------------------------


def a_file(choices: Choices) -> tuple[str, bytes]:
    kind = choices.number(8)
    if kind < 4:
        return choices.pick(NAMES), a_record(choices)
    if kind < 6:
        return "answers.txt", answers(choices)
    if kind == 6:
        return choices.pick(NAMES), damaged(choices, choices.pick(list(SAMPLES.values())))
    return choices.pick((*NAMES, "timestamp.txt", "answers.txt")), choices.raw(200)


def a_record(choices: Choices) -> bytes:
    """Return a run that some rubric asks for, with odd facts, moved lines and replaced values."""
    known, _ = loaded()
    lesson = choices.pick(sorted(known))
    where = dict(choices.pick(list(known[lesson].runs.values())).where)
    size = int(where.pop("world_size", choices.pick((1, 2, 3, 8))))
    facts: dict[str, Any] = {"lesson": lesson, "source": "keras"} | where
    for name in ("started", "job_id", "hosts", "device", "model", "scaling", "epochs_asked"):
        if choices.flag():
            facts[name] = choices.pick(ODD)
    lines = make_record(
        size=size,
        run=choices.pick(("5f0c2a91", "77aa77aa", "c0ffee00")),
        seconds=tuple(choices.pick((1.0, 2.0, 0.001, 1e6)) for _ in range(choices.number(6))),
        samples=choices.pick((60000, 2560, 1, 3)),
        test_accuracy=choices.pick((0.98, 0.1, *ODD)),
        hashes=choices.pick((("h",), ("h", "i"))),
        finished=not choices.flag(),
        measures=tuple(a_measure(choices) for _ in range(choices.number(3))),
        **facts,
    )
    for _ in range(choices.number(5)):
        lines = changed(choices, lines)
    if choices.flag():
        with suppress(ValueError, LookupError, TypeError):
            lines = sealed_again(lines)
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def a_measure(choices: Choices) -> dict[str, Any]:
    names = ("allreduce_s", "step_s", "accuracy", EVIL)
    at = choices.pick(({}, {"micro_batches": 4}, {"bytes": 4000, "algorithm": "ring"}))
    return {"name": choices.pick(names), "value": choices.pick((0.1, *ODD)), "unit": "s", **at}


def changed(choices: Choices, lines: list[str]) -> list[str]:
    if not lines:
        return lines
    one, other, what = *(choices.number(len(lines)) for _ in range(2)), choices.number(6)
    if what == 0:
        lines[one], lines[other] = lines[other], lines[one]
    elif what == 1:
        del lines[one]
    elif what == 2:
        lines.insert(one, lines[other])
    elif what == 3:
        lines[one] = lines[one][: choices.number(400)]
    elif what == 4:
        lines[one] = damaged(choices, lines[one].encode("utf-8", "replace")).decode("latin-1")
    else:
        lines[one] = with_odd_value(choices, lines[one])
    return lines


def with_odd_value(choices: Choices, line: str) -> str:
    """Replace one member of the line's JSON, at any depth, with something else."""
    try:
        event = json.loads(line[line.index("{") :])
        place = event
        for _ in range(choices.number(4)):
            inner = [v for v in place.values() if isinstance(v, dict) and v]
            if not inner:
                break
            place = choices.pick(inner)
        place[choices.pick(sorted(place))] = choices.pick(ODD)
    except (ValueError, IndexError, ZeroDivisionError):
        return line
    return ":::MLLOG " + json.dumps(event, separators=(",", ":"))


def damaged(choices: Choices, data: bytes) -> bytes:
    at = choices.number(len(data) + 1)
    return data[:at] + choices.raw(24) + data[at + choices.number(60) :]


def answers(choices: Choices) -> bytes:
    known, _ = loaded()
    ids = list(known[choices.pick(sorted(known))].answers) or ["x"]
    lines = []
    for _ in range(choices.number(12)):
        value = choices.pick(("yes", "no", "A", "7.2 s", "87 %", "1,5", "60,000", *map(str, ODD)))
        lines.append(f"{choices.pick(ids)} {choices.pick('==: ')} {value}")
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def packed(choices: Choices, suffix: str, files: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    if suffix.lower() == ".zip":
        with zipfile.ZipFile(data, "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)
    else:
        mode = {".tar": "w", ".tar.xz": "w:xz"}.get(suffix, "w:gz")
        with tarfile.open(fileobj=data, mode=mode) as archive:  # type: ignore[call-overload]
            for name, content in files.items():
                info = tarfile.TarInfo(name)
                info.size = len(content)
                info.type = choices.pick((*[tarfile.REGTYPE] * 6, tarfile.SYMTYPE))
                archive.addfile(info, io.BytesIO(content))
    return damaged(choices, data.getvalue()) if choices.flag() else data.getvalue()


def make_class(choices: Choices, place: Path) -> None:
    """Write one or two students, each with lessons as folders, archives or loose files."""
    for student in ("ada", choices.pick(("ben", EVIL.replace("/", ""), "=cmd", "é\u202e")))[
        : 1 + choices.number(2)
    ]:
        home = place / "class" / student
        home.mkdir(parents=True)
        for _ in range(1 + choices.number(3)):
            lesson = choices.pick(LESSONS)
            files = dict(a_file(choices) for _ in range(1 + choices.number(3)))
            if choices.flag():
                inside = {f"{lesson}/{name}".replace("\n", "_"): d for name, d in files.items()}
                suffix = choices.pick(PACKED)
                name = choices.pick(("work", "02_serial", student))
                (home / f"{name}{suffix}").write_bytes(packed(choices, suffix, inside))
                continue
            folder = home / lesson.replace("../", "up") if not choices.flag() else home
            folder.mkdir(parents=True, exist_ok=True)
            for name, content in files.items():
                (folder / name).write_bytes(content)


def accounts(choices: Choices, path: Path) -> dict | None:
    if not choices.flag():
        return None
    header = "JobID|User|State|Start|End|NNodes|NCPUS|AllocTRES|NodeList"
    values = (
        *("1234", "ada", "COMPLETED", "1772445590", "1772446000", "1", "8", "cpu=8,gres/gpu=2"),
        *("n1", "n[1-3]", "n[1-2,05]", "Unknown", "", "2026-03-02T10:00:00", "-1"),
        *("n[1-999999999]", "n[1-999]n[1-999]n[1-999]"),
    )
    lines = [header]
    for _ in range(choices.number(4)):
        lines.append("|".join(choices.pick(values) for _ in range(9)))
    path.write_bytes(damaged(choices, "\n".join(lines).encode()))
    with suppress(ClickException):
        return accounting.read_accounting(path)
    return None


# --- invariants ---------------------------------------------------------------------------------


def grade_and_check(data: bytes) -> list[Grade]:
    choices = Choices(data)
    known, expected = loaded()
    place = Path(tempfile.mkdtemp(prefix="fuzz-", dir=SCRATCH))
    try:
        make_class(choices, place)
        profile: Profile = choices.pick(("smoke", "full"))
        settings = ClassSettings(
            rubrics=known,
            expected=expected,
            profile=profile,
            references={n: {"throughput of keras": exact(1e5, "samples/s")} for n in known},
            jobs=accounts(choices, place / "sacct.txt"),
            people={"ada": Person("ada", login="ada")},
        )
        outside = sorted(p.name for p in place.iterdir())
        submissions = collected(place)
        graded = [grading.grade(submission, settings) for submission in submissions]
        rows = with_policy(submissions, graded, settings)
        for grades in grouped((row.student, row) for row in rows).values():
            check(grades, profile)
        assert {p.name for p in place.iterdir()} == {*outside, "collected"}, "something got out"
        find_copies([run for row in rows for run in prints_of(row)])
        for page in class_pages(rows, {}, ClassSettings({}, {})).values():
            harmless(page)
        for text in (EXPORTS[name](rows, {}, settings) for name in ("grades.csv", "checks.csv")):
            assert not any(cell.startswith(("=", "@")) for cell in text.split(","))
        return rows
    finally:
        shutil.rmtree(place)


SCRATCH = "/dev/shm" if Path("/dev/shm").is_dir() else None


def collected(place: Path) -> list[Submission]:
    """Collect the class, then return the submissions read from it."""
    known, _ = loaded()
    wanted = Wanted("folders", known.keys(), who_is({}, {}))
    collect([place / "class"], place / "collected", wanted)
    return read_class(place / "collected", known, meant_by({}))


def check(grades: list[Grade], profile: str) -> None:
    lessons = [grade.lesson for grade in grades]
    assert len(lessons) == len(set(lessons)), f"a lesson twice: {lessons}"
    for grade in grades:
        assert grade.status != GRADER_ERROR, grade.findings[-1].actual
        assert grade.tier in TIERS
        assert grade.score is None or 0 <= grade.score <= grade.max_score
        for one in grade.checks:
            assert 0 <= one.score <= one.points
            assert one.status == "passed" or (one.expected and one.actual), one
    harmless(student_page("x", grades))
    json.loads(gradescope.document(grades).encode("utf-8", "backslashreplace"))


def harmless(page: str) -> None:
    assert EVIL not in page
    assert not any(character in page for character in "\x1b\u202e\0")
