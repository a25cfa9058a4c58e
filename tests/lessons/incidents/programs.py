"""Make the programs of the clinic's incidents: one training program with one fault.

The order of the functions is drawn, so the same fault stands in other lines. Functions of other
kinds are mixed in, which do no harm without their files, so that the program's text alone does not
tell the kind.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from tests.lessons.incidents.kinds import (
    CONTRADICTS,
    DECOYS,
    ENDS_ANYHOW,
    FUNCTIONS,
    HARMFUL,
    HEAD,
    KINDS,
    MAIN,
    MARK,
    PRINTS_ALL,
    TWO_HEADS,
)


@dataclass(frozen=True)
class Program:
    text: str
    marked: tuple[int, ...]  # lines at which the faulty rank leaves the others


def program(kind: str, variant: int, random: Random) -> Program:
    """Return a program with this fault. Its functions are in an order that is drawn."""
    own = KINDS[kind][variant % len(KINDS[kind])]
    if kind in TWO_HEADS and random.random() < 0.5:
        others = {name: text.replace(MARK, "") for name, text in KINDS["unused"][0].items()}
    else:
        others = decoys(kind, own, random)
    functions = FUNCTIONS | others | own
    if kind in ENDS_ANYHOW:
        functions["finish"] = random.choice(ends())
    if "mean_gradients(" not in functions["train_step"]:  # DDP averages
        del functions["mean_gradients"]
    texts = [*functions.values()]
    random.shuffle(texts)
    main = MAIN
    if random.random() < PRINTS_ALL.get(kind, 0):
        main = main.replace(
            "        if step % 5 == 0 and rank == 0:\n            print", "        print"
        )
    if kind == "short":
        main = main.replace("len(y) // BATCH):", f"len(y) // BATCH):{MARK}")
    text = "\n\n".join([HEAD, *texts, main])
    body = text[text.index("\nBATCH") :]
    for name in ("glob", "json", "os", "time"):
        if not re.search(rf"\b{name}\.", body):
            text = text.replace(f"import {name}\n", "", 1)
    if "DistributedDataParallel(" not in body:
        text = text.replace("from torch.nn.parallel import DistributedDataParallel\n", "")
    lines = text.splitlines()
    marked = tuple(number for number, line in enumerate(lines, 1) if line.endswith(MARK))
    return Program("\n".join(line.removesuffix(MARK) for line in lines) + "\n", marked)


def ends() -> list[str]:
    """Return the last lines of the programs of all kinds."""
    own = [each["finish"] for variants in KINDS.values() for each in variants if "finish" in each]
    return [text.replace(MARK, "") for text in dict.fromkeys([FUNCTIONS["finish"], *own])]


def decoys(kind: str, own: Mapping[str, str], random: Random) -> dict[str, str]:
    """Return up to two functions' worth of other kinds, which do no harm in this program."""
    found: dict[str, str] = {}
    names = sorted(set(DECOYS) - HARMFUL.get(kind, set()))
    for name in random.sample(names, min(3, len(names))):
        other, variant, functions = DECOYS[name]
        if (kind, name) == CONTRADICTS or other == kind:
            continue
        if not set(functions) & (own.keys() | found.keys()):
            texts = KINDS[other][variant]
            found |= {function: texts[function].replace(MARK, "") for function in functions}
    return found
