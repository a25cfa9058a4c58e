"""Lesson 06: allreduce by hand, on two ranks against one."""

from tests.lessons.planted.table import Job, Lesson, Mistake

WORDS = ("--epochs", "2", "--train-samples", "12800", "--precision", "float64")
SIZES = ("--floats", "256", "2560000")
PLANTED = {
    "summed and not divided": ("ml_comm.py", "total / get_nranks()", "total"),
    "all ranks read the same half": ("train.py", "batch[rank::size]", "batch[::size]"),
    "own mean, divided once more": ("train.py", "len(batch) / size)", "len(batch))"),
    "a rate scaled although the batch is not": (
        "train.py", "update(params, gradients, args.lr)",
        "update(params, gradients, args.lr * size)",
    ),
}  # fmt: skip

LESSON = Lesson(
    folder="06_allreduce",
    jobs={
        "every scheme": Job(words=SIZES, ranks=2, start="apart", program="exchange.py"),
        "one rank": Job(words=WORDS, ranks=1),
        "right": Job(words=WORDS, ranks=2, after="one rank"),
        "a rate of 0": Job(words=(*WORDS, "--lr", "0"), ranks=2, after="one rank"),
    }
    | {name: Job((change,), WORDS, ranks=2, after="one rank") for name, change in PLANTED.items()},
    handed_in={
        "06_exchange_1.out": "every scheme",
        "06_train_1.out": "one rank",
        "06_train_2.out": "right",
    },
    mistakes={
        "none": Mistake("right", {}),
        "a rate of 0": Mistake("a rate of 0", {"spread": "learning rate", "as-serial": ""}),
    }
    | {name: Mistake(name, {"as-serial": ""}) for name in PLANTED},
)
