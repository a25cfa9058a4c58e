"""A rubric with a format of its own, from outputs to grades."""

import json

import pytest
from click.testing import CliRunner

from autograder.cli import main
from tests.autograder.class_yaml import setting
from tests.autograder.make_record import write_lines

OURS = """
lesson: "03"
title: A program that prints in its own way
points: 4
formats:
  - name: ours
    templates:
      - 'epoch {epoch} of {of} took {seconds} s'
      - 'in the end {test_accuracy} %'
runs:
  ours: {where: {source: ours}, or_format: [ours]}
checks:
  - id: epochs
    title: Two epochs
    points: 1
    require: [{metric: epochs, of: ours, at_least: 2}]
  - id: accuracy
    title: It learned
    points: 3
    require:
      - {metric: test_accuracy, of: ours, at_least: 0.9}
      - {metric: epoch_s, of: ours, at_most: {of_reference: 1.2}}
"""


def test_a_rubric_brings_its_own_format(tmp_path, grade):
    def printed(seconds):
        lines = [f"epoch {n} of 2 took {seconds} s" for n in (1, 2)]
        return [*lines, "in the end 93.5 %"]

    rubrics = write_lines(tmp_path / "rubrics" / "03.yaml", [OURS]).parent
    write_lines(tmp_path / "solution" / "03" / "job_1.out", printed("2.00"))
    words = ["calibrate", str(tmp_path / "solution"), "--rubrics", str(rubrics)]
    site = tmp_path / "site.yaml"
    calibrated = CliRunner().invoke(main, [*words, "--out", str(site)])
    assert "epoch_s of ours: 2 s" in calibrated.output
    write_lines(tmp_path / "class" / "ada" / "03" / "job_1.out", printed("2.20"))
    write_lines(tmp_path / "class" / "ben" / "03" / "job_1.out", printed("4.40"))
    result = grade(tmp_path / "class", "--rubrics", rubrics, *setting("calibration", site))
    assert [row[2:5] for row in result.table] == [
        ["4/4", "graded", "unverified"],
        ["1/4", "graded", "unverified"],
    ]


FASTER = "epoch_s, of: w4, at_most: {of_reference: 1.2}"
BY_WORKERS = """
lesson: "03"
title: The same program on one and on four workers
points: 2
formats:
  - name: ours
    templates:
      - 'epoch {epoch} of {of} took {seconds} s'
      - 'in the end {test_accuracy} % on {workers} workers'
      - 'in the end {test_accuracy} %'
runs:
  w1: {where: {world_size: 1}, or_format: [ours]}
  w4: {where: {world_size: 4}, or_format: [ours]}
  w8: {where: {world_size: 8}, or_format: [ours]}
checks:
  - id: eight
    title: Eight workers
    points: 0
    if_present: true
    require: [{metric: epochs, of: [w1, w8], at_least: 2}]
  - id: one
    title: One worker
    points: 1
    require: [{metric: epochs, of: w1, at_least: 2}]
  - id: four
    title: Four workers
    points: 1
    require: [{metric: epochs, of: w4, at_least: 2}]
"""


@pytest.mark.parametrize(
    ("workers", "code", "words"), [(2, 1, "0 of 1"), (4, 0, "1 of 1 point if")]
)
def test_only_a_run_that_was_made_is_left_to_the_instructor(tmp_path, workers, code, words):
    rubric = BY_WORKERS[: BY_WORKERS.index("  - id: one")].replace("points: 2", "points: 1")
    rubric += BY_WORKERS[BY_WORKERS.index("  - id: four") :].replace(
        "epochs, of: w4, at_least: 2", FASTER
    )
    rubrics = write_lines(tmp_path / "rubrics" / "03.yaml", [rubric]).parent
    lines = [
        *(f"epoch {n} of 2 took 2.0 s" for n in (1, 2)),
        f"in the end 93 % on {workers} workers",
    ]
    write_lines(tmp_path / "03" / "job.out", lines)
    result = CliRunner().invoke(
        main, ["check-mine", str(tmp_path / "03"), "--rubrics", str(rubrics)]
    )
    assert (result.exit_code, words in result.output) == (code, True), result.output


END = "in the end 93.5 % on {} workers"
ONE, TWO, FOUR = (END.format(workers) for workers in (1, 2, 4))


@pytest.mark.parametrize(
    ("ends", "more", "statuses"),
    [
        ([FOUR], {}, ["failed", "passed"]),
        (["in the end 93.5 %"], {}, ["not measured"] * 2),
        ([ONE, TWO], {}, ["passed", "not measured"]),
        ([ONE], {"job7.out": "epoch 1 of 2 took 2.0 s\nsrun: error"}, ["passed", "not measured"]),
        ([ONE, ONE], {}, ["passed", "not measured"]),  # the same run again, or wrong workers?
        ([ONE], {"notes.txt": "hi"}, ["passed", "failed"]),
        ([ONE], {"notes.txt": "The job took very long. What is a rank?"}, ["passed", "failed"]),
        ([ONE], {"job_1234.txt": "hi"}, ["passed", "not measured"]),
        ([ONE], {"a.out": "pass 2: 0.93 are right"}, ["passed", "not measured"]),
        ([ONE], {"notes.txt": "[7] Epoch: 2, error 0.5"}, ["passed", "not measured"]),
        ([ONE], {"notes.txt": "srun: launching 4 tasks"}, ["passed", "not measured"]),
    ],
)
def test_a_printed_output_is_the_run_that_where_asks_or_it_is_not_measured(
    tmp_path, grade, ends, more, statuses
):
    rubrics = write_lines(tmp_path / "rubrics" / "03.yaml", [BY_WORKERS]).parent
    home = tmp_path / "class/ada/03"
    for job, end in enumerate(ends):
        write_lines(home / f"job{job}.out", [*(f"epoch {n} of 2 took 2.0 s" for n in (1, 2)), end])
    for name, text in more.items():
        write_lines(home / name, [text])
    grade(tmp_path / "class", "--rubrics", rubrics)
    [found] = json.loads((tmp_path / "grades/records/ada.json").read_text())["grades"]
    [row] = json.loads((tmp_path / "grades/grades.json").read_text())["grades"]
    assert [check["status"] for check in found["checks"]] == statuses
    assert bool(row["look"]) == ("not measured" in statuses)


def test_an_end_in_words_that_are_not_read_is_not_measured(tmp_path, grade):
    rubric = BY_WORKERS.replace(" of {of}", "").replace(
        "in the end {test_accuracy} %'", "{workers} workers'"
    )
    rubrics = write_lines(tmp_path / "rubrics" / "03.yaml", [rubric]).parent
    lines = ["1 workers", "epoch 1 took 2.0 s", "epoch 2 took 2.0 s", "accuracy: np.float64(0.935)"]
    write_lines(tmp_path / "class/ada/03/job1.out", lines)
    grade(tmp_path / "class", "--rubrics", rubrics)
    [found] = json.loads((tmp_path / "grades/records/ada.json").read_text())["grades"]
    assert [check["status"] for check in found["checks"]] == ["not measured"] * 2
