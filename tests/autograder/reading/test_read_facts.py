"""Facts that outputs give about a whole run: its job, its workers, its totals."""

import pytest

from tests.autograder.reading.test_read import KERAS, LIMIT, read_one

JOBS = {
    "%x_%j": (["a_4711.out", "a_4711.err"], "4711"),
    "%x-%j": (["cifar-cnn-4711.out"], "4711"),
    "slurm-%j": (["slurm-12.out"], "12"),
    "an array": (["slurm-4711_3.out"], "4711_3"),
    "PBS": (["train.o4711", "train.e4711"], "4711"),
    "no id": (["job.out", "job.err"], None),
    "a date": (["run_20260302.out"], None),
    "a date and a time": (["run_20260302_101500.out"], None),
    "a size": (["resnet_50.out"], None),
    "a folder": (["1234/job.out"], None),
}


@pytest.mark.parametrize(("names", "job"), JOBS.values(), ids=JOBS)
def test_job_from_the_name(names, job):
    run = read_one(dict(zip(names, (KERAS, "warning\n"), strict=False)))
    assert run.job_id == job
    assert len(run.files) == len(names)


@pytest.mark.parametrize(
    "line",
    ["SLURM_JOB_ID=4711", "+ SLURM_JOBID=4711", "Job ID: 4711", "PBS_JOBID=4711.server", LIMIT],
)
def test_job_from_the_output_before_the_name(line):
    assert read_one({"a_9999.out": f"{line}\n{KERAS}"}).job_id == "4711"


def test_jobs_that_contradict_each_other_are_none():
    assert read_one({"a.out": "SLURM_JOB_ID=1\nSLURM_JOB_ID=2\n" + KERAS}).job_id is None


WORKERS = [
    ("INFO Initialized rank 0 out of 4", 4),
    ("Hello from rank 3 of 4 on n1", 4),
    ("World size: 4", 4),
    ("WORLD_SIZE=4", 4),
    ("dist_world_size=4", 4),
    ("  role_world_sizes=[4, 4]", 4),
    ("  group_world_size=4", None),
    ("LOCAL_WORLD_SIZE=4", None),
    ("Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/4", 4),
    ("All distributed processes registered. Starting with 4 processes", 4),
    ("hvd.size(): 4", 4),
    ("Horovod size: 4", 4),
    ("*** Training the model with 4 GPUs ***", 4),
    ("Number of available GPUs: 4", None),
    ("This DataLoader will create 4 worker processes in total", None),
    ("world_size=0", None),
]


@pytest.mark.parametrize(("line", "workers"), WORKERS)
def test_workers_are_what_the_output_says(line, workers):
    assert read_one({"job.out": f"{line}\n{KERAS}"}).workers == workers


TOTALS = {
    "Train Time:  299.12": ("total_seconds", 299.12),
    "Training time 1545.1475 s": ("total_seconds", 1545.1475),
    "Total training time: 2.5 min": ("total_seconds", 150.0),
    "Training complete in 1m 7s": ("total_seconds", 67.0),
    "Test accuracy: 0.9791": ("test_accuracy", 0.9791),
    "Test acc = 97.91%": ("test_accuracy", 0.9791),
    "Test accuracy 97.91": ("test_accuracy", 0.9791),
    "Accuracy of the network on the 10000 test images: 54 %": ("test_accuracy", 0.54),
    "│         test_acc          │    0.9725000262260437     │": ("test_accuracy", 0.9725),
    "Test loss: 0.0731": ("test_loss", 0.0731),
    "Total img/sec on 8 GPU(s): 2000.0 +-10.0": ("throughput", 2000.0),
    "Throughput: 512.5 images/s": ("throughput", 512.5),
}


@pytest.mark.parametrize("line", TOTALS)
def test_what_is_said_of_the_whole_run(line):
    name, value = TOTALS[line]
    run = read_one({"job.out": f"{KERAS}{line}\n"})
    assert getattr(run, name).value == pytest.approx(value, rel=1e-4)
    assert getattr(run, name).where.line == 7
