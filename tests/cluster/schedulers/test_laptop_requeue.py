"""Jobs of the laptop site that put themselves back into the queue, and signals before the end."""

import pytest

AGAIN = 'echo "life ${SLURM_RESTART_COUNT:-0}"; [ "${SLURM_RESTART_COUNT:-0}" = 2 ] ||'
SITE = 'source "$COURSE_SITE"\n'


def test_a_requeued_job_keeps_its_number_and_appends(shell):
    body = f'{SITE}{AGAIN} scontrol requeue "$SLURM_JOB_ID"\necho end'
    job = shell.submit(shell.write("job.sbatch", body, "--requeue", "--open-mode=append"))
    shell.wait(job)
    assert shell.read("slurm-1.out") == "life 0\nlife 1\nlife 2\nend\n"
    assert shell.record(job)["State"] == "COMPLETED"
    assert shell.job_json(job)["restarts"] == 2
    assert shell.submit(shell.write("other.sbatch", "true")) == "2"


def test_other_calls_of_scontrol_are_refused(shell):
    job = shell.submit(shell.write("job.sbatch", f"{SITE}scontrol show job 1 2>&1"))
    shell.wait(job, ok=False)
    assert "scontrol requeue" in shell.read("slurm-1.out")
    assert shell.job_json(job)["restarts"] == 0


WAITS = """
trap 'echo shell; exit 0' USR1
bash -c 'trap "echo rank; exit 0" USR1; for i in {1..200}; do sleep 0.05; done' &
wait; wait
"""


@pytest.mark.slow
def test_a_signal_reaches_the_ranks_or_the_batch_shell_only(shell):
    for number, (option, heard) in enumerate({"USR1@298": "rank", "B:USR1@298": "shell"}.items()):
        job = shell.write("job.sbatch", WAITS, "--time=5", f"--signal={option}")
        shell.wait(shell.submit(job))
        assert shell.read(f"slurm-{number + 1}.out").split()[-1] == heard
