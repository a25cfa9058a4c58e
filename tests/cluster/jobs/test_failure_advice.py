"""The advice after a job failed: its last lines, its error file, and what they mean."""

import pytest

from cluster.jobs.failure_advice import meaning
from tests.breadth import breadth

MESSAGES = [
    ("cp: error writing 'x': Disk quota exceeded", "quota -s"),
    ("slurmstepd: error: *** JOB 7 ON a CANCELLED AT 2026 DUE TO TIME LIMIT ***", "more --time"),
    ("slurmstepd: error: Detected 1 oom_kill event in StepId=7.0.", "memory ran out"),
    ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB", "the GPU's memory"),
    ("slurm_script: line 12: laucnh: command not found", "(launch, facts)"),
    ('  File "/h/02/train.py", line 9, in main\n    modle.fit()\n    ^^^^^\n'
     "NameError: name 'modle' is not defined. Did you mean: 'model'?", "without a job"),
    ('  File "/h/02/train.py", line 37\n    x = (1 2)\n         ^^^\n'
     "SyntaxError: invalid syntax. Perhaps you forgot a comma?", "without a job"),
    ('[rank1]:   File "/h/02/a.py", line 70, in main\n[rank1]:   File "/h/02/b.py", line 30, in f\n'
     '[rank1]:     raise NotImplementedError("Exercise 2.1: flatten")\n'
     "[rank1]: NotImplementedError: Exercise 2.1: flatten", "save the file"),
    ("usage: train.py [-h] [--model {mlp512,cnn}] [--epochs EPOCHS]\n                [--lr LR]\n"
     "train.py: error: unrecognized arguments: --epohcs=3", "train.py has no option --epohcs: try "
     "--epochs"),
    ("ModuleNotFoundError: No module named 'horovod'", "--environment FOLDER"),
    ("ModuleNotFoundError: No module named 'ranks'", "file of the lesson is missing"),
    ("NCCL WARN Bootstrap : no socket interface found", "GLOO_SOCKET_IFNAME"),
    ("urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>",
     "lessons data fetch"),
    ("launch: 4 ranks were asked for, but MPI sees 1: the launcher", "do not match"),
    ("RuntimeError: CUDA error: CUDA-capable device(s) is/are busy or unavailable", "compute mode"),
]  # fmt: skip


@pytest.mark.parametrize(("message", "advice"), MESSAGES)
def test_a_message_gets_its_sentence(message, advice):
    assert any(advice in sentence for sentence in meaning(["Epoch 1", message, "srun: error"]))


def test_an_error_that_a_library_raises_is_not_a_gap():
    lines = ['  File "/h/torch/f.py", line 3, in f', "NotImplementedError: not for 'Long'"]
    assert meaning(lines) == []


def test_a_failed_job_shows_the_ends_of_both_files_and_advice(shell):
    shell.write(
        "job.sbatch",
        "seq 100; echo oneDNN custom operations are on >&2; echo x >/dev/full",
        "-o %j.out",
        "-e %j.err",
    )
    said = shell.cluster("submit", "--wait", "job.sbatch", ok=False).stderr
    assert "    99\n    100\n" in said
    assert "    85\n" not in said
    assert "oneDNN" not in said
    assert "write error: No space left on device\n" in said  # a device that is always full
    assert f"The end of {shell.folder}/1.err (cluster logs -e 1):" in said
    assert "keep large files in scratch folders\n" in said


@pytest.mark.slow
def test_software_that_cannot_be_loaded_is_a_sentence(shell):
    folder = shell.run(
        "python", "-c", "import cluster.sites.site_files as s; print(s.FOLDER)"
    ).stdout.strip()
    site = shell.home / "clash.sh"
    site.write_text(
        f"load_software() {{ echo 'Lmod has detected an error' >&2; return 1; }}\n"
        f"source {folder}/laptop.sh\n"
    )
    shell.environment["COURSE_SITE"] = str(site)
    shell.write("job.sbatch", 'source "$COURSE_SITE"; echo trained', "-e err")
    said = shell.cluster("submit", "--wait", "job.sbatch", ok=False).stderr
    assert "site laptop: the software could not be loaded; which modules clash" in said
    assert "modules clash or no longer exist: module purge" in said
    assert shell.read("slurm-1.out") == ""


@pytest.mark.parametrize("follow", breadth([[], ["-f"]]))
def test_logs_of_a_failed_job_name_its_error_file(shell, follow):
    shell.write("job.sbatch", "echo begun; echo why >&2; exit 1", "-o %j.out", "-e %j.err")
    job = shell.submit("job.sbatch")
    shell.wait(job, ok=False)
    done = shell.cluster("logs", *follow, job)
    assert done.stdout == "begun\n"
    assert f"job 1 is FAILED; its errors are in {shell.folder}/1.err" in done.stderr
    shell.write("good.sbatch", "echo fine; echo harmless >&2", "-o %j.out", "-e %j.err")
    job = shell.submit("good.sbatch")
    shell.wait(job)
    assert "errors" not in shell.cluster("logs", *follow, job).stderr


@pytest.mark.slow
def test_ctrl_c_ends_the_watching_and_not_the_job(shell):
    """Ctrl-C works even where it is ignored.

    Open OnDemand starts Jupyter in the background of a script, for example.
    """
    shell.write("job.sbatch", "echo begun; sleep 60", "-o out")
    job = shell.submit("job.sbatch")
    watched = f"cluster logs -f {job} >seen 2>said & until grep -qs begun seen; do sleep 0.1; done"
    done = shell.run("bash", "-c", f"trap '' INT; {watched}; kill -INT $!; wait $!; echo $?")
    assert done.stdout == "130\n"
    assert f"job {job} continues. To end it: scancel {job}" in shell.read("said")
    assert shell.record(job)["State"] == "RUNNING"
    shell.word("scancel", job)
