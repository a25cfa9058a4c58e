"""Lesson 08: each rank reads its own files, on two ranks against one."""

from tests.lessons.planted.table import Job, Lesson, Mistake

WORDS = ("--epochs", "2")
FEW_TESTS = ("train.py", "train_samples=samples", "train_samples=samples, test_samples=1000")
SHARE = "    return DataDistributor(MPI.COMM_WORLD, shutdown_on_error=True)(list_parts)(folder)"
NUMPY = "import numpy as np\n\n"
OWN = "list_parts(folder)[hvd.rank()::hvd.size()]"


def parts(number: int) -> tuple[tuple[str, ...], ...]:
    return (("make_parts.py", "--train-samples", "1600", "--parts", str(number)),)


ALL = ("train.py", SHARE, "    return list_parts(folder)")
PLANTED = {
    "every rank takes all": (
        (ALL,),
        {
            "overlap": "samples read by more than one rank: 1,600",
            "steps-fell": "common_steps with the ranks' own counts",
        },
    ),
    "the last file cut off": (
        (("train.py", SHARE, SHARE.replace("(list_parts)", "(lambda f: list_parts(f)[:6])")),),
        {"cover": "do not cut off the last items"},
    ),
    "each rank lists the folder": (  # which on the second node comes in another order
        (("train.py", SHARE,
          f"    return {OWN.replace('(folder)', '(folder)[:: 1 - 2 * hvd.rank()]')}"),),
        {"overlap": "let only rank 0 list the folder", "cover": "samples that no rank read: 800"},
    ),
    "an order each before slicing": (
        (("train.py", SHARE, f"    {NUMPY}    rng = np.random.default_rng(10 + hvd.rank())\n"
          f"    return {OWN}"
          .replace("list_parts(folder)", "list(rng.permutation(list_parts(folder)))")),),
        {"overlap": "samples read by more than one rank", "cover": "samples that no rank read"},
    ),
    "samples counted as often as read": (
        (ALL, ("train.py", "        shard=ids,\n",
               "        shard=ids,\n        samples=len(ids) * size,\n")),
        {
            "overlap": "samples read by more than one rank: 1,600",
            "cover": "different samples read per epoch, difference to `one`: 1,600",
            "steps-fell": "common_steps with the ranks' own counts",
        },
    ),
}  # fmt: skip
# With seven files, four are one rank's and three the other's.
OWN_STEPS = ("train.py", "common_steps(counts, args.batch_size)",
             "math.ceil(len(ids) / args.batch_size)")  # fmt: skip
TOGETHER = ("overlap", "cover", "equal-steps", "steps-fell")  # what takes two ranks
UNEQUAL = "unequal steps hang until the time limit"

LESSON = Lesson(
    folder="08_data",
    jobs={
        "one rank": Job((FEW_TESTS,), WORDS, ranks=1, before=parts(8)),
        "right": Job((FEW_TESTS,), WORDS, ranks=2, before=parts(8)),
    }
    | {
        name: Job((*changes, FEW_TESTS), WORDS, ranks=2, after="one rank")
        for name, (changes, _) in PLANTED.items()
    }
    | {
        UNEQUAL: Job(
            (OWN_STEPS,), WORDS, ranks=2, before=parts(7), start="hangs",
            environ={"HOROVOD_STALL_CHECK_TIME_SECONDS": "3"},
        )
    },
    handed_in={"08_1.out": "one rank", "08_2.out": "right"},
    mistakes={"none": Mistake("right", {})}
    | {name: Mistake(name, loses) for name, (_, loses) in PLANTED.items()}
    | {UNEQUAL: Mistake(UNEQUAL, dict.fromkeys(TOGETHER, ""))},
)  # fmt: skip
