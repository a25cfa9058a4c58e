"""Real jobs on the laptop site."""

import os
import re
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cluster.schedulers.laptop import processes
from cluster.schedulers.laptop.cores import whole_cores
from tests.breadth import breadth

WHOLE = f"--ntasks={len(whole_cores())}"  # a job that leaves no room for another


def test_a_job_runs_and_its_streams_go_where_it_asked(shell):
    job = shell.write(
        "job.sbatch",
        'echo out "$@"; echo err >&2; pwd',
        *("--job-name=first", "--output=%x_%j.out", "--error=%x_%j.err"),
    )
    printed = shell.cluster("submit", "--wait", job, "--epochs", "4")
    assert printed.stdout == "Submitted batch job 1\n"
    assert "$ sbatch job.sbatch --epochs 4" in printed.stderr
    assert shell.read("first_1.out") == f"out --epochs 4\n{shell.folder}\n"
    assert shell.read("first_1.err") == "err\n"
    assert shell.record("1")["State"] == "COMPLETED"


@pytest.mark.parametrize(
    ("body", "state", "code"),
    breadth(
        [
            ("true", "COMPLETED", "0:0"),
            ("exit 3", "FAILED", "3:0"),
            ("set -e; false; echo never", "FAILED", "1:0"),
            ("kill -9 $$", "FAILED", "0:9"),
            ("no_such_command", "FAILED", "127:0"),
            ("false; echo success", "COMPLETED", "0:0"),
        ],
        quick=2,
    ),
)
def test_state_and_exit_code_are_those_of_the_script(shell, body, state, code):
    job = shell.submit(shell.write("job.sbatch", body))
    shell.wait(job, ok=state == "COMPLETED")
    record = shell.record(job)
    assert (record["State"], record["ExitCode"]) == (state, code)


def test_the_script_sees_what_slurm_would_set(shell):
    shell.environment["MINE"] = "kept"
    job = shell.write(
        "job.sbatch",
        "env | grep -E '^(SLURM_|OMP_|MINE|COURSE_SCHED)' | sort; command -v python",
        *("--job-name=env", "--ntasks=2", "--cpus-per-task=1", "--time=5"),
    )
    shell.wait(shell.submit(job))
    *lines, python = shell.read("slurm-1.out").splitlines()
    seen = dict(line.split("=", 1) for line in lines if "=" in line)
    expected = {
        "SLURM_JOB_ID": "1",
        "SLURM_JOB_NAME": "env",
        "SLURM_NTASKS": "2",
        "SLURM_NNODES": "1",
        "SLURM_CPUS_PER_TASK": "1",
        "SLURM_SUBMIT_DIR": str(shell.folder),
        "OMP_NUM_THREADS": "1",
        "COURSE_SCHEDULER": "laptop",
        "MINE": "kept",
    }
    assert {name: seen.get(name) for name in expected} == expected
    assert int(seen["SLURM_JOB_END_TIME"]) - int(seen["SLURM_JOB_START_TIME"]) == 300
    assert Path(python).parent == Path(os.sys.executable).parent


def test_a_job_over_its_time_is_ended_with_slurms_message(shell):
    job = shell.write("job.sbatch", "sleep 300", "--time=0:01", "--error=%j.err")
    shell.wait(shell.submit(job), ok=False)
    assert re.fullmatch(
        r"slurmstepd: error: \*\*\* JOB 1 ON \S+ CANCELLED AT "
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d DUE TO TIME LIMIT \*\*\*\n",
        shell.read("1.err"),
    )
    record = shell.record("1")
    assert (record["State"], record["ExitCode"]) == ("TIMEOUT", "0:0")


def test_a_signal_asked_for_comes_before_the_time_limit(shell):
    body = "trap 'echo warned; exit 0' USR1; sleep 300 & wait"
    shell.wait(shell.submit(shell.write("job.sbatch", body, "--time=5", "--signal=B:USR1@299")))
    assert shell.read("slurm-1.out") == "warned\n"


def test_cancel_ends_a_running_job_and_everything_it_started(shell):
    body = "setsid sleep 301 & sleep 302 & echo started; wait"
    job = shell.submit(shell.write("job.sbatch", body))
    output = shell.folder / "slurm-1.out"
    shell.until(lambda: output.is_file() and "started" in output.read_text())
    folder = shell.home / ".dl-course/laptop/jobs/1"
    assert len(processes.of_job(folder)) == 3
    shell.word("scancel", job)
    shell.wait(job, ok=False)
    assert processes.of_job(folder) == []
    record = shell.record(job)
    assert record["State"] == f"CANCELLED by {os.getuid()}"
    assert "CANCELLED AT" in output.read_text()
    assert "had already ended" in shell.word("scancel", job)


@pytest.mark.skipif(len(whole_cores()) < 2, reason="this machine has one core")
def test_a_job_takes_the_core_that_another_users_job_leaves(shell):
    first, second, *_ = whole_cores()
    job = shell.write("job.sbatch", 'echo "$COURSE_LAPTOP_CORES"', "--output=%j.out")
    for used, left in ((first, second), (second, first)):
        # more than tests beside this one bind to a core
        words = ["taskset", "-c", str(used), "bash", "-c", "sleep 60 & " * 40 + "wait"]
        with subprocess.Popen(words, start_new_session=True) as busy:
            shell.until(lambda used=used: processes.bound_to_each_cpu()[used] >= 40)
            number = shell.submit(job)
            shell.wait(number)
            os.killpg(busy.pid, signal.SIGKILL)
        assert shell.read(f"{number}.out") == f"{left}\n"


def test_jobs_wait_for_cores_and_start_in_order(shell):
    wide = f"--ntasks={len(whole_cores())}"
    body = "date +%s.%N; until [ -e go ]; do sleep 0.05; done; date +%s.%N"
    job = shell.write("job.sbatch", body, wide)
    jobs = [shell.submit(job) for _ in range(3)]
    listed = shell.word("squeue", "--me").splitlines()[1:]
    assert [(row.split()[0], row.split()[4]) for row in listed] == list(
        zip(jobs, ("R", "PD", "PD"), strict=True)
    )
    assert re.fullmatch(r"\d:\d\d", listed[0].split()[5])
    assert "(Resources)" in listed[1]
    assert "(Priority)" in listed[2]
    (shell.folder / "go").touch()
    times = []
    for number in jobs:
        shell.wait(number)
        times += [float(line) for line in shell.read(f"slurm-{number}.out").split()]
    assert times == sorted(times)


def test_a_job_larger_than_the_machine_runs_and_says_so(shell):
    job = shell.write("job.sbatch", "echo ran", f"--ntasks={len(whole_cores()) + 1}")
    said = shell.cluster("submit", "--wait", job).stderr
    assert "more ranks than cores: no speedup can be shown" in said
    assert "more ranks than cores: no speedup can be shown" in shell.read("slurm-1.out")


@pytest.mark.slow
def test_many_submissions_at_once_get_a_number_each(shell):
    job = shell.write("job.sbatch", "echo $SLURM_JOB_ID", "--output=%j.out")
    with ThreadPoolExecutor(8) as pool:
        numbers = sorted(map(int, pool.map(shell.submit, [job] * 24)))
    assert numbers == list(range(1, 25))
    shell.until(lambda: shell.word("squeue", "--me").count("\n") == 1)
    assert [shell.read(f"{number}.out") for number in numbers] == [f"{n}\n" for n in numbers]


@pytest.mark.slow
def test_a_killed_supervisor_is_noticed_and_its_job_cleared_away(shell):
    job = shell.submit(shell.write("job.sbatch", "sleep 305", WHOLE))
    behind = shell.submit(shell.write("next.sbatch", "echo my turn", WHOLE))
    folder = shell.home / ".dl-course/laptop/jobs/1"
    shell.until(lambda: len(processes.of_job(folder)) == 2)
    os.kill(shell.job_json(job)["supervisor"], signal.SIGKILL)
    shell.until(lambda: "NODE_FAIL" in shell.record(job)["State"])
    assert processes.of_job(folder) == []
    shell.wait(behind)
