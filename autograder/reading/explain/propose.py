"""A rubric's own format, proposed for an output that no format knows, for the instructor to edit.

Lines that repeat with other numbers are made templates. What a number is, the words around it say
as far as they do; `{any}` stands for the others. A proposal is a guess and says so: nothing reads
by it before somebody has put it into a rubric.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from autograder.reading.explain.repeated_lines import Group, groups
from autograder.reading.files import read_files
from autograder.reading.formats import template
from autograder.reading.plain_summary import summary
from autograder.submissions.regular_files import open_regular

MOST_TEMPLATES = 8
MOST_RUNS = 3  # told of
WORD_BEFORE = r"(?<![a-z])(?:{})(?: ?\([a-z ]{{1,15}}\))?[\s_:=#(\[.,\"'}}-]{{0,8}}$"
UNIT_OF_TIME = re.compile(r"^ ?(?:s|secs?|seconds|ms|min|mins|minutes|h|hours)\b(?!/)")
A_PART = re.compile(
    r"\b(?:data|batch|step|iter|iteration|load|loading|eta|remaining|left|val|eval|test|"
    r"validation|forward|backward|wait|io|comm|sample|image|inference)\w{0,8}[ _-]{0,2}$"
)
TIME = re.compile(WORD_BEFORE.format("time|took|takes|elapsed|duration|seconds|secs|sec"))
COUNTED = {
    "epoch": re.compile(WORD_BEFORE.format("epochs?|ep|pass|round|generation|gen|cycle|epoche")),
    "step": re.compile(WORD_BEFORE.format("steps?|iter|iters|iteration|it|batch|minibatch|mb")),
    "workers": re.compile(
        WORD_BEFORE.format("world[ _-]?size|workers|gpus|ranks|processes|replicas|tasks")
    ),
    "job_id": re.compile(WORD_BEFORE.format("job[ _-]?id")),
}
WORKERS_AFTER = re.compile(r"^ (?:gpus?|workers?|ranks?|processes|replicas|tasks)\b")
RATE_AFTER = re.compile(r"^ ?(?:samples|images|imgs?|examples|sequences) ?(?:/|per) ?s(?:ec)?\b")
RATE = re.compile(WORD_BEFORE.format("throughput|(?:samples|images|examples)(?:/| per )s(?:ec)?"))
ACCURACY = re.compile(WORD_BEFORE.format(r"acc|accuracy|top-?1|acc@1|prec@1|precision@1|correct"))
LOSS = re.compile(WORD_BEFORE.format("loss|cost|nll|cross[ _-]?entropy|l"))
PART = re.compile(r"(?<![a-z])(train|val|valid|eval|dev|test)(?:ing|idation|uation)?(?![a-z])")
UNIT = re.compile(
    r" ?%| ?(?:s|secs?|seconds|ms|min|mins|minutes|h|hours)\b(?!/)| ?[A-Za-z]{1,12} ?/ ?s(?:ec)?\b"
    r"| (?:GPUs?|gpus?|workers?|ranks?|processes|replicas|tasks)\b|[A-Za-z]+"
)
NO_WORKERS = re.compile(r"data|load|cpu|available|visible|detected|found")
IN_A_PATH = re.compile(r"(?:/[\w.-]+){2,}[\w.-]*$|[\w-]/[\w./-]*[A-Za-z][\w.-]*$")
WHOLE = re.compile(r"\b(?:total|training|overall|whole|altogether|finished|complete)\b")
OF = re.compile(r"^\s?(?:/|of|out of)\s?$")


@dataclass(frozen=True, slots=True)
class Proposed:
    """A template, and the line that it was made from."""

    template: str
    group: Group


def proposal(path: Path, name: str = "ours") -> str:
    """`formats:` for a rubric, with what each template takes; empty if no line can be named."""
    with open_regular(path) as stream:
        found = proposed(groups(stream))
    if not found:
        return ""
    lines = [
        f"# Proposed for {path.name}. Words around numbers say what they may be: check each field",
        "# beside what it took, and delete or rename it where that is not what the program means.",
        "formats:",
        f"  - name: {name}",
        "    templates:",
    ]
    for one in found:
        more = f", and {one.group.count - 1} more like it" if one.group.count > 1 else ""
        lines += [
            f"      # line {one.group.line}{more}: {one.group.example}",
            f"      - '{one.template.replace(chr(39), 2 * chr(39))}'",
        ]
    reader = template.load_reader(name, [one.template for one in found])
    runs = [run for run in map(summary, read_files([path], [reader])) if run["format"] == name]
    lines += [f"# So it reads as: {in_words(run)}" for run in runs[:MOST_RUNS]]
    if len(runs) > MOST_RUNS:
        lines.append(f"# and {len(runs) - MOST_RUNS} more runs")
    if not any("{epoch}" in one.template for one in found):
        lines.append("# No line seems to count epochs: write {epoch} where their number stands.")
    return "\n".join(lines) + "\n"


def in_words(run: dict) -> str:
    told = [run["outcome"], f"{run['epochs'] or 'no'} epochs"]
    for name, words in (
        ("epoch_seconds_median_after_first", "s an epoch"),
        ("final_train_loss", "last training loss"),
        ("final_val_accuracy", "last validation accuracy"),
        ("test_accuracy", "test accuracy"),
        ("workers", "workers"),
    ):
        if run[name] is not None:
            told.append(f"{run[name]:.6g} {words}")
    return ", ".join(told)


def proposed(all_: list[Group]) -> list[Proposed]:
    """Templates for the lines that say most: first those that count epochs."""
    ranked = []
    for group in all_:
        names = names_of(group)
        known = {name for name in names if name and name != "any"}
        if not known - {"step", "steps", "of"} or (group.count == 1 and "epoch" in known):
            continue
        made = written(group, names)
        if made:
            ranked.append((("epoch" not in known, -len(known), group.line), Proposed(made, group)))
    best = [one for _, one in sorted(ranked, key=lambda item: item[0])]
    different = {one.template: one for one in reversed(best)}
    kept = [one for one in best if different[one.template] is one][:MOST_TEMPLATES]
    return sorted(kept, key=lambda one: one.group.line)


def names_of(group: Group) -> list[str | None]:
    """A field for each number of the lines; None for one that is always the same and unknown."""
    names: list[str | None] = []
    for place in range(len(group.texts) - 1):
        name = name_of(group, place, names)
        if name in names and name != "any":
            name = None
        if name is None and group.changes(place):
            name = "any"
        names.append(name)
    if group.count > 1 and "epoch" not in names and "step" not in names:
        counts = [place for place, name in enumerate(names) if name == "any" and up(group, place)]
        if len(counts) == 1 and {*names} - {None, "any"}:
            names[counts[0]] = "epoch"
    return names


def up(group: Group, place: int) -> bool:
    """The numbers of the column count up by one, from 0 or 1 on."""
    column = group.column(place)
    if len(column) < 3 or not all(value.isdigit() for value in column):
        return False
    numbers = [int(value) for value in column]
    return numbers[0] in (0, 1) and numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def name_of(group: Group, place: int, names: list[str | None]) -> str | None:
    """What the words around a number say it is."""
    before, after = group.texts[place].lower(), group.texts[place + 1].lower()
    example = group.values[0][place]
    if IN_A_PATH.search(before):
        return None
    whole = all(value.isdigit() for value in group.column(place))
    said = "".join(group.texts[: place + 1]).lower()
    if place and OF.match(before) and whole:
        return {"epoch": "of", "step": "steps"}.get(names[place - 1] or "")
    for name, pattern in COUNTED.items():
        if pattern.search(before) and whole and not (name == "workers" and NO_WORKERS.search(said)):
            return name
    if WORKERS_AFTER.match(after) and whole and not NO_WORKERS.search(said):
        return "workers"
    part = (PART.findall(said) or ["train"])[-1]
    single = group.count == 1
    if RATE_AFTER.match(after) or RATE.search(before):
        return "run_throughput" if single else "throughput"
    if ACCURACY.search(before):
        return of_part("accuracy", part, single)
    if LOSS.search(before) and not single:
        return of_part("loss", part, single)
    if LOSS.search(before) and part == "test":
        return "test_loss"
    time = TIME.search(before)
    if (time or UNIT_OF_TIME.match(after)) and not A_PART.search(before[: time and time.start()]):
        if not single:
            return "seconds"
        return "total_seconds" if WHOLE.search(said) else None
    return "job_id" if single and COUNTED["job_id"].search(before) and example else None


def of_part(what: str, part: str, single: bool) -> str | None:
    """A test after each epoch is a check of the epoch; of a single line only the test counts."""
    if single:
        return f"test_{what}" if part == "test" else None
    return f"train_{what}" if part == "train" else f"val_{what}"


def written(group: Group, names: list[str | None]) -> str:
    """The lines' template, from the last word before its first field to the unit behind its last;
    what changes between two fields and has no name is one {any}. Empty: it would not work."""
    known = [place for place, name in enumerate(names) if name not in (None, "any")]
    first, last = known[0], known[-1]
    source = braces(group.texts[first])
    for place in range(first, last + 1):
        following = braces(group.texts[place + 1])
        name = names[place]
        if name is None:
            source += group.values[0][place]
        elif name != "any":
            source += "{" + name + "}"
        elif not source.endswith("{any}"):
            source += "{any}"
        if place == last:
            unit = UNIT.match(following)
            following = unit[0] if unit else ""
        if source.endswith("{any}") and names[place] == "any" and place + 1 <= last:
            nearer = names[place + 1]
            following = "" if nearer == "any" else following
        source += following
    source = " ".join(source.split())
    for cut in starts(source):
        try:
            if template.load(cut).read(group.example) is not None:
                return cut
        except template.BadTemplateError:
            continue
    return ""


def starts(source: str) -> list[str]:
    """The template from its last words before the first field on, with more and more of them."""
    head, brace, rest = source.partition("{")
    words = head.split(" ")
    first = min(len(words), 5 if words[-1] == "" else 4)
    return [
        " ".join(words[-n:]).lstrip("%)],;:| ") + brace + rest for n in range(first, len(words) + 1)
    ]


def braces(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
