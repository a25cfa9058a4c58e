"""Test how jobs are submitted to Slurm sites and refused, with stand-ins for Slurm's programs."""

import re

import pytest

from cluster.sites.site_files import FOLDER
from tests.breadth import breadth
from tests.cluster.schedulers.fake_slurm import answer, calls


def test_the_real_command_is_shown_and_run_with_the_sites_settings(slurm):
    slurm.cluster("use", "juwels", "--account", "training2601")
    done = slurm.cluster("submit", "--ntasks=4", "job.sbatch", "--epochs", "2")
    assert done.stdout == "Submitted batch job 77\n"
    assert done.stderr.endswith(
        "$ SBATCH_ACCOUNT=training2601 SBATCH_GRES=gpu:4 SBATCH_PARTITION=develbooster"
        " sbatch --ntasks=4 job.sbatch --epochs 2\n"
    )
    (call,) = calls(slurm)
    assert call["words"] == ["--ntasks=4", "job.sbatch", "--epochs", "2"]
    assert call["environment"]["SBATCH_ACCOUNT"] == "training2601"
    assert call["environment"]["SBATCH_PARTITION"] == "develbooster"
    assert call["environment"]["COURSE_SITE"].endswith(".dl-course/site.sh")


ALONE = {"train.py": "import numpy\n"}
KERAS = {"train.py": "import model\n", "model.py": "def f():\n    import tensorflow as tf\n"}


# The site, options, the program, variables for sbatch, and some of sbatch's words.
SHARES = [
    ("snellius", "-n1", KERAS, "SBATCH_GPUS_PER_NODE=1", "--cpus-per-task=18"),
    ("snellius", "-N2 -n8", KERAS, "SBATCH_GPUS_PER_NODE=4", ""),
    ("snellius", "--gres=gpu:4 -n6", KERAS, "", "--cpus-per-task=12"),
    ("marenostrum5", "-n1 -c8", KERAS, "SBATCH_GRES=gpu:1", "--cpus-per-task=8"),
    ("perlmutter", "-n2", KERAS, "SBATCH_QOS=shared", "--cpus-per-task=32"),
    ("perlmutter", "-n4", KERAS, "SBATCH_QOS=debug SBATCH_GPUS_PER_NODE=4", ""),
    ("snellius", "-n2", ALONE, "SBATCH_GPUS_PER_NODE=1", "--ntasks=2"),
    ("perlmutter", "--gpus=a100:2 -n1", KERAS, "SBATCH_QOS=shared", "--cpus-per-task=64"),
    ("juwels", "-n1", KERAS, "SBATCH_GRES=gpu:4", "--cpus-per-task=12"),
    ("snellius", "-n2", {"other.py": ""}, "SBATCH_GPUS_PER_NODE=2", ""),
    ("snellius", "-n1", {}, "SBATCH_GPUS_PER_NODE=1", "--ntasks=1"),
]


@pytest.mark.parametrize(
    ("site", "words", "program", "environment", "called"), breadth(SHARES, quick=1)
)
def test_where_parts_of_a_node_are_given_a_job_asks_for_what_it_can_use(
    slurm, site, words, program, environment, called
):
    launch = "launch python -u train.py" if program else "launch bash -c date"
    slurm.write("job.sbatch", launch, "--cpus-per-task=1", "--time=00:10:00")
    for name, text in program.items():
        (slurm.folder / name).write_text(text)
    slurm.environment["SBATCH_ACCOUNT"] = "mine"
    slurm.at(site, "submit", *words.split(), "job.sbatch")
    (call,) = calls(slurm)
    assert set(environment.split()) <= {"=".join(pair) for pair in call["environment"].items()}
    assert set(called.split()) <= set(call["words"])
    if "--cpus-per-task" not in called and called:
        assert not [word for word in call["words"] if word.startswith("--cpus-per-task")]


@pytest.mark.parametrize("asked", breadth(["--gres=gpu:1", "--gpus=2", "--gpus-per-node=1"]))
def test_gpus_asked_for_by_hand_are_not_added_to_those_of_the_site(slurm, asked):
    slurm.environment |= {"SBATCH_ACCOUNT": "mine", "SBATCH_GRES": "gpu:4"}
    done = slurm.at("perlmutter", "submit", asked, "job.sbatch")
    (call,) = calls(slurm)
    assert (call["words"][0], call["words"][-1]) == (asked, "job.sbatch")
    assert not {"SBATCH_GRES", "SBATCH_GPUS_PER_NODE"} & call["environment"].keys()
    assert "SBATCH_GPUS_PER_NODE=" not in done.stderr
    assert "$ env -u SBATCH_GRES SBATCH_" in done.stderr, "what is shown can be typed"


@pytest.mark.parametrize(
    ("refusal", "advice"),
    breadth([
        ("Batch job submission failed: Invalid account or account/partition combination"
         " specified", "cluster use box --account NAME"),
        ("Requested reservation is invalid", "scontrol show reservation"),
        ("Unable to contact slurm controller (connect failure)", "wait, then try again"),
    ], quick=1),
)  # fmt: skip
def test_what_slurm_refuses_comes_with_advice(slurm, refusal, advice):
    answer(slurm, sbatch=["", f"sbatch: error: {refusal}\n", 1])
    said = slurm.at("box", "submit", "job.sbatch", ok=False).stderr
    assert f"\nError: {refusal}\n" in said
    assert advice in said


WAITS = [
    ("marenostrum5", "--time=3:00:00", "--time=3:00:00 is more than the 02:00:00 usual here"),
    ("box", "--nodes=5 -n5", "5 nodes are more than the 4 usual here"),
    ("juwels", "-N1 -n8", "8 ranks a node, but a node of juwels has 4 GPUs"),
    ("juwels", "-n8", "8 ranks may share a node, because --nodes is not given"),
    ("biohpc", "-n2", "--nodes=2 has room"),
    ("box", "-N1 -n2 -c16", "32 cores of a node are requested, but a node has 16"),
]


@pytest.mark.parametrize(("site", "words", "remark"), breadth(WAITS, quick=1))
def test_what_may_wait_for_ever_is_said_beforehand(slurm, site, words, remark):
    slurm.environment["SBATCH_ACCOUNT"] = "mine"
    assert remark in slurm.at(site, "submit", *words.split(), "job.sbatch").stderr


@pytest.mark.parametrize(
    ("site", "words", "says"),
    [
        ("juwels", ["--gres=gpu:8"], "8 GPUs of a node are requested, but a node of juwels has 4"),
        ("biohpc", ["-N2", "--gpus=4"], "2 GPUs of a node are requested"),
        ("biohpc", ["--partition=GPU4v100"], "compute capability 7.0"),
        ("snellius", [], "--tensorflow-environment FOLDER"),
    ],
)
def test_gpus_that_the_job_could_not_use_are_refused_in_one_sentence(slurm, site, words, says):
    job_with(slurm)
    (slurm.home / "torch/lib/python3.11/site-packages/nvidia/cu13").mkdir(parents=True)
    slurm.environment |= {"SBATCH_ACCOUNT": "mine", "COURSE_ENVIRONMENT": str(slurm.home / "torch")}
    said = slurm.at(site, "submit", *words, "job.sbatch", ok=False).stderr
    assert says in said
    assert not (slurm.home / "calls").exists()


def test_a_missing_environment_for_tensorflow_is_refused(slurm):
    job_with(slurm)
    slurm.environment["COURSE_ENVIRONMENT_TENSORFLOW"] = str(slurm.home / "tf")
    said = slurm.at("snellius", "submit", "job.sbatch", ok=False).stderr
    assert f"{slurm.home / 'tf'} contains no bin/python" in said


def job_with(shell, program="import tf_keras as keras\n"):
    shell.write("job.sbatch", "launch python -u train.py", "--cpus-per-task=1")
    (shell.folder / "train.py").write_text(program)


@pytest.mark.slow
def test_a_site_without_internet_asks_for_the_data_beforehand(slurm):
    slurm.environment["SBATCH_ACCOUNT"] = "mine"
    said = slurm.at("juwels", "submit", "job.sbatch").stderr
    assert "juwels: compute nodes have no internet, and here are 6 cifar10 files missing" in said
    assert "lessons data fetch" in said
    assert "internet" not in slurm.at("box", "submit", "job.sbatch").stderr


def test_a_missing_account_is_said_before_anything_is_submitted(slurm):
    said = slurm.at("juwels", "submit", "job.sbatch", ok=False).stderr
    assert "cluster use juwels --account YOUR_PROJECT" in said
    assert not (slurm.home / "calls").exists()


def test_without_sbatch_the_laptop_is_offered(shell):
    shell.write("job.sbatch", "true")
    shell.environment["PATH"] = "/nowhere"
    for name in ("bash", "env", "grep", "dirname", "id"):
        path = shell.home / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.symlink_to(f"/usr/bin/{name}")
    shell.environment["PATH"] = str(shell.home / "bin")
    said = shell.at("box", "submit", "job.sbatch", ok=False).stderr
    assert "sbatch is not on this machine" in said
    assert "cluster use laptop" in said


def test_what_sbatch_writes_beside_the_jobs_number_is_shown(slurm):
    answer(slurm, sbatch=["Submitted batch job 77\n", "sbatch: 12 of 40 node hours left\n", 0])
    done = slurm.at("box", "submit", "job.sbatch")
    assert done.stdout == "Submitted batch job 77\n"
    assert done.stderr.endswith("\nsbatch: 12 of 40 node hours left\n")
    answer(slurm, sbatch=["", "sbatch: Job 78 to start at noon\n", 0])
    assert "Job 78 to start" in slurm.at("box", "submit", "--test-only", "job.sbatch").stderr


@pytest.mark.parametrize(("partition", "gpus"), [("cpu", None), ("gpu", "gpu:4")])
def test_a_partition_without_gpus_keeps_no_request_of_the_shell(slurm, partition, gpus):
    """The recipe is the page's. A shell that sourced the site file requests GPUs already."""
    page = (FOLDER.parents[1] / "docs/sites.md").read_text()
    recipe = re.search(r"^ +case \$SBATCH_PARTITION.*?esac$", page, re.M | re.S)[0]
    slurm.environment["COURSE_SITE"] = slurm.write("mine.sh", f"source {FOLDER}/box.sh\n{recipe}")
    slurm.environment["SBATCH_GRES"] = "gpu:4"
    slurm.cluster("submit", f"--partition={partition}", "job.sbatch")
    (call,) = calls(slurm)
    assert call["environment"].get("SBATCH_GRES") == gpus
    assert call["environment"]["SBATCH_PARTITION"] == partition


def test_the_file_to_correct_is_the_one_that_sets_the_value(slurm):
    slurm.cluster("use", "juwels", "--account", "mine")
    said = slurm.cluster("submit", "--gres=gpu:8", "job.sbatch", ok=False).stderr
    assert f"correct SITE_GPUS_PER_NODE in {FOLDER}/juwels.sh" in said


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("SITE_SCRATCH=$NOWHERE", "NOWHERE"),
        ("SITE_GPU_CAPABILITY=A100", "SITE_GPU_CAPABILITY=A100"),
        ("SITE_MAX_TIME=1h", "SITE_MAX_TIME=1h"),
        ("SBATCH_ACCOUNT=a\r", "SBATCH_ACCOUNT has a carriage return"),
    ],
)
def test_a_site_file_with_which_every_job_would_fail_is_refused(slurm, line, word):
    slurm.environment["COURSE_SITE"] = slurm.write("mine.sh", f"source {FOLDER}/box.sh\n{line}")
    said = slurm.cluster("submit", "job.sbatch", ok=False).stderr
    assert "mine.sh" in said
    assert word in said
    assert not (slurm.home / "calls").exists()
