"""Lesson 02: the serial program, in Keras and in PyTorch."""

from tests.lessons.planted.table import Job, Lesson, Mistake

WORDS = ("--train-samples", "12800", "--epochs", "3")
TORCH = "train_torch.py"

LESSON = Lesson(
    folder="02_serial",
    jobs={
        "keras": Job(words=WORDS),
        "torch": Job(words=WORDS, program=TORCH),
        "keras, rate 0": Job(words=(*WORDS, "--lr", "0")),
        "torch, rate 0": Job(words=(*WORDS, "--lr", "0"), program=TORCH),
    },
    handed_in={"02_keras_1.out": "keras", "02_torch_1.out": "torch"},
    mistakes={
        "none": Mistake("torch", {}),
        "keras, rate 0": Mistake(
            "keras, rate 0",
            {"epochs": "", "accuracy": "a rate of 0.001", "agree": ""},
            "02_keras_1.out",
        ),
        "torch, rate 0": Mistake(
            "torch, rate 0",
            {"epochs": "", "accuracy": "a rate of 0.001", "agree": ""},
        ),
    },
    never=frozenset({"own-numbers"}),  # answers, which are not handed in here
)
