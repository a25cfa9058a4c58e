"""Make a run from MLPerf's lines."""

from autograder.codes import Outcome
from autograder.reading.formats.mllog import FORMAT, Benchmark
from autograder.records import Epoch, Number, Run, Where


def to_run(run: Benchmark) -> Run:
    base = 1 if 0 in run.epochs else 0  # some programs count from 0
    epochs = tuple(
        Epoch(
            number + base,
            seconds=epoch.seconds,
            val_accuracy=epoch.accuracy,
            where=Where(run.file, epoch.ended) if epoch.ended is not None else None,
        )
        for number, epoch in sorted(run.epochs.items())
        if epoch.ended is not None or epoch.accuracy is not None
    )
    if run.blocks and all(epoch.ended is None for epoch in run.epochs.values()):
        epochs = epochs_of_blocks(run)
    return Run(
        files=(run.file,),
        format=FORMAT,
        outcome={None: Outcome.INCOMPLETE, "success": Outcome.COMPLETED}.get(
            run.status, Outcome.FAILED
        ),
        workers=run.inits if run.inits > 1 else None,  # a single line may come from rank 0 alone
        epochs=epochs,
        total_seconds=run.total_seconds,
        problems=tuple(run.problems),
    )


def epochs_of_blocks(run: Benchmark) -> tuple[Epoch, ...]:
    """Return the epochs of all finished blocks.

    Each epoch gets an equal share of its block's time. A block's evaluation is assigned to the
    block's last epoch, whatever epoch number it reports.
    """
    ended = [(number, b) for number, b in sorted(run.blocks.items()) if b.ended is not None]
    checks = checks_of_blocks(run)
    epochs: list[Epoch] = []
    for place, (_, block) in enumerate(ended):
        took = block.seconds
        share = took and Number(took.value / block.count, took.half_width, took.where)
        check = checks[place] if place < len(checks) else None
        for epoch in range(block.count):
            epochs.append(
                Epoch(
                    len(epochs) + 1,
                    seconds=share,
                    val_accuracy=check if epoch == block.count - 1 else None,
                    where=Where(run.file, block.ended) if block.ended is not None else None,
                )
            )
    return tuple(epochs)


def checks_of_blocks(run: Benchmark) -> list[Number]:
    """Return the blocks' evaluations in order, or [] if one in the middle is missing.

    The number of an evaluation and that of its block always differ by the same amount.
    """
    blocks = sorted(run.blocks)
    checks = [(number, e.accuracy) for number, e in sorted(run.epochs.items()) if e.accuracy]
    apart = {number - block for block, (number, _) in zip(blocks, checks, strict=False)}
    if len(checks) > len(blocks) or len(apart) > 1:
        return []
    return [accuracy for _, accuracy in checks]
