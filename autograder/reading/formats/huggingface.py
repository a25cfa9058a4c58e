"""Read Hugging Face's Trainer, which prints a Python dictionary per line.

    {'loss': 0.2118, 'grad_norm': 2.1, 'learning_rate': 1.4e-05, 'epoch': 0.07}
    {'eval_loss': 0.31, 'eval_accuracy': 0.91, 'eval_runtime': 4.1, 'epoch': 1.0}
    {'train_runtime': 312.4, 'train_samples_per_second': 480.1, 'train_loss': 0.3, 'epoch': 3.0}

The dictionaries are read as text, never evaluated.
"""

import math
import re

from autograder.reading.formats.reader import Reader
from autograder.reading.line_facts import EpochNumber, LineFacts, RunFacts
from autograder.reading.printed_numbers import VALUE, positive, printed

PAIR = re.compile(rf"'([A-Za-z_][\w/]{{0,60}})': '?({VALUE})'?(?=[,}}])")
NAMES: dict[str, EpochNumber] = {
    "loss": "train_loss",
    "eval_loss": "val_loss",
    "eval_accuracy": "val_accuracy",
    "eval_acc": "val_accuracy",
}


def read(line: str) -> LineFacts | None:
    start = line.find("{'")
    if start < 0:
        return None
    pairs = {name: printed(value) for name, value in PAIR.findall(line, start)}
    progress = pairs.get("epoch")
    if progress is None or progress.value < 0:
        return None
    epoch = max(1, math.ceil(progress.value))
    if "train_runtime" in pairs:
        run = RunFacts(
            {
                "total_seconds": positive(pairs["train_runtime"]),
                "run_throughput": positive(pairs.get("train_samples_per_second")),
            },
            done=True,
        )
        return LineFacts(epoch, whole=True, progress=progress.value, run=run)
    numbers = {name: pairs[key] for key, name in NAMES.items() if key in pairs}
    if not numbers:
        return None
    return LineFacts(
        epoch,
        whole=progress.value == epoch,
        step=progress.value,
        redraws=True,
        progress=progress.value,
        numbers=numbers,
    )


READER = Reader("hf-trainer", ("'epoch': ",), read)
