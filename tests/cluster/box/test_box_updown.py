"""Up, down, up again, a crash in between, and machines that are unsuitable for the box."""

import os
import re
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slurm

BOX = Path(__file__).parents[3] / "cluster/box/box"
STATE = Path("/var/lib/dl-course-box")
SLURM_LINK = Path("/etc/slurm/slurm.conf")
PROFILE_LINK = Path("/etc/profile.d/zz-dl-course-box.sh")


def daemons() -> dict[str, int]:
    """Return the process ids of everything the box started, by name."""
    return {
        path.stem: int(path.read_text())
        for path in (STATE / "run").glob("*.pid")
        if path.suffixes == [".pid"]
    }


def jobs_on_record(box) -> dict[str, str]:
    """Return the lines of the box's accounting by job number, without job steps."""
    lines = box("accounting").stdout.splitlines()
    return {line.split("|")[0]: line for line in lines if re.match(r"\d+(_\d+)?\|", line)}


@pytest.fixture
def down(box):
    done = box("down")
    assert done.returncode == 0, done.stderr
    yield box
    assert box("up").returncode == 0


def test_down_leaves_nothing_behind(box, student):
    job = student.submit("--nodes=4 --ntasks=8", "srun sleep 4323")
    while student.do(f"squeue -h -j {job} -o %T").strip() != "RUNNING":
        time.sleep(0.2)
    known = set(jobs_on_record(box))
    assert box("down").returncode == 0
    try:
        every = subprocess.run(["ps", "-eo", "stat,args"], capture_output=True, text=True).stdout
        seen = "\n".join(line for line in every.splitlines() if not line.startswith("Z"))
        daemons = ("slurmctld", "slurmd", "slurmdbd", "slurmstepd", "munged", "mariadbd")
        for name in (*daemons, "node.sh", "sleep 4323"):
            assert name not in seen
        assert "dl-course-box" not in Path("/etc/hosts").read_text()
        assert "dl-course-box" not in Path("/proc/mounts").read_text()
        assert "dl-course-box" not in Path("/proc/net/unix").read_text()
        assert not any(os.path.lexists(path) for path in (SLURM_LINK, PROFILE_LINK))
        assert not list(Path("/sys/fs/cgroup/memory").glob("slurm_*"))
        assert not [path for path in STATE.rglob("*") if path.is_char_device()]
        assert box("status").returncode == 1
    finally:
        assert box("up").returncode == 0
    end = time.monotonic() + 60  # after it ends, the controller still delivers late records
    while "CANCELLED" not in (after := jobs_on_record(box)).get(job, ""):
        assert time.monotonic() < end, after.get(job)
        time.sleep(0.3)
    assert known <= set(after)


def test_after_a_crash_no_record_is_lost_and_the_running_job_runs_again(box, student):
    done = student.submit("", "true")
    student.wait(done)
    script = 'echo "run ${SLURM_RESTART_COUNT:-0}"; [ -n "${SLURM_RESTART_COUNT:-}" ] || sleep 300'
    running = student.submit("--open-mode=append --output=out", script)
    while student.do(f"squeue -h -j {running} -o %T").strip() != "RUNNING":
        time.sleep(0.2)
    time.sleep(6)  # Slurm writes its queue to disk within five seconds
    waiting = student.submit("--hold", "true")  # so recent that the controller may forget it …
    while not student.account(waiting):  # … although the accounting has it
        time.sleep(0.1)
    before = jobs_on_record(box)

    for process in daemons().values():
        os.kill(process, signal.SIGKILL)
    up = box("up")
    assert up.returncode == 0, up.stderr

    after = jobs_on_record(box)
    assert set(before) <= set(after)
    assert after[done] == before[done]
    new = student.submit("", "true")
    assert int(new) > max(int(job.split("_")[0]) for job in before)
    assert student.wait(new)["state"] == "COMPLETED"

    # Slurm delays a requeued job for two minutes; root can start it at once.
    subprocess.run(["scontrol", "update", f"jobid={running}", "starttime=now"], check=True)
    end = time.monotonic() + 60
    while student.account(running)["state"] != "COMPLETED":  # first NODE_FAIL, then PENDING
        assert time.monotonic() < end, student.account(running)
        time.sleep(0.3)
    assert student.read("out") == "run 0\nrun 1\n"
    student.try_to(f"scancel {waiting}")


def test_up_mends_one_dead_daemon(box):
    before = daemons()
    for name in ("slurmdbd", "node02"):
        os.kill(before[name], signal.SIGKILL)
    assert box("up").returncode == 0
    after = daemons()
    assert {name for name in before if after[name] != before[name]} == {"slurmdbd", "node02"}
    done = subprocess.run(
        ["timeout", "30", "runuser", "-l", "student1", "-c", "srun -w node02 hostname"],
        capture_output=True,
        text=True,
    )
    assert done.stdout == "node02\n"


def test_somebody_elses_slurm_is_left_alone_and_a_taken_port_is_named(down):
    SLURM_LINK.write_text("ClusterName=theirs\n")
    try:
        refused = down("up")
        assert refused.returncode == 1
        assert "has a Slurm already" in refused.stderr
        assert refused.stderr.count("\n") == 1
        assert SLURM_LINK.read_text() == "ClusterName=theirs\n"
        assert not daemons()
    finally:
        SLURM_LINK.unlink()

    with socket.create_server(("127.0.0.1", 6817)):
        refused = down("up")
    assert refused.returncode == 1
    assert "port 6817" in refused.stderr


@pytest.mark.parametrize("command", ["up", "user add someone"])
def test_without_root_one_sentence_offers_the_laptop(student, command):
    box = Path(__file__).parents[3] / "cluster/box/box"
    refused = student.try_to(f"bash {box} {command}")
    assert refused.returncode == 1
    assert "needs root" in refused.stderr
    assert "cluster use laptop" in refused.stderr
    assert refused.stderr.count("\n") == 1
