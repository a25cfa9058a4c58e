"""Read headings: lines that name an epoch without values. The following lines belong to it.

Epoch 3/20          ----- Epoch: 3 -----          2026-03-02 10:00:00 - INFO - Training epoch 3
Starting epoch 3/20...          *** Validation summary for epoch 3          Epoch 3/20 - no batches
"""

import re

from autograder.reading.line_facts import EpochPart, LineFacts

# What a log writes at the beginning of each line: a time, a level, a name.
PREFIX = (
    r"(?:[\[(]?\d[\d/:.,T-]{0,25}(?: [\d:.,]{4,20})?[\])]?[\s|:-]{0,4})?"
    r"(?:[\[|(<]?(?:INFO|DEBUG|LOGS?|WARNING|NOTICE|[IW])[\]|)>]?[\s|:-]{1,8}){0,2}"
)
VERBS = (
    r"start(?:ing|ed|s)?|begin(?:ning|s)?|running|processing|training|train|validation|validating"
    r"|validate|val|evaluation|evaluating|eval|testing|test|summary|results|for|of|on|at|in|the|now"
)
HEADING = re.compile(
    rf"(?i){PREFIX}[\W_]{{0,80}}(?P<words>(?:(?:{VERBS})\W{{1,2}}){{0,4}})"
    r"epoch(?:[ _]?(?:no|num|number))?\W{0,4}(?P<number>\d{1,6})"
    r"(?:\s?(?:/|of)\s?(?P<of>\d{1,6}))?(?![\w%]|[.,/:]\d)(?P<rest>[^\d=]{0,80})$"
)
CHECKING = re.compile(r"(?i)\b(?:val|eval|test|dev)")
RESULTS = re.compile(r"(?i)\b(?:summary|results)")
TRAINING = re.compile(r"(?i)\btrain")
# Lines that mention an epoch but do not begin it: something else happened to it, or it is over.
NOT_BEGUN = re.compile(r"(?i)sav|load|best|resum|checkpoint|stop|restor|from|until|improv|skip")


def read(line: str) -> LineFacts | None:
    if len(line) > 300:
        return None
    heading = HEADING.match(line)
    if heading is None or NOT_BEGUN.search(heading["rest"]):
        return None
    part: EpochPart | None = None
    if CHECKING.search(heading["words"]):
        part = "val"
    elif TRAINING.search(heading["words"]):
        part = "train"
    return LineFacts(
        int(heading["number"]),
        of=int(heading["of"]) if heading["of"] else None,
        opens=True,
        heading=True,
        results=RESULTS.search(heading["words"]) is not None,
        part=part,
    )
