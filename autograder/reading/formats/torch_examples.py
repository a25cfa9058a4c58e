"""Read the output of PyTorch's own examples, and of the many programs derived from them.

ImageNet  `Epoch: [0][10/391] Time 0.102 (0.130) … Loss 2.3 (2.4) Acc@1 10.0 (12.0)`,
          ` * Acc@1 56.1`
reference `Epoch: [0/9]  [ 10/391]  eta: 0:01:02  loss: 2.3 (2.4)  time: 0.1  data: 0.0`,
          `Epoch: [0] Total time: 0:00:40 (0.1000 s / it)`
Swin      `Train: [0/9][10/391]  eta 0:01:02 lr 0.1  time 0.1 (0.1)  loss 2.3 (2.4)`,
          `EPOCH 0 training takes 0:00:40`
MNIST     `Train Epoch: 1 [640/60000 (1%)] Loss: 2.3`,
          `Test set: Average loss: 0.0489, Accuracy: 9822/10000 (98%)`
tutorial  `Epoch 0/24`, `train Loss: 0.6971 Acc: 0.6557`, `Training complete in 1m 7s`
"""

import re

from autograder.reading.formats.reader import Reader
from autograder.reading.line_facts import EpochNumber, EpochNumbers, LineFacts, RunFacts
from autograder.reading.printed_numbers import NUMBER, VALUE, elapsed, fraction, printed
from autograder.records import Number

IMAGENET = re.compile(
    r"(?:Epoch: ?|Train: )\[(\d{1,6})(?:/(\d{1,6}))?\] {0,2}\[ *(\d{1,9})/(\d{1,9})\]"
)
EPOCH_TOOK = re.compile(
    r"(?:Epoch: \[(\d{1,6})(?:/\d{1,6})?\] Total time:|EPOCH (\d{1,6}) training takes)"
    r" (\d{1,4}:\d\d:\d\d)\b"
)
METER = re.compile(rf"(\w[\w@]{{0,20}}):?\s{{1,4}}{VALUE}[ \t]{{1,4}}\( {{0,4}}({VALUE})\)")
IMAGENET_RESULT = re.compile(rf"(?:^|INFO)\s*\*\s{{1,6}}(?:Acc|Prec)@1:?\s{{1,4}}({VALUE})")
METERS: dict[str, tuple[EpochNumber, float]] = {
    "Loss": ("train_loss", 1.0),
    "loss": ("train_loss", 1.0),
    "Acc@1": ("train_accuracy", 0.01),
    "Prec@1": ("train_accuracy", 0.01),
}


def read_imagenet(line: str) -> LineFacts | None:
    result = IMAGENET_RESULT.search(line)
    if result:
        accuracy = printed(result[1], 0.01)
        return LineFacts(closes=True, scaled=True, numbers={"val_accuracy": accuracy})
    place = IMAGENET.search(line)
    if place is None:
        return read_clock(line)
    step, steps = int(place[3]), int(place[4])
    numbers: EpochNumbers = {}
    for meter, average in METER.findall(line, place.end()):
        if meter in METERS:
            name, scale = METERS[meter]
            numbers[name] = printed(average, scale)
        elif meter in ("Time", "time") and 10 * (step + 1) >= 9 * steps:
            numbers["seconds"] = times(printed(average), steps)
    of = int(place[2]) if place[2] else None
    return LineFacts(int(place[1]), of=of, step=step, steps=steps, scaled=True, numbers=numbers)


def read_clock(line: str) -> LineFacts | None:
    """Return an epoch's total step time, read from a clock that truncates fractions."""
    took = EPOCH_TOOK.search(line)
    if took is None:
        return None
    return LineFacts(int(took[1] or took[2]), numbers={"seconds": elapsed(took[3])})


def times(each: Number | None, count: int) -> Number | None:
    """Multiply the mean over (nearly) all steps of an epoch by the number of steps."""
    return each and Number(each.value * count, each.half_width * count)


MNIST = re.compile(
    rf"Train Epoch: (\d{{1,6}}) \[(\d{{1,12}})/\d{{1,12}} \([\d. ]{{1,6}}%\)\]\s{{0,8}}"
    rf"Loss: ({VALUE})"
)
MNIST_RESULT = re.compile(
    rf"Test set: Average loss: ({VALUE}), Accuracy: "
    rf"(?:(\d{{1,12}})/(\d{{1,12}})|({NUMBER})\s?(%?))"
)


def read_mnist(line: str) -> LineFacts | None:
    place = MNIST.search(line)
    if place:
        loss = printed(place[3])
        return LineFacts(int(place[1]), step=int(place[2]), numbers={"train_loss": loss})
    result = MNIST_RESULT.search(line)
    if result is None:
        return None
    if result[3]:
        right, all_ = int(result[2]), int(result[3])
        accuracy = Number(right / all_) if 0 < all_ >= right else None
    else:
        accuracy = fraction(result[4], result[5])
    loss = printed(result[1])
    return LineFacts(
        closes=True,
        scaled=True,
        numbers={"val_loss": loss, "val_accuracy": accuracy},
        run=RunFacts({"test_loss": loss, "test_accuracy": accuracy}),
    )


TUTORIAL = re.compile(rf"(?:^|\s)(train|val) Loss: ({VALUE}) Acc: ({VALUE})\s*$")


def read_tutorial(line: str) -> LineFacts | None:
    result = TUTORIAL.search(line)
    if result is None:
        return None
    loss, accuracy = printed(result[2]), printed(result[3])
    if result[1] == "train":
        return LineFacts(numbers={"train_loss": loss, "train_accuracy": accuracy})
    return LineFacts(closes=True, numbers={"val_loss": loss, "val_accuracy": accuracy})


READERS = (
    Reader(
        "torch-imagenet",
        ("Epoch: [", "Epoch:[", "Train: [", "EPOCH ", "* Acc@1", "* Prec@1", "*   Acc@1"),
        read_imagenet,
    ),
    Reader("torch-mnist", ("Train Epoch: ", "Average loss: "), read_mnist),
    Reader("torch-tutorial", ("Loss: ",), read_tutorial, after="keras"),  # which reads its heading
)
