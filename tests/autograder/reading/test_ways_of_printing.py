"""Ways of printing, in a few lines each: what is read from them, and what is ambiguous."""

import pytest

from autograder.commands.read import plain_tables
from autograder.measuring.interval import NotMeasured
from autograder.measuring.measure import epochs
from autograder.reading.files import read_bytes
from autograder.reading.plain_summary import summary
from autograder.records import Run
from tests.autograder.make_record import make_record


def read(text: str, name: str = "job.out") -> list[Run]:
    return read_bytes({name: text.encode()})


def each(line: str, numbers=(1, 2, 3)) -> str:
    return "".join(line.replace("N", str(number)) + "\n" for number in numbers)


KERAS = each("Epoch N/3\n9/9 - 1s - loss: 0.N - accuracy: 0.9")
STEPS = each("Step N0: Minibatch Loss= 0.N, Training Accuracy= 0.N00, 8N0 Examples/sec")
NOT = None
WAYS: dict[str, tuple[str, dict]] = {
    "steps with examples a second": (
        STEPS + "Optimization Finished!\n--- 58.2 seconds ---\n",
        {"format": "steps", "outcome": "completed", "throughput": 825, "epochs": NOT},
    ),
    "steps that stop": (STEPS, {"format": "steps", "outcome": "unknown"}),
    "steps, and their test at the end": (
        STEPS + "Test accuracy: 9.585e-01\n",
        {"outcome": "completed", "test_accuracy": 0.9585},
    ),
    "a test after every step": (
        each("step N0 loss: 0.N\nTest accuracy: 0.N", (1, 2, 3, 4)),
        {"outcome": "unknown", "test_accuracy": 0.4},
    ),
    "steps of so many": (
        each("step N0/100 loss: 0.5"),
        {"format": "steps", "outcome": "incomplete", "final_train_loss": 0.5},
    ),
    "the time of a step and its samples": (
        each(
            " iteration   N0/  30 | elapsed time per iteration (ms): 500.0 "
            "| global batch size: 64 | lm loss: 6.5"
        ),
        {"outcome": "completed", "throughput": 128, "final_train_loss": 6.5},
    ),
    "a rate for each GPU is not all of them": (
        each("Iter #N: 234.5 img/sec per GPU"),
        {"throughput": NOT, "outcome": "unknown"},
    ),
    "epochs that trained nothing": (
        "Epoch 1/3 - Loss: 0.5 - MAE: 1.0\n"
        + each("Epoch N/3 - no valid batches", (2, 3))
        + "Training completed!\n",
        {"epochs": 3, "outcome": "completed", "final_train_loss": NOT},
    ),
    "the epoch in other words": (
        each("Saving best model of epoch N\nmax_epoch: 9\nBest epoch: 1, loss: 0.1"),
        {"format": "unknown", "epochs": NOT, "final_train_loss": NOT},
    ),
    "every tenth epoch, from 1": (each("Epoch [N0/30], loss: 0.N, time: 9.0s"), {"epochs": 30}),
    "every tenth epoch, from 0": (
        each("Epoch N0, loss: 0.N, time: 9.0s", ("", "1", "2")),
        {"epochs": NOT, "epoch_seconds": []},
    ),
    "seconds since the start": (
        each("Epoch N/3 loss=0.4 elapsed=N0.0s"),
        {"epoch_seconds": [10, 10, 10]},
    ),
    "minutes": (each("Epoch N/3 loss=0.4 time=1.5 min"), {"epoch_seconds": [90, 90, 90]}),
    "a unit that is not known": (each("Epoch N/3 loss=0.4 time=1.5 ticks"), {"epoch_seconds": []}),
    "a clock": (each("Epoch N/3 loss=0.4 time: 0:01:30"), {"epoch_seconds": [90, 90, 90]}),
    "seconds of a part of an epoch": (
        each("12:0N:00 Epoch N/3 loss=0.4 time: 1.0s"),
        {"epoch_seconds": []},
    ),
    "the log's own times": (
        each("[28/02/26 23:5N:00] INFO Epoch N: v_loss 3.5e-01  loss 2.5e-01", (7, 8, 9))
        + "[01/03/26 00:00:00] INFO Epoch 10: v_loss 3.5e-01  loss 2.5e-01\n",
        {"epoch_seconds": [None, 60, 60, 60], "final_train_loss": 0.25},
    ),
    "told all at once": (
        each("2026-03-02 10:00:00,00N INFO epoch N: loss 0.5"),
        {"epochs": 3, "epoch_seconds": []},
    ),
    "a total that the epochs contradict": (
        each("Epoch N/3 loss=0.4 time=20.0s") + "Training time: 20.0\n",
        {"epoch_seconds": [], "outcome": "completed"},
    ),
    "a name for the check, and one for neither": (
        each("Epoch N: train_loss=0.5 val_loss=0.6 acc=0.9"),
        {"final_train_accuracy": NOT, "final_val_accuracy": NOT},
    ),
    "words for what follows them": (
        each("Epoch N: train loss 0.5 acc 0.8 | val loss 0.6 acc 0.7"),
        {"final_train_accuracy": 0.8, "final_val_accuracy": 0.7, "final_train_loss": 0.5},
    ),
    "a line for training and one for the check": (
        each("Epoch N Training: loss: 0.5 acc: 0.8\nValidation Epoch N: loss: 0.6 acc: 0.7"),
        {"final_train_accuracy": 0.8, "final_val_accuracy": 0.7, "epochs": 3},
    ),
    "a block, and what comes behind the last one": (
        each("Epoch N/3\n  Train Loss: 0.5\n  Train Acc: 0.8")
        + "Test Loss: 0.7\nTest Accuracy: 0.6\n",
        {"final_val_accuracy": NOT, "test_accuracy": 0.6, "epochs": 3},
    ),
    "GPUs that are only there": (
        "4 GPUs are detected\nAvailable GPUs: 4\n" + STEPS,
        {"workers": NOT},
    ),
    "ranks that name themselves": (
        each("Hostname: a, Global Rank: N", (0, 2, 1)) + STEPS,
        {"workers": 3},
    ),
    "whole epochs, and nothing that says how many": (
        each("Epoch N: loss 0.N acc 0.8"),
        {"outcome": "unknown", "epochs": 3, "final_train_loss": 0.3},
    ),
    "the best of them at the end": (
        each("Epoch N: loss 0.N") + "*** Best top-1: 81.25 (epoch 2)\n",
        {"outcome": "completed", "epochs": 3, "final_val_accuracy": NOT},
    ),
    "the best so far, behind each of them": (
        each("Epoch N: loss 0.N\nBest accuracy so far: 0.N"),
        {"outcome": "unknown", "epochs": 3},
    ),
    "an average at the end, in a logger's line": (
        each("2026-03-02 10:0N:00 INFO epoch=N loss=0.N")
        + "2026-03-02 10:04:00 INFO Average epoch time 60.1 s\n",
        {"outcome": "completed", "epoch_seconds": [None, 60, 60]},
    ),
    "a table, and what it comes to": (
        "epoch,loss,val_acc\n" + each("N,0.N,0.8") + "Final accuracy 0.8\n",
        {"outcome": "completed", "epochs": 3, "final_val_accuracy": 0.8},
    ),
    "a table that may go on": (
        "epoch,loss,val_acc\n" + each("N,0.N,0.8"),
        {"outcome": "unknown", "epochs": 3},
    ),
    "the test images at the end": (
        each("[Epoch N] cost: 0.N") + "Accuracy of the network on the 10000 test images: 71 %\n",
        {"outcome": "completed", "test_accuracy": 0.71},
    ),
    "a test behind each of them": (
        each("Epoch N: loss 0.N\nTest accuracy: 0.N"),
        {"outcome": "unknown", "test_accuracy": 0.3},
    ),
    "a history that repeats the epochs at the end": (
        KERAS + each("Epoch N: loss 0.N00, accuracy 0.90"),
        {"format": "keras", "epochs": 3, "outcome": "completed"},
    ),
    "each epoch says that it is done": (
        each("Epoch N: loss 0.N\nFinished training epoch N"),
        {"outcome": "unknown", "epochs": 3},
    ),
    "each epoch says how long its training took": (
        each("Epoch N/5 loss: 0.N\nTraining time: 1N.0 s"),
        {"outcome": "incomplete", "epochs": 3},
    ),
    "the first of them does": (
        "Epoch 1/5 loss: 0.5\nTraining time: 12.5 s\n",
        {"outcome": "incomplete", "epochs": 1},
    ),
    "the words of a program before": (
        "Training finished\nTest accuracy: 0.9\n" + each("Epoch N: loss 0.N"),
        {"outcome": "unknown", "epochs": 3},
    ),
    "a process with one device": (
        "LOCAL_RANK: 0 - CUDA_VISIBLE_DEVICES: [3]\n" + each("Epoch N/3: loss 0.N"),
        {"workers": 1, "outcome": "completed"},
    ),
    "a process with one device, among others": (
        "GLOBAL_RANK: 0, MEMBER: 1/2\nLOCAL_RANK: 0 - CUDA_VISIBLE_DEVICES: [0]\n"
        + each("Epoch N/3: loss 0.N"),
        {"workers": 2},
    ),
    "a process that may use several": (
        "LOCAL_RANK: 0 - CUDA_VISIBLE_DEVICES: [0,1]\n" + each("Epoch N/3: loss 0.N"),
        {"workers": NOT},
    ),
    "a library that says when it is done, and has not": (
        "GPU available: True (cuda), used: True\n" + each("Epoch N: loss 0.5"),
        {"outcome": "unknown", "epochs": 3},
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_way_of_printing(way):
    text, says = WAYS[way]
    (run,) = read(text)
    found = summary(run)
    for field, value in says.items():
        assert found[field] == (value if value is None else pytest.approx(value)), field


def test_epochs_of_which_only_some_are_printed_are_not_counted():
    (run,) = read(each("Epoch N0, loss: 0.N", ("", "1", "2")))
    with pytest.raises(NotMeasured, match="only some"):
        epochs(run)


HEADINGS = {
    "words": "******* Training the model with {0} GPU *******",
    "a model": " Model ResNet50 {0} GPUs",
    "replicas": "Num_replicas: {0}",
    "devices": "Number of devices: {0}",
    "batches": "Batch size per GPU: 32\nEffective Batch Size: {1}",
}


@pytest.mark.parametrize("heading", HEADINGS.values(), ids=HEADINGS)
def test_several_sizes_in_one_file_have_their_workers(heading):
    text = "".join(
        heading.format(size, 32 * size) + "\n" + each(f"Epoch N/3 loss: 0.N time: {100 / size}s")
        for size in (1, 2, 4)
    )
    runs = read(text)
    assert [run.workers for run in runs] == [1, 2, 4]
    medians = [summary(run)["epoch_seconds_median_after_first"] for run in runs]
    assert [medians[0] / seconds for seconds in medians] == [1, 2, 4]


def test_sizes_are_compared_by_their_epochs_where_nothing_says_how_many():
    text = "".join(
        f"Num_replicas: {size}\n" + each(f"Epoch N loss: 0.N time: {100 / size}s")
        for size in (1, 2, 4)
    )
    (table,) = plain_tables(read(text))
    assert [row["ranks"] for row in table["rows"]] == [1, 2, 4]
    assert [row["speedup"] for row in table["rows"]] == [1, 2, 4]


START = "Files already downloaded and verified\nBatch size per GPU: 32\n"
RUN = each("Epoch N/3 loss: 0.N") + "Finished training\n"
OOM = "Traceback (most recent call last):\n  File\nRuntimeError: CUDA out of memory.\n"
JOBS = {
    "each with its end": (START + RUN + START + OOM + START + RUN, "completed oom completed"),
    "the last one ended early": (START + RUN + START + OOM, "completed oom"),
    "the first one ended early": (START + RUN[:20] + OOM + START + RUN, "oom completed"),
    "without a word that it began": (RUN + OOM + RUN, "completed oom completed"),
    "an end after the last run's last word": (START + RUN + OOM, "oom"),
}


@pytest.mark.parametrize("job", JOBS)
def test_jobs_appended_to_one_file_are_runs_with_their_ends(job):
    text, outcomes = JOBS[job]
    assert " ".join(run.outcome for run in read(text)) == outcomes


@pytest.mark.parametrize(("name", "workers"), [("4gpu.out", 4), ("run_2-GPUs_a.out", 2)])
def test_the_name_of_a_file_tells_of_gpus_where_nothing_else_does(name, workers):
    assert read(STEPS, name)[0].workers == workers
    assert read("world size: 8\n" + STEPS, name)[0].workers == 8


BLOCK = ':::MLL 1{0}.0 block_start: {{"metadata": {{"first_epoch_num": {1}, "epoch_count": 4}}}}\n'
STOP = ':::MLL 1{0}.0 block_stop: {{"metadata": {{"first_epoch_num": {1}}}}}\n'
CHECK = ':::MLL 1{0}.0 eval_accuracy: {{"value": 0.{0}, "metadata": {{"epoch_num": {1}}}}}\n'


def test_blocks_of_epochs_are_their_epochs():
    text = "".join(
        BLOCK.format(begin, first) + CHECK.format(end, first) + STOP.format(end, first)
        for begin, end, first in ((10, 18, 4), (20, 24, 8))
    )
    (run,) = read(text)
    assert len(run.epochs) == 8
    assert [epoch.seconds.value for epoch in run.epochs] == [2] * 4 + [1] * 4
    assert summary(run)["final_val_accuracy"] == 0.24


LOSSES, BEGINS = each("Epoch N/3: loss 0.N"), "Started training\n"
BESIDE = {
    "ahead of another run": (STEPS + BEGINS + LOSSES, ["steps", "plain"]),
    "behind another run": (LOSSES + BEGINS + STEPS, ["plain", "steps"]),
    "what may be a run's own check": (LOSSES + STEPS, ["plain"]),
    "what a run may have done first": (STEPS + LOSSES, ["plain"]),
}


@pytest.mark.parametrize("place", BESIDE)
def test_steps_beside_a_run_are_another_if_a_program_began_between(place):
    text, formats = BESIDE[place]
    runs = read(text)
    assert [run.format for run in runs] == formats
    assert {run.outcome for run in runs if run.format == "plain"} == {"completed"}


def test_a_result_of_an_earlier_epoch_is_another_runs():
    steps = each("Epoch N, step 10, loss: 0.9\nEpoch N, step 20, loss: 0.8")
    runs = read(steps + '{"epoch": 1, "train_loss": 0.5}\n')
    assert [len(run.epochs) for run in runs] == [2, 1]


def test_a_record_that_was_cut_off_takes_no_whole_run_for_its_last_words():
    cut = "\n".join(make_record(finished=False)[:8]) + "\n"
    assert [run.format for run in read(cut + KERAS)] == ["record", "keras"]
