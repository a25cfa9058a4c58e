"""Tests of a job at each centre, with replacements for the centre's programs."""

import time
from pathlib import Path

import pytest

from cluster.sites import site_files

SOLUTIONS = Path(__file__).parents[3] / "solutions"

# Each stand-in writes its name, its arguments, and the variables that it would see.
RECORDER = """#!/bin/bash
echo "$(basename "$0")${OWNER:+ of $OWNER}: $*" >>"$HOME/calls"
env | grep -E '^(CUDA_[A-Z_]*|[A-Z]*_SOCKET_IFNAME|PYTHONPATH|SLURM_MPI_TYPE|PET_[A-Z_]*)=' \\
    | sed 's/^/  /' >>"$HOME/calls"
"""
MODULE = """
module() { echo "module $*" >>"$HOME/calls"; export PYTHONPATH=/software/python; }
conda() { echo "conda $*" >>"$HOME/calls"; }
"""
SLURM = {"SLURM_JOB_ID": "7", "SLURM_NTASKS": "2", "SLURM_NNODES": "1", "SLURM_CPUS_PER_TASK": "8"}
PBS = SLURM | {"SLURM_NNODES": "2", "SLURM_NTASKS": "8"}


@pytest.fixture
def centre(shell):
    """Return a node of a centre, with the centre's programs first on PATH.

    The course's environment is there, too.
    """
    for place in ("centre", "environment/bin"):
        (shell.home / place).mkdir(parents=True)
    for program in ("centre/srun", "centre/mpiexec", "centre/scontrol", "environment/bin/mpiexec"):
        owner = program.split("/")[0]
        (shell.home / program).write_text(RECORDER.replace("${OWNER:+ of $OWNER}", f" of {owner}"))
        (shell.home / program).chmod(0o755)
    shell.environment["PATH"] = f"{shell.home / 'centre'}:{shell.environment['PATH']}"
    (shell.home / "nodes").write_text("n1\nn2\n")
    shell.environment["PBS_NODEFILE"] = str(shell.home / "nodes")
    return shell


def calls(shell, site, words, environment=True, **variables):
    """Return the calls of a job that sources the site file and then runs `words`."""
    shell.environment |= variables
    if environment:
        shell.environment["COURSE_ENVIRONMENT"] = str(shell.home / "environment")
    text = f"set -euo pipefail; {MODULE}\nsource {site_files.FOLDER}/{site}.sh; {words}"
    shell.run("bash", "-c", text)
    return (shell.home / "calls").read_text()


def test_juwels_shows_each_task_all_gpus_and_meets_on_infiniband(centre):
    said = calls(centre, "juwels", "launch_ranks 2 python train.py", **SLURM)
    assert "  CUDA_VISIBLE_DEVICES=0,1,2,3\n" in said
    assert "  NCCL_SOCKET_IFNAME=ib0\n" in said
    assert "  GLOO_SOCKET_IFNAME=ib0\n" in said


@pytest.mark.parametrize("site", ["juwels", "snellius", "polaris"])
def test_modules_do_not_shadow_the_courses_environment(centre, site):
    variables = PBS if site == "polaris" else SLURM
    said = calls(centre, site, "launch_ranks 2 python train.py", **variables)
    assert "PYTHONPATH" not in said
    assert "PyTorch" not in said
    assert "conda" not in said


def test_torchrun_over_nodes_takes_srun_under_slurm(centre):
    words = "hosts() { echo n1; }; LAUNCHER=torchrun launch python train.py"
    said = calls(centre, "snellius", words, **SLURM | {"SLURM_NNODES": "2"}, SLURM_JOB_NODELIST="n")
    [line] = [line for line in said.splitlines() if " torchrun --nnodes=2" in line]
    options = "--ntasks-per-node=1 --ntasks=2 --cpus-per-task=8 --cpu-bind=none --gpu-bind=none"
    assert set(options.split()) <= set(line.split())
    assert "PET_" not in said


def test_torchrun_meets_on_the_first_node_where_the_fast_network_has_other_names(centre):
    """The stand-in of srun starts its program, once, as the second node."""
    second = 'while [[ $1 == -* ]]; do shift; done; export SLURM_NODEID=1; exec "$@"'
    programs = {
        "centre/srun": f"#!/bin/bash\n{second}\n",
        "centre/scontrol": "#!/bin/bash\necho n1\n",
        "environment/bin/torchrun": RECORDER,
    }
    for name, text in programs.items():
        (centre.home / name).write_text(text)
        (centre.home / name).chmod(0o755)
    words = "hostname() { echo n2; }; export -f hostname; LAUNCHER=torchrun launch python train.py"
    said = calls(centre, "juwels", words, **SLURM | {"SLURM_NNODES": "2"}, SLURM_JOB_NODELIST="n")
    assert "--rdzv-endpoint=n1i:" in said
    assert "  PET_RDZV_CONF=is_host=0\n" in said
    assert "  PET_LOCAL_ADDR=n2i\n" in said


@pytest.mark.parametrize(
    ("bind", "left"), [("quiet,mask_cpu:0x1", "none none"), ("cores", "cores 0x1")]
)
def test_cores_of_the_session_that_submitted_do_not_bind_the_ranks(centre, bind, left):
    words = 'echo "bind ${SLURM_CPU_BIND:-none} ${SLURM_CPU_BIND_LIST:-none}" >>"$HOME/calls"'
    inherited = {"SLURM_CPU_BIND": bind, "SLURM_CPU_BIND_LIST": "0x1"}
    assert f"bind {left}\n" in calls(centre, "marenostrum5", words, **SLURM, **inherited)


@pytest.mark.parametrize(("listed", "chosen"), [("none pmi2 pmix pmix_v4", True), ("none", False)])
def test_the_environments_open_mpi_starts_through_pmix_where_srun_has_it(centre, listed, chosen):
    list_them = f"#!/bin/bash\n[ $1 != --mpi=list ] || {{ printf '%s\\n\\t' {listed}; exit; }}\n"
    (centre.home / "centre/srun").write_text(list_them + RECORDER)
    (centre.home / "environment/bin/mpirun").write_text("")
    (centre.home / "environment/bin/mpirun").chmod(0o755)
    said = calls(centre, "snellius", "launch_ranks 2 python train.py", **SLURM)
    assert ("  SLURM_MPI_TYPE=pmix\n" in said) == chosen


@pytest.mark.parametrize("lesson", ["07", "08", "09"])
@pytest.mark.parametrize(
    ("site", "launcher"),
    [
        ("juwels", "srun of centre: --cpu-bind=none --ntasks=8 --cpus-per-task=8"),
        ("perlmutter", "srun of centre: --mpi=pmix --gpu-bind=none --ntasks=8 --cpus-per-task=8"),
        ("polaris", "mpiexec of centre: -n 8 --ppn 4 --depth=8 --cpu-bind depth"),
    ],
)
def test_the_lessons_own_job_file_starts_eight_ranks_on_two_nodes(centre, site, launcher, lesson):
    [job] = SOLUTIONS.glob(f"{lesson}_*/job_nodes.sbatch")
    centre.environment["COURSE_SITE"] = str(site_files.FOLDER / f"{site}.sh")
    words = f"scontrol() {{ echo n1; }}; set -- --epochs 1; source {job}"
    said = calls(centre, site, words, **PBS, SLURM_JOB_NODELIST="n[1-2]")
    [started] = [line for line in said.splitlines() if "nodes.py" in line]
    assert started.startswith(launcher)
    assert started.endswith(" python -u nodes.py --epochs 1")


PROGRAMS = {
    "direct.py": "import tensorflow as tf\n",
    "inside.py": "def main():\n    from keras import layers\n",
    "beside.py": "from train import build_model\n",
    "train.py": "import beside  # a circle\nimport tensorflow as tf\n",
    "other.py": "import torch\nfrom helper import tensorflow_is_no_word\n",
    "helper.py": "import numpy\n",
}


@pytest.mark.parametrize(
    ("program", "tensorflow"),
    [
        *[(name, True) for name in ("direct.py", "inside.py", "beside.py")],
        *[(name, False) for name in ("other.py", "helper.py", "not_there.py")],
    ],
)
def test_a_program_that_has_tensorflow_through_a_module_beside_it(centre, program, tensorflow):
    for name, text in PROGRAMS.items():
        (centre.home / name).write_text(text)
    said = calls(
        centre,
        "perlmutter",
        f'cd {centre.home}; launch python -u {program} --lr 0.1 | tee -a "$HOME/calls"',
        **SLURM | {"SLURM_NTASKS": "1"},
        COURSE_ENVIRONMENT_TENSORFLOW="/tensorflow",
    )
    assert (f"launch: {program} imports TensorFlow: /tensorflow\n" in said) == tensorflow


APPTAINER = """#!/bin/bash
echo "apptainer: $*" >>"$HOME/calls"
env | grep -E '^(PMIX_MCA_[a-z]+|APPTAINER_BIND)=' | sort | sed 's/^/  /' >>"$HOME/calls"
"""


@pytest.fixture
def image(centre):
    """Write an image, its runtime, and an srun that sets what Slurm's PMIx sets for each task."""
    (centre.home / "centre/apptainer").write_text(APPTAINER)
    (centre.home / "centre/apptainer").chmod(0o755)
    (centre.home / "spool").mkdir()
    tells = "export PMIX_SECURITY_MODE=native PMIX_GDS_MODULE=hash"
    tells += f" PMIX_SERVER_TMPDIR={centre.home}/spool"
    until_program = 'while [[ $1 == -* ]]; do shift; done; exec "$@"'
    (centre.home / "centre/srun").write_text(f"#!/bin/bash\n{tells}\n{until_program}\n")
    (centre.home / "course.sif").touch()
    centre.environment["COURSE_IMAGE"] = str(centre.home / "course.sif")
    return centre


def test_the_library_in_an_image_learns_what_slurms_pmix_tells_a_task(image):
    one = SLURM | {"SLURM_NTASKS": "1"}
    said = calls(image, "juwels", "launch python train.py", **one, PMIX_MCA_gds="shmem2")
    assert f"apptainer: exec --nv {image.home}/course.sif python train.py\n" in said
    assert "  PMIX_MCA_psec=native\n" in said
    assert "  PMIX_MCA_gds=shmem2\n" in said, "a choice is left as it is"
    assert "PMIX_MCA_ptl" not in said
    assert f"{image.home}/spool\n" in said.partition("  APPTAINER_BIND=")[2]


def test_a_training_ends_early_enough_for_its_test(centre):
    end = {"SLURM_JOB_END_TIME": str(int(time.time()) + 1000)}
    words = "LEAVE_S=300; launch python train.py; launch python probe.py"
    lines = calls(centre, "snellius", words, **SLURM, **end).splitlines()
    [train], [probe] = ([line for line in lines if name in line] for name in ("train.py", "probe."))
    seconds = int(train.partition("timeout --kill-after=10 ")[2].split()[0])
    assert 800 - 60 < seconds <= 800  # at most a fifth of a short job is left for the test
    assert "timeout" not in probe


@pytest.mark.parametrize(
    ("left", "status", "ended"), [("3", "124", True), ("-1", "0", False), ("900", "0", False)]
)
def test_a_job_says_that_its_training_was_cut(shell, left, status, ended):
    until = int(time.time()) + int(left)
    shell.environment |= SLURM | {"SLURM_NTASKS": "1", "SLURM_JOB_END_TIME": str(until)}
    words = (
        'launch_ranks() { "${@:2}"; }; LEAVE_S=60; launch sleep 4 || status=$?; echo "${status:-0}"'
    )
    done = shell.run("bash", "-c", f"source {site_files.FOLDER}/laptop.sh; {words}")
    assert done.stdout.splitlines()[-1] == status
    assert ("launch: the program was ended" in done.stdout) == ended


def test_a_node_that_fails_ends_the_others(shell):
    """As on the laptop, where one machine plays all nodes."""
    words = "launch_nodes 2 sh -c '[ \"$COURSE_HOST\" = node1 ] && exec sleep 300; exit 3'"
    done = shell.run("bash", "-c", f"source {site_files.FOLDER}/laptop.sh; {words} || echo $?")
    assert done.stdout.splitlines()[-1] == "3"
