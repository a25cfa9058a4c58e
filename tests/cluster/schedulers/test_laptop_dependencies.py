"""Jobs of the laptop site that depend on each other, and arrays."""

import pytest


@pytest.mark.slow
def test_dependencies(shell):
    good = shell.submit(shell.write("good.sbatch", "sleep 0.2; date +%s%N"))
    after_good = shell.submit("-d", f"afterok:{good}", shell.write("next.sbatch", "date +%s%N"))
    bad = shell.submit(shell.write("bad.sbatch", "exit 1"))
    never = shell.submit("-d", f"afterok:{bad}", "next.sbatch")
    anyway = shell.submit("-d", f"afterany:{bad}", "next.sbatch")
    for job in (after_good, anyway):
        shell.wait(job)
    assert shell.read(f"slurm-{good}.out") < shell.read(f"slurm-{after_good}.out")
    assert "(DependencyNeverSatisfied)" in shell.word("squeue", "--me")
    said = shell.wait(never, ok=False)  # and it does not wait forever
    assert f"failed, so this one never starts: scancel {never}" in said
    shell.word("scancel", never)
    assert shell.word("squeue", "--me").count("\n") == 1
    refused = shell.cluster("submit", "-d", "afterok:99", "next.sbatch", ok=False)
    assert "there is no job 99" in refused.stderr


def test_an_array_is_one_job_for_each_index(shell):
    body = "echo $SLURM_ARRAY_JOB_ID $SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_TASK_COUNT"
    job = shell.submit(shell.write("job.sbatch", body, "--array=1-5:2", "-o %A_%a.out"))
    shell.wait(job)
    for index in (1, 3, 5):
        assert shell.read(f"{job}_{index}.out") == f"{job} {index} of 3\n"
    assert shell.record(f"{job}_3")["JobID"] == f"{job}_3"
    assert shell.submit("job.sbatch") == str(int(job) + 3)


@pytest.mark.slow
def test_array_tasks_at_once_can_be_limited_and_cancelled_together(shell):
    shell.submit(shell.write("job.sbatch", "sleep 304", "--array=0-4%1"))
    rows = shell.word("squeue", "--me")
    assert rows.count(" R ") == 1
    assert rows.count("(JobArrayTaskLimit)") == 4
    shell.word("scancel", "1")
    shell.wait("1", ok=False)
    assert shell.word("squeue", "--me").count("\n") == 1
