"""Every failure of a set-up is reported in one sentence with a remedy."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cluster.environment.failure import explain

ROOT = Path(__file__).parents[3]
NO_INDEX = {
    "PIP_CONFIG_FILE": os.devnull,
    "PIP_INDEX_URL": "http://127.0.0.1:9/simple",  # nothing listens there
    "PIP_EXTRA_INDEX_URL": "",
    "PIP_FIND_LINKS": "",
    "PIP_RETRIES": "0",
}


@pytest.fixture
def course(tmp_path):
    """Copy the parts of a clone that the set-up needs."""
    root = tmp_path / "course"
    shutil.copytree(
        ROOT / "cluster" / "environment",
        root / "cluster" / "environment",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    shutil.copy(ROOT / "cluster" / "__init__.py", root / "cluster")
    shutil.copy(ROOT / "pyproject.toml", root)
    return root


def set_up(root, module="cluster.environment", parts=(), **environ):
    env = os.environ | {"XDG_CACHE_HOME": str(root.parent / "cache")} | environ
    return subprocess.run(
        [sys.executable, "-m", module, *parts], cwd=root, env=env, capture_output=True, text=True
    )


def assert_one_sentence(ended, *parts):
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert ended.stderr.count("\n") == 1, ended.stderr
    assert ended.stderr.endswith(".\n")
    assert "Traceback" not in ended.stdout + ended.stderr
    for part in parts:
        assert part in ended.stderr


def path_with(tmp_path, *tools):
    """Return a PATH that has only these tools."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in tools:
        (folder / tool).symlink_to(shutil.which(tool))
    return str(folder)


def test_no_compiler(course, tmp_path):
    ended = set_up(course, parts=["horovod"], PATH=path_with(tmp_path, "make"))
    assert_one_sentence(ended, "there is no c++", "apt install g++", "module load")
    assert not (course / ".venv").exists()


def test_a_full_disk(course):
    # Writing to /dev/full fails like writing to a full disk.
    logs = course / "build" / "set-up"
    logs.mkdir(parents=True)
    (logs / "venv.log").symlink_to("/dev/full")
    assert_one_sentence(set_up(course), "the disk is full", "XDG_CACHE_HOME")


@pytest.mark.slow
def test_no_network_then_the_log_is_named_and_kept(course):
    ended = set_up(course, **NO_INDEX)
    assert_one_sentence(ended, "127.0.0.1 cannot be reached", "the log is ")
    log = Path(ended.stderr.rsplit("the log is ", 1)[1].rstrip(".\n"))
    assert "$ " in log.read_text()


@pytest.mark.parametrize(
    ("output", "meaning"),
    [
        ("ERROR: Could not install packages: [Errno 28] No space left on device", "disk is full"),
        (
            "HTTPSConnectionPool(host='my.mirror', port=443): Max retries exceeded with url: /x",
            "my.mirror cannot be reached",
        ),
        (
            "ERROR: Could not find a version that satisfies the requirement uv==1 "
            "(from versions: 0.9, 1.1)\nERROR: No matching distribution found for uv==1",
            "uv==1 does not exist",
        ),
        (
            "HTTPSConnectionPool(host='my.mirror', port=443): Max retries exceeded with url: /x "
            "(Caused by SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]')))",
            "PIP_CERT",
        ),
    ],
)
def test_what_commands_say_is_understood(output, meaning):
    assert meaning in explain(output)


# An older Python lacks tomllib, so that is what the set-up looks for.
OLD = """
import importlib.util, runpy, sys
real = importlib.util.find_spec
importlib.util.find_spec = lambda name: None if name == "tomllib" else real(name)
sys.argv[1:] = ["tools"]
runpy.run_module("cluster.environment", run_name="__main__")
"""


def test_an_older_python_gets_one_sentence_with_the_package(course):
    ended = subprocess.run([sys.executable, "-c", OLD], cwd=course, capture_output=True, text=True)
    assert_one_sentence(ended, "needs 3.11 or newer", "apt install python3", "PYTHON=python3.11")


@pytest.mark.parametrize("name", ["__init__", "__main__", "complete"])
def test_what_runs_first_runs_on_old_pythons(name):
    source = (ROOT / "cluster" / "environment" / f"{name}.py").read_text()
    ast.parse(source, feature_version=(3, 6))
