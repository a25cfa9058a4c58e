"""Read what programs and job scripts print about a whole run, in any epoch format."""

import re
from collections.abc import Callable
from typing import Any

from autograder.reading.line_facts import RunFacts, RunNumber, both
from autograder.reading.printed_numbers import (
    NUMBER,
    VALUE,
    clock,
    fraction,
    positive,
    printed,
    seconds_in,
)

UNIT = r"(?:\s?(ms|seconds|secs|sec|s|minutes|mins|min|m|hours|h)\b)?"

WITH = r"train(?:ing)?(?! time)\b[^.\d]{0,40}\b(?:with|on|using) (\d{1,5}) "
TOTAL = (
    r"^\W{0,8}(?:total )?train(?:ing)?[_ ]time(?: taken)?(?: is)? {0,2}[:=]? {0,8}"
    rf"({NUMBER}){UNIT}\W{{0,3}}$"
)
TOTAL_RATE = rf"total img/sec on (\d{{1,5}}) [gc]pu\(s\): ({VALUE})"
CLOCK = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2}(?:\.\d{1,9})?)"
WITH_GPUS = r"(?: ?(?:seconds|secs|s|h))?(?: (?:/w|w/|with|on) (\d{1,5}) gpus?)?\W{0,5}$"
NOT_TRAINING = re.compile(
    "avail|detect|found|visible|memory|per|index|first|physical|logical|only|have|has|there|count"
    "|each|allocat|request|reserv|support|requir|need|node"
)
SAMPLES = "(?:images|imgs?|samples|examples)"
# A line about the whole training with a number, perhaps after a log's time and level.
SUMMING = ("best", "average", "final", "overall")
SUM = r"^[\W\d]{{0,40}}(?:info\b[\W\d]{{0,12}})?(?:the )?{} [^\d]{{0,80}}\d"


Says = Callable[[re.Match[str]], RunFacts | None]


def always(**facts: Any) -> Says:
    return lambda match: RunFacts(**facts)


def whole(name: str, **others: Any) -> Says:
    """Return a function that reads the whole number in the pattern's first group."""
    return lambda match: RunFacts(**(others | {name: int(match[1])}))


def number(name: RunNumber, scale: float = 1.0, **others: Any) -> Says:
    """Return a function that reads the positive number in the pattern's first group."""
    return lambda match: RunFacts({name: positive(printed(match[1], scale))}, **others)


def job(match: re.Match[str]) -> RunFacts:
    return RunFacts(job_id=match[1])


def workers(match: re.Match[str]) -> RunFacts | None:
    count = int(match[1])
    return RunFacts(workers=count) if 0 < count <= 1_000_000 else None


def workers_at_end(match: re.Match[str]) -> RunFacts | None:
    """Return the workers in a heading. Devices that are present but unused do not count."""
    return None if NOT_TRAINING.search(match.string) else workers(match)


def alone(match: re.Match[str]) -> RunFacts:
    return RunFacts(alone=match[1] == "0" and "," not in match[2])


def seconds(match: re.Match[str]) -> RunFacts:
    return RunFacts({"total_seconds": positive(printed(match[1], seconds_in(match[2] or "s")))})


def seconds_with_workers(match: re.Match[str]) -> RunFacts:
    return RunFacts({"total_seconds": positive(printed(match[2]))}, of_workers=int(match[1]))


def time_with_workers(match: re.Match[str]) -> RunFacts:
    """Return a time H:MM:SS, with or without fractions, and the workers if they follow it."""
    whole_time = positive(clock(match[1], match[2], match[3]))
    count = int(match[4]) if match[4] else None
    return RunFacts({"total_seconds": whole_time}, workers=count or None, done=True)


def minutes_and_seconds(match: re.Match[str]) -> RunFacts:
    return RunFacts({"total_seconds": positive(clock(None, match[1], match[2]))}, done=True)


def accuracy(match: re.Match[str]) -> RunFacts:
    return RunFacts({"test_accuracy": fraction(match[1], match[2])})


def loss(match: re.Match[str]) -> RunFacts:
    return RunFacts({"test_loss": printed(match[1])})


def total_throughput(match: re.Match[str]) -> RunFacts:
    facts = workers(match) or RunFacts()
    facts.numbers["run_throughput"] = positive(printed(match[2]))
    facts.done = True  # the last line of a benchmark
    return facts


def sums_up(match: re.Match[str]) -> RunFacts:
    return RunFacts(sums_up=" ".join(re.findall("[a-z]+", match.string[:200])))


done, early, starts = always(done=True), always(early=True), always(starts=True)
batch, rank = whole("batch", starts=True), whole("rank")
# A word that a file is searched for; a word that the line then needs; a pattern for the line in
# lower case; the facts. With the words, the pattern is not tried on most lines.
FACTS: tuple[tuple[str, str, str, Says], ...] = (
    ("JOB", "_job", r"(?:slurm_job_?id|pbs_jobid|lsb_jobid)=(\d{1,12})", job),
    ("JOB", "*** job", r"\*\*\* job (\d{1,12}) on ", job),
    ("STEP ", "*** step", r"\*\*\* step (\d{1,12})\.", job),
    ("ob ID", "job id", r"job id ?[:=#]? {0,2}(\d{1,12})\b", job),
    ("ob id", "job id", r"job id ?[:=#]? {0,2}(\d{1,12})\b", job),
    ("Run vars", "run vars", r"^run vars: id (\d{2,12})\b", job),
    ("ank ", " of ", r"rank:? \d{1,6} (?:out )?of (\d{1,6})\b", workers),
    ("orld", "size",
     r"(?:(?<![a-z_])|(?<=dist_)|(?<=role_)|(?<=global_))world[_ ]?sizes?"
     r" {0,2}[:=]? {0,2}\[?(\d{1,6})\b(?!\.)", workers),
    ("WORLD_SIZE", "world_size", r"(?<![a-z_])world_size ?[:=] ?(\d{1,6})\b", workers),
    ("MEMBER: ", "global_rank", r"global_rank: \d{1,6}, member: \d{1,6}/(\d{1,6})", workers),
    ("Starting with ", "processes", r"starting with (\d{1,6}) processes", workers),
    ("umber of ", "number of",
     r"\bnumber of (?:devices|replicas)(?: in sync)?: {0,3}(\d{1,5})\W{0,3}$", workers),
    ("eplicas", "replicas", r"\bnum[_ ]replicas(?:_in_sync)?\"? ?[:=] ?(\d{1,5})\b", workers),
    ("um processes: ", "num processes", r"^num processes: (\d{1,5})$", workers),
    ("et's use ", "let's use", r"\blet's use (\d{1,4}) gpus?\b", workers),
    ("GPU", "gpu", r"^[^:=]{1,60}\b(\d{1,5}) gpus?\W{0,30}$", workers_at_end),
    ("atch ", "batch", r"\b(?:global|effective) batch[_ ]?size ?[:=] {0,3}(\d{1,9})$", batch),
    ("atch_size", "batch", r"\b(?:global|effective)_batch_?size ?[:=] {0,3}(\d{1,9})$", batch),
    ("atch size per", "per",
     r"\bbatch[_ ]size per (?:gpu|device|worker|replica|process|rank) ?[:=] {0,3}(\d{1,9})$",
     whole("batch_each", starts=True)),
    ("lobal ", "rank", r"\bglobal[_ ]rank ?[:=] ?(\d{1,6})\b", rank),
    ("(rank ", "init", r"\binit\w{0,20} \(rank (\d{1,6})\)", rank),
    ("LOCAL_RANK: ", "cuda", r"\blocal_rank: (\d{1,4}) - cuda_\w{1,20}: \[([\d, ]{1,99})\]", alone),
    ("GPU available: ", "gpu", r"\bgpu available: (?:true|false).{0,10}, used: ",
     always(says_end=True)),
    ("tart", "training", r"\bstart(?:ed|ing)? (?:the )?(?:model )?training\b", starts),
    ("Namespace(", "namespace(", r"^(?:args: ?)?namespace\(", starts),
    ("already downloaded", "already", "^files already downloaded", starts),
    # Lines that a job file prints before its program.
    ("NVIDIA-SMI ", "driver version", r"^\W{0,3}nvidia-smi \d", starts),
    ("oaded ", "modules", r"^(?:currently )?loaded modules\b", starts),
    ("vd.size", "hvd.size", r"hvd\.size(?:\(\))? ?[:=] ?(\d{1,6})\b", workers),
    ("orovod", "size", r"horovod(?: world)? size ?[:=] ?(\d{1,6})\b", workers),
    ("raining", " gpu", WITH + r"gpus?\b", workers),
    ("raining", " worker", WITH + r"workers?\b", workers),
    ("raining", " process", WITH + r"process(?:es)?\b", workers),
    ("raining", " rank", WITH + r"ranks?\b", workers),
    ("img/sec on", "total", TOTAL_RATE, total_throughput),
    ("mages/sec", "total", rf"^total images/sec: {{0,3}}({VALUE})$",
     number("run_throughput", done=True)),
    ("hroughput", "/s", rf"throughput {{0,2}}[:=] {{0,4}}({VALUE}) ?{SAMPLES}/s",
     number("run_throughput")),
    ("raining", "training time",
     rf"training time {{1,2}}with (\d{{1,5}}) gpus?[: ]{{0,2}}({NUMBER})", seconds_with_workers),
    ("raining", "training", TOTAL, seconds),
    ("raining", "training",
     rf"^\W{{0,8}}(?:total )?training (?:time|took) {{0,2}}:? {{0,8}}{CLOCK}{WITH_GPUS}",
     time_with_workers),
    ("raining took", "took", rf"\btraining took {{0,2}}:? {{0,3}}{CLOCK}()$", time_with_workers),
    ("--- ", "seconds ---", rf"^--- {{0,2}}({NUMBER})() seconds ---$", seconds),
    ("rain time", "train time", TOTAL, seconds),
    ("rain Time", "train time", TOTAL, seconds),
    ("rain_time", "train_time", TOTAL, seconds),
    ("lapsed", "elapsed time",
     rf"^\W{{0,8}}(?:total )?elapsed time {{0,2}}[:=]? {{0,8}}({NUMBER}){UNIT}\W{{0,3}}$", seconds),
    ("raining", "training took", rf"training took:? ({NUMBER})(?!:){UNIT}", seconds),
    ("raining", "complete in", rf"training complete in (\d{{1,6}})m ({NUMBER})s",
     minutes_and_seconds),
    ("est", "acc",
     r"\btest(?: set|ing)?[ _]acc(?:uracy)?\b(?![@_])(?:[^:=\d]{0,40}[:=]| is)? {0,20}"
     rf"({VALUE})\s?(%?)", accuracy),
    ("est", "test images",
     rf"accuracy of [a-z ]{{1,40}}\d{{1,9}} test images: {{0,4}}({VALUE}) ?(%?)", accuracy),
    ("est", "test_acc", rf"test_acc\w{{0,8}} {{1,30}}│ {{1,30}}({VALUE}) {{1,30}}│()", accuracy),
    ("est", "'test_acc", rf"'test_acc\w{{0,8}}': ({VALUE})()", accuracy),
    ("est", "loss", rf"\btest(?: set)?[ _]loss\b {{0,2}}[:=] {{0,4}}({VALUE})", loss),
    ("raining", " training", r"(?:finished|completed|done) training\b", done),
    ("raining", "training ", r"training (?:is |has )?(?:finished|complete|completed|done|ended)\b",
     done),
    ("topp", "max_epochs", r"stopped: `max_epochs=\d{1,9}` reached", done),
    ("inished", "optimi",
     r"\b(?:optimi[sz]ation|fitting|fine-?tuning) (?:is )?(?:finished|completed?|done)\b", done),
    ("SUCCEEDED", "workerstate", r"local worker group finished \(workerstate\.succeeded\)", done),
    ("completed in ", "hours", rf"^\W{{0,8}}\d{{1,6}} epochs completed in ({NUMBER}) hours",
     number("total_seconds", 3600.0, done=True)),
    ("ll done", "all done", r"\ball done\b", done),
    ("topp", "early", r"\bepoch \d{1,6}: early stopping", early),
    ("topp", "early", r"\bearly[ -]stopp(?:ing|ed) (?:at|after|in|triggered)", early),
    ("topp", "early", r"\bstopp(?:ed|ing) early\b", early),
    ("Signaling", "signaling trainer", r"signaling trainer to stop", early),
    *((f"{word[1:]} ", word, SUM.format(word), sums_up) for word in SUMMING),
)  # fmt: skip
ANCHORS = tuple(dict.fromkeys(tag.encode() for tag, *_ in FACTS))
COMPILED = tuple((tag, word, re.compile(pattern), says) for tag, word, pattern, says in FACTS)


def read(line: str) -> RunFacts | None:
    """Return the facts about the whole run that a line contains.

    If several patterns match, the first one that yields a fact wins.
    """
    lower = line.lower()
    facts: RunFacts | None = None
    for tag, word, pattern, says in COMPILED:
        if tag in line and word in lower:
            match = pattern.search(lower)
            more = says(match) if match else None
            facts = both(facts, more) if facts and more else facts or more
    return facts
