"""Public checks of lesson 04: feeding the model."""

import itertools
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from lessons.toolkit.checks.check import CheckFailed, close, compare, exercise, number, shown
from lessons.toolkit.checks.lesson_04_watched import ASSIGN, EACH, PIECES, Watched

Function = Callable[..., Any]


ANEW = "A second .tofile(path) to the same path begins the file anew: only what it writes remains."


@exercise("4.1")
def check_4_1(write_packs: Function) -> str:
    """Read one after another, the packs are the records again; their sizes differ by at most 1."""
    width = 11
    for count, packs in ((103, 8), (40, 13), (7, 7)):
        records = np.random.default_rng(count).integers(0, 256, (count, width)).astype(np.uint8)
        with TemporaryDirectory() as folder:
            write_packs(records.copy(), Path(folder), packs)
            names = sorted(path.name for path in Path(folder).iterdir())
            sizes = [(Path(folder) / name).stat().st_size for name in names]
            together = b"".join((Path(folder) / name).read_bytes() for name in names)
        what = f"{count} records of {width} bytes in {packs} packs"
        if len(names) != packs:
            advice = "`packs` is the number of files, not of records in one."
            if len(names) < packs:
                advice = f"Each pack needs a path of its own, with its number in it. {ANEW}"
            if not names:
                advice = "Nothing was written. Is `folder` part of the path?"
            raise CheckFailed(f"{what}: {packs} files", f"{len(names)} files", advice)
        if min(sizes) < count // packs * width and sum(sizes) < records.size:
            raise CheckFailed(
                f"{what}: {count // packs} or more in each",
                f"{min(sizes) / width:g} in one",
                f"{ANEW} Write all rows of a pack in one call.",
            )
        if sum(sizes) != records.size:
            times = sum(sizes) / records.size
            advice = "The last records, which do not fill a pack, are missing."
            if times > 1:
                advice = (
                    "Each byte became a number of 8 bytes: write uint8."
                    if close(times, 8)
                    else "Only the records: row.tofile(path) writes no header, np.save does."
                )
            raise CheckFailed(f"{what}: {records.size} bytes in all", f"{sum(sizes)}", advice)
        counts = [size / width for size in sizes]
        if max(counts) - min(counts) > 1:
            raise CheckFailed(
                f"{what}: sizes that differ by at most 1 record",
                f"{min(counts):g} to {max(counts):g} records",
                "np.array_split makes parts of equal size, to within one.",
            )
        if together != records.tobytes():
            advice = "A pack holds neighbours, in their order: np.array_split(records, packs)."
            if packs > 10 and any("_10." in name and "_2." in "".join(names) for name in names):
                advice = "Sorted by name, pack_10 stands before pack_2: write 0010 and 0002."
            raise CheckFailed(
                f"{what}: read in the order of their names, the same bytes", "others", advice
            )
    return "103 records in 8 packs: 12 or 13 in each, and none is lost."


@exercise("4.2")
def check_4_2(order: Function) -> str:
    """Each epoch reads every pack once, in an order that it has not had before."""
    names = [f"pack_{n:04d}.bin" for n in range(20)]
    orders: list[list[str]] = []
    for epoch in range(6):
        given = list(names)
        found = as_names(order(given, epoch, 3), epoch)
        if given != names:
            raise CheckFailed(
                "the caller's list stays as it is",
                "it was shuffled in place",
                "`.shuffle` changes the list it is given: return `.permutation(names)`.",
            )
        counts = Counter(found)
        if lost := sorted(set(names) - set(counts)):
            twice = sum(count > 1 for count in counts.values())
            raise CheckFailed(
                f"epoch {epoch}: each of 20 packs once",
                f"{len(lost)} never, {twice} several times",
                "`choice` draws the same pack twice: `permutation` does not.",
            )
        if found != as_names(order(list(names), epoch, 3), epoch):
            raise CheckFailed(
                "the same order whenever epoch and seed are the same",
                "another at each call",
                "A generator without a seed cannot be repeated: default_rng([seed, epoch]).",
            )
        orders.append(found)
    if all(found == names for found in orders):
        raise CheckFailed(
            "6 epochs: 6 different orders",
            "the names as they were given",
            "`.permutation(names)` leaves them as they are and gives back new ones: return those.",
        )
    if orders[0] == orders[1] or len({tuple(found) for found in orders}) < len(orders):
        raise CheckFailed(
            "6 epochs: 6 different orders",
            f"{len({tuple(found) for found in orders})}",
            "Every epoch as the first: put the epoch into the seed, default_rng([seed, epoch]).",
        )
    neighbours = [
        sum(orders[0].index(b) - orders[0].index(a) == 1 for a, b in itertools.pairwise(found))
        for found in orders[1:]
    ]
    if min(neighbours) > 8:
        raise CheckFailed(
            "a random order in each epoch",
            f"{min(neighbours)} of 19 packs follow the same pack as in epoch 0",
            "Turning the list round keeps its order: draw a permutation.",
        )
    if orders[0] == as_names(order(list(names), 0, 4), 0):
        raise CheckFailed(
            "another order for another seed", "the same", "Seed and epoch: default_rng([seed, …])."
        )
    return "Every pack once an epoch, in an order that is new and can be repeated."


def as_names(value: Any, epoch: int) -> list[str]:
    if value is None:
        advice = "Is there a `return` in front of it? (`.shuffle` changes a list and returns None.)"
        raise CheckFailed(f"epoch {epoch}: a list of names", "None", advice)
    try:
        found = [str(name) for name in value]
    except TypeError:
        found = []
    if not found or not found[0].startswith("pack_"):
        raise CheckFailed(
            f"epoch {epoch}: a list of names",
            shown(found[:4]),
            "Return the names, not their numbers.",
        )
    return found


@exercise("4.3")
def check_4_3(stages: Function) -> str:
    """Every sample once an epoch, decoded once in all, in a new order, ahead of time."""
    everything = list(range(PIECES * EACH))
    watched = Watched(stages)
    first = watched.epoch()
    flat = list(itertools.chain.from_iterable(first))
    if sorted(flat) != everything:
        raise CheckFailed(
            f"{len(everything)} samples an epoch, each once",
            f"{len(flat)}, of which {len(set(flat))} are different",
            "No stage may drop or repeat samples: no repeat(), no take().",
        )
    decoded = watched.calls
    second = list(itertools.chain.from_iterable(watched.epoch()))
    if watched.calls != decoded:
        raise CheckFailed(
            "with --cache the decoder is not called in epoch 2",
            f"called {watched.calls - decoded} times more",
            "cache() keeps what comes out of the stage before it: put it behind map(decode). "
            f"{ASSIGN}",
        )
    if watched.caches_floats():
        raise CheckFailed(
            "a cache of single images, as bytes",
            "a cache of what prepare() makes: finished batches of floats",
            "cache() stands behind prepare(): the same batches for ever, and 9.8 GB of them at "
            "128 × 128. Move it between unbatch() and shuffle().",
        )
    if flat == everything:
        raise CheckFailed(
            "samples in random order",
            "0, 1, 2, …",
            f"shuffle(args.buffer) is missing, or has no effect. {ASSIGN}",
        )
    if second == flat:
        raise CheckFailed(
            "another order in epoch 2 than in epoch 1",
            "the same for ever",
            "cache() behind shuffle() keeps the shuffled order: cache first, then shuffle (anew in "
            "each epoch, which it does by itself).",
        )
    together = [sorted(batch) == list(range(min(batch), max(batch) + 1)) for batch in first]
    if sum(together) > len(first) // 2:
        raise CheckFailed(
            "batches of samples from everywhere",
            f"batches of neighbours, as {shown(first[0])}",
            "Shuffle single samples: behind unbatch(), before prepare().",
        )
    stay = sum(b - a == 1 and b % EACH > 0 for a, b in itertools.pairwise(flat))
    if stay > PIECES * (EACH - 1) // 2:
        raise CheckFailed(
            "samples of a pack apart from each other",
            f"{stay} of {PIECES * (EACH - 1)} samples follow their neighbour",
            "Only whole packs were shuffled: shuffle behind unbatch().",
        )
    check_switches(stages)
    return "Decoded once, mixed anew in every epoch, prepared ahead of time."


def check_switches(stages: Function) -> None:
    watched = Watched(stages, cache=False)
    for _ in range(2):
        watched.epoch()
    if watched.calls != 2 * PIECES:
        raise CheckFailed(
            "without --cache the decoder is called in every epoch",
            f"{watched.calls} calls in two epochs of {PIECES} packs",
            "`if args.cache:`; else nothing is kept, and files can be measured.",
        )
    names = watched.stage_names()
    if "Prefetch" not in names[0]:
        advice = (
            f"While the network computes, the next batch is made: prefetch() comes last. {ASSIGN}"
        )
        if any("Prefetch" in name for name in names):
            advice = "What stands behind prefetch() is not done ahead: put it last."
        raise CheckFailed("prefetch as the last stage", names[0].strip("_"), advice)
    if not any("ParallelMap" in name for name in names):
        raise CheckFailed(
            "packs decoded in parallel",
            "one after another",
            "map(decode, num_parallel_calls=args.workers).",
        )
    if any("Prefetch" in name for name in Watched(stages, prefetch=False).stage_names()):
        raise CheckFailed(
            "no prefetch with --no-prefetch", "prefetch", "`if args.prefetch`: to see what it does."
        )


EPOCHS = [(0.6, 0.5), (0.5, 2.0), (3.0, 1.0), (1.0, 1.0)]


@exercise("4.4")
def check_4_4(epoch_seconds: Function) -> str:
    """In turn: the sum of both. At the same time: the longer of both."""
    for t_in, t_comp in EPOCHS:
        for overlapped in (True, False):
            right = max(t_in, t_comp) if overlapped else t_in + t_comp
            other = t_in + t_comp if overlapped else max(t_in, t_comp)
            what = f"epoch_seconds({t_in}, {t_comp}, {overlapped})"
            compare(
                number(epoch_seconds(t_in, t_comp, overlapped), what),
                right,
                what,
                {
                    other: "Overlapped, the longer of both hides the shorter; in turn, they add. "
                    "Has each of both cases a `return` of its own?",
                    min(t_in, t_comp): "The epoch cannot end before the slower of both has.",
                    (t_in + t_comp) / 2: "Nothing is halved: each does all of its own work.",
                    abs(t_in - t_comp): "The shorter one is hidden, not subtracted.",
                },
                "max when overlapped, sum when not.",
            )
    return "Input 0.6 s, computing 0.5 s: 1.1 s in turn, 0.6 s overlapped."


@exercise("4.5")
def check_4_5(gigabytes_per_s: Function, gigaflops: Function) -> str:
    """a + b moves three arrays of float32; a product of n by n matrices is 2 n³ operations."""
    for n, seconds in ((100_000_000, 0.12), (1_000_000, 0.0004)):
        right = 12 * n / seconds / 1e9
        compare(
            number(gigabytes_per_s(n, seconds), f"gigabytes_per_s({n}, {seconds})"),
            right,
            f"gigabytes_per_s({n}, {seconds})",
            {
                right / 3: "Three arrays move: two are read, one is written.",
                right * 2 / 3: "The result is written too: three arrays.",
                right * 2: "float32 has 4 bytes; 8 are float64.",
                right / 4: "A float32 has 4 bytes.",
                right * 1e9: "Giga: divide by 1e9.",
                right * 1e9 / 2**30: "GB is 10⁹ bytes; 2³⁰ is a GiB.",
                12 * n * seconds / 1e9: "Bytes a second: divide by the seconds.",
            },
        )
    for n, seconds in ((2048, 0.2), (1000, 0.04)):
        right = 2 * n**3 / seconds / 1e9
        compare(
            number(gigaflops(n, seconds), f"gigaflops({n}, {seconds})"),
            right,
            f"gigaflops({n}, {seconds})",
            {
                right / 2: "A multiplication and an addition: two operations for each of n³.",
                2 * n**2 / seconds / 1e9: "n² results, and each is a sum of n products.",
                n**2 / seconds / 1e9: "n² results, and each is a sum of n products.",
                right * 1e9: "Giga: divide by 1e9.",
                right / 1e3: "Giga is 10⁹; 10¹² is tera.",
            },
        )
    return "10 GB/s, and 86 GFLOP/s for n = 2,048 in 0.2 s."
