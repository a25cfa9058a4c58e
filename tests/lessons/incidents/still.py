"""Look whether a recording shows its fault: the lines that prove which rank it was."""

import re
from collections.abc import Iterator, Mapping, Sequence

from tests.lessons.incidents.programs import Program

SECTION = re.compile(r"===== (?:stack|last collectives) of rank (\d+),")
OTHER = re.compile(r"=====")
# Lines that only the faulty rank has, {r}; further lines that a reader may name as well.
PROOFS = {
    "skipped": ([], [r"rank {r}: step \d+, no finite loss"]),
    "short": ([], [r"rank {r}: has no more batches", r"rank {r}: \d+ images"]),
    "order": ([], [r"\[rank {r}\] .*preamble"]),
    "killed": ([r" +{r} FAILED +0:9 "], []),
    "raised": ([r"\[rank {r}\] IndexError"], [r"\[rank {r}\] +File .*train.py"]),
    "late": ([r"rank {r}: read (?!0\.[01])"], [r"rank {r}: wait and send"]),
    "twice": ([], [r"rank {r}: (\d+ images, the first are|step \d+, loss)"]),
    "apart": ([r"rank {r}: goes on from step_40"], [r"rank {r}: norm of"]),
    "infinite": ([], [r"rank {r}: step \d+, loss (nan|inf)"]),
    "unused": ([r"\[rank {r}\] RuntimeError: Expected to have finished reduction"],
               [r"\[rank {r}\] .*Parameter indices"]),
}  # fmt: skip
# Further lines at which a rank may be said to leave the others, or they to meet the result.
MEAN = r"dist\.all_reduce\(.*grad\)|^    mean_gradients\(model\)"
ALSO = {
    "skipped": MEAN,
    "killed": MEAN + r"|loss = train_step|loss\.backward",
    "late": MEAN,
    "raised": MEAN,
    "infinite": MEAN + r"|cross_entropy|loss\.backward",
    "short": r"^    finish\(model, rank\)|has no more batches|np\.load\(f\"share_|" + MEAN,
    "unused": r"loss = train_step",
}
# In these kinds a rank makes another collective than the others, or none.
BY_CALLS = ("skipped", "short", "order")


def proofs(text: str, kind: str, rank: str) -> list[int]:
    """Return the numbers of the lines that prove which rank it was, counted from 1."""
    only, more = PROOFS[kind]
    patterns = [re.compile(each.format(r=rank)) for each in (*only, *more)]
    found = {n for n, line in lines(text) if any(pattern.search(line) for pattern in patterns)}
    if kind in BY_CALLS:
        found |= {n for n, line in section(text, rank) if "train.py:" in line or "gloo:" in line}
    if kind == "twice":
        found |= {n for n, line in lines(text) if re.search(r"rank 0: .*the first are", line)}
    return sorted(found)


def lines(text: str) -> Iterator[tuple[int, str]]:
    yield from enumerate(text.splitlines(), 1)


def section(text: str, rank: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of the rank's stack and of its collectives."""
    inside = False
    for number, line in lines(text):
        if OTHER.match(line):
            found = SECTION.match(line)
            inside = found is not None and found[1] == rank
        elif inside:
            yield number, line


def where_it_left(kind: str, program: Program) -> Sequence[int]:
    """Return the lines of the program at which the rank leaves the others."""
    also = re.compile(ALSO.get(kind, "nowhere"))
    found = {number for number, line in lines(program.text) if also.search(line)}
    return sorted({*program.marked} | found)


def what_is_wrong(text: str, answers: Mapping[str, Sequence[str]]) -> str:
    """Return why the recording does not show its fault, or an empty text."""
    [kind], [rank] = answers["kind"], answers["rank"]
    if not answers["line"] or not answers["proof"]:
        return "no line of the program, or nothing that proves it"
    ranks = sorted(set(re.findall(r"^ +(\d+) (?:COMPLETED|FAILED)", text, re.M)))
    for pattern in PROOFS[kind][0]:
        having = [each for each in ranks if re.search(pattern.format(r=each), text)]
        if having != [rank]:
            return f"{pattern!r} is true of ranks {having}"
    if kind in BY_CALLS and (found := other_call(text, ranks)) != rank:
        return f"by its collectives it is rank {found}"
    if kind == "twice" and first_shares(text).get(rank) != first_shares(text).get("0"):
        return "the rank reads another share than rank 0"
    if kind == "infinite" and first_infinite(text) != rank:
        return f"the first loss that is not finite is that of rank {first_infinite(text)}"
    return ""


def other_call(text: str, ranks: Sequence[str]) -> str:
    """Return the first rank whose collective of some number differs from most ranks'."""
    calls = {
        rank: {
            line.split()[0]: " ".join(line.split()[1:])
            for _, line in section(text, rank)
            if "gloo:" in line
        }
        for rank in ranks
    }
    numbers = sorted({int(number) for own in calls.values() for number in own})
    for number in map(str, numbers):
        made = [own.get(number) for own in calls.values()]
        usual = max(made, key=made.count)
        if usual is None:  # before the shown calls of most ranks, or after their last one
            continue
        for rank, call in zip(calls, made, strict=True):
            if call not in (usual, None) or (call is None and is_behind(calls[rank], number)):
                return rank
    return ""


def is_behind(own: Mapping[str, str], number: str) -> bool:
    """Return whether a rank with a dump ended before it made this collective."""
    return bool(own) and max(map(int, own)) < int(number)


def first_shares(text: str) -> dict[str, str]:
    return dict(re.findall(r"rank (\d+): \d+ images, the first are (.*)", text))


def first_infinite(text: str) -> str:
    """Return the rank whose loss is not finite in the earliest step."""
    found = re.findall(r"rank (\d+): step (\d+), loss (?:nan|inf)", text)
    return min(found, key=lambda each: int(each[1]), default=("", ""))[0]
