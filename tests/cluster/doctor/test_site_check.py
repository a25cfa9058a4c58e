"""`cluster site check`: which mistakes it finds in a site file."""

import pytest

from cluster.doctor import site_check
from cluster.sites import site_files
from tests.breadth import breadth

TEMPLATE = (site_files.FOLDER / "template.sh").read_text()


@pytest.mark.parametrize("name", [*site_files.names(), "template"])
def test_nothing_is_wrong_with_a_site_file(name, monkeypatch):
    monkeypatch.setenv("SBATCH_ACCOUNT", "course01")
    problems = site_check.check(site_files.FOLDER / f"{name}.sh")
    assert [problem for problem in problems if "not on this machine" not in problem] == []


def test_the_template_explains_every_setting():
    for name in site_check.SETTINGS:
        block = next(block for block in TEMPLATE.split("\n\n") if f"\n{name}=" in block)
        assert block.startswith("# "), name


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    breadth(
        [
            ('SITE_TITLE="', 'SITE_TITLE="x" "', "it fails under `set -euo pipefail`"),
            ("launch_ranks() {", "launch_ranks( {", "not valid shell: line"),
            ("SITE_LAUNCHER=srun", "", "SITE_LAUNCHER is not set"),
            (
                "SITE_SCHEDULER=slurm",
                "SITE_SCHEDULER=lsf",
                "SITE_SCHEDULER=lsf should be slurm or pbs",
            ),
            (
                "SITE_SCRATCH=",
                "SITE_SCRACH=",
                "SITE_SCRACH is not a known setting; did you mean",
            ),
            (
                "SITE_GPUS_PER_NODE=4",
                "SITE_GPUS_PER_NODE=four",
                "SITE_GPUS_PER_NODE=four should be",
            ),
            ("SITE_MAX_TIME=02:00:00", "SITE_MAX_TIME=2h", "SITE_MAX_TIME=2h: a time is minutes"),
            ("launch_ranks() {", "start_ranks() {", "launch_ranks is missing"),
            ("load_software() {", "load_sofware() {", "load_sofware; did you mean load_software?"),
            ("SITE_NAME=template", "SITE_NAME=mine", "SITE_TITLE=One line: machine, centre, GPUs"),
            (
                'source "$(dirname',
                ': "$(dirname',
                "launch is missing: the file's last line must be",
            ),
            ("SITE_INTERNET=no", "SITE_INTERNET=$NOWHERE", "NOWHERE: unbound variable"),
            ("SITE_INTERNET=no", "export SBATCH_ACCOUNT='<project>'", "is a placeholder"),
            ("SITE_INTERNET=no", "", "charges every job to an account"),
        ],
        quick=6,
    ),
)
def test_what_is_wrong_with_a_site_file_is_said(shell, old, new, problem):
    assert TEMPLATE.count(old) == 1
    shared = f'source "{site_files.FOLDER}/job.sh"'
    text = TEMPLATE.replace(old, new)
    text = text.replace('source "$(dirname "${BASH_SOURCE[0]}")/job.sh"', shared)
    (shell.folder / "mine.sh").write_text(text)
    shell.environment["COURSE_SITE"] = str(shell.folder / "mine.sh")
    assert problem in shell.cluster("site", "check", ok=False).stdout


def test_a_site_goes_by_the_name_of_its_file(tmp_path, monkeypatch):
    for file in (site_files.FOLDER / "job.sh", site_files.FOLDER / "template.sh"):
        (tmp_path / file.name).write_text(file.read_text())
    (tmp_path / "falcon.sh").write_text(TEMPLATE.replace('SITE_TITLE="', 'SITE_TITLE="Falcon, '))
    monkeypatch.setattr(site_files, "FOLDER", tmp_path)
    monkeypatch.setenv("SBATCH_ACCOUNT", "course01")
    problems = site_check.check(tmp_path / "falcon.sh")
    assert problems[0] == "SITE_NAME=template should be the file's name, falcon"
