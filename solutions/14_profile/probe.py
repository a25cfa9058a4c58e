"""Test the functions of this lesson: what they count, compute and skip.

python probe.py

Nothing here is to be filled in. The job runs it after the training, with the same arguments.
"""

from functools import partial

import torch

from lessons.toolkit.checks import lesson_14 as checks
from lessons.toolkit.checks.shared.measure import check_fails
from lessons.toolkit.probes import profiling
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


def formulas():
    """Run the checks of counted operations, of the roof, of times in a trace, and of the scaler."""
    yield "flops_error", check_fails(checks.check_14_1, flops.step_flops)
    yield "roofline_error", check_fails(checks.check_14_2, flops.attainable)
    wrong = check_fails(checks.check_14_3, reading.busy)
    yield "reading_error", wrong + check_fails(checks.check_14_4, reading.hidden)
    yield "scaler_error", check_fails(checks.check_14_6, LossScaler)


def same():
    """Compare four steps in float64, and the noted numbers, with those of the slow step."""
    yield from profiling.step_errors(fast, slow, train.train_step, GPT)


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
        formulas: ["flops_error", "roofline_error", "reading_error", "scaler_error"],
        same: ["step_error", "note_error"],
        partial(steps, Text(), args, device): ["forwards", "waits", "update_ops"],
    }
    run_tests(run, tests, patience=60)


if __name__ == "__main__":
    main()
