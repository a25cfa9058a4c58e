"""Lesson 03: a baseline, ResNet50V2 on CIFAR-10."""

from tests.lessons.planted.table import Job, Lesson, Mistake

SIZES = ("--size", "32", "--train-samples", "256", "--test-samples", "32", "--batch-size", "32")
ASKED = (*SIZES, "--epochs", "3")
OWN = ("--model", "ResNet152V2", *SIZES, "--epochs", "2")

# A light network under the name of the asked one: seconds instead of minutes.
NETWORK = 'if name == "cnn":'
LIGHT = ("train.py", NETWORK, 'if name == "ResNet50V2":')
LIGHT_OWN = ("train.py", NETWORK, "if name:")
COMPILE = "    model.compile("

# The light one has another number of parameters, and its seconds are no baseline.
TAKES = {"network": "", "baseline": ""}
LESSON = Lesson(
    folder="03_baseline",
    jobs={
        "right": Job((), ASKED),
        "light": Job((LIGHT,), ASKED),
        "another batch": Job((LIGHT,), (*ASKED, "--batch-size", "256")),
        "half of the images": Job(
            (LIGHT, ("train.py", "train.shuffle(", "train.take(128).shuffle(")), ASKED
        ),
        "every image twice": Job(
            (LIGHT, ("train.py", "train.shuffle(", "train.repeat(2).shuffle(")), ASKED
        ),
        "one epoch": Job((LIGHT,), (*ASKED, "--epochs", "1")),
        "frozen": Job(
            (LIGHT, ("train.py", COMPILE, f"    model.trainable = False\n{COMPILE}")), ASKED
        ),
        "1000 classes": Job((("train.py", "classes=10", "classes=1000"),), ASKED),
        "own task": Job((LIGHT_OWN,), OWN),
        "own task on few": Job((LIGHT_OWN,), (*OWN, "--train-samples", "128")),
        "own task in large": Job((LIGHT_OWN,), (*OWN, "--size", "40")),
    },
    handed_in={"03_baseline_1.out": "right"},
    mistakes={
        "none": Mistake("right", {}),
        "light": Mistake("light", TAKES),
        "another batch": Mistake("another batch", TAKES | {"steps": ""}),
        "half of the images": Mistake("half of the images", TAKES | {"steps": ""}),
        "every image twice": Mistake("every image twice", TAKES | {"steps": ""}),
        "one epoch": Mistake("one epoch", TAKES | {"learns": "", "baseline": "three epochs"}),
        "frozen": Mistake("frozen", TAKES | {"learns": ""}),
        "1000 classes": Mistake(
            "1000 classes", {"network": "25,613,800", "learns": "training loss of the last epoch"}
        ),
    },
)
