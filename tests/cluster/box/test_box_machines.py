"""Each virtual node is its own machine, students are ordinary users, and all is on loopback."""

import re
import subprocess
import time

import pytest

pytestmark = pytest.mark.slurm


def test_a_process_that_detached_itself_ends_with_its_job(student):
    script = "setsid --fork sleep 4321 </dev/null >/dev/null 2>&1\nsleep 0.5; pgrep -f 'sleep 4321'"
    job = student.submit("--output=out", script)
    assert student.wait(job)["state"] == "COMPLETED"
    assert student.read("out").strip()
    for _ in range(50):
        left = subprocess.run(["pgrep", "-xf", "sleep 4321"], capture_output=True, text=True)
        if not left.stdout:
            break
        time.sleep(0.2)
    assert left.stdout == ""


def test_shared_memory_that_a_killed_job_left_is_cleared(student):
    job = student.submit("--nodelist=node03", "echo x >/dev/shm/left; sleep 300")
    look = "srun --quiet --nodelist=node03 ls /dev/shm"
    while "left" not in student.do(look):
        time.sleep(0.2)
    student.do(f"scancel {job}")
    student.wait(job)
    for _ in range(50):
        if not (left := student.do(look)):
            break
        time.sleep(0.2)
    assert left == ""


@pytest.mark.parametrize(
    "path",
    ["/root", "mariadb", "munge/key", "slurmctld", "log", "etc/slurmdbd.conf", "run/mariadb"],
)
def test_what_is_roots_is_closed_to_students(student, path):
    path = path if path.startswith("/") else f"/var/lib/dl-course-box/{path}"
    assert subprocess.run(["ls", path], capture_output=True).returncode == 0
    command = f"if [ -d {path} ]; then ls {path}; else cat {path}; fi"
    assert "Permission denied" in student.try_to(command).stderr
    in_a_job = student.try_to(f"srun --quiet bash -c '{command}'").stderr
    assert "Permission denied" in in_a_job


def test_students_see_and_touch_their_own_jobs_only(student, neighbour):
    job = student.submit("", "sleep 100")
    assert student.do(f"squeue -h -j {job} -o %u") == "student1\n"
    assert neighbour.try_to(f"squeue -h -j {job} -o %u").stdout == ""
    assert neighbour.do(f"sacct -n -X -j {job}") == ""
    assert "Access" in neighbour.try_to(f"scancel {job}").stderr
    assert neighbour.try_to(f"cat {student.folder}/job.sh").returncode != 0
    student.do(f"scancel {job}")


def test_daemons_listen_on_loopback_only(box):
    sockets = subprocess.run(["ss", "-Hltnp"], capture_output=True, text=True, check=True).stdout
    daemon = r'"(slurmctld|slurmdbd|slurmd|mariadbd|munged)"'
    lines = [line for line in sockets.splitlines() if re.search(daemon, line)]
    assert len(lines) == 6, "controller, accounting and four nodes; the database has no port"
    assert all(line.split()[3].startswith("127.") for line in lines), lines


def test_a_new_account_can_be_used_at_once(box, student):
    def delete():
        subprocess.run(["sacctmgr", "-i", "-Q", "delete", "account", "second"], check=False)

    student.write("job.sh", "#!/bin/bash\ntrue\n")
    delete()  # accounts outlive the box, so an interrupted run of this test leaves it behind
    assert student.try_to("sbatch --account=second job.sh").returncode != 0
    try:
        assert "may submit" in box("user", "add", "student1", "second").stdout
        student.do("sbatch --account=second job.sh")
    finally:
        delete()
