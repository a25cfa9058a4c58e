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


def rows(tags: str, *pattern: str, **facts: Any) -> list[Row]:
    """Return the readers of one kind of line, one for each of its tags.

    A file is searched for the tags. The pattern is matched against the lower-case text of lines
    with the tag. Its named groups capture facts. `facts` adds facts that apply to every matching
    line.
    """
    return [(tag, re.compile("".join(pattern)), facts) for tag in tags.split("|")]


ROWS = (
    rows("JOB", rf"(?:slurm_job_?id|pbs_jobid|lsb_jobid)={JOB}"),
    rows("JOB", rf"\*\*\* job {JOB} on "),
    rows("STEP ", rf"\*\*\* step {JOB}\."),
    rows("ob ID|ob id", rf"job id ?[:=#]? {{0,2}}{JOB}\b"),
    rows("Run vars", r"^run vars: id (?P<job_id>\d{2,12})\b"),
    rows("ank ", rf"rank:? \d{{1,6}} (?:out )?of {WORKERS}\b"),
    rows("orld", r"(?:(?<![a-z_])|(?<=dist_)|(?<=role_)|(?<=global_))world[_ ]?sizes?",
        rf" {{0,2}}[:=]? {{0,2}}\[?{WORKERS}\b(?!\.)"),
    rows("WORLD_SIZE", rf"(?<![a-z_])world_size ?[:=] ?{WORKERS}\b"),
    rows("MEMBER: ", rf"global_rank: \d{{1,6}}, member: \d{{1,6}}/{WORKERS}"),
    rows("Starting with ", rf"starting with {WORKERS} processes"),
    rows("umber of ",
        rf"\bnumber of (?:devices|replicas)(?: in sync)?: {{0,3}}{WORKERS}\W{{0,3}}$"),
    rows("eplicas", rf"\bnum[_ ]replicas(?:_in_sync)?\"? ?[:=] ?{WORKERS}\b"),
    rows("um processes: ", rf"^num processes: {WORKERS}$"),
    rows("et's use ", rf"\blet's use {WORKERS} gpus?\b"),
    rows("GPU", rf"{NOT_TRAINING}[^:=]{{1,60}}\b{WORKERS} gpus?\W{{0,30}}$"),
    rows("atch |atch_size", r"\b(?:global|effective)[_ ]batch[_ ]?size ?[:=] {0,3}",
        r"(?P<batch>\d{1,9})$", starts=True),
    rows("atch size per", r"\bbatch[_ ]size per (?:gpu|device|worker|replica|process|rank)",
        r" ?[:=] {0,3}(?P<batch_each>\d{1,9})$", starts=True),
    rows("lobal ", r"\bglobal[_ ]rank ?[:=] ?(?P<rank>\d{1,6})\b"),
    rows("(rank ", r"\binit\w{0,20} \(rank (?P<rank>\d{1,6})\)"),
    rows("LOCAL_RANK: ", r"\blocal_rank: 0 - cuda_\w{1,20}: \[[\d ]{1,99}\]", alone=True),
    rows("LOCAL_RANK: ", r"\blocal_rank: \d{1,4} - cuda_\w{1,20}: \[[\d, ]{1,99}\]", alone=False),
    rows("GPU available: ", r"\bgpu available: (?:true|false).{0,10}, used: ", says_end=True),
    rows("tart", r"\bstart(?:ed|ing)? (?:the )?(?:model )?training\b", starts=True),
    rows("Namespace(", r"^(?:args: ?)?namespace\(", starts=True),
    rows("already downloaded", "^files already downloaded", starts=True),
    # Lines that a job file prints before its program.
    rows("NVIDIA-SMI ", r"^\W{0,3}nvidia-smi \d.{0,80}driver version", starts=True),
    rows("oaded ", r"^(?:currently )?loaded modules\b", starts=True),
    rows("vd.size", rf"hvd\.size(?:\(\))? ?[:=] ?{WORKERS}\b"),
    rows("orovod", rf"horovod(?: world)? size ?[:=] ?{WORKERS}\b"),
    rows("raining", r"train(?:ing)?(?! time)\b[^.\d]{0,40}\b(?:with|on|using) ",
        rf"{WORKERS} (?:gpu|worker|process|rank)(?:e?s)?\b"),
    rows("img/sec on", rf"total img/sec on {WORKERS} [gc]pu\(s\): {THROUGHPUT}", done=True),
    rows("mages/sec", rf"^total images/sec: {{0,3}}{THROUGHPUT}$", done=True),
    rows("hroughput", rf"throughput {{0,2}}[:=] {{0,4}}{THROUGHPUT} ?",
        r"(?:images|imgs?|samples|examples)/s"),
    rows("raining", r"training time {1,2}with (?P<of_workers>\d{1,5}) gpus?[: ]{0,2}", SECONDS),
    rows("raining|rain time|rain Time|rain_time", r"^\W{0,8}(?:total )?train(?:ing)?[_ ]time",
        rf"(?: taken)?(?: is)? {{0,2}}[:=]? {{0,8}}{SECONDS}{UNIT}\W{{0,3}}$"),
    rows("raining", rf"^\W{{0,8}}(?:total )?training (?:time|took) {{0,2}}:? {{0,8}}{CLOCK}",
        rf"(?: ?(?:seconds|secs|s|h))?(?: (?:/w|w/|with|on) {WORKERS} gpus?)?\W{{0,5}}$",
        done=True),
    rows("raining took", rf"\btraining took {{0,2}}:? {{0,3}}{CLOCK}$", done=True),
    rows("--- ", rf"^--- {{0,2}}{SECONDS} seconds ---$"),
    rows("lapsed", r"^\W{0,8}(?:total )?elapsed time {0,2}[:=]? {0,8}",
        rf"{SECONDS}{UNIT}\W{{0,3}}$"),
    rows("raining", rf"training took:? {SECONDS}(?!:){UNIT}"),
    rows("raining", rf"training complete in (?P<total_seconds>\d{{1,6}}m {NUMBER})s", done=True),
    rows("est", r"\btest(?: set|ing)?[ _]acc(?:uracy)?\b(?![@_])(?:[^:=\d]{0,40}[:=]| is)?",
        rf" {{0,20}}{ACCURACY}(?!\s{{0,4}}[:=]|[\d.])\s?(?P<unit>%?)"),  # `acc 1:` is a name
    rows("est", r"accuracy of [a-z ]{1,40}\d{1,9} test images: {0,4}",
        rf"{ACCURACY} ?(?P<unit>%?)"),
    rows("est", rf"test_acc\w{{0,8}} {{1,30}}│ {{1,30}}{ACCURACY} {{1,30}}│"),
    rows("est", rf"'test_acc\w{{0,8}}': {ACCURACY}"),
    rows("est", rf"\btest(?: set)?[ _]loss\b {{0,2}}[:=] {{0,4}}(?P<test_loss>{VALUE})"),
    rows("raining", r"(?:finished|completed|done) training\b", done=True),
    rows("raining", r"training (?:is |has )?(?:finished|complete|completed|done|ended)\b",
        done=True),
    rows("topp", r"stopped: `max_epochs=\d{1,9}` reached", done=True),
    rows("inished", r"\b(?:optimi[sz]ation|fitting|fine-?tuning) (?:is )?finished\b", done=True),
    rows("SUCCEEDED", r"local worker group finished \(workerstate\.succeeded\)", done=True),
    rows("completed in ", rf"^\W{{0,8}}\d{{1,6}} epochs completed in {SECONDS} (?P<unit>hours)",
        done=True),
    rows("ll done", r"\ball done\b", done=True),
    rows("topp", r"\bepoch \d{1,6}: early stopping", early=True),
    rows("topp", r"\bearly[ -]stopp(?:ing|ed) (?:at|after|in|triggered)", early=True),
    rows("topp", r"\bstopp(?:ed|ing) early\b", early=True),
    rows("Signaling", r"signaling trainer to stop", early=True),
    *(rows(f"{word[1:]} ", SUM.format(word), sums_up=word) for word in SUMMING),
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
