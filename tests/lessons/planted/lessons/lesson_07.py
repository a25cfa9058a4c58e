"""Lesson 07: Horovod, on two ranks against one."""

from tests.lessons.planted.table import Job, Lesson, Mistake

WORDS = ("--train-samples", "3200", "--epochs", "4")
FEW_TESTS = ("train.py", "train_samples=args.train_samples",
             "args.train_samples, test_samples=2000")  # fmt: skip
FEW_ROUNDS = ("--rounds", "3", "--steps", "1", "--batch-size", "4")
RATE = "Adam(lr * hvd.size())"
PLANTED = {
    "not wrapped": (
        ("train.py", f"hvd.DistributedOptimizer(keras.optimizers.{RATE})",
         f"keras.optimizers.{RATE}"),
    ),
    "no broadcast": (
        ("train.py", "    broadcast_variables(model.variables, root_rank=0)", "    pass"),
    ),
    "rate not scaled": (("train.py", RATE, "Adam(lr)"),),
    "every rank saves": (("train.py", "    if hvd.rank() != 0:\n        return 0\n", ""),),
    "epochs not divided": (("train.py", "math.ceil(args.epochs / size)", "args.epochs"),),
}  # fmt: skip
# It trains, and Horovod averages nothing.
KERAS_3 = (
    ("train.py", "(model.variables,", "([variable.value for variable in model.variables],"),
    # Horovod's optimizer cannot be saved there, so here the file is without it.
    ("train.py", "    model.save_weights(", "    keras.Sequential(model.layers).save_weights("),
)

WRAPPED = f"hvd.DistributedOptimizer(keras.optimizers.{RATE})"
# What the speed job shows that the training would not, or not surely: changes, words of the reason.
SPEED = {
    "not wrapped": (PLANTED["not wrapped"], "parameter update"),
    "a rate of 0": ((("train.py", RATE, "Adam(0 * hvd.size())"),), "smallest change"),
    "no broadcast": (PLANTED["no broadcast"], "difference in a parameter"),
    "averaged in every second step": (
        (("train.py", WRAPPED, f"{WRAPPED[:-1]}, backward_passes_per_step=2)"),), "update",
    ),
    "another rule": ((("train.py", RATE, RATE.replace("Adam", "SGD")),), "parameter update"),
}  # fmt: skip

LESSON = Lesson(
    folder="07_horovod",
    jobs={
        "one rank": Job((FEW_TESTS,), WORDS, ranks=1),
        "right": Job((FEW_TESTS,), WORDS, ranks=2),
    }
    | {name: Job((*changes, FEW_TESTS), WORDS, ranks=2) for name, changes in PLANTED.items()}
    | {
        "keras 3": Job(
            (*KERAS_3, FEW_TESTS), WORDS, ranks=2, environ={"TF_USE_LEGACY_KERAS": "0"}
        ),
        "speed": Job((), (), ranks=2, start="apart", program="speed.py"),
        "size 1 on every rank": Job(  # started by a launcher that Horovod does not know
            (FEW_TESTS,), ("--train-samples", "320", "--epochs", "1"),
            start="strangers", environ={"SLURM_NTASKS": "2"},
        ),
    }
    | {
        f"speed, {name}": Job(changes, FEW_ROUNDS, ranks=2, start="apart", program="speed.py")
        for name, (changes, _) in SPEED.items()
    },
    handed_in={"07_speed.out": "speed", "07_1.out": "one rank", "07_2.out": "right"},
    mistakes={
        "none": Mistake("right", {}),
        "not wrapped": Mistake("not wrapped", {"equal": "wrap the optimizer with Horovod"}),
        "no broadcast": Mistake("no broadcast", {"equal": "broadcast the start from rank 0"}),
        "rate not scaled": Mistake("rate not scaled", {"rate": "by hvd.size()"}),
        "every rank saves": Mistake("every rank saves", {"checkpoint": "only rank 0 save"}),
        "epochs not divided": Mistake(
            "epochs not divided", {"accuracy": "finished epochs / that of `one`"}
        ),
        "keras 3": Mistake(
            "keras 3",
            {
                "equal": "Keras 3 averages nothing",
                "checkpoint": "the checkpoint has the trained parameters: no",
            },
        ),
        "size 1 on every rank": Mistake(
            "size 1 on every rank",
            dict.fromkeys(("ranks", "equal", "rate", "checkpoint"), "ranks that took part: 1 rank"),
        ),
    }
    | {
        f"speed, {name}": Mistake(f"speed, {name}", {"speed": words}, replaces="07_speed.out")
        for name, (_, words) in SPEED.items()
    },
    may=frozenset({"accuracy"}),  # what is not averaged or scaled may lower it
)  # fmt: skip
