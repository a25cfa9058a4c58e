"""Read what programs and job scripts print about a whole run, in any epoch format."""

import re
from itertools import chain
from typing import Any

from autograder.reading.formats import reader
from autograder.reading.line_facts import NOTHING, RunFacts, both
from autograder.reading.printed_numbers import NUMBER, VALUE

JOB = r"(?P<job_id>\d{1,12})"
WORKERS = r"(?P<workers>\d{1,6})"
SECONDS = rf"(?P<total_seconds>{NUMBER})"
UNIT = r"(?:\s?(?P<unit>ms|seconds|secs|sec|s|minutes|mins|min|m|hours|h)\b)?"
CLOCK = r"(?P<total_seconds>(?:\d{1,4}:)?\d{1,2}:\d{1,2}(?:\.\d{1,9})?)"
ACCURACY = rf"(?P<test_accuracy>{VALUE})"
THROUGHPUT = rf"(?P<run_throughput>{VALUE})"
# Devices that are present but unused do not count.
NOT_TRAINING = (
    r"^(?!.*(?:avail|detect|found|visible|memory|per|index|first|physical|logical|only|have|has"
    r"|there|count|each|allocat|request|reserv|support|requir|need|node))"
)
# A line about the whole training with a number, perhaps after a log's time and level.
SUMMING = ("best", "average", "final", "overall")
SUM = r"^[\W\d]{{0,40}}(?:info\b[\W\d]{{0,12}})?(?:the )?{} [^\d]{{0,80}}\d"


Row = tuple[str, re.Pattern[str], dict[str, Any]]


def row(tags: str, *pattern: str, **facts: Any) -> list[Row]:
    """Return how to read one kind of line, once for each of its tags.

    A file is searched for the tags. The pattern is tried on lines that have the tag, in lower case.
    Its named groups capture facts. `facts` holds what else such a line means.
    """
    return [(tag, re.compile("".join(pattern)), facts) for tag in tags.split("|")]


ROWS = (
    row("JOB", rf"(?:slurm_job_?id|pbs_jobid|lsb_jobid)={JOB}"),
    row("JOB", rf"\*\*\* job {JOB} on "),
    row("STEP ", rf"\*\*\* step {JOB}\."),
    row("ob ID|ob id", rf"job id ?[:=#]? {{0,2}}{JOB}\b"),
    row("Run vars", r"^run vars: id (?P<job_id>\d{2,12})\b"),
    row("ank ", rf"rank:? \d{{1,6}} (?:out )?of {WORKERS}\b"),
    row("orld", r"(?:(?<![a-z_])|(?<=dist_)|(?<=role_)|(?<=global_))world[_ ]?sizes?",
        rf" {{0,2}}[:=]? {{0,2}}\[?{WORKERS}\b(?!\.)"),
    row("WORLD_SIZE", rf"(?<![a-z_])world_size ?[:=] ?{WORKERS}\b"),
    row("MEMBER: ", rf"global_rank: \d{{1,6}}, member: \d{{1,6}}/{WORKERS}"),
    row("Starting with ", rf"starting with {WORKERS} processes"),
    row("umber of ",
        rf"\bnumber of (?:devices|replicas)(?: in sync)?: {{0,3}}{WORKERS}\W{{0,3}}$"),
    row("eplicas", rf"\bnum[_ ]replicas(?:_in_sync)?\"? ?[:=] ?{WORKERS}\b"),
    row("um processes: ", rf"^num processes: {WORKERS}$"),
    row("et's use ", rf"\blet's use {WORKERS} gpus?\b"),
    row("GPU", rf"{NOT_TRAINING}[^:=]{{1,60}}\b{WORKERS} gpus?\W{{0,30}}$"),
    row("atch |atch_size", r"\b(?:global|effective)[_ ]batch[_ ]?size ?[:=] {0,3}",
        r"(?P<batch>\d{1,9})$", starts=True),
    row("atch size per", r"\bbatch[_ ]size per (?:gpu|device|worker|replica|process|rank)",
        r" ?[:=] {0,3}(?P<batch_each>\d{1,9})$", starts=True),
    row("lobal ", r"\bglobal[_ ]rank ?[:=] ?(?P<rank>\d{1,6})\b"),
    row("(rank ", r"\binit\w{0,20} \(rank (?P<rank>\d{1,6})\)"),
    row("LOCAL_RANK: ", r"\blocal_rank: 0 - cuda_\w{1,20}: \[[\d ]{1,99}\]", alone=True),
    row("LOCAL_RANK: ", r"\blocal_rank: \d{1,4} - cuda_\w{1,20}: \[[\d, ]{1,99}\]", alone=False),
    row("GPU available: ", r"\bgpu available: (?:true|false).{0,10}, used: ", says_end=True),
    row("tart", r"\bstart(?:ed|ing)? (?:the )?(?:model )?training\b", starts=True),
    row("Namespace(", r"^(?:args: ?)?namespace\(", starts=True),
    row("already downloaded", "^files already downloaded", starts=True),
    # Lines that a job file prints before its program.
    row("NVIDIA-SMI ", r"^\W{0,3}nvidia-smi \d.{0,80}driver version", starts=True),
    row("oaded ", r"^(?:currently )?loaded modules\b", starts=True),
    row("vd.size", rf"hvd\.size(?:\(\))? ?[:=] ?{WORKERS}\b"),
    row("orovod", rf"horovod(?: world)? size ?[:=] ?{WORKERS}\b"),
    row("raining", r"train(?:ing)?(?! time)\b[^.\d]{0,40}\b(?:with|on|using) ",
        rf"{WORKERS} (?:gpu|worker|process|rank)(?:e?s)?\b"),
    row("img/sec on", rf"total img/sec on {WORKERS} [gc]pu\(s\): {THROUGHPUT}", done=True),
    row("mages/sec", rf"^total images/sec: {{0,3}}{THROUGHPUT}$", done=True),
    row("hroughput", rf"throughput {{0,2}}[:=] {{0,4}}{THROUGHPUT} ?",
        r"(?:images|imgs?|samples|examples)/s"),
    row("raining", r"training time {1,2}with (?P<of_workers>\d{1,5}) gpus?[: ]{0,2}", SECONDS),
    row("raining|rain time|rain Time|rain_time", r"^\W{0,8}(?:total )?train(?:ing)?[_ ]time",
        rf"(?: taken)?(?: is)? {{0,2}}[:=]? {{0,8}}{SECONDS}{UNIT}\W{{0,3}}$"),
    row("raining", rf"^\W{{0,8}}(?:total )?training (?:time|took) {{0,2}}:? {{0,8}}{CLOCK}",
        rf"(?: ?(?:seconds|secs|s|h))?(?: (?:/w|w/|with|on) {WORKERS} gpus?)?\W{{0,5}}$",
        done=True),
    row("raining took", rf"\btraining took {{0,2}}:? {{0,3}}{CLOCK}$", done=True),
    row("--- ", rf"^--- {{0,2}}{SECONDS} seconds ---$"),
    row("lapsed", r"^\W{0,8}(?:total )?elapsed time {0,2}[:=]? {0,8}",
        rf"{SECONDS}{UNIT}\W{{0,3}}$"),
    row("raining", rf"training took:? {SECONDS}(?!:){UNIT}"),
    row("raining", rf"training complete in (?P<total_seconds>\d{{1,6}}m {NUMBER})s", done=True),
    row("est", r"\btest(?: set|ing)?[ _]acc(?:uracy)?\b(?![@_])(?:[^:=\d]{0,40}[:=]| is)?",
        rf" {{0,20}}{ACCURACY}\s?(?P<unit>%?)"),
    row("est", r"accuracy of [a-z ]{1,40}\d{1,9} test images: {0,4}",
        rf"{ACCURACY} ?(?P<unit>%?)"),
    row("est", rf"test_acc\w{{0,8}} {{1,30}}│ {{1,30}}{ACCURACY} {{1,30}}│"),
    row("est", rf"'test_acc\w{{0,8}}': {ACCURACY}"),
    row("est", rf"\btest(?: set)?[ _]loss\b {{0,2}}[:=] {{0,4}}(?P<test_loss>{VALUE})"),
    row("raining", r"(?:finished|completed|done) training\b", done=True),
    row("raining", r"training (?:is |has )?(?:finished|complete|completed|done|ended)\b",
        done=True),
    row("topp", r"stopped: `max_epochs=\d{1,9}` reached", done=True),
    row("inished", r"\b(?:optimi[sz]ation|fitting|fine-?tuning) (?:is )?finished\b", done=True),
    row("SUCCEEDED", r"local worker group finished \(workerstate\.succeeded\)", done=True),
    row("completed in ", rf"^\W{{0,8}}\d{{1,6}} epochs completed in {SECONDS} (?P<unit>hours)",
        done=True),
    row("ll done", r"\ball done\b", done=True),
    row("topp", r"\bepoch \d{1,6}: early stopping", early=True),
    row("topp", r"\bearly[ -]stopp(?:ing|ed) (?:at|after|in|triggered)", early=True),
    row("topp", r"\bstopp(?:ed|ing) early\b", early=True),
    row("Signaling", r"signaling trainer to stop", early=True),
    *(row(f"{word[1:]} ", SUM.format(word), sums_up=word) for word in SUMMING),
)  # fmt: skip
BY_TAG = tuple(chain.from_iterable(ROWS))
ANCHORS = tuple(dict.fromkeys(tag.encode() for tag, _, _ in BY_TAG))


def read(line: str) -> RunFacts | None:
    """Return the facts about the whole run that a line contains.

    If several patterns match, the first one that yields a fact wins.
    """
    lower = line.lower()
    facts: RunFacts | None = None
    for tag, pattern, others in BY_TAG:
        if tag in line and (match := pattern.search(lower)):
            more = reader.run_facts(match, **others)
            if more.sums_up:  # the words of the summary, to recognise it in other epochs
                more.sums_up = " ".join(re.findall("[a-z]+", lower[:200]))
            if more != NOTHING:
                facts = both(facts, more) if facts else more
    return facts
