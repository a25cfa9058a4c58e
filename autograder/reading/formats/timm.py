"""Read timm's training script.

Train: 0 [ 390/391 (100%)]  Loss: 2.31 (2.45)  Time: 0.104s, 1231.1/s  (0.110s, 1163.6/s)  LR: …
Test: [  39/39]  Time: 0.03 (0.05)  Loss: 1.8 (1.9)  Acc@1: 31.2 (33.3)  Acc@5: 81.2 (83.1)
"""

import re

from autograder.reading.formats.names import epoch_numbers
from autograder.reading.formats.reader import Reader, line_facts
from autograder.reading.formats.torch_examples import METER, epoch_time
from autograder.reading.line_facts import LineFacts
from autograder.reading.printed_numbers import VALUE, printed

TRAIN = re.compile(
    r"(?:^|\s)Train: (?P<epoch>\d{1,6}) \[ *(?P<step>\d{1,9})/(?P<steps>\d{1,9}) \( *\d{1,3}%\)\]"
)
TEST = re.compile(r"(?:^|\s)Test: \[ *(\d{1,9})/(\d{1,9})\]")
TIME = re.compile(
    rf"Time: {{1,4}}{VALUE}s?, {{1,10}}{VALUE}/s {{1,4}}\( *({VALUE})s?, {{1,10}}({VALUE})/s\)"
)


def read(line: str) -> LineFacts | None:
    place = TRAIN.search(line)
    if place is None:
        test = TEST.search(line)
        if test is None or test[1] != test[2]:
            return None
        numbers = epoch_numbers(METER.findall(line, test.end()), "val", percent=True)
        return LineFacts(closes=True, scaled=True, numbers=numbers)
    step, last = int(place["step"]), int(place["steps"])
    # Newer versions count to the number of steps - 1.
    steps = last + 1 if step == last and "(100%)" in place[0] else last
    numbers = epoch_numbers(METER.findall(line, place.end()))
    time = TIME.search(line, place.end())
    if time:
        numbers["throughput"] = printed(time[2])
        numbers |= epoch_time(time[1], step, steps)
    facts = line_facts(place, numbers=numbers)
    facts.steps = steps
    return facts


READER = Reader("timm", ("Loss: ",), read)
