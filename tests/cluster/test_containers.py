"""Jobs in an image, and the two files that images are made of."""

import pytest

# Stands where Apptainer would: notes how it was called, then runs the program here.
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
    """A shell on the laptop site with an image and what runs it."""
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


def test_one_program_in_the_image(apptainer):
    apptainer.write(
        "job.sh", f"{JOB}in_container bash -c 'echo in image: $IN_IMAGE \"$@\"' - 'a b'"
    )
    assert apptainer.run("bash", "job.sh").stdout == "in image: yes a b\n"
    image = apptainer.folder / "course.sif"
    assert calls(apptainer)[0].startswith(f"apptainer exec {image} bash -c ")


@pytest.mark.ranks
def test_launch_puts_each_rank_into_the_image_and_counts_them_there(apptainer):
    data = apptainer.home / "data"
    data.mkdir()
    apptainer.environment |= {"SLURM_NTASKS": "2", "COURSE_DATA": str(data)}
    apptainer.write("job.sh", f"{JOB}launch bash -c 'echo rank in image: $IN_IMAGE'")
    printed = apptainer.run("bash", "job.sh").stdout.splitlines()
    assert printed == ["launch: 2 ranks in one MPI world", *["rank in image: yes"] * 2]
    assert len(calls(apptainer)) == 4  # two ranks that count, two that work
    assert all(call.endswith(f"bind={data}") for call in calls(apptainer))


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


def test_without_an_image_nothing_changes(apptainer):
    apptainer.write("job.sh", f"{JOB}unset COURSE_IMAGE\nlaunch echo here; in_container echo too")
    assert apptainer.run("bash", "job.sh").stdout == "here\ntoo\n"
    assert not (apptainer.home / "calls").exists()
