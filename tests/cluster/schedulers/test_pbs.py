"""PBS: the same job file as a qsub call, and the wrapper that runs it there."""

import json
import shlex
import stat
from pathlib import Path

import pytest

from cluster.job_file import jobfile
from cluster.schedulers import pbs
from cluster.sites import site_files
from cluster.sites.site_files import Site
from tests.breadth import breadth

POLARIS = {
    "SITE_SCHEDULER": "pbs",
    "SITE_GPUS_PER_NODE": "4",
    "SITE_PBS_SELECT": "system=polaris",
    "SITE_PBS_FILESYSTEMS": "home:eagle",
}


def qsub(directives: str, settings: dict | None = None, **command_line: str) -> tuple[str, list]:
    job = jobfile.parse(f"#!/bin/bash\n#SBATCH {directives}\n", Path("/lesson/job.sbatch"))
    where = Site(
        "polaris", Path("/site.sh"), POLARIS if settings is None else settings,
        {"SBATCH_ACCOUNT": "proj", "SBATCH_PARTITION": "debug"},
    )  # fmt: skip
    words, left_out = pbs.qsub(job, command_line, ["--epochs", "2"], where)
    return shlex.join(words), left_out


def test_a_whole_call():
    line, left_out = qsub("--job-name=h --nodes=2 --ntasks=8 --time=30 --output=%x_%j.out")
    assert line == (
        "qsub -N h -l select=2:system=polaris -l place=scatter -l walltime=00:30:00"
        " -l filesystems=home:eagle -A proj -q debug -j oe -o /dev/null"
        " -v COURSE_SITE=/site.sh,COURSE_NTASKS=8,COURSE_NNODES=2,COURSE_CPUS_PER_TASK=1,"
        "COURSE_OUTPUT=h_%j.out,SLURM_GPUS_ON_NODE=4"
        f" -- {site_files.FOLDER}/pbs_job.sh /lesson/job.sbatch --epochs 2"
    )
    assert left_out == []


@pytest.mark.parametrize(
    ("directives", "command_line", "part"),
    [
        ("--ntasks=4", {}, "-l select=1:system=polaris "),
        ("--ntasks=5", {}, "-l select=2:system=polaris "),
        ("--nodes=1 --ntasks=8", {}, "-l select=1:system=polaris "),  # as asked, with a remark
        ("--ntasks-per-node=2 --ntasks=4", {}, "-l select=2:system=polaris "),
        ("--partition=prod", {}, "-q debug "),  # the environment overrides the file, as in Slurm
        ("-n1", {"account": "other"}, "-A other "),
        ("--array=0-7", {}, "-J 0-7 "),
        ("--dependency=afterok:12", {}, "-W depend=afterok:12 "),
    ],
)
def test_each_option_has_its_place(directives, command_line, part):
    assert part in qsub(directives, **command_line)[0]


def test_what_pbs_has_no_word_for_is_named():
    assert qsub("--constraint=gpu --qos=high --gres=gpu:4")[1] == ["constraint", "qos"]


@pytest.mark.parametrize("asked", ["--array=1,2,5", "--test-only"])
def test_what_pbs_cannot_do_is_refused(asked):
    with pytest.raises(jobfile.JobFileError, match=asked):
        qsub(asked)


def test_the_wrapper_runs_the_job_with_slurms_names(shell):
    """It runs with the variables that PBS sets; bash -l reads no profile of the test machine."""
    (shell.folder / "nodes").write_text("n1\nn2\nn1\nn2\n")
    job = shell.write("job.sbatch", 'env | grep ^SLURM_ | sort; echo "$@"; echo oops >&2')
    shell.environment |= {
        "PBS_JOBID": "4711.polaris-pbs-01",
        "PBS_JOBNAME": "mine",
        "PBS_O_WORKDIR": str(shell.folder),
        "PBS_NODEFILE": str(shell.folder / "nodes"),
        "COURSE_NTASKS": "4",
        "COURSE_NNODES": "2",
        "COURSE_CPUS_PER_TASK": "8",
        "COURSE_OUTPUT": "mine_%j.out",
        "COURSE_ERROR": "mine_%j.err",
    }
    shell.run(site_files.FOLDER / "pbs_job.sh", job, "--epochs", "a b")
    output = shell.read("mine_4711.out")
    for line in (
        "SLURM_JOB_ID=4711", "SLURM_JOB_NAME=mine", "SLURM_NTASKS=4", "SLURM_NNODES=2",
        "SLURM_CPUS_PER_TASK=8", "SLURM_JOB_NODELIST=n1,n2", f"SLURM_SUBMIT_DIR={shell.folder}",
        "--epochs a b",
    ):  # fmt: skip
        assert f"{line}\n" in output
    assert shell.read("mine_4711.err") == "oops\n"


FAKE = """#!/bin/bash
printf '%s\\n' "$(basename "$0") $*" >>"$HOME/calls"
case $(basename "$0") in
    qsub) [ -z "$REFUSAL" ] || { echo "qsub: $REFUSAL" >&2; exit 1; }; echo 4711.polaris-pbs-01 ;;
    qselect) echo 4711.polaris-pbs-01 ;;
    qstat) cat "$HOME/answer" ;;
esac
"""


@pytest.fixture
def polaris(shell):
    for name in ("qsub", "qselect", "qstat", "qdel"):
        program = shell.home / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(FAKE)
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    shell.environment["PATH"] = f"{shell.home / 'bin'}:{shell.environment['PATH']}"
    shell.cluster("use", "polaris", "--account", "proj")
    shell.write("job.sbatch", "true", "--nodes=2", "--time=30", "--output=h_%j.out")
    return shell


def answer(shell, **attributes) -> None:
    about = {
        "Job_Name": "job.sbatch",
        "Job_Owner": "ada@login1",
        "queue": "debug",
        "Account_Name": "proj",
        "exec_host": "n1/0*64+n2/0*64",
        "qtime": "Fri Nov 20 15:30:08 2026",
        "stime": "Fri Nov 20 15:31:00 2026",
        "Resource_List": {"walltime": "00:30:00", "nodect": 2, "ncpus": 128, "ngpus": 8},
        **attributes,
    }
    answers = {"Jobs": {"4711.polaris-pbs-01": about}}
    (shell.home / "answer").write_text(json.dumps(answers))


@pytest.mark.parametrize(
    ("attributes", "line", "ok"),
    breadth(
        [
            ({"job_state": "F", "Exit_status": 0}, "job 4711: COMPLETED", True),
            ({"job_state": "F", "Exit_status": 2}, "job 4711: FAILED", False),
            ({"job_state": "F", "Exit_status": 271}, "job 4711: CANCELLED", False),
            ({"job_state": "F", "Exit_status": -29}, "job 4711: TIMEOUT", False),
        ]
    ),
)
def test_states_come_in_slurms_words(polaris, attributes, line, ok):
    answer(polaris, **attributes)
    assert polaris.wait("4711", ok=ok) == f"{line}\n"


@pytest.mark.slow
def test_logs_and_sacct(polaris):
    polaris.cluster("submit", "job.sbatch")
    (polaris.folder / "h_4711.out").write_text("hello\n")
    answer(
        polaris, job_state="F", Exit_status=0, obittime="Fri Nov 20 15:41:00 2026",
        resources_used={"walltime": "00:10:00"},
    )  # fmt: skip
    assert polaris.cluster("logs", "-f", "4711").stdout == "hello\n"
    record = polaris.record("4711")
    assert record["State"] == "COMPLETED"
    assert record["Start"] == "2026-11-20T15:31:00"
    assert (record["ElapsedRaw"], record["TimelimitRaw"]) == ("600", "30")
    assert (record["NNodes"], record["NodeList"]) == ("2", "n1,n2")


def test_what_pbs_refuses_comes_with_advice(polaris):
    polaris.environment["REFUSAL"] = "Unknown queue"
    said = polaris.cluster("submit", "job.sbatch", ok=False).stderr
    assert "qsub: Unknown queue" in said
    assert "qstat -Q" in said


@pytest.mark.slow
def test_slurms_words_call_pbs_s_commands(polaris):
    answer(polaris, job_state="R")
    assert "$ qsub " in polaris.word("sbatch", "job.sbatch")
    assert "$ qdel 4711\n" in polaris.word("scancel", "4711")
    assert "$ qstat -u " in polaris.word("squeue", "--me")
