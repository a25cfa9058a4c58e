"""Lesson 05: one machine, several devices, tf.distribute."""

from tests.lessons.planted.table import Job, Lesson, Mistake

# A network of a few thousand parameters in the place of the light one: what it learns is not asked.
TINY = (
    ("train.py", "Conv2D(32, 3,", "Conv2D(4, 5, strides=4,"),
    ("train.py", "Dense(128,", "Dense(8,"),
)
SIZES = ("--model", "cnn", "--size", "32", "--train-samples", "2048", "--test-samples", "64")
THREE = (*SIZES, "--batch-size", "128", "--epochs", "3")
TEN = (*SIZES, "--epochs", "1", "--steps", "10")
JOBS = {
    1: ("--n-gpus", "1", *THREE),
    2: ("--n-gpus", "2", *THREE),
    3: ("--n-gpus", "1", *TEN, "--batch-size", "128", "--lr", "0.02"),
    4: ("--n-gpus", "2", *TEN, "--batch-size", "64", "--lr", "0.01"),
}

SCOPE = "    with strategy.scope():\n        model = build_model(name, size)\n"
STRATEGY = "MirroredStrategy(devices(args.n_gpus))"
SCALED = "return batch * replicas, lr * replicas"
# What a student may do wrong: the job that is another, the change, and the checks that say so.
PLANTED = {
    "built and compiled outside": (
        2, SCOPE, "    if True:\n        model = build_model(name, size)\n",
        ("replicas", "batch-and-rate"),
    ),
    "all devices instead of the asked one": (
        1, f"tf.distribute.{STRATEGY}",
        "devices(args.n_gpus) and tf.distribute.MirroredStrategy()", ("replicas",),
    ),
    "no strategy": (2, STRATEGY, "OneDeviceStrategy(devices(2)[0])", ("replicas",)),
    "rate not scaled": (2, SCALED, "return batch * replicas, lr", ("batch-and-rate",)),
    "batch not scaled": (2, SCALED, "return batch, lr * replicas", ("batch-and-rate",)),
    "the pipeline makes batches of a replica": (
        2, "args.size, batch).take", "args.size, args.batch_size).take", ("batch-and-rate",),
    ),
    "a network built outside the scope": (
        2, SCOPE, "    model = build_model(name, size)\n    with strategy.scope():\n",
        ("replicas",),
    ),
}  # fmt: skip
ANOTHER_BATCH = "ten steps with another batch"

LESSON = Lesson(
    folder="05_mirrored",
    jobs={f"right {number}": Job(TINY, words) for number, words in JOBS.items()}
    | {
        name: Job(
            (*TINY, ("train.py", old, new)),
            JOBS[number],
            start="fails" if "network" in name else "together",
        )
        for name, (number, old, new, _) in PLANTED.items()
    }
    | {ANOTHER_BATCH: Job(TINY, (*JOBS[4], "--batch-size", "128"))},
    handed_in={f"05_mirrored_{number}.out": f"right {number}" for number in JOBS},
    mistakes={
        name: Mistake(name, dict.fromkeys(checks, ""), replaces=f"05_mirrored_{number}.out")
        for name, (number, _, _, checks) in PLANTED.items()
    }
    | {
        "none": Mistake("right 4", {}),
        ANOTHER_BATCH: Mistake(ANOTHER_BATCH, {"same-training": ""}),
    },
)
