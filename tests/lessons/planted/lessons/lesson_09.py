"""Lesson 09: the learning rate at scale, a sweep and a schedule."""

from tests.lessons.planted.table import Job, Lesson, Mistake

FEW = ("--train-samples", "12800")
EIGHT = (*FEW, "--workers", "1", "8", "--rules", "same", "linear", "--seeds", "1")
SIXTEEN = (*FEW, "--workers", "16", "--rules", "linear", "--seeds", "1", "--decay", "cosine")
WARM = (*SIXTEEN, "--warmup", "1")
ALL = (*FEW, "--workers", "1", "8", "16", "64", "--epochs", "3", "--seeds")
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

# Each of these outputs is a part of what the lesson asks for; the other parts are not there.
PARTS = {EIGHT: {"sweep": "", "schedule": ""}, WARM: {"sweep": "", "linear": ""}}
LESSON = Lesson(
    folder="09_learning_rate",
    jobs={
        "right, eight workers": Job(words=EIGHT),
        "right, with a warm-up": Job(words=WARM),
        "right, two seeds": Job(words=(*ALL, "1", "2")),
        "one seed": Job(words=(*ALL, "1")),
        LONGER: Job(words=(*SIXTEEN, "--warmup", "9")),
        SWEEP: Job(words=FEW),
        WARMED: Job(words=(*WARM, "--seeds", "1", "2")),
    }
    | {name: Job((change,), words) for name, (change, words, _) in PLANTED.items()},
    handed_in={"09_sweep_1.out": "right, two seeds"},
    mistakes={
        "none, eight workers": Mistake("right, eight workers", PARTS[EIGHT]),
        "none, with a warm-up": Mistake("right, with a warm-up", PARTS[WARM]),
        "none, two seeds": Mistake("right, two seeds", {"schedule": ""}),
        "one seed is no sweep": Mistake("one seed", {"schedule": "", "sweep": ""}),
        LONGER: Mistake(LONGER, PARTS[WARM] | {"schedule": ""}),
    }
    | {
        name: Mistake(name, PARTS[words] | {check: ""})
        for name, (_, words, check) in PLANTED.items()
    },
)
