"""Measure how long Chromium takes to draw, sort and filter the class page of many students.

python benchmarks/grading/class_page.py --students 1000
"""

import argparse
import random
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from autograder.codes import CheckStatus, EvidenceLevel, FindingCode, GradeStatus  # noqa: E402
from autograder.notes import make_note  # noqa: E402
from autograder.report.class_page.page import About, class_pages  # noqa: E402
from autograder.settings.class_file import LatePolicy  # noqa: E402
from autograder.settings.policy import Policy  # noqa: E402
from autograder.settings.roster import Person  # noqa: E402
from autograder.settings.rubric import FOLDER, files_in, load_rubric  # noqa: E402
from autograder.settings.rubric_schema import Rubric  # noqa: E402
from autograder.verdict import Check, Grade  # noqa: E402

LOOKS = (
    make_note(FindingCode.SYNTHETIC_DATA),
    make_note(FindingCode.OTHER_PROGRAM),
)


def row(student: str, rubric: Rubric, rng: random.Random) -> Grade:
    handed_in = rng.random() < 0.93
    judged = [(c, rng.choices((1.0, 0.5, 0.0), (8, 1, 1))[0]) for c in rubric.checks]
    states = {1.0: CheckStatus.PASSED, 0.5: CheckStatus.PARTIAL, 0.0: CheckStatus.FAILED}
    score = round(sum(c.points * share for c, share in judged), 2)
    return Grade(
        student=student,
        lesson=rubric.lesson,
        title=rubric.title,
        profile="full",
        status=GradeStatus.GRADED if handed_in else GradeStatus.MISSING,
        score=score if handed_in else None,
        raw_score=score if handed_in else None,
        max_score=rubric.points,
        tier=rng.choice(tuple(EvidenceLevel)[1:4]),
        findings=(rng.choice(LOOKS),) if handed_in and rng.random() < 0.05 else (),
        checks=tuple(
            Check(c.id, c.title, c.points, c.points * share, states[share], "", "")
            for c, share in judged
        ),
    )


def class_of(students: int) -> str:
    rng = random.Random(1)
    rubrics = [load_rubric(path) for path in files_in(FOLDER)]
    names = [f"s{number:05d}" for number in range(students)]
    rows = [row(name, rubric, rng) for name in names for rubric in rubrics]
    people = {name: Person(name, f"Student Number {name[1:]}") for name in names}
    due = {rubric.lesson: f"20{20 + n}-03-01T12:00:00+00:00" for n, rubric in enumerate(rubrics)}
    titles = {rubric.lesson: {c.id: c.title for c in rubric.checks} for rubric in rubrics}
    began = time.perf_counter()
    about = About(people, Policy(LatePolicy(due=due)), titles)
    text = class_pages(rows, about)["index.html"]
    print(
        f"{students} students × {len(rubrics)} lessons: {len(text.encode()) / 1e6:.1f} MB,", end=" "
    )
    print(f"made in {time.perf_counter() - began:.2f} s")
    return text


DRAWN = """() => new Promise(done =>
  requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))"""
# From an event to the frame that shows its result.
AFTER = """act => new Promise(done => { const began = performance.now(); new Function(act)();
  requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - began))); })"""
ACTS = {
    "sort": "document.querySelector('#grades thead button').click()",
    "filter": "filter.value = '042'; filter.dispatchEvent(new Event('input'))",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--students", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--picture", type=Path, help="Folder for screenshots of the page.")
    words = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("google-chrome") or "chromium"
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        path = Path(folder) / "index.html"
        path.write_text(class_of(words.students), encoding="utf-8")
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        seconds: dict[str, list[float]] = {name: [] for name in ("draw", *ACTS)}
        for _ in range(words.repeats):
            page = browser.new_page(viewport={"width": 1400, "height": 900})
            page.goto(path.as_uri())
            seconds["draw"].append(page.evaluate(DRAWN) / 1000)
            for name, act in ACTS.items():
                seconds[name].append(page.evaluate(AFTER, act) / 1000)
            page.close()
        for name, values in seconds.items():
            middle = statistics.median(values)
            print(f"{name:12} {middle:.2f} s ({min(values):.2f} to {max(values):.2f})")
        if words.picture:
            screenshots(browser.new_page(), path, words.picture)
        browser.close()


def screenshots(page: Page, path: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, width, scheme in (("wide", 1400, "light"), ("dark", 1400, "dark"),
                                ("phone", 390, "light")):  # fmt: skip
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.goto(path.as_uri())
        page.screenshot(path=folder / f"class-{name}.png")


if __name__ == "__main__":
    main()
