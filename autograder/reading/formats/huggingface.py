"""Read Hugging Face's Trainer, which prints a Python dictionary per line.

    {'loss': 0.2118, 'grad_norm': 2.1, 'learning_rate': 1.4e-05, 'epoch': 0.07}
    {'eval_loss': 0.31, 'eval_accuracy': 0.91, 'eval_runtime': 4.1, 'epoch': 1.0}
    {'train_runtime': 312.4, 'train_samples_per_second': 480.1, 'train_loss': 0.3, 'epoch': 3.0}

The dictionaries are read as text, never evaluated.
"""

import math
import re

from autograder.reading.formats.names import epoch_numbers
from autograder.reading.formats.reader import Reader, number
from autograder.reading.line_facts import LineFacts, RunFacts
from autograder.reading.printed_numbers import VALUE, printed

PAIR = re.compile(rf"'([A-Za-z_][\w/]{{0,60}})': '?({VALUE})'?(?=[,}}])")


def read(line: str) -> LineFacts | None:
    start = line.find("{'")
    if start < 0:
        return None
    pairs = dict(PAIR.findall(line, start))
    progress = printed(pairs.get("epoch", ""))
    if progress is None or progress.value < 0:
        return None
    epoch, done = max(1, math.ceil(progress.value)), progress.value
    if "train_runtime" in pairs:
        rate = pairs.get("train_samples_per_second", "")
        run = RunFacts(
            {
                "total_seconds": number("total_seconds", pairs["train_runtime"], "s"),
                "run_throughput": number("run_throughput", rate, ""),
            },
            done=True,
        )
        return LineFacts(epoch, whole=True, progress=done, run=run)
    numbers = epoch_numbers(pairs.items())
    if not numbers:
        return None
    return LineFacts(
        epoch, whole=done == epoch, step=done, redraws=True, progress=done, numbers=numbers
    )


READER = Reader("hf-trainer", ("'epoch': ",), read)
