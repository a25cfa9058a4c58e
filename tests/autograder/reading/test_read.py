"""Reading the files of one submission: how each run ended, and which lines belong together."""

import pytest

from autograder.reading import ends
from autograder.reading.formats import template
from autograder.reading.plain_summary import summary
from autograder.records import Run, Where
from tests.autograder.in_memory import read_bytes
from tests.autograder.make_record import make_record

KERAS = "".join(
    f"Epoch {n}/3\n469/469 - 1{n}s - loss: 0.{9 - n} - accuracy: 0.9{n}\n" for n in (1, 2, 3)
)
OURS = template.load_reader(
    "ours", ["pass {epoch}: loss {train_loss}", "pass {epoch} step {step} loss {train_loss}"]
)
LOSSES = "".join(f"pass {n}: loss 0.{n}\n" for n in (1, 2, 3))  # nothing says how many
TWO = KERAS[: KERAS.index("Epoch 3/3")]  # of three epochs
UNFINISHED = TWO + "Epoch 3/3\n"
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

NO_EXCEPTION = "Traceback (most recent call last):  File x\n    import y\n/x.py:2: Warning: z\n"
THREAD = "Exception in thread Thread-5 (_pin_memory_loop):\n"
WANDB = "wandb: Run history:\nwandb: loss ▁\n"

OUTCOMES = {
    "all epochs": (KERAS, "completed"),
    "early stop": (TWO + "Epoch 2: early stopping\n", "completed"),
    "a traceback in a run that goes on": (
        KERAS.replace("Epoch 2", TRACEBACK + "Epoch 2"),
        "completed",
    ),
    "a traceback without an exception": (KERAS + NO_EXCEPTION, "completed"),
    "an exception, caught, and then the test": (
        KERAS + TRACEBACK + "Test accuracy: 0.91\n",
        "completed",
    ),
    "an exception, caught, and much else": (KERAS + TRACEBACK + "plotting\n" * 9, "completed"),
    "an exception in a thread": (KERAS + THREAD + TRACEBACK, "completed"),
    "a log line's own traceback": (KERAS + "--- Logging error ---\n" + TRACEBACK, "completed"),
    "a line says that it is over": (LOSSES + "Training finished\n", "completed"),
    "fewer epochs": (UNFINISHED, "incomplete"),
    "a warning's traceback": (UNFINISHED.replace("Epoch 2", GOES_ON + "Epoch 2"), "incomplete"),
    "fewer epochs than were asked for, and a total": (TWO + "Training time: 9\n", "incomplete"),
    "a stall that passed": (UNFINISHED.replace("Epoch 2", HOROVOD_STALL + "Epoch 2"), "incomplete"),
    "nothing": ("", "empty"),
    "other words": ("module load x\nhello\n", "unknown"),
    "an exception, then other words": (TRACEBACK + "hello\n" * 9, "unknown"),
    "nothing says how many epochs": (LOSSES, "unknown"),
    "a test after each epoch": (LOSSES.replace("\n", "\nTest accuracy: 0.9\n"), "unknown"),
    "each epoch says that it is over": (LOSSES.replace("\n", "\nTraining finished\n"), "unknown"),
    "the words of a program before": ("Training finished\n" + LOSSES, "unknown"),
    "an exception": (UNFINISHED + TRACEBACK, "failed"),
    "an exception after the last epoch": (KERAS + TRACEBACK, "failed"),
    "an exception and what others say of it": (KERAS + TRACEBACK + WANDB + ECHO + EXIT, "failed"),
    "an exception with a long message": (KERAS + TRACEBACK + "\n    in layer 3\n" * 9, "failed"),
    "a stall after another rank's exception": (UNFINISHED + TRACEBACK + HOROVOD_STALL, "failed"),
    "a time limit after the last epoch": (KERAS + LIMIT, "timeout"),
    "time limit": (UNFINISHED + LIMIT, "timeout"),
    "cancelled": (UNFINISHED + CANCEL, "cancelled"),
    "cancelled, processes complain": (UNFINISHED + CANCEL + INTERRUPT + EXIT, "cancelled"),
    "host memory, processes complain": (UNFINISHED + HOST_OOM + EXIT + STEP, "oom"),
    "CUDA memory": (UNFINISHED + CUDA_OOM, "oom"),
    "a stall in Horovod": (UNFINISHED + HOROVOD_STALL, "stalled"),
    "a stall until the time limit": (UNFINISHED + HOROVOD_STALL + LIMIT, "stalled"),
    "a stall in NCCL": (UNFINISHED + NCCL_STALL + ECHO + EXIT, "stalled"),
}


def read_one(files: dict[str, str]) -> Run:
    (run,) = read_bytes({name: text.encode() for name, text in files.items()}, [OURS])
    return run


@pytest.mark.parametrize(("text", "outcome"), OUTCOMES.values(), ids=OUTCOMES)
def test_outcome(text, outcome):
    assert read_one({"job.out": text}).outcome == outcome


@pytest.mark.parametrize(
    ("source", "kind", "line"),
    [(s, group["kind"], line) for group in ends.data()["signs"] for s, line in group["lines"]],
)
def test_each_sign_of_an_end_has_its_example(source, kind, line):
    assert template.load(source, is_sign=True).match(line)
    end = ends.read(line, Where("job.out", 1))
    assert end is not None
    assert end.kind == kind
    assert any(tag in line for tag in ends.tags())


SPLIT = {
    "exception": (UNFINISHED, TRACEBACK, "failed"),
    "a warning's traceback, and all epochs": (KERAS, TRACEBACK + "x\n" * 9, "completed"),
    "time limit": (UNFINISHED, "warning\n" + LIMIT, "timeout"),
    "stall": (UNFINISHED, HOROVOD_STALL + CANCEL, "stalled"),
    "nothing wrong": (KERAS, "using TensorFlow backend\n", "completed"),
    "no number of epochs, and nothing wrong": (LOSSES, "a warning\n", "completed"),
    "no number of epochs, and an exception": (LOSSES, TRACEBACK, "failed"),
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
    assert (problem.where[0].file, problem.where[0].line) == ("job.err", 7)
    assert problem.actual == "ValueError: the shapes do not match"


def test_an_end_belongs_to_the_run_that_it_ends():
    runs = read_bytes({"job.out": (KERAS + UNFINISHED + LIMIT).encode()})
    assert [run.outcome for run in runs] == ["completed", "timeout"]
    assert [len(run.problems) for run in runs] == [0, 1]


def test_an_end_between_two_runs_leaves_the_outcome_of_a_whole_run_unknown():
    """The exception may have ended a program that printed no epoch."""
    runs = read_bytes({"job.out": (KERAS + CUDA_OOM + KERAS).encode()})
    assert [run.outcome for run in runs] == ["unknown", "completed"]


def test_an_unfinished_epoch_is_no_epoch_but_is_known():
    run = read_one({"job.out": "pass 1 step 10 loss 2.5\n"})
    assert run.epochs == ()
    assert run.unfinished.train_loss.value == 2.5
    assert summary(run)["final_train_loss"] == 2.5
    assert summary(run)["epochs"] is None


def test_what_is_left_out_is_said(monkeypatch):
    monkeypatch.setattr("autograder.reading.lanes.MOST_LANES", 4)
    runs = read_bytes({"job.out": KERAS.encode() * 4})
    assert len(runs) == 2
    assert "ignored" in runs[-1].problems[-1].title
