"""Check the input pipeline of an epoch (4.3)."""

import itertools
from collections.abc import Callable
from typing import Any

from lessons.toolkit.checks.lesson_04.watched import ASSIGN, EACH, PIECES, Watched
from lessons.toolkit.checks.shared.check import (
    CheckFailed,
    exercise,
    shown,
)

Function = Callable[..., Any]


@exercise("4.3")
def check_4_3(stages: Function) -> str:
    """Each epoch reads every sample once, in a new order.

    Each sample is decoded only once, ahead of time.
    """
    everything = list(range(PIECES * EACH))
    watched = Watched(stages)
    first = watched.epoch()
    flat = list(itertools.chain.from_iterable(first))
    if sorted(flat) != everything:
        raise CheckFailed(
            f"{len(everything)} samples per epoch, each once",
            f"{len(flat)}, but only {len(set(flat))} different ones",
            "No stage may drop or repeat samples: no repeat(), no take().",
        )
    decoded = watched.calls
    second = list(itertools.chain.from_iterable(watched.epoch()))
    if watched.calls != decoded:
        raise CheckFailed(
            "with --cache the decoder is not called in epoch 2",
            f"called {watched.calls - decoded} times more",
            f"cache() keeps the output of the previous stage: put it after map(decode). {ASSIGN}",
        )
    if watched.caches_floats():
        raise CheckFailed(
            "a cache of single images, as bytes",
            "a cache of what prepare() makes: finished batches of floats",
            "cache() comes after prepare(), so the batches are always the same, and take 9.8 GB "
            "at 128 × 128. Move cache() between unbatch() and shuffle().",
        )
    if flat == everything:
        raise CheckFailed(
            "samples in random order",
            "0, 1, 2, …",
            f"shuffle(args.buffer) is missing, or has no effect. {ASSIGN}",
        )
    if second == flat:
        raise CheckFailed(
            "a different order in epoch 2 than in epoch 1",
            "the same in every epoch",
            "cache() after shuffle() keeps the shuffled order: cache first, then shuffle, so "
            "that each epoch gets a new order.",
        )
    check_mixing(first, flat)
    check_switches(stages)
    return "Samples are decoded once, shuffled again in every epoch, and prepared ahead of time."


def check_mixing(batches: list[list[int]], flat: list[int]) -> None:
    """Check that individual samples are shuffled, not whole batches or packs."""
    together = [sorted(batch) == list(range(min(batch), max(batch) + 1)) for batch in batches]
    if sum(together) > len(batches) // 2:
        raise CheckFailed(
            "batches with samples from all over the data set",
            f"batches of neighbours, such as{shown(batches[0])}",
            "Shuffle single samples: after unbatch(), before prepare().",
        )
    stay = sum(b - a == 1 and b % EACH > 0 for a, b in itertools.pairwise(flat))
    if stay > PIECES * (EACH - 1) // 2:
        raise CheckFailed(
            "samples of the same pack far apart",
            f"{stay} of {PIECES * (EACH - 1)} samples follow their neighbour",
            "Only whole packs were shuffled: shuffle after unbatch().",
        )


def check_switches(stages: Function) -> None:
    watched = Watched(stages, cache=False)
    for _ in range(2):
        watched.epoch()
    if watched.calls != 2 * PIECES:
        raise CheckFailed(
            "without --cache the decoder is called in every epoch",
            f"{watched.calls} calls in two epochs of {PIECES} packs",
            "Write `if args.cache:`. Without --cache nothing is kept, so the time to read the "
            "files can be measured.",
        )
    names = watched.stage_names()
    if "Prefetch" not in names[0]:
        advice = (
            f"prefetch() makes the next batch while the network computes: put it last. {ASSIGN}"
        )
        if any("Prefetch" in name for name in names):
            advice = "The stages after prefetch() are not run ahead of time: put prefetch() last."
        raise CheckFailed("prefetch as the last stage", names[0].strip("_"), advice)
    if not any("ParallelMap" in name for name in names):
        raise CheckFailed(
            "packs decoded in parallel",
            "one after another",
            "map(decode, num_parallel_calls=args.workers).",
        )
    if any("Prefetch" in name for name in Watched(stages, prefetch=False).stage_names()):
        raise CheckFailed(
            "no prefetch with --no-prefetch",
            "prefetch",
            "Write `if args.prefetch`, so that you can see what prefetch does.",
        )
