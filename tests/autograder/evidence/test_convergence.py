"""A first epoch far better than the solution's is found in every lesson and run of its rubric.

The reference is what `autograder calibrate` writes for the solution's own outputs.
"""

from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.cli import main
from autograder.codes import FindingCode
from autograder.settings import rubric
from tests.autograder.class_yaml import setting
from tests.autograder.make_record import make_record, write_lines
from tests.breadth import breadth

RUBRICS = {path.stem: rubric.load_rubric(path) for path in rubric.files_in(rubric.FOLDER)}
AMOUNTS = {"better": 0.04, "far-better": 0.1}
FASTER = FindingCode.CONVERGES_TOO_FAST.heading


def hand_in_runs(folder: Path, lesson: str, better: str = "", by: float = 0.0) -> None:
    """Write one record per run of the rubric, one of them better by the given amount."""
    for number, (name, choice) in enumerate(RUBRICS[lesson].runs.items()):
        lines = make_record(
            lesson=lesson,
            run=f"{number:08x}",
            job_id=str(number),
            accuracy=0.5 + (by if name == better else 0),
            size=int(choice.where.get("world_size", 2 if choice.largest == "ranks" else 1)),
            **{key: value for key, value in choice.where.items() if key != "world_size"},
        )
        write_lines(folder / f"{lesson}_{name}_{number}.out", lines)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    for lesson in RUBRICS:
        hand_in_runs(folder / "solution" / lesson, lesson)
    words = ["calibrate", str(folder / "solution"), "--out", str(folder / "site.yaml")]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    return folder / "site.yaml"


@pytest.mark.parametrize("lesson", breadth(RUBRICS))
def test_a_first_epoch_far_better_than_the_solutions_is_told(tmp_path, grade, site, lesson):
    runs = RUBRICS[lesson].runs
    hand_in_runs(tmp_path / "class" / "as-good" / lesson, lesson)
    for name in runs:
        for much, by in AMOUNTS.items():
            hand_in_runs(tmp_path / "class" / f"{much}_{name}" / lesson, lesson, name, by)
    result = grade(tmp_path / "class", *setting("calibration", site))
    pages = {page.stem: page.read_text() for page in (result.folder / "students").iterdir()}
    assert len(pages) == 1 + len(AMOUNTS) * len(runs)
    told = {student for student, page in pages.items() if FASTER in page}
    assert told == {f"far-better_{name}" for name in runs}
    for name in runs:
        assert f"{lesson}_{name}_" in pages[f"far-better_{name}"].split(FASTER, 1)[1]
