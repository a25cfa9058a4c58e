"""Lesson 09: the learning rate at scale, a sweep and a schedule."""

from tests.lessons.planted.table import Job, Lesson, Mistake

FEW = ("--train-samples", "12800")
EIGHT = (*FEW, "--workers", "8", "--rules", "same", "linear", "--seeds", "1")
SIXTEEN = (*FEW, "--workers", "16", "--rules", "linear", "--seeds", "1", "--decay", "cosine")
WARM = (*SIXTEEN, "--warmup", "1")
SHORT = (*FEW, "--epochs", "3", "--seeds")
TASK = (*SHORT, "1", "--workers", "8", "--rules", "same", "--task")
RATE = '{"same": 1, "sqrt": math.sqrt(workers), "linear": workers}[rule]'

# What was changed, the words, the check that has to see it.
PLANTED = {
    "rate scaled and gradients summed: N²": (
        ("train.py", "len(batch) / size)", "len(batch) / size / workers)"), EIGHT, "linear",
    ),
    "rate not scaled at all": (("rates.py", f"lr * {RATE}", "lr"), EIGHT, "linear"),
    "rate divided by N": (
        ("rates.py", '"linear": workers}', '"linear": 1 / workers}'), EIGHT, "linear",
    ),
    "warm-up in epochs of the small batch: longer than the run": (
        ("train.py", "round(args.warmup * per_epoch)",
         "round(args.warmup * len(x_train) / args.batch_size)"), WARM, "schedule",
    ),
    "warm-up from 0": (
        ("rates.py", "base + (peak - base) * step / warmup", "peak * step / warmup"),
        WARM, "schedule",
    ),
    "decay counted from the first step": (
        ("rates.py", "(step - warmup) / (total - warmup)", "step / total"), WARM, "schedule",
    ),
    "decay forgotten": (("rates.py", 'if decay == "cosine"', "if False"), WARM, "schedule"),
    "another rate in the record than in the update": (
        ("train.py", 'record.measure("lr", lr,', 'record.measure("lr", args.lr,'),
        WARM, "schedule",
    ),
    "momentum left on": (
        ("train.py", 'momentum", type=float, default=0.0',
         'momentum", type=float, default=0.9'), EIGHT, "linear",
    ),
}  # fmt: skip
LONGER = "a warm-up longer than the run"
# What the lesson says of its sweep, and of sixteen workers with a warm-up: the accuracies.
SWEEP, WARMED = "the sweep", "sixteen workers with a warm-up"

# An output of one seed and two rules stands for all of eight workers.
LOST = {EIGHT: {"sweep": "", "learnt": ""}, WARM: {}}
FILES = {EIGHT: "09_sweep_2.out", WARM: "09_warm_1.out"}
LESSON = Lesson(
    folder="09_learning_rate",
    jobs={
        "right, eight workers": Job(words=EIGHT),
        "right, with a warm-up": Job(words=WARM),
        "one worker": Job(words=(*SHORT, "1", "2", "--workers", "1")),
        "eight": Job(words=(*SHORT, "1", "2", "--workers", "8")),
        "sixteen and more": Job(words=(*SHORT, "1", "2", "--workers", "16", "64")),
        "one seed": Job(words=(*SHORT, "1", "--workers", "8")),
        LONGER: Job(words=(*SIXTEEN, "--warmup", "9")),
        SWEEP: Job(words=FEW),
        WARMED: Job(words=(*WARM, "--seeds", "1", "2")),
    }
    | {f"task {task}": Job(words=(*TASK, str(task))) for task in range(8)}
    | {name: Job((change,), words) for name, (change, words, _) in PLANTED.items()},
    handed_in={f"09_array_1_{task}.out": f"task {task}" for task in range(8)}
    | {
        FILES[WARM]: "right, with a warm-up",
        "09_sweep_3.out": "sixteen and more",
        FILES[EIGHT]: "eight",
        "09_sweep_1.out": "one worker",
    },
    never=frozenset({"useful"}),  # answers, which are not handed in here
    mistakes={
        "none": Mistake("one worker", {}),
        "two rules are no sweep": Mistake("right, eight workers", LOST[EIGHT], FILES[EIGHT]),
        "one seed is no sweep": Mistake("one seed", LOST[EIGHT], FILES[EIGHT]),
        LONGER: Mistake(LONGER, {"schedule": ""}, FILES[WARM]),
    }
    | {
        name: Mistake(name, LOST[words] | {check: ""}, FILES[words])
        for name, (_, words, check) in PLANTED.items()
    },
)
