"""Test commands about submitted Slurm jobs: waiting, logs, the queue, and accounting."""

import json

import pytest

from tests.breadth import breadth
from tests.cluster.schedulers.fake_slurm import answer


def test_waiting_shows_state_reason_and_expected_start(slurm):
    rows = [
        "77|PENDING|Resources|2026-11-20T16:00:00\n",
        "77|RUNNING|None|2026-11-20T16:00:00\n",
        "77|COMPLETED|None|2026-11-20T16:00:00\n",
    ]
    answer(slurm, sbatch=["Submitted batch job 77\n", "", 0], squeue=[rows, "", 0])
    done = slurm.cluster("submit", "--site", "box", "--wait", "job.sbatch")
    assert done.stderr.splitlines()[1:] == [
        "job 77: PENDING (Resources), expected start 2026-11-20T16:00:00",
        "job 77: RUNNING",
        "job 77: COMPLETED",
    ]


@pytest.mark.slow
def test_a_job_that_left_the_queue_is_looked_up_in_accounting(slurm):
    answer(slurm, squeue=["", "Invalid job id", 1], sacct=["77|CANCELLED by 1000\n", "", 0])
    said = slurm.cluster("wait", "--site", "box", "77", ok=False)
    assert said.stderr == (
        "$ squeue --jobs=77   # when it is no longer listed: sacct -X --jobs=77\n"
        "job 77: CANCELLED\n"
    )
    answer(slurm, squeue=["", "Invalid job id specified", 1])
    said = slurm.cluster("wait", "--site", "box", "78", ok=False)
    assert "Slurm knows no job 78 of yours (Invalid job id specified)" in said.stderr


@pytest.mark.slow
def test_logs_find_the_output_of_a_submitted_job(slurm):
    slurm.cluster("submit", "--site", "box", "--job-name=mine", "job.sbatch")
    answer(slurm, squeue=["77|COMPLETED|None|N/A\n", "", 0])
    (slurm.folder / "mine_77.out").write_text("hello\n")
    assert slurm.cluster("logs", "--site", "box", "-f", "77").stdout == "hello\n"


def test_queue_as_json(slurm):
    answer(slurm, squeue=["77|gpus|mine|PENDING|0:00|2|N/A|(Priority)\n", "", 0])
    (job,) = json.loads(slurm.cluster("queue", "--site", "box", "--json").stdout)
    assert (job["JobID"], job["State"], job["NodeList"]) == ("77", "PENDING", "(Priority)")


@pytest.mark.parametrize(
    ("words", "real"),
    breadth(
        [
            (["queue"], "squeue --me "),
            (["cancel", "77"], "scancel 77\n"),
            (
                ["accounting", "77"],
                "sacct -X --jobs=77 --format=jobid%-10,jobname%-20,partition%-10,",
            ),
            (
                ["accounting", "--parsable", "77"],
                "sacct -X -P --jobs=77 --format=jobid,user,account,",
            ),
        ],
        quick=2,
    ),
)
def test_other_commands_show_the_real_one_and_pass_its_answer_through(slurm, words, real):
    came = ["as it came\n", "", 0]
    answer(slurm, squeue=came, scancel=came, sacct=came)
    done = slurm.cluster(words[0], "--site", "box", *words[1:])
    assert done.stderr.startswith(f"$ {real}")
    assert done.stdout == "as it came\n"
