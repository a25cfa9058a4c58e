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
timm      `Train: 0 [ 390/391 (100%)]  Loss: 2.31 (2.45)  Time: 0.1s, 1231.1/s  (0.1s, 1163.6/s)`,
          `Test: [  39/39]  Time: 0.03 (0.05)  Loss: 1.8 (1.9)  Acc@1: 31.2 (33.3)`
"""

import re

from autograder.reading.formats.keras import times
from autograder.reading.formats.names import epoch_numbers
from autograder.reading.formats.reader import Reader, line_facts
from autograder.reading.line_facts import EpochNumbers, LineFacts, RunFacts
from autograder.reading.printed_numbers import NUMBER, VALUE, elapsed, fraction, printed
from autograder.records import Number

IMAGENET = re.compile(
    r"(?:Epoch: ?|Train: )\[(?P<epoch>\d{1,6})(?:/(?P<of>\d{1,6}))?\] {0,2}"
    r"\[ *(?P<step>\d{1,9})/(?P<steps>\d{1,9})\]"
)
EPOCH_TOOK = re.compile(
    r"(?:Epoch: \[(\d{1,6})(?:/\d{1,6})?\] Total time:|EPOCH (\d{1,6}) training takes)"
    r" (\d{1,4}:\d\d:\d\d)\b"
)
METER = re.compile(rf"(\w[\w@]{{0,20}}):?\s{{1,4}}{VALUE}[ \t]{{1,4}}\( {{0,4}}({VALUE})\)")
IMAGENET_RESULT = re.compile(
    rf"(?:^|INFO)\s*\*\s{{1,6}}(?:Acc|Prec)@1:?\s{{1,4}}(?P<val_accuracy>{VALUE})"
)


def read_imagenet(line: str) -> LineFacts | None:
    result = IMAGENET_RESULT.search(line)
    if result:
        return line_facts(result, {"val_accuracy": "%"}, closes=True, scaled=True)
    place = IMAGENET.search(line)
    if place is None:
        took = EPOCH_TOOK.search(line)
        return took and LineFacts(int(took[1] or took[2]), numbers={"seconds": elapsed(took[3])})
    meters = dict(METER.findall(line, place.end()))
    numbers = epoch_numbers(meters.items(), percent=True)
    time = meters.get("Time") or meters.get("time")
    if time:
        numbers |= epoch_time(time, int(place["step"]), int(place["steps"]))
    return line_facts(place, scaled=True, numbers=numbers)


def epoch_time(mean: str, step: int, steps: int) -> EpochNumbers:
    """Return an epoch's time from the mean of its steps so far, if these are nearly all."""
    is_near_end = 10 * (step + 1) >= 9 * steps
    return {"seconds": times(printed(mean), steps)} if is_near_end else {}


MNIST = re.compile(
    r"Train Epoch: (?P<epoch>\d{1,6}) \[(?P<step>\d{1,12})/\d{1,12} \([\d. ]{1,6}%\)\]\s{0,8}"
    rf"Loss: (?P<train_loss>{VALUE})"
)
MNIST_RESULT = re.compile(
    rf"Test set: Average loss: ({VALUE}), Accuracy: "
    rf"(?:(\d{{1,12}})/(\d{{1,12}})|({NUMBER})\s?(%?))"
)


def read_mnist(line: str) -> LineFacts | None:
    place = MNIST.search(line)
    if place:
        return line_facts(place)
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
    checks = result[1] == "val"
    pairs = [("loss", result[2]), ("acc", result[3])]
    return LineFacts(closes=checks, numbers=epoch_numbers(pairs, "val" if checks else "train"))


TIMM = re.compile(
    r"(?:^|\s)Train: (?P<epoch>\d{1,6}) \[ *(?P<step>\d{1,9})/(?P<steps>\d{1,9}) \( *\d{1,3}%\)\]"
)
TIMM_TEST = re.compile(r"(?:^|\s)Test: \[ *(\d{1,9})/(\d{1,9})\]")
TIMM_TIME = re.compile(
    rf"Time: {{1,4}}{VALUE}s?, {{1,10}}{VALUE}/s {{1,4}}\( *({VALUE})s?, {{1,10}}({VALUE})/s\)"
)


def read_timm(line: str) -> LineFacts | None:
    place = TIMM.search(line)
    if place is None:
        test = TIMM_TEST.search(line)
        if test is None or test[1] != test[2]:
            return None
        numbers = epoch_numbers(METER.findall(line, test.end()), "val", percent=True)
        return LineFacts(closes=True, scaled=True, numbers=numbers)
    step, last = int(place["step"]), int(place["steps"])
    # A last step with the number at the end shows that steps count from 0.
    steps = last + 1 if step == last and "(100%)" in place[0] else last
    numbers = epoch_numbers(METER.findall(line, place.end()))
    time = TIMM_TIME.search(line, place.end())
    if time:
        numbers["throughput"] = printed(time[2])
        numbers |= epoch_time(time[1], step, steps)
    facts = line_facts(place, numbers=numbers)
    facts.steps = steps
    return facts


READERS = (
    Reader(
        "torch-imagenet",
        ("Epoch: [", "Epoch:[", "Train: [", "EPOCH ", "* Acc@1", "* Prec@1", "*   Acc@1"),
        read_imagenet,
    ),
    Reader("torch-mnist", ("Train Epoch: ", "Average loss: "), read_mnist),
    Reader("torch-tutorial", ("Loss: ",), read_tutorial, after="keras"),  # which reads its heading
    Reader("timm", ("Loss: ",), read_timm),
)
