"""What programs and job scripts say about a whole run, in whatever format its epochs are."""

import re
from collections.abc import Callable

from autograder.numbers import NUMBER, VALUE, fraction, printed
from autograder.readers.reader import Said
from autograder.records import Number

UNITS = {
    "ms": 1e-3,
    "m": 60.0,
    "min": 60.0,
    "mins": 60.0,
    "minutes": 60.0,
    "h": 3600.0,
    "hours": 3600.0,
}
UNIT = r"(?:\s?(ms|seconds|secs|sec|s|minutes|mins|min|m|hours|h)\b)?"


COUNTED = r"(\d{1,5}) (?:GPU|worker|process|processes|rank|device)s?\b"


def job(found: re.Match[str]) -> Said:
    return {"job_id": found[1]}


def workers(found: re.Match[str]) -> Said:
    number = int(found[1])
    return {"workers": number} if 0 < number <= 1_000_000 else {}


def positive(number: Number | None) -> Number | None:
    return number if number is not None and number.value > 0 else None


def seconds(found: re.Match[str]) -> Said:
    unit = (found[2] or "s").lower()
    return {"total_seconds": positive(printed(found[1], UNITS.get(unit, 1.0)))}


def seconds_with_workers(found: re.Match[str]) -> Said:
    return {"of_workers": int(found[1]), "total_seconds": positive(printed(found[2]))}


def minutes_and_seconds(found: re.Match[str]) -> Said:
    rest = printed(found[2])
    whole = rest and Number(60 * int(found[1]) + rest.value, rest.half_width)
    return {"done": True, "total_seconds": positive(whole)}


def test_accuracy(found: re.Match[str]) -> Said:
    return {"test_accuracy": fraction(found[1], found[2])}


def test_loss(found: re.Match[str]) -> Said:
    return {"test_loss": printed(found[1])}


def throughput(found: re.Match[str]) -> Said:
    return {"run_throughput": positive(printed(found[1]))}


def total_throughput(found: re.Match[str]) -> Said:
    return {**workers(found), "run_throughput": positive(printed(found[2]))}


def done(found: re.Match[str]) -> Said:
    return {"done": True}


def early(found: re.Match[str]) -> Said:
    return {"early": True}


# tag, pattern, what it says. The tag is a part of every line that the pattern can match, and the
# only thing that a whole file is searched for.
FACTS: tuple[tuple[str, str, Callable[[re.Match[str]], Said]], ...] = (
    ("JOB", r"\b(?:SLURM_JOB_?ID|PBS_JOBID|LSB_JOBID)=(\d{1,12})", job),
    ("JOB", r"\*\*\* JOB (\d{1,12}) ON ", job),
    ("STEP ", r"\*\*\* STEP (\d{1,12})\.", job),
    ("ob ID", r"\b[Jj]ob ID ?[:=#]? {0,2}(\d{1,12})\b", job),
    ("ob id", r"\b[Jj]ob id ?[:=#]? {0,2}(\d{1,12})\b", job),
    ("Run vars", r"^Run vars: id (\d{2,12})\b", job),
    ("ank ", r"\b[Rr]ank:? \d{1,6} (?:out )?of (\d{1,6})\b", workers),
    (
        "orld",
        r"(?:(?<![A-Za-z_])|(?<=dist_)|(?<=role_)|(?<=global_))[Ww]orld[_ ]?[Ss]izes?"
        r" {0,2}[:=]? {0,2}\[?(\d{1,6})\b(?!\.)",
        workers,
    ),
    ("WORLD_SIZE", r"\bWORLD_SIZE ?[:=] ?(\d{1,6})\b", workers),
    ("MEMBER: ", r"GLOBAL_RANK: \d{1,6}, MEMBER: \d{1,6}/(\d{1,6})", workers),
    ("Starting with ", r"Starting with (\d{1,6}) processes", workers),
    ("vd.size", r"hvd\.size(?:\(\))? ?[:=] ?(\d{1,6})\b", workers),
    ("orovod", r"(?i)horovod(?: world)? size ?[:=] ?(\d{1,6})\b", workers),
    (
        "rain",
        rf"(?i)\btrain(?:ing)?(?! time)\b[^.\d]{{0,40}}\b(?:with|on|using) {COUNTED}",
        workers,
    ),
    ("img/sec on", rf"Total img/sec on (\d{{1,5}}) [GC]PU\(s\): ({VALUE})", total_throughput),
    (
        "hroughput",
        rf"(?i)\bthroughput {{0,2}}[:=] {{0,4}}({VALUE}) ?(?:images|imgs?|samples|examples)/s",
        throughput,
    ),
    (
        "rain",
        rf"(?i)\btraining time {{1,2}}with (\d{{1,5}}) GPUs?[: ]{{0,2}}({NUMBER})",
        seconds_with_workers,
    ),
    (
        "rain",
        r"(?i)^\W{0,8}(?:total )?train(?:ing)?[_ ]time(?: taken)?(?: is)? {0,2}[:=]? {0,8}"
        rf"({NUMBER}){UNIT}\W{{0,3}}$",
        seconds,
    ),
    (
        "lapsed",
        rf"(?i)^\W{{0,8}}(?:total )?elapsed time {{0,2}}[:=]? {{0,8}}({NUMBER}){UNIT}\W{{0,3}}$",
        seconds,
    ),
    ("rain", rf"(?i)\btraining took:? ({NUMBER}){UNIT}", seconds),
    ("rain", rf"(?i)\btraining complete in (\d{{1,6}})m ({NUMBER})s", minutes_and_seconds),
    (
        "est",
        r"(?i)\btest(?: set|ing)?[ _]acc(?:uracy)?\b(?![@_])(?:[^:=\d]{0,40}[:=]| is)? {0,4}"
        rf"({VALUE})\s?(%?)",
        test_accuracy,
    ),
    (
        "est",
        rf"(?i)\baccuracy of [a-z ]{{1,40}}\d{{1,9}} test images: {{0,4}}({VALUE}) ?(%?)",
        test_accuracy,
    ),
    ("est", rf"\btest_acc\w{{0,8}} {{1,30}}│ {{1,30}}({VALUE}) {{1,30}}│()", test_accuracy),
    ("est", rf"'test_acc\w{{0,8}}': ({VALUE})()", test_accuracy),
    ("est", rf"(?i)\btest(?: set)?[ _]loss\b {{0,2}}[:=] {{0,4}}({VALUE})", test_loss),
    ("rain", r"(?i)\b(?:finished|completed|done) training\b", done),
    ("rain", r"(?i)\btraining (?:is |has )?(?:finished|complete|completed|done|ended)\b", done),
    ("topp", r"stopped: `max_epochs=\d+` reached", done),
    ("ll done", r"\bAll done\b", done),
    ("topp", r"(?i)\bepoch \d{1,6}: early stopping", early),
    ("topp", r"(?i)\bearly[ -]stopp(?:ing|ed) (?:at|after|in|triggered)", early),
    ("topp", r"(?i)\bstopp(?:ed|ing) early\b", early),
    ("Signaling", r"Signaling Trainer to stop", early),
)
ANCHORS = tuple(dict.fromkeys(tag.encode() for tag, _, _ in FACTS))
COMPILED = tuple((tag, re.compile(pattern), says) for tag, pattern, says in FACTS)


def read(line: str) -> Said | None:
    said: Said = {}
    for tag, pattern, says in COMPILED:
        if tag in line:
            found = pattern.search(line)
            if found:
                for name, value in says(found).items():
                    said.setdefault(name, value)
    return said or None
