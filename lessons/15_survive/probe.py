"""Test what a training needs to survive, and read in its journal what the job has lost.

torchrun --nproc-per-node=2 probe.py --folder here

Nothing here is to be filled in. The job runs it after the training, with the same arguments.
"""

import torch.distributed as dist

from lessons.toolkit.checks.lesson_15 import saving, state
from lessons.toolkit.checks.lesson_15.shards import try_shards
from lessons.toolkit.checks.shared.measure import check_fails
from lessons.toolkit.probes import restoring
from lessons.toolkit.probes.logbook import lines_of, lives_of, told_by_journals
from lessons.toolkit.probes.on_ranks import GROUP_TIMEOUT, run_tests
from lessons.toolkit.record import Run

import atomic
import background
import pieces
import sharded
import signals
import train
from gpt import Text


def restores(text, args, device):
    """Save a state that no training leads to, and restore it in a program that knows nothing."""
    writers = (atomic.save, background.Background(atomic.save))
    wrong = [restoring.restore_wrong(write, (text, args, device)) for write in writers]
    yield "restore_wrong", max(wrong)


def files(text, args, device):
    """Kill a write halfway, damage files, and show each rank others."""
    yield "files_wrong", check_fails(saving.check_15_2, atomic)
    sights = (check_fails(saving.try_sight, atomic, s, dist.get_rank()) for s in saving.SIGHTS)
    yield "chosen_wrong", sum(sights)


def warnings(text, args, device):
    """Warn no rank, then each of them."""
    rank, ranks = dist.get_rank(), range(dist.get_world_size())
    fails = (check_fails(state.try_warning, signals, who, rank, device) for who in (None, *ranks))
    yield "agree_wrong", sum(fails)


def functions(text, args, device):
    """Compare the gradients of pieces with those of the whole batch."""
    yield "gradient_error", check_fails(state.check_15_8, pieces.add_gradients)


def journal(text, args, device):
    """Read in the journal of each rank what the job has lost, and how often it read each sample."""
    each = args.windows // args.global_batch  # steps of an epoch
    yield from told_by_journals(args.folder, args.every, each, args.windows).items()


def shards(text, args, device):
    """Save a sharded network in the background, and kill a write on one rank."""
    yield "shards_wrong", check_fails(try_shards, sharded, args.folder, device)


TESTS = {  # with the measures that every program gets, even if the test fails
    restores: ["restore_wrong"],
    files: ["files_wrong", "chosen_wrong"],
    warnings: ["agree_wrong"],
    functions: ["gradient_error"],
    journal: ["lives", "read_wrong", "lost_over_interval", "stop_s"],
    shards: ["shards_wrong"],  # at the end: after a rank that waits, no other test can run
}


def main():
    args = train.command_line().parse_args()

    _, device = train.start_ranks(GROUP_TIMEOUT)
    text, lives = Text(), lives_of(lines_of(args.folder, 0))
    run = Run("15", args, source="probe", life="later" if len(lives) > 1 else "first")
    for number, life in enumerate(lives):
        run.measure("life", life["lost"], "steps", life=number, **life)
    run_tests(run, TESTS, text, args, device)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
