"""`cluster site check`: which mistakes it finds in a site file."""

import pytest

from cluster.doctor import site_check
from cluster.sites import site_files
from tests.breadth import breadth

TEMPLATE = (site_files.FOLDER / "template.sh").read_text()


@pytest.mark.parametrize("name", [*site_files.names(), "template"])
def test_nothing_is_wrong_with_a_site_file(name, monkeypatch):
    monkeypatch.setenv("SBATCH_ACCOUNT", "course01")
    # This machine may have a Slurm of its own, which has other partitions.
    monkeypatch.setattr(site_files, "find_program", lambda *_: None)
    problems = site_check.check(site_files.FOLDER / f"{name}.sh")
    assert [problem for problem in problems if "not on this machine" not in problem] == []


MISTAKES = [
    ('SITE_TITLE="', 'SITE_TITLE="x" "', "it fails under `set -euo pipefail`"),
    ("load_software() {", "load_software( {", "not valid shell: line"),
    ("SITE_LAUNCHER=srun", "", "SITE_LAUNCHER is not set"),
    ("SITE_SCHEDULER=slurm", "SITE_SCHEDULER=lsf", "SITE_SCHEDULER=lsf should be slurm or pbs"),
    ("SITE_SCRATCH=", "SITE_SCRACH=", "SITE_SCRACH is not a known setting"),
    ("SITE_GPUS_PER_NODE=4", "SITE_GPUS_PER_NODE=x", "SITE_GPUS_PER_NODE=x should be a number"),
    ("SITE_MAX_TIME=02:00:00", "SITE_MAX_TIME=2h", "SITE_MAX_TIME=2h: a time is minutes"),
    ("SITE_SCHEDULER=slurm", "SITE_SCHEDULER=pbs", "launch_ranks is missing"),
    ("SITE_LAUNCHER=srun", "SITE_LAUNCHER=mpirun", "launch_ranks is missing"),
    ("SITE_SCRATCH=", "SBATCH_TIME=9\nSITE_SCRATCH=", "SBATCH_TIME is not a variable"),
    ("SITE_SCRATCH=", "SBATCH_GPUS=1\nSITE_SCRATCH=", "SBATCH_GPUS and SBATCH_GPUS_PER_NODE"),
    ("SITE_TESTED=", "\r\nSITE_TESTED=", "lines end as on Windows"),
    ('source "$(dirname', ': "$(dirname', "launch is missing: the file's last line must be"),
    ("SITE_INTERNET=no", "SITE_INTERNET=$NOWHERE", "NOWHERE: unbound variable"),
    ("SITE_INTERNET=no", "", "charges every job to an account"),
]


@pytest.mark.parametrize(("old", "new", "problem"), breadth(MISTAKES, quick=8))
def test_what_is_wrong_with_a_site_file_is_said(shell, old, new, problem):
    assert TEMPLATE.count(old) == 1
    shared = f'source "{site_files.FOLDER}/job.sh"'
    text = TEMPLATE.replace(old, new)
    text = text.replace('source "$(dirname "${BASH_SOURCE[0]}")/job.sh"', shared)
    (shell.folder / "mine.sh").write_text(text)
    shell.environment["COURSE_SITE"] = str(shell.folder / "mine.sh")
    assert problem in shell.cluster("site", "check", ok=False).stdout


@pytest.mark.parametrize(
    "line",
    [
        "SITE_LAUNCHER=torchrun",
        "SITE_LAUNCHER=horovodrun",
        'SITE_LAUNCHER=mpirun\nlaunch_ranks() { mpirun -n "$@" || echo "try srun"; }',
    ],
)
def test_a_launcher_other_than_srun_is_right(shell, line):
    file = shell.folder / "mine.sh"
    text = TEMPLATE.replace("SITE_LAUNCHER=srun", line)
    file.write_text(text.replace('$(dirname "${BASH_SOURCE[0]}")', str(site_files.FOLDER)))
    said = "\n".join(site_check.check(file))
    assert "SITE_LAUNCHER" not in said
    assert "launch_ranks is missing" not in said


def test_the_batch_system_is_asked_for_the_partition_and_the_modules_are_loaded(shell, programs):
    text = TEMPLATE.replace("module load Python CUDA", "echo no such module >&2; return 3")
    (shell.folder / "mine.sh").write_text(
        text.replace('$(dirname "${BASH_SOURCE[0]}")', str(site_files.FOLDER))
    )
    shell.environment["COURSE_SITE"] = str(shell.folder / "mine.sh")
    sinfo = "echo batch gpu:4; echo 'devel (null)'"
    programs(sbatch="", scontrol="echo Slurmctld is UP", sinfo=sinfo)
    said = shell.cluster("site", "check", ok=False).stdout
    assert "SBATCH_PARTITION: there is no partition gpu here, but batch, devel" in said
    assert "load_software fails on this machine: no such module" in said
    shell.environment["SBATCH_PARTITION"] = "batch,devel"
    assert "partition" not in shell.cluster("site", "check", ok=False).stdout.lower()
    shell.environment["SBATCH_PARTITION"] = "devel"
    said = shell.cluster("site", "check", ok=False).stdout
    assert "the partition devel has no GPUs, but SBATCH_GPUS_PER_NODE requests 4" in said
    programs(scontrol="echo Slurmctld is DOWN")
    said = shell.cluster("site", "check", ok=False).stdout
    assert "the batch system does not answer: scontrol ping: Slurmctld is DOWN" in said


@pytest.fixture
def programs(shell):
    """Return a function that puts shell programs with these bodies first on PATH."""
    folder = shell.home / "bin"
    folder.mkdir()
    shell.environment["PATH"] = f"{folder}:{shell.environment['PATH']}"

    def write(**bodies: str) -> None:
        for name, body in bodies.items():
            (folder / name).write_text(f"#!/bin/sh\n{body}\n")
            (folder / name).chmod(0o755)

    return write
