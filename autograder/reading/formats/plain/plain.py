"""Read lines in a student's own format: an epoch number, then names with values.

Epoch: 5 | Training Loss:  0.847 | Training Accuracy:  70.098
Epoch [3/10], Step [100/600], Loss: 0.1234, val_acc=0.91, time=12.3s
Epoch 1/3.. Step 5.. Train loss: 1.090.. Test accuracy: 0.702
{"epoch": 3, "train_loss": 0.31, "val_acc": 0.91}

Two other forms are read: an epoch heading with names and values below it, and counts that restart
for the validation, such as `Loss: 0.41 | Acc: 88.370% (8837/10000)`.
"""

import re

from autograder.reading.formats import bars
from autograder.reading.formats.plain import headings
from autograder.reading.formats.plain.named_values import NOT_NAME, On, plainly, values
from autograder.reading.formats.reader import Reader
from autograder.reading.line_facts import LineFacts, RunFacts
from autograder.reading.printed_numbers import VALUE, printed

EPOCH = re.compile(
    r"(?i)(?<![a-z])(?<!max[_ ])(?<!num[_ ])(?<!total[_ ])(?<!best[_ ])(?<!per[_ ])(?<!\bn[_ ])"
    r"epoch(?:[ _](?:no|num|number|idx|index)\.?|\((?P<on>train|val|test)\))?[\"']? {0,2}"
    r"(?:[:#=]?\s{0,3}[\[(]|[:#=])?\s{0,3}(?P<at>\d{1,6})(?:\](?=\s?/\s?\[))?"
    r"(?:\s?(?:/|of)\s?\[?(?P<of>\d{1,6}))?(?![\d.%]\d)"
)
OF_IN_JSON = re.compile(r'"(?:max_|num_|total_)?epochs"\s?:\s?(?P<of>\d{1,6})')
STEP = re.compile(
    r"(?i)(?<![a-z])(?:global[_ ])?(?:step|batch|iter|iteration|it)[\"']? {0,2}[:#=\[(]?\s{0,12}"
    r"(\d{1,9})(?:\s?(?:/|of)\s{0,12}(\d{1,9}))?(?![\w%]|\.\d)"
)
STEP_BEHIND = re.compile(
    r"\]?[,:;]?\s{1,8}(\d{1,12})\s?/\s?(\d{1,12})(?![\d.%]|\s{0,3}(?:correct|right|hits))"
)
STEP_IN_BRACKETS = re.compile(r"\]?,?\s{0,3}[\[(]\s{0,12}(\d{1,12})\s?/\s?(\d{1,12})")
CHECKING = re.compile(
    r"(?i)(?:^|[\s\[(|>-])(?:(val(?:id(?:ation)?)?|eval(?:uation)?|dev)|(test(?:ing)?))"
    r"[\])]?(?:[\s:|-]{1,3}$|$)"
)
COUNTS = re.compile(
    rf"(?i)(?:^|[\s|])loss:? {{0,2}}({VALUE}) ?[|,] ?(?:acc|accuracy|top1|prec(?:ision)?(?:@1)?):? "
    rf"{{0,2}}({VALUE}) ?% ?\((\d{{1,12}})/(\d{{1,12}})\)"
)
# A line of a block begins with a name, perhaps after words such as these.
IN_BLOCK = re.compile(
    r"(?:(?:train(?:ing)?|val(?:id(?:ation)?)?|eval(?:uation)?|test(?:ing)?|dev|set|average|averages"
    r"|mean|results?|metrics|epoch|summary|loss|the|on|after) ?){1,5}"
)


def read(line: str) -> LineFacts | None:
    place = EPOCH.search(line)
    if place is None:
        return below(line)
    on = measured_on(place["on"] or line[max(0, place.start() - 30) : place.start()])
    in_json = line.lstrip().startswith('{"')  # where the epoch may come after the values
    named = values(line, 0 if in_json else place.end(), on)
    if not named.numbers:
        return headings.read(line)
    number = int(place["at"])
    asked = place if place["of"] else OF_IN_JSON.search(line)
    of = int(asked["of"]) if asked else None
    if bar := bars.BAR.search(line, place.end()):  # its values cover only a part of the epoch
        named.numbers.pop("seconds", None)
        named.of_run.clear()
        at, whole = int(bar[2]), bar[2] == bar[3]
        return named.facts(number, of=of, step=at, whole=whole, redraws=True, rates=True)
    step = STEP.search(line, place.end()) or step_behind(line, place.end())
    if step is None:
        return named.facts(number, of=of)
    if not named.sure_time:
        named.numbers.pop("seconds", None)  # they cover only a part of the epoch
    return named.facts(number, of=of, step=int(step[1]), rates=True) if named.numbers else None


def step_behind(line: str, at: int) -> re.Match[str] | None:
    """Match a step counter directly after the epoch, with or without brackets."""
    step = STEP_IN_BRACKETS.match(line, at) or STEP_BEHIND.match(line, at)
    return step if step and int(step[1]) <= int(step[2]) else None


def measured_on(before: str) -> On | None:
    """Return the data set named before the epoch, as in `Test Epoch 3: loss 0.2`."""
    word = CHECKING.search(before)
    return ("val" if word[1] else "test") if word else None


def below(line: str) -> LineFacts | None:
    """Return the facts of a line in a block below a heading.

    The facts belong to the epoch in the heading above the block.
    """
    counts = COUNTS.search(line)
    if counts:
        return of_counts(line, counts)
    named = values(line, 0)
    if named.numbers.keys() <= {"throughput"}:
        return None
    pieces = [plainly(piece) for piece in NOT_NAME.split(named.first)]
    begins = all(IN_BLOCK.fullmatch(piece) for piece in pieces[:-1] if piece)
    return named.facts(loose=True, after_heading=not begins)


def of_counts(line: str, counts: re.Match[str]) -> LineFacts:
    """Return a running mean over a number of samples: first for training, then for validation."""
    loss, right = printed(counts[1]), printed(counts[2], 0.01)
    is_test = re.search(r"(?i)\btest", line[: counts.start()]) is not None
    return LineFacts(
        loose=True,
        step=int(counts[4]),
        part="val" if is_test else None,
        passes=True,
        redraws=True,
        scaled=True,
        unnamed=True,
        numbers={"train_loss": loss, "train_accuracy": right},
        run=RunFacts({"test_loss": loss, "test_accuracy": right}) if is_test else None,
    )


# A loss or an accuracy, with the text between its name and its value; a rate.
TAGS = (
    *(word + mark for word in ("oss", "cc", "ccuracy") for mark in (":", "=", " ", '"', "'")),
    *("cc@1", "rec@1", "ecision", "/sec"),
)
READER = Reader("plain", ("poch", "POCH", *TAGS), read)
