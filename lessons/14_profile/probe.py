"""Test the functions of this lesson: what they count, compute and skip.

python probe.py

Nothing here is to be filled in. The job runs it after the training, with the same arguments.
"""

from functools import partial

import torch

from lessons.toolkit.probes import profiling, scaled_steps
from lessons.toolkit.probes.on_ranks import run_tests
from lessons.toolkit.ranks import enough_gpus
from lessons.toolkit.record import Run

import fast
import flops
import reading
import slow
import train
from gpt import GPT, Text, windows
from scaling import LossScaler


def counting():
    """Compare counted operations, the roof and times in a trace with the right ones."""
    yield "flops_error", profiling.flops_error(flops.step_flops, GPT)
    yield "roofline_error", profiling.roofline_error(flops.attainable)
    yield "reading_error", profiling.reading_error(reading.busy, reading.hidden)


def same():
    """Compare four steps in float64, and the noted numbers, with those of the slow step."""
    yield "step_error", profiling.step_error(fast, slow, train.train_step, GPT)
    yield "note_error", profiling.note_error(fast.note, GPT)


def small_numbers():
    """Compare the scaler with PyTorch's."""
    yield "scaler_error", scaled_steps.scaler_error(LossScaler)


def steps(text, args, device):
    """Count each step's forward passes, its waits for a number, and its update's operations."""
    batch = windows(text.train, torch.arange(args.batch_size), args.length)
    for name in train.WAYS:
        training = train.start(name, text, args, device)
        counts = profiling.count_step(*training, [piece.to(device) for piece in batch])
        for what, count in counts.items():
            yield what if name == "after" else f"{name}_{what}", count


def main():
    args = train.command_line().parse_args()

    enough_gpus(torch.cuda.device_count())
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_num_threads(1)
    run = Run("14", args, source="probe")
    tests = {
        counting: ["flops_error", "roofline_error", "reading_error"],
        same: ["step_error", "note_error"],
        small_numbers: ["scaler_error"],
        partial(steps, Text(), args, device): ["forwards", "waits", "update_ops"],
    }
    run_tests(run, tests, patience=60)


if __name__ == "__main__":
    main()
