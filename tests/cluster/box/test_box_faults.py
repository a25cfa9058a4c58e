"""Faults on the box, which must keep working afterwards.

The faults are jobs of root, drained nodes, a full disk and a reboot.
"""

import os
import signal
import subprocess
import time

import pytest

from tests.cluster.box.test_box_updown import STATE, daemons

pytestmark = pytest.mark.slurm


def as_root(*words: str) -> str:
    words = ("timeout", "-k", "5", "60", *words)
    return subprocess.run(words, capture_output=True, text=True, check=True, cwd="/").stdout


def drained_nodes() -> dict[str, str]:
    """Wait until no epilog runs, then return each node that accepts no jobs, with the reason."""
    end = time.monotonic() + 30
    while as_root("sinfo", "-h", "-N", "-t", "completing", "-o", "%N"):
        assert time.monotonic() < end
        time.sleep(0.2)
    lines = as_root("sinfo", "-h", "-N", "-t", "drain", "-o", "%N %E").splitlines()
    return dict(line.split(" ", 1) for line in lines)


def test_a_drained_node_is_shown_and_serves_again_after_up(box, student):
    as_root("scontrol", "update", "nodename=node02", "state=drain", "reason=fan is loud")
    assert drained_nodes() == {"node02": "fan is loud"}
    [line] = [line for line in box("status").stdout.splitlines() if "drained" in line]
    assert line.startswith("node02: ")
    assert "fan is loud" in line
    up = box("up")
    assert up.returncode == 0, up.stderr
    assert "fan is loud" in up.stdout
    assert drained_nodes() == {}
    assert student.do("srun --quiet -w node02 hostname") == "node02\n"


def test_a_login_that_was_deleted_can_be_added_again(box):
    try:
        assert box("user", "add", "phoenix").returncode == 0
        as_root("userdel", "--force", "--remove", "phoenix")
        as_root("scontrol", "reconfigure")  # the controller now finds no such login
        added = box("user", "add", "phoenix")
        assert added.returncode == 0, added.stderr
        words = "srun --quiet --account=course id --user --name"
        assert as_root("su", "-", "phoenix", "-c", words) == "phoenix\n"
    finally:
        as_root("userdel", "--force", "--remove", "phoenix")


def test_up_writes_the_module_again_for_an_environment_made_since(box, student):
    module = STATE / "modules/dl-course/1.0.lua"
    before = module.read_text()
    module.write_text(before.replace('"PATH", "', '"PATH", "/no/where'))
    assert box("up").returncode == 0
    assert module.read_text() == before
    assert "version" in student.do("module load dl-course && cluster --version")


@pytest.fixture
def full_node(box):
    """Fill the disk that Slurm uses on node03, and yield the node's name."""
    inside = ("nsenter", f"--target={daemons()['node03']}", "--mount")
    folder = str(STATE / "spool/node03")
    as_root(*inside, "mount", "-t", "tmpfs", "-o", "size=16k", "full", folder)
    as_root(*inside, "sh", "-c", f"cat /dev/zero >{folder}/full 2>/dev/null || true")
    yield "node03"
    as_root(*inside, "sh", "-c", f"! mountpoint -q {folder} || umount {folder}")
    assert box("up").returncode == 0


def test_after_a_full_disk_the_job_runs_and_the_node_serves(box, student, full_node):
    job = student.submit(f"--nodelist={full_node} --output=out", "hostname")
    end = time.monotonic() + 60
    while full_node not in drained_nodes():
        assert time.monotonic() < end, student.account(job)
        time.sleep(0.5)
    assert full_node in box("status").stdout
    inside = ("nsenter", f"--target={daemons()[full_node]}", "--mount")
    as_root(*inside, "umount", str(STATE / "spool/node03"))
    assert box("up").returncode == 0
    # Slurm delays such a job for two minutes, or holds it if the launch itself failed.
    as_root("scontrol", "update", f"JobId={job}", "StartTime=now")
    as_root("scontrol", "release", job)
    assert student.wait(job, seconds=180)["state"] == "COMPLETED"
    assert student.read("out") == f"{full_node}\n"


def test_the_box_comes_up_after_a_reboot(box, student):
    """Processes and mounts are gone, files remain, and other programs may have the old ids."""
    stranger = subprocess.Popen(["sleep", "300"])
    try:
        for process in daemons().values():
            os.kill(process, signal.SIGKILL)
        lent = STATE / "python"
        if os.path.ismount(lent):
            as_root("umount", "--lazy", str(lent))
        for name in daemons():
            (STATE / f"run/{name}.pid").write_text(f"{stranger.pid}\n")
        assert box("status").returncode == 1
        up = box("up")
        assert up.returncode == 0, up.stderr
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()
    load = "module load dl-course && srun --quiet --nodes=4 python -c 'import autograder; print(1)'"
    assert student.do(load) == 4 * "1\n"
