"""Grading from a folder of submissions to grades, as an instructor does it."""

import pytest
from click.testing import CliRunner

from autograder import data_files
from autograder.cli import main
from tests.autograder.make_record import RIGHT_ANSWERS, hand_in, make_record, write_lines


def rows(result) -> dict[tuple[str, str], list[str]]:
    return {(line[0], line[1]): line[2:] for line in result.table}


def test_full_marks(tmp_path, grade):
    hand_in(tmp_path / "class" / "ada" / "02_serial")
    result = grade(tmp_path / "class")
    assert rows(result)["ada", "02"][:3] == ["10/10", "graded", "self-consistent"]
    assert result.exit_code == 0
    page = (result.folder / "students" / "ada.html").read_text()
    assert "407,050" in page


def smaller(**facts):
    return make_record(samples=12800, train_samples=12800, **facts)


# Name, what differs, points of the full profile (or smoke where given), and words of the page.
CASES = [
    ("other network", {"keras": make_record(params=50890)}, 9, "parameters of the network: 50,890"),
    ("between the thresholds", {"keras": make_record(test_accuracy=0.966), "torch": make_record(
        source="torch", run="b" * 8, test_accuracy=0.98)}, 9.25, "test accuracy"),
    ("too low", {"keras": make_record(test_accuracy=0.9), "torch": make_record(
        source="torch", run="b" * 8, test_accuracy=0.9)}, 7, "test accuracy"),
    ("programs disagree", {"torch": make_record(
        source="torch", run="b" * 8, test_accuracy=0.93)}, 6, "test accuracy, difference to"),
    ("torch missing", {"torch": []}, 5,
        "no run of <code>torch</code>"),
    ("torch unfinished", {"torch": make_record(
        source="torch", run="b" * 8, finished=False)}, 5, "did not finish: incomplete"),
    ("accuracy above one", {"keras": make_record(test_accuracy=97.8), "torch": []}, 5,
        "no test accuracy"),
    ("no answers", {"answers": {}}, 6, "no answer"),
    ("half of the answers", {"answers": RIGHT_ANSWERS | {
        "hidden_units": "512", "faults_serial": "ABCD", "interval_14_5_low": "2.8"}}, 9,
        "which is not it"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "change", "score", "says"), CASES, ids=[c[0] for c in CASES])
def test_each_point_can_be_lost_with_its_reason(tmp_path, grade, name, change, score, says):
    hand_in(tmp_path / "class" / "ada" / "02_serial", **change)
    result = grade(tmp_path / "class")
    assert rows(result)["ada", "02"][0] == f"{score}/10"
    assert says in (result.folder / "students" / "ada.html").read_text()


def test_smoke_and_full_are_the_instructors_choice(tmp_path, grade):
    answers = RIGHT_ANSWERS | {"keras_throughput": "12190.5"}
    hand_in(
        tmp_path / "class" / "ada" / "02",
        keras=smaller(test_accuracy=0.94),
        torch=smaller(source="torch", run="b" * 8, test_accuracy=0.93),
        answers=answers,
    )
    assert rows(grade(tmp_path / "class", "--profile", "smoke"))["ada", "02"][0] == "10/10"
    full = grade(tmp_path / "class")
    assert rows(full)["ada", "02"][0] == "7/10"
    assert "2 of 2 runs" in full.stderr
    assert "did you mean --profile smoke?" in full.stderr
    assert "did you mean" not in grade(tmp_path / "class", "--profile", "smoke").stderr
    for name in ("ben", "eve"):
        hand_in(tmp_path / "class" / name / "02")
    assert "did you mean" not in grade(tmp_path / "class").stderr
    assert "smaller than required" in (full.folder / "students" / "ada.html").read_text()


ASKS_FOR_RANKS = """
lesson: "01"
title: Two ranks
points: 1
runs:
  ours: {where: {lesson: "01"}}
checks:
  - {id: ranks, title: Ranks, points: 1, require: [CONDITION]}
"""


# With two sets of thresholds nobody but the instructor chooses; with one there is no choice.
@pytest.mark.parametrize(
    ("rubric", "words", "code"),
    [
        ("{smoke: 2, full: 8}", [], 2),
        ("{smoke: 2, full: 8}", ["--profile", "smoke"], 0),
        ("{smoke: 2, full: 8}", ["--set", "profile=smoke"], 0),
        ("{smoke: 2, full: 2}", [], 0),
        ("2", [], 0),
        ("2, only: full", [], 2),
    ],
)
def test_a_profile_is_chosen_where_it_matters(tmp_path, rubric, words, code):
    write_lines(tmp_path / "class/ada/01/a.out", make_record(lesson="01", size=2))
    condition = f"{{metric: ranks, of: ours, equal: {rubric}}}"
    write_lines(tmp_path / "rubrics/01.yaml", [ASKS_FOR_RANKS.replace("CONDITION", condition)])
    more = ["--rubrics", tmp_path / "rubrics", "--out", tmp_path / "out", *words]
    done = CliRunner().invoke(main, [*map(str, ["grade", tmp_path / "class", *more])])
    assert (done.exit_code, (tmp_path / "out").exists()) == (code, code == 0), done.output
    assert ("--profile smoke" in done.stderr) == (code == 2)


def test_the_last_finished_run_counts(tmp_path, grade):
    folder = hand_in(tmp_path / "class" / "ada" / "02")
    early = make_record(run="11111111", test_accuracy=0.5, started="2026-03-01T10:00:00+00:00")
    late = make_record(run="22222222", finished=False, started="2026-03-03T10:00:00+00:00")
    write_lines(folder / "02_serial_9.out", early)
    write_lines(folder / "02_serial_8.out", late)
    assert rows(grade(tmp_path / "class"))["ada", "02"][0] == "10/10"


def test_output_of_another_lesson_does_not_count(tmp_path, grade):
    hand_in(tmp_path / "class" / "ada" / "02", keras=make_record(lesson="07"))
    score = rows(grade(tmp_path / "class"))["ada", "02"][0]
    assert score == "2/10"  # only the questions are left


def test_output_without_a_record_is_graded_as_unverified(tmp_path, grade):
    log = []
    for epoch in range(1, 5):
        log += [f"Epoch {epoch}/4", f"60000/60000 - 7s - loss: 0.2 - acc: 0.9{epoch}00"]
    folder = tmp_path / "class" / "ada" / "02"
    write_lines(folder / "job.out", [*log, "Test accuracy: 0.9805"])
    write_lines(folder / "torch.out", make_record(source="torch", run="b" * 8))
    result = grade(tmp_path / "class")
    page = (result.folder / "students" / "ada.html").read_text()
    assert rows(result)["ada", "02"][2] == "unverified"
    assert "test accuracy: 0.98" in page
    assert "<code>params</code>" in page
    assert result.exit_code == 1
    write_lines(folder / "record.out", make_record(test_accuracy=0.5))  # a record takes precedence
    grade(tmp_path / "class")
    assert "test accuracy: 0.5" in (result.folder / "students" / "ada.html").read_text()


LESSON_00 = {
    "predict_survivor": "stops", "predict_host_here": "a", "predict_host_job": "b",
    "predict_lines": "4", "predict_idle": "0.4", "faults_jobs": "dbca",
}  # fmt: skip


@pytest.mark.parametrize(
    ("size", "error_file", "facts", "profile", "score"),
    [
        (2, True, {}, "smoke", 10),
        (2, False, {}, "smoke", 8),
        (2, True, {"job_id": None, "scheduler": "none"}, "smoke", 9),  # by hand, outside of a job
        (2, True, {"scheduler": "laptop", "started_by": ["prterun", "laptop"]}, "smoke", 10),
        (2, True, {"scheduler": "laptop", "started_by": []}, "smoke", 6),  # by hand, but pretending
        (2, True, {}, "full", 6),
    ],
)
def test_lesson_00(tmp_path, grade, size, error_file, facts, profile, score):
    folder = tmp_path / "class" / "ada" / "00_cluster"
    measures = (
        {"name": "matrix products", "value": 100.0, "unit": "GFLOP/s"},
        {"name": "facts_wrong", "value": 0, "unit": "environments"},
    )
    facts = {"started_by": ["srun"]} | facts
    record = make_record(
        lesson="00", source="facts", size=size, seconds=(), measures=measures, **facts
    )
    write_lines(folder / "00_cluster_7.out", record)
    if error_file:
        write_lines(folder / "00_cluster_7.err", ["a warning"])
    write_lines(folder / "answers.txt", [f"{k} = {v}" for k, v in LESSON_00.items()])
    result = grade(tmp_path / "class", "--profile", profile)
    assert rows(result)["ada", "00"][0] == f"{score}/10"


def test_a_grader_that_stops_while_it_writes_leaves_the_old_result(tmp_path, grade, monkeypatch):
    hand_in(tmp_path / "class" / "ada" / "02_serial")
    folder = grade(tmp_path / "class").folder
    old = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    (tmp_path / "class" / "ada" / "02_serial" / "answers.txt").unlink()
    written, left = data_files.write, iter(range(3))

    def full_disk(path, data):
        next(left)
        return written(path, data)

    monkeypatch.setattr(data_files, "write", full_disk)
    with pytest.raises(StopIteration):
        grade(tmp_path / "class")
    assert {path: path.read_bytes() for path in old} == old
    monkeypatch.undo()
    grade(tmp_path / "class")
    assert {path for path in folder.rglob("*") if path.is_file()} == {*old, folder / "changes.csv"}
    assert {path: path.read_bytes() for path in old} != old
