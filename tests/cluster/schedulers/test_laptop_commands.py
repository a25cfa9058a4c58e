"""The laptop's queue as its users ask it: logs, accounting, refusals, and jobs of others."""

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from cluster.schedulers import accounting_table
from tests.breadth import breadth


def test_logs_follow_the_output_and_end_with_the_job(shell):
    body = "for i in 1 2 3; do echo line $i; sleep 0.3; done; printf 'no newline'"
    job = shell.submit(shell.write("job.sbatch", body))
    followed = shell.cluster("logs", "-f", job)
    assert followed.stdout == "line 1\nline 2\nline 3\nno newline"
    assert "COMPLETED" in followed.stderr
    assert shell.cluster("logs", job).stdout == followed.stdout


def test_accounting_is_a_table_for_people(shell):
    job = shell.submit(shell.write("job.sbatch", "exit 3", "--time=00:02:00", "--job-name=mine"))
    shell.wait(job, ok=False)
    head, line, row = shell.word("sacct", "-X", "-j", job).splitlines()
    assert head.split() == list(accounting_table.COLUMNS)
    assert set(line) == {"-", " "}
    assert len(line) <= 130
    told = dict(zip(head.split(), row.split(), strict=True))
    assert (told["JobID"], told["JobName"], told["State"]) == (job, "mine", "FAILED")
    assert (told["ExitCode"], told["Timelimit"], told["NCPUS"]) == ("3:0", "00:02:00", "1")
    assert re.fullmatch(r"00:00:\d\d", told["Elapsed"])
    assert row.index("FAILED") == head.index("State"), "columns stand below their names"


@pytest.mark.parametrize(
    ("words", "message"),
    breadth(
        [
            (["-n", "1000", "job.sbatch"], "--ntasks=1000: this machine has"),
            (["--begin=now", "job.sbatch"], "--begin: the laptop site does not know this option"),
        ],
        quick=2,
    ),
)
def test_what_cannot_be_submitted_is_refused_in_a_sentence(shell, words, message):
    shell.write("job.sbatch", "true")
    refused = shell.cluster("submit", *words, ok=False)
    assert message in refused.stderr
    assert shell.word("sacct", "-X", "-P").count("\n") == 1


def test_an_option_that_is_not_known_is_named(shell):
    said = shell.cluster("submit", "--ntask=2", "--wait", shell.write("job.sbatch", "true")).stderr
    assert "--ntask " in said


def test_ctrl_c_stops_the_waiting_not_the_job(shell):
    shell.write("job.sbatch", "sleep 300")
    waiting = subprocess.Popen(
        [Path(os.sys.executable).parent / "cluster", "submit", "--wait", "job.sbatch"],
        cwd=shell.folder,
        env=shell.environment,
        stderr=subprocess.PIPE,
        text=True,
        # If the tests run in the background, the shell makes them ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert any("RUNNING" in line for line in waiting.stderr)  # it waits now
    waiting.send_signal(signal.SIGINT)
    said = waiting.communicate(timeout=20)[1]
    assert "job 1 continues. To end it: scancel 1" in said
    assert waiting.returncode == 130
    assert " R " in shell.word("squeue", "--me")
    shell.word("scancel", "1")
    shell.wait("1", ok=False)


@pytest.mark.parametrize(
    ("directives", "there", "expected"),
    breadth(
        [
            (["--output=%x_%j.out"], "job.sbatch_1.out", "2"),
            (["--output=%x_%A_%a.out", "--array=0-1"], "job.sbatch_1_1.out", "3"),
            (["--output=same.out"], "same.out", "1"),
        ]
    ),
)
def test_a_job_takes_no_id_whose_output_is_of_another_queue(shell, directives, there, expected):
    """Slurm's first job in this folder also had number 1."""
    (shell.folder / there).write_text("of Slurm\n")
    job = shell.submit(shell.write("job.sbatch", "echo ran", *directives))
    shell.wait(job)
    assert job == expected
    assert ("same" in there) == (shell.read(there) == "ran\n")
