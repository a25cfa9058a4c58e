"""Lesson 05: one machine, several devices, tf.distribute."""

from tests.lessons.planted.lazies.lesson_05 import NETWORKS, REPLICAS, TAKES, TINY
from tests.lessons.planted.table import Job, Lesson, Mistake

SIZES = ("--model", "cnn", "--size", "32", "--train-samples", "2048", "--test-samples", "512")
FIVE = (*SIZES, "--batch-size", "128", "--epochs", "5", "--lr", "0.02")
TEN = (*SIZES, "--epochs", "1", "--steps", "10")
JOBS = {
    1: ("--n-gpus", "1", *FIVE),
    2: ("--n-gpus", "2", *FIVE),
    3: ("--n-gpus", "1", *TEN, "--batch-size", "128", "--lr", "0.02"),
    4: ("--n-gpus", "2", *TEN, "--batch-size", "64", "--lr", "0.01"),
}

SCOPE = "    with strategy.scope():\n        model = build_model(name, size)\n"
STRATEGY = "MirroredStrategy(devices(args.n_gpus))"
SCALED = "return batch * replicas, lr * replicas"
BATCH_OR_RATE = {"batch-and-rate": "exercise 5.3"}
# What a student may do wrong: the job that is another, the change, and the checks that say so.
PLANTED = {
    "built and compiled outside": (
        2, SCOPE, "    if True:\n        model = build_model(name, size)\n",
        REPLICAS | BATCH_OR_RATE,
    ),
    "all devices instead of the asked one": (
        1, f"tf.distribute.{STRATEGY}",
        "devices(args.n_gpus) and tf.distribute.MirroredStrategy()",
        {"replicas": "copies of the network"},
    ),
    "no strategy": (2, STRATEGY, "OneDeviceStrategy(devices(2)[0])", REPLICAS),
    "rate not scaled": (2, SCALED, "return batch * replicas, lr", BATCH_OR_RATE),
    "batch not scaled": (2, SCALED, "return batch, lr * replicas", BATCH_OR_RATE),
    "the pipeline makes batches of a replica": (
        2, "args.size, batch).take", "args.size, args.batch_size).take", BATCH_OR_RATE,
    ),
}  # fmt: skip
OUTSIDE = (
    ("train.py", SCOPE, "    model = build_model(name, size)\n    with strategy.scope():\n"),
)
ANOTHER_BATCH = "ten steps with another batch"

LESSON = Lesson(
    folder="05_mirrored",
    jobs={f"right {number}": Job((), words) for number, words in JOBS.items()}
    | {
        name: Job((*TINY, ("train.py", old, new)), JOBS[number], environ=NETWORKS["tiny"])
        for name, (number, old, new, _) in PLANTED.items()
    }
    | {"a network built outside the scope": Job(OUTSIDE, JOBS[2], start="fails")}
    | {ANOTHER_BATCH: Job((), (*JOBS[4], "--batch-size", "128"))},
    handed_in={f"05_mirrored_{number}.out": f"right {number}" for number in JOBS},
    mistakes={
        name: Mistake(name, TAKES[number] | loses, replaces=f"05_mirrored_{number}.out")
        for name, (number, _, _, loses) in PLANTED.items()
    }
    | {
        "none": Mistake("right 4", {}),
        "a network built outside the scope": Mistake(
            "a network built outside the scope", REPLICAS, replaces="05_mirrored_2.out"
        ),
        ANOTHER_BATCH: Mistake(ANOTHER_BATCH, {"same-training": "batch size of all ranks"}),
    },
)
