"""Lesson 14: where do the milliseconds go?"""

from tests.lessons.planted.table import Job, Lesson, Mistake

STEP, WAYS = "14_profile_1.out", "14_ways_1.out"
FEW = ("--rounds", "3", "--steps", "6")
FOUR = ("--ways", "float32", "scaled", "lengths", "padded")
SCALER = {"small-numbers": "PyTorch's scaler"}
COUNTED = {"counting": "error of the FLOPs"}
PLANTED = {  # file, what is there, what a student wrote; what it loses
    "attention is not counted": (
        "flops.py", "return products + attention", "return products", COUNTED,
    ),
    "no backward pass": ("flops.py", "products = 6 *", "products = 2 *", COUNTED),
    "a number of one byte": (
        "flops.py", "moved = 4 * ", "moved = ", {"counting": "error of the roofline"},
    ),
    "both at once count twice": (
        "reading.py", "max(end - max(start, covered), 0)", "end - start",
        {"counting": "times read from a trace"},
    ),
    "a share of the computing": (
        "reading.py", "both / talking if talking", "both / busy(computing) if talking",
        {"counting": "times read from a trace"},
    ),
    "no workers": (
        "fast.py", "num_workers=2, prefetch_factor=4", "num_workers=0",
        {"no-waiting": "process reads itself", "faster": "process reads itself"},
    ),
    "the sum of the gradients": (
        "fast.py", "loss.backward()", "(len(ids) * loss).backward()",
        {"same": "training steps", "faster": "training steps"},
    ),
    "the loss as a number": (
        "fast.py", "torch.stack([loss, norms.norm()])",
        "torch.tensor([loss.item(), norms.norm().item()])", {"no-waiting": "waits for the device"},
    ),
    "updated parameter by parameter": (
        "fast.py", "fused=True", "foreach=False",
        {"few-operations": "the optimizer's update", "no-waiting": "waits for the device"},
    ),
    "another rate": (
        "fast.py", "AdamW(params, lr,", "AdamW(params, lr / 2,",
        {"same": "training steps", "faster": "training steps"},
    ),
    "infinite gradients are used": ("scaling.py", "            return False\n", "", SCALER),
    "the scale never grows": ("scaling.py", "self.scale * 2, 0", "self.scale, 0", SCALER),
    "padding is learnt": (
        "lengths.py", "value=-100", "value=0", {"small-numbers": "with and without padding"},
    ),
}  # fmt: skip


def file_of(name: str) -> str:
    return WAYS if PLANTED[name][0] in ("scaling.py", "lengths.py") else STEP


def job(name: str) -> Job:
    changes = (PLANTED[name][:3],)
    if file_of(name) == WAYS:
        return Job(changes, FOUR, program="train_ways.py")
    return Job(changes, FEW)


LESSON = Lesson(
    folder="14_profile",
    jobs={
        "ways": Job((), FOUR, program="train_ways.py"),
        "right": Job((), FEW),
        "no float32 beside it": Job((), FOUR[:1] + FOUR[2:], program="train_ways.py"),
    }
    | {name: job(name) for name in PLANTED},
    handed_in={WAYS: "ways", STEP: "right"},
    mistakes={
        "none": Mistake("right", {}),
        "no float32 beside it": Mistake(
            "no float32 beside it", {"small-numbers": "no run of `float32`"}, WAYS
        ),
    }
    | {name: Mistake(name, row[3], file_of(name)) for name, row in PLANTED.items()},
    never=frozenset({"traces"}),  # the traces need no run
    may=frozenset({"faster"}),  # the machine may be too busy to show it
)
