"""Jobs in an image, and the two files from which images are built."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

# A stand-in for Apptainer: it notes how it was called, then runs the program here.
APPTAINER = r"""#!/bin/bash
echo "apptainer ${*//[[:cntrl:]]/ } bind=$APPTAINER_BIND" >>"$HOME/calls"
while [ "$1" != "$COURSE_IMAGE" ]; do shift; done
shift
IN_IMAGE=yes exec "$@"
"""
JOB = """source "${COURSE_SITE:-$HOME/.dl-course/site.sh}"
export COURSE_IMAGE=$PWD/course.sif
"""


@pytest.fixture
def apptainer(shell):
    """Return a shell on the laptop site with an image and a stand-in that runs it."""
    programs = shell.home / "bin"
    programs.mkdir()
    (programs / "apptainer").write_text(APPTAINER)
    (programs / "apptainer").chmod(0o755)
    shell.environment["PATH"] = f"{programs}:{shell.environment['PATH']}"
    (shell.folder / "course.sif").touch()
    shell.cluster("use", "laptop")
    return shell


def calls(shell):
    return (shell.home / "calls").read_text().splitlines()


@pytest.mark.ranks
def test_launch_puts_each_rank_into_the_image_and_counts_them_there(apptainer):
    data = apptainer.home / "data"
    data.mkdir()
    apptainer.environment |= {"SLURM_NTASKS": "2", "COURSE_DATA": str(data)}
    apptainer.write("job.sh", f"{JOB}launch bash -c 'echo rank in image: $IN_IMAGE'")
    printed = apptainer.run("bash", "job.sh").stdout.splitlines()
    assert printed == ["launch: 2 ranks as the launcher counts", *["rank in image: yes"] * 2]
    assert len(calls(apptainer)) == 4  # two ranks that count, and two that work
    assert all(call.endswith(f"bind={data}") for call in calls(apptainer))


@pytest.mark.slow
@pytest.mark.ranks
@pytest.mark.parametrize("launcher", ["torchrun", "horovodrun"])
def test_other_launchers_start_their_ranks_inside(apptainer, launcher):
    apptainer.environment |= {"SLURM_NTASKS": "2", "LAUNCHER": launcher, "SLURM_JOB_ID": "7"}
    apptainer.write("job.sh", f"{JOB}launch bash -c 'echo rank in image: $IN_IMAGE'")
    printed = apptainer.run("bash", "job.sh").stdout
    assert printed.count("rank in image: yes") == 2
    [call] = calls(apptainer)
    assert f"course.sif {launcher} " in call


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("rm course.sif", "launch: there is no image "),
        ("SITE_CONTAINER=", "launch: site laptop has no SITE_CONTAINER"),
        ("SITE_CONTAINER=shifter", "launch: COURSE_IMAGE is set, but shifter is not on "),
        (
            "export LAUNCHER=horovodrun SLURM_NNODES=2",
            "launch: horovodrun reaches other nodes by ssh",
        ),
    ],
)
def test_what_cannot_be_run_in_an_image_is_said_in_a_sentence(apptainer, change, sentence):
    apptainer.write("job.sh", f"{JOB}{change}\nlaunch echo never")
    done = apptainer.run("bash", "job.sh", ok=False)
    assert done.stderr.startswith(sentence)
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


PINS = ["pyproject.toml", "cluster/environment/locked.txt"]


@pytest.fixture
def image(tmp_path):
    """Write a folder as in an image.

    Stand-ins note the commands that would change the system.
    """
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("apt-get", "python3", "rm"):
        (programs / name).write_text(f'#!/bin/bash\necho "{name} $*" >>"$CALLS"\n')
        (programs / name).chmod(0o755)
    course = tmp_path / "course"
    for name in [*PINS, "cluster/containers/install.sh"]:
        (course / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, course / name)

    def install(*words: str) -> tuple[int, str, str]:
        done = subprocess.run(
            ["bash", course / "cluster/containers/install.sh", *words],
            capture_output=True,
            text=True,
            env={"PATH": f"{programs}:/usr/bin:/bin", "CALLS": str(tmp_path / "calls")},
        )
        calls = tmp_path / "calls"
        return done.returncode, done.stderr, calls.read_text() if calls.exists() else ""

    return course, install


def test_the_image_gets_the_pins_of_the_project(image):
    course, install = image
    status, errors, calls = install("cpu")
    assert (status, errors) == (0, "")
    assert "python3 -m cluster.environment horovod\n" in calls
    for name in PINS:
        assert (course / name).read_text() == (ROOT / name).read_text()


GPU_PYTHON = """#!/bin/bash
echo "python3 $*" >>"$CALLS"
mkdir -p .venv/bin
[ -e .venv/bin/python ] || cp "$0" .venv/bin/python
"""


def test_an_image_for_gpus_gets_one_frameworks_pins_and_its_horovod(image):
    course, install = image
    (course.parent / "bin/python3").write_text(GPU_PYTHON)
    assert install("gpu-torch")[:2] == (0, "")
    calls = (course.parent / "calls").read_text()
    assert "--constraint cluster/environment/locked-torch.txt" in calls
    assert "--editable .[lessons,gpu-torch,horovod-build]\n" in calls
    assert "python3 -m cluster.environment.horovod_wheel --gpu --framework torch\n" in calls
    assert not re.search("tensorflow", calls)


def test_an_image_with_expected_answers_is_refused(image):
    course, install = image
    (course / "autograder/rubrics/expected").mkdir(parents=True)
    status, errors, calls = install("cpu")
    assert (status, calls) == (1, "")
    assert errors.startswith("install.sh: expected answers do not belong into an image")
