"""Check time to accuracy (12.6), the cost of a result (12.7), and the report (12.8)."""

from collections.abc import Callable
from typing import Any

from autograder.wording import counted
from lessons.toolkit.checks.shared.check import CheckFailed, compare, exercise, number, shown

Function = Callable[..., Any]

SECONDS = [3.0, 2.0, 2.0, 2.5, 2.0]
CURVES: list[tuple[list[float], float | None, dict[float, str]]] = [
    ([0.5, 0.7, 0.82, 0.84, 0.85], 7.0, {3: "Return seconds: add up the epochs until then.",
                                         5.0: "The epoch that reaches the target counts, too.",
                                         6.0: "Epochs take different times: add up the seconds "
                                             "of each.",
                                         2.0: (
                                             "That is this epoch alone: add up all epochs up to "
                                             "it."
                                         ),
                                         9.5: (
                                             "Stop at the epoch that reaches the target. The "
                                             "next epoch only confirms it."
                                         ),
                                         11.5: "Stop when the target is reached, not at the end."}),
    ([0.5, 0.81, 0.79, 0.83, 0.84], 9.5, {5.0: "0.81 was luck: the next value is below 0.8. It "
                                               "has to hold at the next evaluation."}),
    # It holds at the next evaluation, which is enough: later evaluations do not count.
    ([0.5, 0.81, 0.82, 0.79, 0.83], 5.0, {}),
    ([0.5, 0.85, 0.82, 0.83, 0.84], 5.0, {7.0: "0.82 is lower than 0.85, but not below 0.8, so "
                                               "it holds."}),
    ([0.5, 0.8, 0.8, 0.85, 0.86], 5.0, {9.5: "0.8 reaches the target of 0.8: compare with `>=`.",
                                        7.0: "0.8 reaches the target of 0.8: compare with `>=`."}),
    ([0.5, 0.6, 0.7, 0.75, 0.78], None, {}),
    ([0.5, 0.6, 0.7, 0.75, 0.81], None, {}),
]  # fmt: skip


@exercise("12.6")
def check_12_6(time_to: Function) -> str:
    """Seconds until the target is reached and holds at the next evaluation too; None if never."""
    for accuracies, right, mistakes in CURVES:
        found = time_to(0.8, list(accuracies), list(SECONDS))
        what = f"time_to(0.8, {accuracies}, …)"
        if right is None:
            if found is not None:
                advice = (
                    "Return None: the run does not show when the target is reached, or "
                    "whether it holds."
                )
                raise CheckFailed(f"{what} is None", shown(found), advice)
            continue
        if found is None:
            advice = (
                "The target is reached, and the next evaluation is still above it, even if "
                "it is a little lower. Later evaluations do not count. Is there a `return`?"
            )
            if accuracies[1] > 0.8 > accuracies[2]:
                advice = (
                    f"Continue after {accuracies[1]}, which did not hold: {accuracies[3]} does."
                )
            raise CheckFailed(f"{what} = {right:g} s", "None", advice)
        compare(number(found, what), right, what, mistakes, "Add up the seconds up to that epoch.")
    return "7 s if the target holds, 9.5 s if the first time was luck, and None if it is uncertain."


LINE = "1885056|00:10:30|billing=80,cpu=80,gres/gpu=8,mem=960G,node=2|5.04M"
OTHERS = {
    LINE: (8 * 630 / 3600, 5.04e6 / 3.6e6),
    "77|1-02:00:00|billing=20,cpu=20,gres/gpu:h100=4,gres/gpu=4,mem=1T,node=1|": (104.0, None),
    "78|00:00:36|cpu=16,mem=32G,node=1|7200": (0.0, 0.002),
    "79|00:30:00|cpu=8,gres/gpu=2,mem=64G,node=1|720.50K": (1.0, 720.5e3 / 3.6e6),
    "80|10:00:00|cpu=512,gres/gpu=64,mem=2T,node=16|1.44G": (640.0, 400.0),
}


# Sizes, seconds from start to end, and the size with the smallest cost × time.
SPOTS: list[tuple[list[int], list[float], int]] = [
    ([1, 2, 4, 8], [800.0, 400.0, 200.0, 100.0], 8),  # a case without losses from scaling
    ([1, 2, 4, 8], [900.0, 500.0, 300.0, 200.0], 8),
    ([1, 2, 4, 8], [700.0, 400.0, 250.0, 175.0], 8),
    ([1, 2, 4, 8], [500.0, 300.0, 200.0, 150.0], 4),
    ([4, 8, 16], [100.0, 80.0, 70.0], 4),
]


@exercise("12.7")
def check_12_7(cost: Function, sweet_spot: Function) -> str:
    """GPU-hours and kWh of a line of sacct, and the size where cost × time is smallest."""
    for line, (hours, energy) in OTHERS.items():
        what = f"cost({line!r})"
        found = cost(line)
        if not isinstance(found, tuple | list) or len(found) != 2:
            raise CheckFailed(f"{what}: two values", shown(found), "return gpu_hours, kwh")
        elapsed = hours / 8 if hours else 0.0
        compare(
            number(found[0], f"GPU-hours of {what}"),
            hours,
            f"GPU-hours of {line}",
            {
                elapsed: "Multiply by the GPUs: you pay for all of them, including idle ones.",
                3600 * hours: "Return hours: divide the seconds by 3,600.",
                hours - 96: "1-02:00:00 is a day and two hours.",
                2 * hours: "gres/gpu:h100=4 and gres/gpu=4 count the same four GPUs."
                if "h100" in line
                else "gres/gpu counts the GPUs of the whole job, on all of its nodes.",
                2 * elapsed: "Multiply by the number of GPUs, not of nodes.",
            },
            "gres/gpu × elapsed seconds / 3600; without gres/gpu it is 0.",
        )
        if energy is None:
            if found[1] is not None:
                advice = "No energy was recorded. That is not 0 kWh: return None."
                raise CheckFailed("kWh is None", shown(found[1]), advice)
            continue
        compare(
            number(found[1], f"kWh of {what}"),
            energy,
            f"kWh of {line}",
            {
                energy * 3.6e6: "1 kWh is 3.6 million joules.",
                energy / 1e6: "5.04M are 5.04 million.",
            },
            "Joules / 3.6e6. The suffixes K, M and G mean 1e3, 1e6 and 1e9.",
        )
    for sizes, seconds, right in SPOTS:
        what = f"sweet_spot({sizes}, {seconds})"
        cheapest = min(sizes, key=lambda p: p * seconds[sizes.index(p)])
        fastest = sizes[seconds.index(min(seconds))]
        compare(
            number(sweet_spot(list(sizes), list(seconds)), what),
            right,
            what,
            {
                sizes.index(right): "Return the size, not its place in the list.",
                cheapest: "That is the size with the lowest cost. Find the one with the lowest "
                "cost × seconds.",
                fastest: "That is the fastest size, whatever it costs.",
            },
            "The cost is GPUs × seconds. Find the size with the smallest cost × seconds.",
        )
    return "1.4 GPU-hours and 1.4 kWh; where doubling the GPUs gains too little, it ends at 4."


FEWEST = 8  # words; the instructor reads them
HINTS = {
    "Question": "what you wanted to know, about which network, for which decision",
    "Recommendation": "how many ranks to ask for, which number in the table supports it, and why "
    "not more",
    "What is not known": "what these runs cannot tell, including more sizes and other machines",
}


@exercise("12.8")
def check_12_8(question: Any, recommendation: Any, unknown: Any) -> str:
    """The report has three parts, written in your own sentences."""
    texts = {
        "Question": question,
        "Recommendation": recommendation,
        "What is not known": unknown,
    }
    for part, text in texts.items():
        if not isinstance(text, str):
            raise CheckFailed(f"“{part}” is a text", shown(text), 'Write it between """ and """.')
        if len(text.split()) < FEWEST:
            found = counted(len(text.split()), "word")
            raise CheckFailed(f"“{part}” has at least {FEWEST} words", found, f"Say {HINTS[part]}.")
    told = {" ".join(text.split()).casefold() for text in texts.values()}
    if len(told) < len(texts):
        advice = "Each part answers a different question; see the text above."
        raise CheckFailed("three texts", "the same one twice", advice)
    return "All three parts are written. The cell below puts them into the report."
