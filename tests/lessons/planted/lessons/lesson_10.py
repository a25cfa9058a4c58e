"""Lesson 10: DistributedDataParallel, on two ranks against one."""

from tests.lessons.planted.table import Job, Lesson, Mistake

WORDS = ("--train-samples", "6400", "--epochs", "3")
TWO = (*WORDS, "--batch-size", "32")
PARTS = (*TWO, "--accumulate", "4")
FEW_ROUNDS = ("--rounds", "3", "--steps", "1", "--batch-size", "4")
WRAPPED = "return DistributedDataParallel(model, device_ids=gpus, bucket_cap_mb=bucket_mb)"
SAMPLER = "DistributedSampler(x, size, rank, seed=args.seed)"
NOT_WRAPPED = (("train.py", WRAPPED, "return model"),)
PLANTED = {
    "not wrapped": NOT_WRAPPED,
    "no set_epoch": (("train.py", "    sampler.set_epoch(epoch)\n", ""),),
    "every rank reads all": (
        ("train.py", SAMPLER, SAMPLER.replace("size, rank, seed=", "1, 0, seed=9 + ")),
    ),
    "an order of its own on each rank": (
        ("train.py", SAMPLER, SAMPLER.replace("args.seed", "args.seed + rank")),
    ),
    "a rate of 0": (("train.py", "lr=args.lr)", "lr=0.0)"),),
    "alike before they are wrapped": (
        ("train.py", "torch.manual_seed(args.seed + rank)", "torch.manual_seed(args.seed)"),
        *NOT_WRAPPED,
    ),
}
WEIGHT = " * len(xs) / len(x)"
IN_PARTS = {
    "parts weigh alike": (("no_sync.py", WEIGHT, " / len(chunks)"),),
    "a sum of means": (("no_sync.py", WEIGHT, ""),),
    "each part travels": (("no_sync.py", "if last else", "if True else"),),
    "no part travels": (("no_sync.py", "if last else", "if False else"),),
}
IN_NO_SYNC = (
    ("no_sync.py", "    loss_function(model.module(x), y).backward()",
     "    with model.no_sync():\n        loss_function(model(x), y).backward()"),
)  # fmt: skip
LESSON = Lesson(
    folder="10_native",
    jobs={
        "one rank": Job((), (*WORDS, "--batch-size", "64"), ranks=1),
        "right": Job((), TWO, ranks=2),
        "in parts": Job((), PARTS, ranks=2),
        "lightning": Job((), TWO, ranks=2, start="apart", program="train_lightning.py"),
        "speed": Job((), (), ranks=2, start="apart", program="speed.py"),
        "speed, not wrapped": Job(
            NOT_WRAPPED, FEW_ROUNDS, ranks=2, start="apart", program="speed.py"
        ),
        "by hand": Job((), TWO, start="by hand"),
        "a lone step in no_sync": Job(
            IN_NO_SYNC, (*PARTS, "--timeout", "5"), ranks=2, start="fails"
        ),
    }
    | {name: Job(changes, TWO, ranks=2) for name, changes in PLANTED.items()}
    | {name: Job(changes, PARTS, ranks=2) for name, changes in IN_PARTS.items()},
    handed_in={
        "10_speed.out": "speed",
        "10_lightning.out": "lightning",
        "10_parts.out": "in parts",
        "10_1.out": "one rank",
        "10_2.out": "right",
    },
    mistakes={
        "none": Mistake("right", {}),
        "not wrapped": Mistake(
            "not wrapped", {"equal": "wrap the network in DistributedDataParallel"}
        ),
        "alike before they are wrapped": Mistake(
            "alike before they are wrapped",
            {"equal": "wrap the network in DistributedDataParallel"},
        ),
        "no set_epoch": Mistake(
            "no set_epoch", {"order": "different orders of the samples: 1 order"}
        ),
        "every rank reads all": Mistake("every rank reads all", {"order": "steps per epoch"}),
        "an order of its own on each rank": Mistake(
            "an order of its own on each rank", {"order": "different samples read"}
        ),
        "a rate of 0": Mistake(
            "a rate of 0",
            {"equal": "largest change in a parameter during training: 0", "order": "test accuracy"},
        ),
        "by hand": Mistake("by hand", {"ranks": "a launcher started the ranks: no"}),
        "parts weigh alike": Mistake(
            "parts weigh alike",
            {"parts": "relative error of a batch that is computed in parts"},
            replaces="10_parts.out",
        ),
        "a sum of means": Mistake(
            "a sum of means",
            {"parts": "relative error of a batch that is computed in parts"},
            replaces="10_parts.out",
        ),
        "each part travels": Mistake(
            "each part travels",
            {"parts": "exchanges of gradients per batch: 4"},
            replaces="10_parts.out",
        ),
        "no part travels": Mistake(
            "no part travels",
            {"parts": "relative error of a batch that is computed in parts"},
            replaces="10_parts.out",
        ),
        "a lone step in no_sync": Mistake(
            "a lone step in no_sync",
            {"parts": "did not finish", "alone": "did not finish"},
            replaces="10_parts.out",
        ),
        "speed, not wrapped": Mistake(
            "speed, not wrapped",
            {"speed": "error of the parameter update"},
            replaces="10_speed.out",
        ),
    },
)
