"""Grade a class with the folder that `cluster rerun` writes."""

import json

import pytest

from autograder.codes import FindingCode as Code
from tests.autograder.class_yaml import setting
from tests.autograder.make_record import hand_in, make_record, some_rounds, write_lines

SUBMITTED = 1772791200.0  # 2026-03-06T10:00:00Z, four days after the record
THERE = {"run": "aaaa0077", "job_id": "77", "started": "2026-03-06T10:00:05+00:00"}


def rerun_folder(folder, student, lesson, jobs):
    """Write outputs by job id, and the launches each job repeats, as `cluster rerun` does."""
    place = folder / student / lesson
    told = []
    for job, (launches, lines) in jobs.items():
        write_lines(place / "outputs" / f"rerun_{job}.out", lines)
        name = {"job_id": job.rpartition("-")[2], "files": [f"rerun_{job}.out"]}
        times = {"state": "COMPLETED", "submitted": SUBMITTED, "ended": SUBMITTED + 60}
        told.append(name | times | {"launches": launches})
    rerun = {"student": student, "lesson": lesson, "jobs": told}
    (place / "rerun.json").write_text(json.dumps(rerun))
    return folder


def again(job, **facts):
    started = "2026-03-06T10:00:05+00:00"
    times = (2.2, 1.2, 1.3)
    return make_record(
        **{"seconds": times, "job_id": job, "started": started, "run": job * 4} | facts
    )


def both_jobs(**facts):
    """Return the jobs of both programs of a complete lesson 02."""
    return {
        "77": (["5f0c2a91"], again("77", **facts)),
        "78": (["77aa77aa"], again("78", source="torch", test_accuracy=0.975)),
    }


def tier(result):
    return result.table[0][4]


def test_grading_with_reruns(tmp_path, grade):
    hand_in(tmp_path / "class" / "ada" / "02_serial")
    reruns = rerun_folder(tmp_path / "reruns", "ada", "02", both_jobs())
    assert tier(grade(tmp_path / "class")) == "self-consistent"
    assert tier(grade(tmp_path / "class", *setting("reruns", reruns))) == "reproduced"
    page = (tmp_path / "grades" / "students" / "ada.html").read_text()
    assert "evidence: reproduced" in page
    other = both_jobs() | {"77": (["0badcafe"], again("77"))}  # of a run that does not count
    rerun_folder(tmp_path / "reruns", "ada", "02", other)
    assert tier(grade(tmp_path / "class", *setting("reruns", reruns))) == "self-consistent"
    rerun_folder(tmp_path / "reruns", "ada", "02", both_jobs(test_accuracy=0.9))
    result = grade(tmp_path / "class", *setting("reruns", reruns))
    assert tier(result) == "self-consistent"
    assert Code.RERUN_FEWER_POINTS.heading in result.table[0][5]
    assert "Run again by your instructor" in (result.folder / "students" / "ada.html").read_text()


def test_a_program_that_prints_no_record_earns_nothing_again(tmp_path, grade):
    facts = {"lesson": "01", "source": "numpy", "model": "mlp64", "params": 50890, "threads": 1}
    write_lines(tmp_path / "class/ada/01/01_numpy_99.out", make_record(**facts, job_id="99"))
    reruns = rerun_folder(tmp_path / "reruns", "ada", "01", {"100077": (["5f0c2a91"], ["hello"])})
    grade(tmp_path / "class", "--profile", "smoke", *setting("reruns", reruns))
    record = json.loads((tmp_path / "grades/records/ada.json").read_text())
    [found] = [one for one in record["grades"] if one["lesson"] == "01"]
    assert Code.RERUN_FEWER_POINTS in [finding["code"] for finding in found["findings"]]


def test_an_output_of_another_job_does_not_count(tmp_path, grade):
    hand_in(tmp_path / "class" / "ada" / "02_serial")
    jobs = both_jobs() | {"77": (["5f0c2a91"], again("76"))}
    reruns = rerun_folder(tmp_path / "reruns", "ada", "02", jobs)
    result = grade(tmp_path / "class", *setting("reruns", reruns))
    assert tier(result) == "self-consistent"
    assert Code.RERUN_FEWER_POINTS.heading in result.table[0][5]


def test_a_stored_output_with_the_runs_of_two_jobs_earns_nothing_again(tmp_path, grade):
    hand_in(tmp_path / "class" / "ada" / "02_serial")
    torch = {"source": "torch", "test_accuracy": 0.975}
    jobs = {
        "77": (["5f0c2a91"], again("77", run="77aa77aa", **torch)),
        "78": (["77aa77aa"], again("78", run="5f0c2a91")),
    }
    reruns = rerun_folder(tmp_path / "reruns", "ada", "02", jobs)
    result = grade(tmp_path / "class", *setting("reruns", reruns))
    assert tier(result) == "self-consistent"
    assert Code.RERUN_FEWER_POINTS.heading in result.table[0][5]


def rerun_text(job):
    return json.dumps({"student": "ada", "lesson": "02", "jobs": [job]})


PLAIN_JOB = {"job_id": 77, "files": ["../rerun_77.out"], "state": "COMPLETED", "launches": []}
PLAIN_JOB |= {"submitted": 1, "ended": 2}


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[]", "the file"),
        ("{}", "student"),
        (rerun_text(PLAIN_JOB | {"files": "x"}), "jobs.0.files"),
    ],
)
def test_a_damaged_rerun_stops_the_grading(tmp_path, grade, text, place):
    hand_in(tmp_path / "class" / "ada" / "02_serial")
    reruns = rerun_folder(tmp_path / "reruns", "ada", "02", both_jobs())
    (reruns / "ada" / "02" / "rerun.json").write_text(text)
    result = grade(tmp_path / "class", *setting("reruns", reruns))
    assert result.exit_code == 2
    assert "rerun.json" in result.stderr
    assert f"({place}" in result.stderr
    assert "Traceback" not in result.stderr


def speed_job(share: float, run: str = "5f0c2a91", error: float = 0.0, **facts):
    measures = (
        {"name": "update_error", "value": error, "unit": "", "steps": 3},
        *some_rounds(*((1 + n / 99, 1.1 + n / 99, (1.1 + n / 99) / share) for n in range(12))),
    )
    usual = {"lesson": "07", "source": "speed", "model": "resnet20", "params": 273658, "size": 2}
    usual |= {"site": "box", "threads": 1, "epochs_asked": None, "seconds": (), "total": 59.0}
    return make_record(**usual | {"run": run, "measures": measures} | facts)


# The rerun, the level, the finding. A slower rerun accuses nobody and confirms no points for speed.
REPEATED = {
    "as fast": (speed_job(0.9, **THERE), "reproduced", None),
    "slower": (speed_job(0.5, **THERE), "self-consistent", None),
    "a stored output": (speed_job(0.93, **THERE | {"run": "5f0c2a91"}), "self-consistent",
        Code.RERUN_FEWER_POINTS),
    "another update": (speed_job(0.9, error=0.9, **THERE), "self-consistent",
        Code.RERUN_FEWER_POINTS),
}  # fmt: skip


@pytest.mark.parametrize(("lines", "level", "code"), REPEATED.values(), ids=REPEATED)
def test_a_rerun_is_judged_like_a_submission(tmp_path, grade, lines, level, code):
    write_lines(tmp_path / "class/ada/07/07_speed_1.out", speed_job(0.93))
    reruns = rerun_folder(tmp_path / "reruns", "ada", "07", {"77": (["5f0c2a91"], lines)})
    grade(tmp_path / "class", "--profile", "smoke", *setting("reruns", reruns))
    record = json.loads((tmp_path / "grades/records/ada.json").read_text())
    [found] = [one for one in record["grades"] if one["lesson"] == "07"]
    assert found["tier"] == level
    codes = {
        finding["code"] for finding in found["findings"] if finding["severity"] != "information"
    }
    assert (code in codes) if code else not codes
