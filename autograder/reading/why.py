"""Explain how a run was read (`autograder read --why`).

Each fact comes with its line and with the rule that read it. Each missing fact has a list of the
places that were searched.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.codes import Outcome
from autograder.reading import lines
from autograder.reading.plain_summary import summary
from autograder.records import Run, Where
from autograder.submissions.regular_files import open_regular

# The rules that read the epochs of each format.
FORMATS = {
    "record": "the course's run record: its epoch_stop, eval_accuracy and run_stop lines",
    "mllog": "MLPerf's lines: epoch_stop minus epoch_start, or the mean time within a block",
    "keras": "Keras' line for an epoch, after its `Epoch 3/10`",
    "torch-imagenet": "PyTorch's ImageNet example: running means of the last step",
    "torch-mnist": "PyTorch's MNIST example: the last `Train Epoch`, and `Test set:`",
    "torch-tutorial": "PyTorch's tutorial: `train Loss: … Acc: …` after `Epoch 3/24`",
    "timm": "timm's lines: running means of the last step, and its `Test:` line",
    "hf-trainer": "a dictionary with 'epoch' that Hugging Face's Trainer prints",
    "lightning": "a complete progress bar that names its epoch",
    "table": "a line of numbers below a line of column names",
    "plain": "names and values, on a line that names an epoch or under such a heading",
    "steps": "names and values, on a line that names a step; no line names an epoch",
    "bars": "a progress bar, and no line about an epoch",
    "unknown": "no line about an epoch or a step was understood",
}
LOGS_TIMES = (
    "differences between the log's timestamps, because the log does not print seconds per epoch"
)
OF_RUN = {
    "workers": "a line with the number of workers",
    "test_accuracy": "a line that names the test; the last one counts",
    "throughput": "samples per second: as printed, or the median after the first epoch",
    "job_id": "a line with the scheduler's id",
}
ELSEWHERE = {
    "workers": "the record, the ranks' labels or their order, or the file's name",
    "job_id": "the record, or the file's name",
}
# All facts that are explained, and what would have contained them.
LOOKED_FOR = {
    "job_id": "`SLURM_JOB_ID=4711`, `Job ID: 4711`, `*** JOB 4711`, a number in the file's name",
    "workers": "`Training with 4 GPUs`, `world size: 4`, `rank 0 of 4`, `Number of devices: 4`, "
    "`Model x 4 GPUs`, rank labels of launchers, a batch per GPU with one for all",
    "epochs": "`Epoch 3/10`, `Epoch: 3 loss: 0.4`, `epoch=3`, a table with a column `epoch`",
    "epoch_seconds": "`time: 12.3s`, `took 12 s`, `- 12s` in the line of an epoch, or times at "
    "the beginning of lines",
    "final_train_loss": "`loss: 0.4`, `train_loss=0.4`, `Training Loss 0.4` of an epoch",
    "final_train_accuracy": "`accuracy: 0.9`, `train_acc=0.9`, `Acc@1` of an epoch",
    "final_val_accuracy": "`val_accuracy: 0.9`, `Validation Acc 0.9`, or a test after each epoch",
    "test_accuracy": "`Test accuracy: 0.91`, `test_acc: 0.91`, `accuracy of … test images: 91 %`",
    "throughput": "`814 examples/sec`, `images/sec: 814`, `Throughput: 814 images/s`",
    "total_seconds": "`Training time: 76.4`, `Training took 0:01:16`, `--- 76.4 seconds ---`",
}
# Bad ends are already problems with their line.
NO_END = (
    "nothing shows that this epoch was the last: the number of epochs is unknown, and no line "
    "after it reports that the training ended, or why"
)


@dataclass(frozen=True, slots=True)
class Reason:
    """A fact of a run: its value, place and rule, or the places that were searched for it."""

    fact: str
    value: Any  # None: not found
    where: Where | None
    rule: str


def reasons(run: Run) -> list[Reason]:
    read = summary(run)
    total = run.total_seconds
    read["total_seconds"] = None if total is None else total.value
    facts = [Reason("outcome", run.outcome, *why_outcome(run))]
    for fact, words in LOOKED_FOR.items():
        value = read[fact]
        if value in (None, []):
            facts.append(Reason(fact, None, None, f"looked for {words}"))
        else:
            facts.append(Reason(fact, value, *place_of(run, fact)))
    return facts


def why_outcome(run: Run) -> tuple[Where | None, str]:
    where = run.places.get("outcome")
    if run.outcome == Outcome.UNKNOWN:
        return None, NO_END
    if run.outcome == Outcome.EMPTY:
        return None, "the file is empty"
    if run.outcome != Outcome.COMPLETED:
        problems = [p for p in run.problems if where is not None and p.where == where]
        return where, problems[0].reason if problems else "it ends before its last epoch does"
    if where is not None:
        return (
            where,
            "a line that the program prints only after the last epoch: its end, its total time, "
            "a test or a summary",
        )
    return place_of_last(run)[0], "its last epoch has finished, and nothing contradicts this"


def place_of_last(run: Run) -> tuple[Where | None, str]:
    last = run.epochs[-1] if run.epochs else run.unfinished
    return (last.where if last else None), FORMATS.get(run.format, f"the format `{run.format}`")


def place_of(run: Run, fact: str) -> tuple[Where | None, str]:
    """Return where a fact was read, and the rule that read it."""
    if fact in ELSEWHERE:
        where = run.places.get(fact)
        return where, OF_RUN[fact] if where else ELSEWHERE[fact]
    if hasattr(run, fact) and fact != "epochs":
        number = getattr(run, fact)
        where = number.where if number else None
        return where or run.places.get(fact), OF_RUN.get(fact, "a line about the whole run")
    if fact == "epoch_seconds":
        timed = [epoch.seconds for epoch in run.epochs if epoch.seconds is not None]
        return timed[-1].where, LOGS_TIMES if run.timed_by_log else place_of_last(run)[1]
    where, rule = place_of_last(run)
    last = run.epochs[-1] if run.epochs else run.unfinished
    if fact == "final_train_loss" and run.unfinished is not None:
        last = run.unfinished
    # A number's place may differ from the epoch's end.
    number = getattr(last, fact.removeprefix("final_"), None)
    return (number.where if number else None) or where, rule


def texts(files: Iterable[str], places: Iterable[Where]) -> Mapping[Where, str]:
    """Return the text of these lines."""
    by_file: dict[str, set[int]] = {}
    for where in places:
        by_file.setdefault(where.file, set()).add(where.line)
    text_of: dict[Where, str] = {}
    for name in files:
        with suppress(OSError), open_regular(Path(name)) as stream:
            for number, raw in lines.numbered(stream, by_file.get(name, ())):
                text_of[Where(name, number)] = lines.clean(raw).strip()
    return text_of
