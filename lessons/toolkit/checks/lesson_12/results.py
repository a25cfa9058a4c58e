"""Check time to accuracy (12.6), the cost of a result (12.7), and the report (12.8)."""

import re
from collections.abc import Callable
from typing import Any

from autograder.wording import counted
from lessons.toolkit.checks.shared.check import CheckFailed, compare, exercise, number, shown

Function = Callable[..., Any]

SECONDS = [3.0, 2.0, 2.0, 2.5, 2.0]
GO_ON = "Go on after a value that did not hold: a later one may. Is there a `return`?"
CURVES: list[tuple[list[float], float | None, dict[float, str], str]] = [
    ([0.5, 0.7, 0.82, 0.84, 0.85], 7.0,
     {3: "Return seconds: add up the epochs until then.",
      5: "The epoch that reaches the target counts, too.",
      9.5: "Stop at the epoch that reaches the target. The next epoch only confirms it.",
      11.5: "Stop when the target is reached, not at the end."}, GO_ON),
    ([0.5, 0.81, 0.79, 0.83, 0.84], 9.5,
     {5: "0.81 was luck: the next value is below 0.8. It has to hold at the next evaluation."},
     GO_ON),
    ([0.5, 0.81, 0.82, 0.79, 0.83], 5.0, {}, "It has to hold at the next evaluation only."),
    ([0.5, 0.85, 0.8, 0.83, 0.84], 5.0, {}, "0.8 is lower than 0.85, but not below 0.8: `>=`."),
    ([0.5, 0.6, 0.7, 0.75, 0.81], None, {}, "The run does not show whether it holds: None."),
]  # fmt: skip


@exercise("12.6")
def check_12_6(time_to: Function) -> str:
    """Seconds until the target is reached and holds at the next evaluation too; None if never."""
    for accuracies, right, mistakes, advice in CURVES:
        found = time_to(0.8, list(accuracies), list(SECONDS))
        what = f"time_to(0.8, {accuracies}, {SECONDS})"
        if (found is None) is not (right is None):
            never = "never (None)" if found is None else shown(found)
            raise CheckFailed(f"{what} = {right}", never, advice)
        if right is not None:
            compare(number(found, what), right, what, mistakes, advice)
    return "7 s if the target holds, 9.5 s if the first time was luck, and None if it is uncertain."


LINES: dict[str, tuple[float, float | None]] = {  # of sacct -> GPU-hours, kWh
    "1885056|00:10:30|billing=80,cpu=80,gres/gpu=8,mem=960G,node=2|5.04M": (1.4, 1.4),
    "77|1-02:00:00|billing=20,cpu=20,gres/gpu:h100=4,gres/gpu=4,mem=1T,node=1|": (104.0, None),
    "78|00:00:36|cpu=16,mem=32G,node=1|7200": (0.0, 0.002),
    "79|00:30:00|cpu=8,gres/gpu=2,mem=64G,node=1|720.50K": (1.0, 720.5e3 / 3.6e6),
    "81|01:00:00|cpu=8,gres/gpu=1,mem=64G,node=1|0": (1.0, None),
    "80|10:00:00|cpu=512,gres/gpu=64,mem=2T,node=16|1.44G": (640.0, 400.0),
}
# Sizes, seconds from start to end, and the size with the smallest cost × time.
SPOTS: list[tuple[list[int], list[float], int]] = [
    ([1, 2, 4, 8], [900.0, 500.0, 300.0, 200.0], 8),
    ([1, 2, 4, 8], [500.0, 300.0, 200.0, 150.0], 4),
    ([4, 8, 16], [100.0, 80.0, 70.0], 4),
]


@exercise("12.7")
def check_12_7(cost: Function, sweet_spot: Function) -> str:
    """GPU-hours and kWh of a line of sacct, and the size where cost × time is smallest."""
    for line, (hours, kwh) in LINES.items():
        found, energy = cost(line)
        mistakes = {
            hours / 8: "Multiply by the GPUs: you pay for all of them, including idle ones.",
            hours - 96: "1-02:00:00 is a day and two hours.",
            3600 * hours: "These are GPU-seconds.",
            2 * hours: "gres/gpu counts each of the job's GPUs once, on all of its nodes.",
        }
        advice = "Read the line field by field. How many GPUs, for how long?"
        what = f"GPU-hours of {line}"
        compare(number(found, what), hours, what, mistakes, advice)
        if kwh is None:
            if energy is not None:
                advice = "No energy was measured. That is not 0 kWh."
                raise CheckFailed("kWh is None", shown(energy), advice)
            continue
        mistakes = {kwh * 3.6e6: "1 kWh is 3.6 million joules."}
        advice = "How many joules does the last field say, with its letter?"
        compare(number(energy, f"kWh of {line}"), kwh, f"kWh of {line}", mistakes, advice)
    for sizes, seconds, right in SPOTS:
        what = f"sweet_spot({sizes}, {seconds})"
        mistakes = {
            sizes.index(right): "Return the size, not its place in the list.",
            min(sizes, key=lambda p: p * seconds[sizes.index(p)]): "That is the size with the "
            "lowest cost. Find the one with the lowest cost × seconds.",
            sizes[-1]: "That is the fastest size, whatever it costs.",
        }
        found = number(sweet_spot(list(sizes), list(seconds)), what)
        advice = "The cost is GPUs × seconds: find the smallest cost × seconds."
        compare(found, right, what, mistakes, advice)
    return "1.4 GPU-hours and 1.4 kWh; where doubling the GPUs gains too little, it ends at 4."


FEWEST = 8  # words; the instructor reads them
HINTS = {  # in fewer words, so that they are no answer themselves
    "Question": "Who has to decide what?",
    "Recommendation": "How many ranks, and by which number?",
    "What is not known": "What can these runs not tell?",
}


@exercise("12.8")
def check_12_8(*texts: Any) -> str:
    """The report has three parts, written in your own sentences."""
    for (part, hint), text in zip(HINTS.items(), texts, strict=True):
        words = text.split()
        if len(words) < FEWEST:
            found = counted(len(words), "word")
            raise CheckFailed(f"“{part}” has at least {FEWEST} words", found, hint)
        if part == "Recommendation" and not re.search(r"\d", text):
            advice = "Which measured value of the table supports it?"
            raise CheckFailed("a recommendation with its numbers", "none", advice)
    if len({" ".join(text.split()).casefold() for text in texts}) < len(texts):
        advice = "Each part answers a different question; see the text above."
        raise CheckFailed("three texts", "the same one twice", advice)
    return "All three parts are written, and go into report.md."
