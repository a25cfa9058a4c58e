"""Lesson 04: feeding the network."""

from pathlib import Path

from autograder.reading.files import read_files
from tests.lessons.planted.table import Job, Lesson, Mistake

SMALL = ("--train-samples", "6400", "--size", "32", "--batch-size", "64", "--buffer", "512",
         "--epochs", "5")  # fmt: skip
INPUT = ("--source", "files", "packs", "memory", "--compute-ms", "0", *SMALL)


def as_long_as_reading(output: Path) -> tuple[str, ...]:
    """A step that computes as long as it takes to read a batch of files."""
    [files] = [run for run in read_files([output]) if run.header["source"] == "files"]
    return ("--compute-ms", f"{1000 * files.epochs[-1].seconds.value / 100:.1f}")


ORDER = "default_rng([seed, epoch]).permutation(names)"
PREFETCH = "return batches.prefetch(4) if args.prefetch else batches"
BALANCED = ("--source", "files", *SMALL)
LESSON = Lesson(
    folder="04_feeding",
    jobs={
        "right": Job(words=INPUT),
        "right and balanced": Job(words=BALANCED, after="right", measured=as_long_as_reading),
        "a pack is skipped": Job(
            (("sources.py", "np.array_split(records, packs)",
              "np.array_split(records, packs)[1:]"),), INPUT,
        ),
        "the packs in the same order each epoch": Job(
            (("sources.py", ORDER, "default_rng(seed).permutation(names)"),), INPUT
        ),
        "cache behind shuffle, and always": Job(
            (("train.py", "samples.shuffle(args.buffer)",
              "samples.shuffle(args.buffer).cache()"),), INPUT,
        ),
        "files that are called packs": Job(
            (("sources.py", "write_packs(records, unfinished, PACKS)",
              "write_files(records, unfinished)"),), INPUT,
        ),
        "half of each batch is left out": Job(
            (("train.py", ".batch(batch)", ".batch(batch).map(lambda x, y: (x[::2], y[::2]))"),),
            INPUT,
        ),
        # Without prefetch an epoch takes the sum; TensorFlow's own prefetch must not hide it.
        "no prefetch": Job(
            (("train.py", PREFETCH, "return batches"),), BALANCED,
            after="right", measured=as_long_as_reading,
        ),
    },
    handed_in={"04_feeding_1.out": "right", "04_feeding_2.out": "right and balanced"},
    mistakes={
        "none": Mistake("right and balanced", {}),
        "no prefetch": Mistake("no prefetch", {"overlap": ""}),
    }
    | {
        name: Mistake(name, dict.fromkeys(checks, ""), replaces="04_feeding_1.out")
        for name, checks in {
            "a pack is skipped": ("whole-set", "packs-faster"),
            "the packs in the same order each epoch": ("whole-set",),
            "cache behind shuffle, and always": ("whole-set", "packs-faster"),
            "files that are called packs": ("packs-faster",),
            "half of each batch is left out": ("whole-set",),
        }.items()
    },
)  # fmt: skip
