"""Who reads which sample: overlap and cover of the ranks' shares, from their presence lines."""

from autograder.measuring.measure import Measure, NotMeasured, exact, is_number
from autograder.records import Run


def _shares(run: Run) -> tuple[list[range], int]:
    """All ranks' shares as ranges of indices, and the size of the training set."""
    dataset = run.header.get("dataset")
    size = dataset.get("train_samples") if isinstance(dataset, dict) else None
    if not is_number(size) or size < 1 or int(size) != size:
        raise NotMeasured("the output does not say the size of the training set")
    if not run.ranks:
        raise NotMeasured("the output has no presence lines of ranks", "print the run record")
    shares = []
    for rank in run.ranks:
        parts = rank.slices if rank.shard is None and rank.slices else (rank.shard,)
        if parts == (None,) and rank.shard_ids_hash != "all":
            raise NotMeasured(f"rank {rank.rank} does not say which samples it reads")
        for part in parts:
            start, stop, step = part or (0, None, 1)
            if step is None or step < 1 or start < 0:
                raise NotMeasured(f"rank {rank.rank} says an impossible share {part}")
            shares.append(range(start, int(size) if stop is None else min(stop, int(size)), step))
    if size > 50_000_000 or sum(map(len, shares)) > 1_000_000_000:
        raise NotMeasured("the shares are too large to compare one by one")
    return shares, int(size)


def _reads(run: Run) -> tuple[int, int, int]:
    """Reads of all ranks together, different samples among them, size of the set."""
    shares, size = _shares(run)
    read = bytearray(size)
    for share in shares:
        read[share.start : share.stop : share.step] = b"\1" * len(share)
    return sum(map(len, shares)), read.count(1), size


def shard_overlap(run: Run) -> Measure:
    """Samples an epoch that are read once more by another rank."""
    reads, different, _ = _reads(run)
    return exact(reads - different, "samples", tuple(r.where for r in run.ranks if r.where))


def shard_uncovered(run: Run) -> Measure:
    """Samples of the training set that no rank reads."""
    _, different, size = _reads(run)
    return exact(size - different, "samples", tuple(r.where for r in run.ranks if r.where))
