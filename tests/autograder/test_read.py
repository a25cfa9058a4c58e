"""Files of one submission in, runs out: jobs, outcomes, the command."""

import json
import os

import pytest
from click.testing import CliRunner

from autograder.cli import main
from autograder.read import read_bytes, read_files, summary
from autograder.records import Run
from tests.autograder.make_record import make_record

KERAS = "".join(
    f"Epoch {n}/3\n469/469 - 1{n}s - loss: 0.{9 - n} - accuracy: 0.9{n}\n" for n in (1, 2, 3)
)
UNFINISHED = KERAS[: KERAS.index("Epoch 3/3")] + "Epoch 3/3\n"
TRACEBACK = """Traceback (most recent call last):
  File "train.py", line 31, in <module>
    main()
  File "train.py", line 12, in main
    raise ValueError("the shapes do not match")
ValueError: the shapes do not match
"""
GOES_ON = TRACEBACK.replace("ValueError", "UserWarning").replace("the shapes", "just a warning:")
LIMIT = (
    "slurmstepd: error: *** JOB 4711 ON n1 CANCELLED AT 2026-03-02T10:00:00 DUE TO TIME LIMIT ***\n"
)
CANCEL = "slurmstepd: error: *** JOB 4711 ON n1 CANCELLED AT 2026-03-02T10:00:00 ***\n"
STEP = "slurmstepd: error: *** STEP 4711.0 ON n1 CANCELLED AT 2026-03-02T10:00:00 ***\n"
EXIT = "srun: error: n1: task 3: Exited with exit code 1\n"
HOST_OOM = (
    "slurmstepd: error: Detected 1 oom_kill event in StepId=4711.0. Some of the step tasks have "
    "been OOM Killed.\n"
)
CUDA_OOM = TRACEBACK.replace(
    "ValueError: the shapes do not match",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
)
TF_OOM = TRACEBACK.replace(
    "ValueError: the shapes do not match",
    "tensorflow.python.framework.errors_impl.ResourceExhaustedError: Graph execution error:",
)
HOROVOD_STALL = (
    "[2026-03-02 10:00:00.0: W /horovod/stall_inspector.cc:107] One or more tensors were submitted "
    "to be reduced, gathered or broadcasted by subset of ranks and are waiting for remainder of "
    "ranks for more than 60 seconds.\nStalled ranks:\n1: [DistributedAdam_Allreduce]\n"
)
NCCL_STALL = (
    "[rank1]:[E ProcessGroupNCCL.cpp:474] [Rank 1] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=701, OpType=ALLREDUCE) ran for 600162 milliseconds before timing out.\n"
    "terminate called after throwing an instance of 'std::runtime_error'\n"
)
ECHO = TRACEBACK.replace(
    "ValueError: the shapes do not match",
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
)
INTERRUPT = TRACEBACK.replace("ValueError: the shapes do not match", "KeyboardInterrupt")
LABELLED = "".join(f"[rank1]: {line}\n" for line in TRACEBACK.splitlines())

OUTCOMES = {
    "all epochs": (KERAS, "completed"),
    "fewer epochs": (UNFINISHED, "incomplete"),
    "early stop": (KERAS[: KERAS.index("Epoch 3/3")] + "Epoch 2: early stopping\n", "completed"),
    "nothing": ("", "empty"),
    "blank lines": ("\n \n\0\n", "empty"),
    "other words": ("module load x\nhello\n", "incomplete"),
    "an exception": (UNFINISHED + TRACEBACK, "failed"),
    "an exception after the last epoch": (KERAS + TRACEBACK, "failed"),
    "an exception and nothing else": (TRACEBACK, "failed"),
    "a rank's exception": (UNFINISHED + LABELLED, "failed"),
    "an exception that others follow": (UNFINISHED + TRACEBACK + EXIT + STEP, "failed"),
    "a traceback in a run that goes on": (
        KERAS.replace("Epoch 2/3\n", "Epoch 2/3\n" + TRACEBACK),
        "completed",
    ),
    "a warning's traceback": (UNFINISHED.replace("Epoch 2", GOES_ON + "Epoch 2"), "incomplete"),
    "a traceback without an exception": (
        KERAS + "Traceback (most recent call last):  File x\n    import y\n/x.py:2: Warning: z\n",
        "completed",
    ),
    "exit code": (UNFINISHED + EXIT, "failed"),
    "exit code after the last epoch": (KERAS + EXIT, "failed"),
    "killed": (UNFINISHED + "srun: error: n1: task 0: Segmentation fault\n", "failed"),
    "killed, as the shell says": (UNFINISHED + "job: line 9: 4711 Killed  python x\n", "failed"),
    "NumPy's memory": (
        UNFINISHED + TRACEBACK.replace("\nValue", "\nnumpy._core._exceptions._ArrayMemory"),
        "oom",
    ),
    "mpirun": (UNFINISHED + "mpirun noticed that process rank 1 exited on signal 11\n", "failed"),
    "time limit": (UNFINISHED + LIMIT, "timeout"),
    "time limit behind a bar": (UNFINISHED + "\r 22%|##| 2/9 [00:01<00:03]" + LIMIT, "timeout"),
    "time limit of PBS": (UNFINISHED + "=>> PBS: job killed: walltime 3700 exceeded\n", "timeout"),
    "cancelled": (UNFINISHED + CANCEL, "cancelled"),
    "cancelled, processes complain": (UNFINISHED + CANCEL + INTERRUPT + EXIT, "cancelled"),
    "interrupted": (UNFINISHED + INTERRUPT, "cancelled"),
    "host memory": (UNFINISHED + HOST_OOM, "oom"),
    "host memory, processes complain": (UNFINISHED + HOST_OOM + EXIT + STEP, "oom"),
    "CUDA memory": (UNFINISHED + CUDA_OOM, "oom"),
    "device memory in TensorFlow": (UNFINISHED + TF_OOM, "oom"),
    "a stall in Horovod": (UNFINISHED + HOROVOD_STALL, "stalled"),
    "a stall until the time limit": (UNFINISHED + HOROVOD_STALL + LIMIT, "stalled"),
    "a stall that passed": (UNFINISHED.replace("Epoch 2", HOROVOD_STALL + "Epoch 2"), "incomplete"),
    "a stall in NCCL": (UNFINISHED + NCCL_STALL + ECHO + EXIT, "stalled"),
    "a stall after another rank's exception": (UNFINISHED + TRACEBACK + HOROVOD_STALL, "failed"),
}


def read_one(files: dict[str, str]) -> Run:
    (run,) = read_bytes({name: text.encode() for name, text in files.items()})
    return run


@pytest.mark.parametrize(("text", "outcome"), OUTCOMES.values(), ids=OUTCOMES)
def test_outcome(text, outcome):
    assert read_one({"job.out": text}).outcome == outcome


SPLIT = {
    "exception": (UNFINISHED, TRACEBACK, "failed"),
    "exception after the last epoch": (KERAS, TRACEBACK, "failed"),
    "a warning's traceback, and all epochs": (KERAS, TRACEBACK + "x\n" * 9, "completed"),
    "time limit": (UNFINISHED, "warning\n" + LIMIT, "timeout"),
    "time limit after all epochs": (KERAS, LIMIT, "completed"),
    "host memory": (UNFINISHED, HOST_OOM, "oom"),
    "stall": (UNFINISHED, HOROVOD_STALL + CANCEL, "stalled"),
    "nothing wrong": (KERAS, "using TensorFlow backend\n", "completed"),
    "no error output": (KERAS, "", "completed"),
    "no output": ("", TRACEBACK, "failed"),
    "nothing at all": ("", "\n", "empty"),
}


@pytest.mark.parametrize(("out", "err", "outcome"), SPLIT.values(), ids=SPLIT)
def test_output_and_error_output_are_read_together(out, err, outcome):
    run = read_one({"a_4711.err": err, "a_4711.out": out})
    assert run.outcome == outcome
    assert run.files == ("a_4711.out", "a_4711.err")


@pytest.mark.parametrize("error", [TRACEBACK, LIMIT, HOST_OOM, HOROVOD_STALL, EXIT])
def test_a_record_that_ended_well_stays_completed(error):
    text = "\n".join(make_record()) + "\n"
    assert read_one({"job.out": text, "job.err": error}).outcome == "completed"
    assert read_one({"job.out": error + text}).outcome == "completed"


@pytest.mark.parametrize(
    ("error", "outcome"),
    [(TRACEBACK, "failed"), (LIMIT, "timeout"), (CUDA_OOM, "oom"), (HOROVOD_STALL, "stalled")],
)
def test_a_record_without_its_end_ended_as_its_job_did(error, outcome):
    text = "\n".join(make_record(finished=False)) + "\n"
    assert read_one({"job.out": text, "job.err": error}).outcome == outcome
    assert read_one({"job.out": text + error}).outcome == outcome


def test_the_reason_is_told_with_its_place():
    run = read_one({"job.out": UNFINISHED, "job.err": "x\n" + TRACEBACK})
    (problem,) = run.problems
    assert (problem.where.file, problem.where.line) == ("job.err", 7)
    assert problem.text == "ValueError: the shapes do not match"


def test_bars_in_the_error_output_belong_to_the_run_in_the_output():
    out = "".join(f"Epoch {n}: train_loss=0.{n}, val_acc=0.9{n}\n" for n in (0, 1))
    bar = "Epoch {0}: 100%|###| 9/9 [00:1{0}<00:00, 1.2it/s, v_num=0]\n"
    run = read_one({"job.out": out, "job.err": bar.format(0) + bar.format(1)})
    assert [epoch.seconds.value for epoch in run.epochs] == [10.5, 11.5]
    assert [epoch.val_accuracy.value for epoch in run.epochs] == [0.90, 0.91]


def test_an_end_belongs_to_the_run_that_it_ends():
    runs = read_bytes({"job.out": (KERAS + UNFINISHED + LIMIT).encode()})
    assert [run.outcome for run in runs] == ["completed", "timeout"]
    assert [len(run.problems) for run in runs] == [0, 1]


def test_an_unfinished_epoch_is_no_epoch_but_is_known():
    text = "Epoch: [0][  0/391]\tTime 1 (1)\tLoss 2.0 (2.5)\tAcc@1 10 (12.5)\n"
    run = read_one({"job.out": text})
    assert run.epochs == ()
    assert run.unfinished.train_loss.value == 2.5
    assert summary(run)["final_train_loss"] == 2.5
    assert summary(run)["epochs"] is None


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


def test_files_that_are_none(tmp_path):
    os.mkfifo(tmp_path / "pipe.out")
    (tmp_path / "link.out").symlink_to("/nowhere")
    paths = [tmp_path / "pipe.out", tmp_path / "link.out", tmp_path, tmp_path / "none"]
    runs = read_files(paths)
    assert [run.outcome for run in runs] == ["empty"] * 4
    assert all(run.problems for run in runs)


def command(*arguments: object):
    return CliRunner().invoke(main, ["read", *map(str, arguments)])


FIELDS = [
    "files",
    "format",
    "outcome",
    "workers",
    "job_id",
    "epochs",
    "epoch_seconds",
    "epoch_seconds_median_after_first",
    "final_train_accuracy",
    "final_val_accuracy",
    "best_val_accuracy",
    "test_accuracy",
    "final_train_loss",
    "throughput",
    "problems",
]


def test_command_prints_json(tmp_path):
    (tmp_path / "a_4711.out").write_text("\n".join(make_record(size=2, seconds=(3, 2, 1.5))))
    (tmp_path / "b.out").write_text(UNFINISHED + TRACEBACK)
    result = command(tmp_path / "a_4711.out", tmp_path / "b.out", "--json")
    assert result.exit_code == 0
    record, keras = json.loads(result.output)
    assert list(record) == list(keras) == FIELDS
    assert record["workers"] == 2
    assert record["epoch_seconds"] == [3, 2, 1.5]
    assert record["epoch_seconds_median_after_first"] == 1.75
    assert record["throughput"] == pytest.approx((60000 / 2 + 60000 / 1.5) / 2)
    assert record["final_val_accuracy"] is None
    (problem,) = keras["problems"]
    assert list(problem) == ["file", "line", "text", "reason"]


def test_command_prints_for_people(tmp_path):
    (tmp_path / "a.out").write_text(KERAS + "\x1b[31mTest accuracy: 0.95\n" + TRACEBACK)
    result = command(tmp_path / "a.out")
    assert result.exit_code == 0
    assert "final train accuracy" in result.output
    assert "ValueError: the shapes do not match" in result.output
    assert "final val accuracy" not in result.output


def test_command_says_what_is_wrong_with_its_files(tmp_path):
    missing = command(tmp_path / "none.out")
    assert missing.exit_code == 2
    assert "there is no such file" in missing.output
    folder = command(tmp_path)
    assert folder.exit_code == 2
    assert "is a folder" in folder.output
    assert command().exit_code == 2


FLOODS = {
    "runs": b"Epoch 1/1\n9/9 - 1s - loss: 0.1 - accuracy: 0.9\n" * 20_000,
    "epochs": b"".join(b"Epoch %d: loss=0.5\n" % number for number in range(1, 60_000)),
    "records": "\n".join(
        line for number in range(6_000) for line in make_record(run=f"{number:08x}", seconds=(1,))
    ).encode(),
    "MLPerf runs": b':::MLLOG {"key": "init_start"}\n:::MLLOG {"key": "run_stop"}\n' * 20_000,
    "damaged records": b":::MLLOG {\n" * 50_000,
    "tracebacks": TRACEBACK.encode() * 10_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("data", FLOODS.values(), ids=FLOODS)
def test_floods_are_cut(data):
    runs = read_bytes({"job.out": data})
    assert len(runs) <= 5_001
    assert sum(len(run.epochs) for run in runs) <= 20_000
    assert sum(len(run.problems) for run in runs) <= 6_000


def test_what_is_left_out_is_said(monkeypatch):
    monkeypatch.setattr("autograder.assemble.MOST_LANES", 2)
    runs = read_bytes({"job.out": KERAS.encode() * 4})
    assert len(runs) == 2
    assert "left out" in runs[-1].problems[-1].reason
