"""`submit_once`, as a notebook calls it."""

import os
import socket
from pathlib import Path

import pytest

from cluster.jobs import notebook
from cluster.jobs.notebook import JobError, SubmitError, submit_once
from cluster.jobs.wait import cancel_jobs_of
from cluster.schedulers.laptop.cores import whole_cores
from cluster.sites.site_files import FOLDER, current
from tests.autograder.make_record import make_record


@pytest.fixture
def lesson(shell, monkeypatch):
    """Move this process to a lesson's folder, with its own home and site."""
    monkeypatch.setenv("HOME", str(shell.home))
    monkeypatch.chdir(shell.folder)
    shell.write("job.sbatch", 'echo "ran $*"', "--job-name=mine", "--output=%x_%j.out")
    return shell


def names(paths) -> list[str]:
    return [path.name for path in paths]


def test_run_all_twice_submits_once(lesson, capsys):
    assert names(submit_once("job.sbatch")) == ["mine_1.out"]
    said = capsys.readouterr().out
    assert said.startswith("$ sbatch job.sbatch ")
    assert "Submitted batch job 1\n" in said
    assert "job 1: COMPLETED" in said
    assert names(submit_once("job.sbatch")) == ["mine_1.out"]
    assert "was submitted before" in capsys.readouterr().out


def test_other_arguments_or_options_are_another_job(lesson):
    submit_once("job.sbatch", "--epochs", 4)
    assert names(submit_once("job.sbatch", "--epochs", 8)) == ["mine_2.out"]
    assert names(submit_once("job.sbatch", "--epochs", 8, options={"time": "5"})) == ["mine_3.out"]
    assert names(submit_once("job.sbatch", "--epochs", 4)) == ["mine_1.out"]
    assert lesson.read("mine_2.out") == "ran --epochs 8\n"


def test_a_job_runs_again_if_asked_or_if_its_output_was_deleted(lesson):
    submit_once("job.sbatch")
    assert names(submit_once("job.sbatch", again=True)) == ["mine_2.out"]
    for file in ("mine_1.out", "mine_2.out"):
        (lesson.folder / file).unlink()
    assert names(submit_once("job.sbatch")) == ["mine_3.out"]


def test_what_a_notebook_sets_for_itself_does_not_reach_the_job(lesson, monkeypatch):
    own = {"TF_CPP_MIN_LOG_LEVEL", "OPENBLAS_NUM_THREADS", "CUDA_VISIBLE_DEVICES"}
    for name in own:
        monkeypatch.setenv(name, "1")
    seen = []
    monkeypatch.setattr(notebook, "submit", lambda *_, **__: seen.append(own & os.environ.keys()))
    for site in ("laptop", "juwels"):
        notebook.submitted(Path("job.sbatch"), [], {}, current(site))
    assert seen == [{"CUDA_VISIBLE_DEVICES"}, set()], "this machine's GPUs are not another's"
    assert own <= os.environ.keys()
    printed = notebook.typed("env")
    assert "CUDA_VISIBLE_DEVICES=1" in printed
    assert "TF_CPP_MIN_LOG_LEVEL" not in printed


def test_an_array_goes_in_parts_where_the_site_takes_few_jobs_at_a_time(lesson, monkeypatch):
    few = lesson.folder / "few.sh"
    few.write_text(f"source {FOLDER}/laptop.sh\nSITE_MAX_JOBS=2\n")
    monkeypatch.setenv("COURSE_SITE", str(few))
    name = lesson.write("a.sbatch", "echo", "--array=0-2", "--output=%A_%a.out")
    assert names(submit_once(name)) == ["1_0.out", "1_1.out", "3_2.out"]
    assert names(submit_once(name)) == ["1_0.out", "1_1.out", "3_2.out"]


@pytest.mark.parametrize(
    ("facts", "taken"),
    [
        ("site: juwels (slurm)\njob: 812\nnodes: 1 (jwb0001)\n", True),
        ("site: laptop (laptop)\njob: 812\nnodes: 1 (far-away)\n", True),
        (f"site: laptop (laptop)\njob: 812\nnodes: 1 ({socket.gethostname()})\n", False),
        ("of a job file without `facts`\n", False),
    ],
)
def test_outputs_from_another_machine_are_taken(lesson, facts, taken):
    """Leave those of `sbatch` on this machine: their arguments are not known."""
    (lesson.folder / "mine_812.out").write_text(facts)
    name = "mine_812.out" if taken else "mine_1.out"
    assert names(submit_once("job.sbatch", "--epochs", 4)) == [name]


def test_of_another_machine_s_outputs_the_asked_job_s_is_taken(lesson):
    lesson.write("job.sbatch", 'echo; : python train.py --a 1 "$@"', "--output=mine_%j.out", "-n2")
    words = {801: [], 802: ["--epochs", "4"], 803: ["--epochs", "4"], 804: ["--epochs", "8"]}
    for job, more in words.items():
        facts = f"site: juwels (slurm)\nnodes: 1 (jwb01)\nranks: {1 if job == 803 else 2}"
        record = make_record(arguments=["--a", "1", *more])
        (lesson.folder / f"mine_{job}.out").write_text("\n".join([facts, *record, ""]))
    assert names(submit_once("job.sbatch")) == ["mine_801.out"]
    assert names(submit_once("job.sbatch", "--epochs", 4)) == ["mine_802.out"]
    one = {"ntasks": "1"}
    assert names(submit_once("job.sbatch", "--epochs", 4, options=one)) == ["mine_803.out"]
    assert names(submit_once("job.sbatch", "--epochs", 8)) == ["mine_804.out"]
    assert names(submit_once("job.sbatch", "--epochs", 16)) == ["mine_1.out"]


def test_a_failed_job_shows_its_last_lines_and_is_submitted_again(lesson, capsys):
    lesson.write("bad.sbatch", "seq 100; echo broken >&2; exit 3", "-o %j.out", "-e %j.err")
    with pytest.raises(JobError, match=r"job 1: FAILED .*1\.err$"):
        submit_once("bad.sbatch")
    assert "    broken\n" in capsys.readouterr().out
    with pytest.raises(JobError, match="job 2: FAILED") as failed:
        submit_once("bad.sbatch")
    failed.value.args = ("word " * 40 + "\n/a" + "/folder" * 20,)  # a path stays whole
    lines = "\n".join(failed.value._render_traceback_()).split("\n")
    assert [len(line) <= 96 for line in lines] == [True] * (len(lines) - 1) + [False]


@pytest.mark.parametrize("changed", ["train.py", "job.sbatch"])
def test_a_changed_program_or_job_runs_again(lesson, capsys, changed):
    submit_once("job.sbatch")
    with (lesson.folder / changed).open("a") as file:
        file.write("# new\n")
    assert names(submit_once("job.sbatch")) == ["mine_2.out"]
    assert f"you changed {changed} since job 1: it runs again" in capsys.readouterr().out
    (lesson.folder / changed).touch()
    assert names(submit_once("job.sbatch")) == ["mine_2.out"]


@pytest.mark.slow
def test_jobs_of_a_folder_can_be_cancelled_together(lesson):
    lesson.write("long.sbatch", "sleep 300", f"-n{len(whole_cores())}")
    lesson.cluster("submit", "long.sbatch")
    lesson.cluster("submit", "long.sbatch")
    assert cancel_jobs_of(lesson.home) == []
    assert cancel_jobs_of(lesson.folder) == ["1", "2"]
    lesson.wait("1", ok=False)
    lesson.wait("2", ok=False)  # it may have started while the first one was being cancelled
    assert lesson.word("squeue", "--me").count("\n") == 1


def test_what_cannot_be_submitted_is_one_sentence(lesson):
    with pytest.raises(SubmitError, match="there is no such job file"):
        submit_once("nothing.sbatch")
    with pytest.raises(SubmitError, match="a whole number above 0"):
        submit_once("job.sbatch", options={"ntasks": "x"})


def test_an_error_is_one_sentence_in_jupyter_not_a_traceback(lesson, capsys):
    from IPython.core.interactiveshell import InteractiveShell

    notebook = InteractiveShell.instance()
    result = notebook.run_cell(
        "from cluster.jobs.notebook import submit_once; submit_once('no.sbatch')"
    )
    assert isinstance(result.error_in_exec, SubmitError)
    InteractiveShell.clear_instance()
    first, *others = capsys.readouterr().out.splitlines()
    assert first.startswith("SubmitError: no.sbatch: there is no such job file")
    assert len(others) < 2


def test_an_interrupted_wait_takes_two_lines_and_the_job_continues(lesson, capsys, monkeypatch):
    from IPython.core.interactiveshell import InteractiveShell

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("cluster.jobs.notebook.wait_for", interrupted)
    notebook = InteractiveShell.instance()
    submit = "from cluster.jobs.notebook import submit_once; submit_once('job.sbatch')"
    result = notebook.run_cell(submit)
    InteractiveShell.clear_instance()
    assert isinstance(result.error_in_exec, KeyboardInterrupt)
    *_, continues, error = capsys.readouterr().out.splitlines()
    assert "scancel 1" in continues
    assert error.startswith("KeyboardInterrupt: ")
