"""Tests of the files and hosts that a command can reach inside the sandbox, and outside."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.namespaces

SANDBOX = Path(__file__).parents[3] / "cluster" / "rerun" / "sandbox.py"


def sandboxed(*words, options=(), **more):
    ours = [f"--show={sys.prefix}", f"--show={sys.base_prefix}"]
    command = [sys.executable, "-I", str(SANDBOX), *ours, *map(str, options), "--"]
    command += map(str, words)
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **more)


def python(text, *words, options=(), **more):
    return sandboxed(sys.executable, "-c", text, *words, options=options, **more)


CONNECT = "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5)"


def test_no_network_but_its_own():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        subprocess.run([sys.executable, "-c", CONNECT, str(port)], check=True)
        inside = python(CONNECT, port)
        assert inside.returncode == 1
        assert "ConnectionRefusedError" in inside.stderr
        limits_only = python(CONNECT, port, options=["--limits-only"])
        assert limits_only.returncode == 0, limits_only.stderr
    own = "import socket as s; a = s.create_server(('127.0.0.1', 0)); " + (
        "s.create_connection(a.getsockname(), 5)"
    )
    assert python(own).returncode == 0


def test_an_address_elsewhere_cannot_even_be_tried():
    text = "import socket; socket.create_connection(('192.0.2.1', 80), 5)"
    assert "unreachable" in python(text).stderr


def test_folders_are_hidden_and_shown(tmp_path):
    for name in ("class/ben/answer.txt", "class/course/toolkit.py", "class/course/solutions/1.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("secret")
    course = tmp_path / "class" / "course"
    found = sandboxed(
        "find",
        tmp_path / "class",
        "-type",
        "f",
        options=[
            *("--hide", tmp_path / "class", "--show", course),
            *("--hide", course / "solutions", "--hide", "/no/such/folder"),
        ],
    )
    assert found.stdout.split() == [str(course / "toolkit.py")], found.stderr


def test_its_own_tmp_and_shared_memory(tmp_path):
    mark = Path("/tmp") / f"sandbox-{os.getpid()}"
    mark.write_text("outside")
    try:
        said = sandboxed("bash", "-c", f"ls {mark}; ls /dev/shm; echo inside > {mark}; cat {mark}")
        assert said.stdout == "inside\n", said.stdout + said.stderr
        assert mark.read_text() == "outside"
    finally:
        mark.unlink()


def test_it_sees_its_own_processes_alone():
    said = sandboxed("bash", "-c", "ls -d /proc/[0-9]* | wc -l; kill -9 -1; true")
    assert int(said.stdout) < 6
    assert os.getppid()  # this process still exists


def test_what_is_left_running_ends_with_it(tmp_path):
    mark = tmp_path / "alive"
    left = f"setsid bash -c 'while true; do date +%s.%N > {mark}; sleep 0.05; done' &"
    done = sandboxed(
        "bash",
        "-c",
        f"{left} until test -s {mark}; do sleep 0.1; done",
        options=["--show", tmp_path],
    )
    assert done.returncode == 0, done.stderr
    before = mark.read_text()
    time.sleep(0.5)
    assert mark.read_text() == before


def test_it_ends_when_whoever_started_it_is_killed(tmp_path):
    mark = tmp_path / "alive"
    loop = f"while true; do date +%s.%N > {mark}; sleep 0.05; done"
    words = [sys.executable, "-I", str(SANDBOX), "--show", str(tmp_path), "--", "bash", "-c", loop]
    with subprocess.Popen(words) as outer:
        end = time.monotonic() + 20
        while not mark.exists() or not mark.read_text():
            assert time.monotonic() < end
            time.sleep(0.05)
        outer.send_signal(signal.SIGKILL)
    time.sleep(0.5)
    before = mark.read_text()
    time.sleep(0.5)
    assert mark.read_text() == before


def test_a_command_that_is_not_there():
    done = sandboxed("/no/such/program")
    assert done.returncode == 127
    assert done.stderr == "sandbox: /no/such/program: No such file or directory\n"


@pytest.mark.parametrize(
    ("ending", "code"),
    [
        ("exit 0", 0),
        ("exec /no/such/program", 127),
        ("exit 7", 7),
        ("kill -9 $$", 137),
        ("kill -15 $$", 143),
    ],
)
def test_the_command_s_exit_code(ending, code):
    assert sandboxed("bash", "-c", ending).returncode == code


def test_no_rights_of_root_and_no_way_to_get_them():
    said = sandboxed("bash", "-c", "id -u; grep -E 'CapEff|NoNewPrivs' /proc/self/status")
    assert said.stdout.splitlines()[0] == str(os.getuid())
    assert "NoNewPrivs:\t1" in said.stdout
    if os.getuid():
        assert "CapEff:\t0000000000000000" in said.stdout


def test_files_and_processes_are_bounded():
    options = ["--largest-file", "1"]
    text = "import os; os.ftruncate(os.open('/tmp/x', os.O_RDWR | os.O_CREAT), {})"
    assert python(text.format(1 << 29), options=options).returncode == 0
    assert "File too large" in python(text.format(1 << 31), options=options).stderr


def test_the_report_is_out_of_reach_and_says_what_others_computed(tmp_path):
    report = tmp_path / "report.json"
    tampering = f"ls -l /proc/self/fd; echo '{{}}' > {report}; sleep 0.3"
    said = sandboxed(
        "bash", "-c", tampering, options=["--report", report, "--hide", tmp_path]
    )  # a file of that name in the folder that hides it
    assert "report" not in said.stdout
    told = json.loads(report.read_text())
    assert told["cores"] == os.sysconf("SC_NPROCESSORS_ONLN")
    assert 0 <= told["others"] <= told["cores"] + 0.5
