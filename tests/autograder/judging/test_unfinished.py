"""A job that ended before its program began to record tells why."""

from html import unescape

import pytest

from autograder.codes import ReasonCode
from autograder.report.packed import read
from autograder.report.student.next_steps import next_steps
from tests.autograder.make_record import make_record, write_lines

IN_VAIN = "worker 0 has waited 60 s for the others in vain; nobody answers as worker 1 at n1:12345"
BEGAN = "its job ended before the program began to record"


@pytest.mark.parametrize(
    ("job", "error", "told"),
    [
        ("16_multiworker_7", IN_VAIN, "nobody answers as worker 1 at n1:12345"),
        ("multiworker.7", "nobody came to n1:12345 within 60 s", "nobody came to n1:12345"),
        ("16_hang_7", IN_VAIN, ") was submitted"),
        ("16_multiworker_7", "oneDNN custom operations are on", "was submitted"),
    ],
)
def test_a_job_that_ended_before_its_record_began_tells_why(job, error, told, tmp_path, grade):
    folder = tmp_path / "class" / "ada" / "16"
    folder.mkdir(parents=True)
    write_lines(folder / "16_1.out", make_record(lesson="16", source="ps-asynchronous"))
    write_lines(folder / f"{job}.out", ["job: 7 as the job file says", "ranks: 2"])
    write_lines(folder / f"{job}.err", [error])
    page = (grade(tmp_path / "class").folder / "students" / "ada.html").read_text()
    assert told in page
    assert (BEGAN in page) is ("was submitted" not in told)


RECORD = {"lesson": "11", "source": "pipeline", "replicas": 1}
CAUSE = "TypeError: unsupported operand type(s) for +: 'int' and 'list'"
ECHO = "RuntimeError: [/src/gloo/transport/tcp/pair.cc:553] Connection closed by peer [::1]:4"


@pytest.mark.parametrize("errors", [[CAUSE, ECHO], [ECHO, CAUSE]])
def test_a_larger_run_that_did_not_finish_says_why(errors, tmp_path, grade):
    folder = tmp_path / "class" / "ada" / "11"
    for size in (1, 2):
        record = make_record(**RECORD, run=f"{size}" * 8, size=size, finished=size < 2)
        write_lines(folder / f"11_pipeline_{size}.out", record)
    lines = [line for error in errors for line in ("Traceback (most recent call last):", error)]
    write_lines(folder / "11_pipeline_2.err", lines)
    page = (grade(tmp_path / "class").folder / "students" / "ada.html").read_text()
    assert "on more workers, the run of <code>pipeline</code> did not finish: failed" in page
    assert "unsupported operand type" in page


def test_the_next_step_begins_with_what_failed_first(tmp_path, grade):
    folder = tmp_path / "class" / "ada" / "16"
    folder.mkdir(parents=True)
    write_lines(folder / "16_1.out", make_record(lesson="16", source="multiworker")[:-2])
    at = '  File "/home/ada/16/train.py", line 7, in main'
    trace = ["Traceback (most recent call last):", at, "    fit(x)", "NameError: name 'x'"]
    write_lines(folder / "16_1.err", trace)
    page = (grade(tmp_path / "class").folder / "students" / "ada.html").read_text()
    assert "line 7 of your train.py: fit(x)). Look at the last lines of 16_1.err" in unescape(page)


def steps_after(tmp_path, grade):
    done = grade(tmp_path / "class", "--profile", "smoke")
    rows, _ = read(done.folder / "records" / "ada.json")
    return rows[0], next_steps(rows)


def test_a_run_that_several_checks_miss_is_one_step_which_says_so(tmp_path, grade):
    folder = tmp_path / "class" / "ada" / "02"
    folder.mkdir(parents=True)
    write_lines(folder / "02_keras_1.out", make_record(lesson="02", source="keras"))
    row, steps = steps_after(tmp_path, grade)
    missed = [c for c in row.checks if any(part.code == ReasonCode.NO_RUN for part in c.parts)]
    [(do, why)] = [step for step in steps if "`torch`" in step[0]]
    assert do.endswith("Submit both job.sbatch and job_torch.sbatch, and wait until they end.")
    assert why.startswith(f"{sum(check.points for check in missed):g} points: 02, ")
    assert not [step for step in steps if "zero the gradients" in step[0]]


def test_runs_of_one_job_that_are_missing_are_one_step(tmp_path, grade):
    folder = tmp_path / "class" / "ada" / "14"
    folder.mkdir(parents=True)
    write_lines(folder / "14_1.out", make_record(lesson="14", source="float32"))
    [(do, _)] = [
        step for step in steps_after(tmp_path, grade)[1] if "Submit job.sbatch." in step[0]
    ]
    assert "`probe`" in do
    assert "`step`" in do


def test_what_only_the_larger_run_shows_is_not_blamed_on_the_program_if_it_was_cut(tmp_path, grade):
    folder = tmp_path / "class" / "ada" / "07"
    folder.mkdir(parents=True)
    for size in (1, 2):
        facts = {"lesson": "07", "source": "keras-horovod", "model": "mlp512", "size": size}
        record = make_record(**facts, run=f"{size}" * 8)
        cut = [*record[:-1], record[-1][:60]] if size == 2 else record
        write_lines(folder / f"07_{size}.out", cut)
    row, steps = steps_after(tmp_path, grade)
    [check] = [check for check in row.checks if check.id == "accuracy"]
    assert "`keras` did not finish" in check.actual
    assert ":::MLLOG" not in f"{row.checks} {steps}"
    assert "output stops" in row.tier_reason
