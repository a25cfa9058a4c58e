"""The site files, and the output of `cluster use` and `cluster sites`."""

import os
import shutil
import subprocess
import sys

import pytest

from cluster.sites import site_files
from tests.breadth import breadth

SITES = site_files.names()


@pytest.mark.parametrize("name", SITES)
def test_a_site_file_yields_to_what_is_personal(name, monkeypatch):
    mine = {"SBATCH_ACCOUNT": "mine", "SBATCH_PARTITION": "mine", "SBATCH_QOS": "mine"}
    for variable, value in mine.items():
        monkeypatch.setenv(variable, value)
    exports = site_files.load(site_files.FOLDER / f"{name}.sh").exports
    assert not set(mine) & set(exports)  # unchanged


@pytest.mark.parametrize("name", SITES)
def test_salloc_asks_for_what_sbatch_asks_for(name):
    """salloc reads variables of its own; a page says to source the site's file before it.

    Outside a job, this prints nothing and loads no module.
    """
    source = f"module() {{ exit 9; }}; source {site_files.FOLDER}/{name}.sh"
    script = f"{source}; unset -f module; echo begins; env; echo is $SITE_SCHEDULER"
    environ = {"PATH": os.environ["PATH"], "HOME": "/nowhere", "SBATCH_ACCOUNT": "mine"}
    words = ["bash", "-euo", "pipefail", "-c", script]
    done = subprocess.run(words, env=environ, capture_output=True, text=True, check=True)
    first, *lines = done.stdout.splitlines()
    assert (first, done.stderr) == ("begins", "")
    asked = {
        command: {line.removeprefix(command) for line in lines if line.startswith(command)}
        for command in ("SBATCH_", "SALLOC_")
    }
    assert "ACCOUNT=mine" in asked["SBATCH_"]
    assert asked["SALLOC_"] == (asked["SBATCH_"] if lines[-1] == "is slurm" else set())


def test_use_keeps_what_is_personal_outside_the_repository(shell):
    (shell.folder / "tf/bin").mkdir(parents=True)
    (shell.folder / "tf/bin/python").touch()
    both = ("--reservation", "a b", "--tensorflow-environment", shell.folder / "tf")
    said = shell.cluster("use", "juwels", "--account", "training2601", *both)
    assert "Jobs now run on juwels" in said.stdout
    mine = (shell.home / ".dl-course/site.sh").read_text()
    assert "export SBATCH_ACCOUNT=training2601\n" in mine
    assert "export SBATCH_RESERVATION='a b'\n" in mine
    assert f"export COURSE_ENVIRONMENT={sys.prefix}\n" in mine
    assert f"export COURSE_ENVIRONMENT_TENSORFLOW={shell.folder}/tf\n" in mine
    assert "* juwels" in shell.cluster("sites").stdout
    shown = shell.run(
        "bash", "-c", 'source ~/.dl-course/site.sh; echo "$SBATCH_ACCOUNT $SBATCH_PARTITION"'
    )
    assert shown.stdout == "training2601 develbooster\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["juwels"], "juwels charges every job to an account: cluster use juwels --account"),
        (["moon"], "there is no site moon: choose one of biohpc, box, juwels"),
        (["laptop", "--environment", "/no/where"], "'/no/where' does not exist"),
        (["laptop", "--environment", "/tmp"], "/tmp contains no bin/python"),
    ],
)
def test_use_refuses_in_a_sentence(shell, words, message):
    assert message in shell.cluster("use", *words, ok=False).stderr
    assert "laptop.sh" in (shell.home / ".dl-course/site.sh").read_text()  # the previous choice


def test_a_folder_that_cannot_be_made_is_a_sentence(shell):
    (shell.home / "file").touch()
    shell.environment["HOME"] = str(shell.home / "file")
    assert "Not a directory\n" in shell.cluster("use", "laptop", ok=False).stderr


@pytest.fixture
def undecided(shell):
    """Return the shell of a user who has chosen no site, on a machine without a batch system."""
    shutil.rmtree(shell.home / ".dl-course")
    programs = shell.folder / "bin"
    programs.mkdir()
    for name in ("bash", "env", "dirname", "id"):
        (programs / name).symlink_to(shutil.which(name))
    (programs / "python").symlink_to(sys.executable)
    shell.environment["PATH"] = str(programs)
    return shell


def test_without_a_choice_and_a_batch_system_jobs_run_on_this_machine(undecided):
    assert "* laptop" in undecided.cluster("sites").stdout


@pytest.mark.parametrize("command", breadth(["sbatch", "qsub"]))
def test_where_there_is_a_batch_system_a_site_has_to_be_chosen(undecided, command):
    program = undecided.folder / "bin" / command
    program.write_text("#!/bin/bash\necho >called\n")
    program.chmod(0o755)
    job = undecided.write("job.sbatch", "echo >ran")
    for words in (("submit", job), ("logs", "1")):
        refused = undecided.cluster(*words, ok=False).stderr
        assert f"({command})" in refused
        assert "cluster use SITE" in refused
        assert refused.count("\n") == 1
    assert not [name for name in ("ran", "called") if (undecided.folder / name).exists()]
    assert not (undecided.home / ".dl-course").exists()
    assert "*" not in undecided.cluster("sites").stdout
    undecided.at("laptop", "submit", "--wait", job)
    assert (undecided.folder / "ran").exists()


def test_a_job_file_run_by_hand_uses_the_chosen_site(shell):
    shell.cluster("use", "laptop")
    body = 'source "${COURSE_SITE:-$HOME/.dl-course/site.sh}"; facts; launch echo ran'
    printed = shell.run("bash", shell.write("job.sbatch", body)).stdout
    assert printed.startswith("site: laptop (laptop)\njob: none")
    assert printed.endswith("ran\n")
