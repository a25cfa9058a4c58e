"""Read timm's training script.

Train: 0 [ 390/391 (100%)]  Loss: 2.31 (2.45)  Time: 0.104s, 1231.1/s  (0.110s, 1163.6/s)  LR: …
Test: [  39/39]  Time: 0.03 (0.05)  Loss: 1.8 (1.9)  Acc@1: 31.2 (33.3)  Acc@5: 81.2 (83.1)
"""

import re

from autograder.reading.formats.reader import Reader
from autograder.reading.formats.torch_examples import times
from autograder.reading.line_facts import EpochNumbers, LineFacts
from autograder.reading.printed_numbers import VALUE, printed

TRAIN = re.compile(r"(?:^|\s)Train: (\d{1,6}) \[ *(\d{1,9})/(\d{1,9}) \( *\d{1,3}%\)\]")
TEST = re.compile(r"(?:^|\s)Test: \[ *(\d{1,9})/(\d{1,9})\]")
LOSS = re.compile(rf"Loss: {{1,4}}{VALUE} \( *({VALUE})\)")
ACCURACY = re.compile(rf"Acc@1: {{1,4}}{VALUE} \( *({VALUE})\)")
TIME = re.compile(
    rf"Time: {{1,4}}{VALUE}s?, {{1,10}}{VALUE}/s {{1,4}}\( *({VALUE})s?, {{1,10}}({VALUE})/s\)"
)


def read(line: str) -> LineFacts | None:
    place = TRAIN.search(line)
    if place:
        step, last = int(place[2]), int(place[3])
        steps = last + 1 if line.find("(100%)", place.start()) >= 0 and step == last else last
        numbers: EpochNumbers = {}
        loss, time = LOSS.search(line, place.end()), TIME.search(line, place.end())
        if loss:
            numbers["train_loss"] = printed(loss[1])
        if time:
            numbers["throughput"] = printed(time[2])
            if 10 * (step + 1) >= 9 * steps:
                numbers["seconds"] = times(printed(time[1]), steps)
        return LineFacts(int(place[1]), step=step, steps=steps, numbers=numbers)
    test = TEST.search(line)
    if test is None or test[1] != test[2]:
        return None
    numbers = {}
    loss, accuracy = LOSS.search(line, test.end()), ACCURACY.search(line, test.end())
    if loss:
        numbers["val_loss"] = printed(loss[1])
    if accuracy:
        numbers["val_accuracy"] = printed(accuracy[1], 0.01)
    return LineFacts(closes=True, scaled=True, numbers=numbers)


READER = Reader("timm", ("Loss: ",), read)
