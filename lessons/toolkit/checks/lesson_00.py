"""Public checks of lesson 00: the cluster."""

import os
from pathlib import Path
from typing import Any
from unittest.mock import patch

from lessons.toolkit.checks.shared.check import (
    CheckFailed,
    Function,
    StillAGap,
    check_number,
    exercise,
    shown,
)

MARK = "#SBATCH"
TAG = ":::MLLOG "
WARNING = "This line is a warning"
SECONDS = 300  # that the job asks for
OMPI = {
    "OMPI_COMM_WORLD_RANK": "3",
    "OMPI_COMM_WORLD_SIZE": "4",
    "OMPI_COMM_WORLD_LOCAL_RANK": "1",
}
OTHER_NAMES = "The next launcher has other names: take them from NAMES."
INVENTED = {"rank": ("A_RANK",), "size": ("B_RANK", "B_SIZE"), "local_rank": ("A_LOCAL",)}


@exercise("0.1")
def check_0_1(path: Path) -> str:
    """Tasks equal nodes × tasks per node, output names contain %j, and there is a time limit."""
    from cluster.job_file import jobfile
    from cluster.job_file.sbatch_options import unknown

    try:
        job = jobfile.read(Path(path))
    except jobfile.JobFileError as error:
        raise CheckFailed("a job file that sbatch can read", error, "Correct this line.") from None
    if job.notes:
        expected = f"all directives begin with {MARK} and come before the first command"
        advice = f"Move the line up, or write {MARK} without a space after #."
        raise CheckFailed(expected, job.notes[0], advice)
    needed = ("nodes", "ntasks", "ntasks-per-node", "time", "output", "error")
    empty = [f"--{name}=" for name in needed if not job.options.get(name)]
    if len(empty) >= 5:
        expected = "the five empty directives of job.sbatch"
        raise StillAGap(expected, None, "Write a value after each `=`.")
    if absent := [f"--{name}=" for name in needed if name not in job.options]:
        others = " ".join(f"--{name}" for name in unknown(job.options)) or "no other option"
        advice = "Compare the spelling with the table, letter by letter."
        raise CheckFailed(f"a line with {' '.join(absent)}", others, advice)
    if empty:
        advice = "Write a value after the =, without a space."
        raise CheckFailed("every directive has a value", f"{' '.join(empty)} without one", advice)
    nodes, tasks, each = (whole(job, name) for name in ("nodes", "ntasks", "ntasks-per-node"))
    if tasks != 2:
        raise CheckFailed("two tasks", f"--ntasks={tasks}", "This job runs two tasks on one node.")
    if nodes * each != tasks:
        advice = f"With {nodes} node(s) and {tasks} tasks there are {tasks / nodes:g} on each node."
        found = f"{nodes} x {each} is not {tasks}"
        raise CheckFailed("nodes x tasks per node = tasks", found, advice)
    limit = check_time(job)
    for name, ending in (("output", ".out"), ("error", ".err")):
        file = jobfile.fill(job.options[name], {"x": "renamed", "j": "123"})
        if not (file.endswith(ending) and Path(file).name.startswith("00_cluster_123")):
            expected = f"--{name}: in job 123, a name with 00_cluster_, its number and {ending}"
            advice = "Which pattern of the table becomes the job's number?"
            if "%x" in job.options[name]:
                advice = "%x is the job's name. What becomes of the file if the job is renamed?"
            raise CheckFailed(expected, f"--{name}={job.options[name]}", advice)
    return f"{nodes} node x {each} tasks, at most {limit / 60:g} minutes, two files with %j."


def whole(job: Any, name: str) -> int:
    value = job.options[name]
    if not value.isdigit() or int(value) < 1:
        where = f"line {job.lines[name]}: --{name}={value}"
        raise CheckFailed(f"--{name} is a whole number", where, "Write a count, such as 1 or 2.")
    return int(value)


def check_time(job: Any) -> float:
    """Return the requested wall time in seconds."""
    from cluster.job_file import jobfile

    expected = "--time of five minutes"
    found = f"--time={job.options['time']}"
    try:
        seconds = jobfile.seconds(job.options["time"])
    except ValueError as error:
        raise CheckFailed(expected, f"{found}: {error}", "Hours:minutes:seconds.") from None
    if seconds != SECONDS:
        found += ": no limit" if seconds is None else f", which means {seconds} seconds"
        advice = "The table shows ten minutes. Two numbers mean minutes:seconds."
        raise CheckFailed(expected, found, advice)
    return seconds


@exercise("0.2")
def check_0_2(facts: Function) -> str:
    """rank, size and local_rank come from the environment; they are 0, 1, 0 without a launcher."""
    slurm = {"SLURM_PROCID": "5", "SLURM_STEP_NUM_TASKS": "8", "SLURM_LOCALID": "1"}
    both = OMPI | {"SLURM_PROCID": "0", "SLURM_LOCALID": "0"}
    cray = {"PMI_RANK": "7", "PMI_SIZE": "8", "PMI_LOCAL_RANK": "3"}
    cases = {
        "under mpirun": (OMPI, (3, 4, 1)),
        "under srun": (slurm, (5, 8, 1)),
        "under mpirun in a Slurm job": (both, (3, 4, 1)),
        "without a launcher": ({"HOME": "/home/you"}, (0, 1, 0)),
        "under Cray MPICH": (cray, (7, 8, 3)),
        "with other names in NAMES": ({"A_RANK": "2", "B_SIZE": "3", "A_LOCAL": "0"}, (2, 3, 0)),
    }
    for case, (environ, right) in cases.items():
        expected = dict(zip(("rank", "size", "local_rank"), right, strict=True))
        names = {"NAMES": INVENTED} if "NAMES" in case else {}
        try:
            with patch.dict(getattr(facts, "__globals__", {}), names):
                found = facts(environ)
        except KeyError as error:
            advice = "Not every launcher sets every name: check `if name in environ` first."
            raise CheckFailed(f"{case}: {expected}", f"KeyError: {error}", advice) from None
        if found != expected:
            advice = OTHER_NAMES if names else facts_advice(found, facts)
            raise CheckFailed(f"{case}: {expected}", shown(found), advice)
    return "The values are right under srun, under mpirun and without a launcher."


def facts_advice(found: Any, facts: Function) -> str:
    if not isinstance(found, dict):
        return "Return the dictionary: `return found`."
    if any(isinstance(value, str) for value in found.values()):
        return "Environment variables are text: convert them with int()."
    with patch.dict(os.environ, OMPI):
        if facts({}).get("size") == 4:
            return "Look in `environ`, the function's argument, not in os.environ."
    if found == {"rank": 0, "size": 4, "local_rank": 0}:
        return (
            "Inside a Slurm job, SLURM_PROCID is the same in all processes that mpirun starts on "
            "a node. Which of two names that are set comes first in NAMES?"
        )
    return "Which names does this launcher set, and which of them does your function read?"


@exercise("0.3")
def check_0_3(core_hours: Function, idle_share: Function) -> str:
    """core_hours returns the cost of a job, and idle_share the idle share of several jobs' cost."""
    for cores, elapsed in ((4, 1800), (1, 90)):
        right = cores * elapsed / 3600
        mistakes = {
            right * 3600: "These are core seconds: an hour has 3,600.",
            right * 60: "These are core minutes: an hour has 3,600 seconds.",
            right / cores: "You pay for every core that the job holds.",
        }
        check_number(core_hours, "core_hours", (cores, elapsed), right, mistakes)
    for jobs in ([(4, 1800, 900)], [(1, 100, 90), (8, 1000, 800)]):
        held = sum(cores * elapsed for cores, elapsed, _ in jobs)
        worked = sum(seconds for *_, seconds in jobs)
        shares = [1 - seconds / (cores * elapsed) for cores, elapsed, seconds in jobs]
        right = 1 - worked / held
        mistakes = {
            100 * right: "A share is a number from 0 to 1, not a percentage.",
            sum(shares) / len(shares): "This is the mean of the jobs' shares. A large job costs "
            "more than a small one, so it weighs more.",
            1 - right: "This is the busy share. The rest was idle.",
            held - worked: "These are idle core seconds. What share of all core seconds is it?",
        }
        otherwise = "How many core seconds did all jobs hold? In how many was a core working?"
        check_number(idle_share, "idle_share", (jobs,), right, mistakes, otherwise)
    return "4 cores for half an hour are 2 core hours; a large job weighs more than a small one."


@exercise("0.4")
def check_0_4(out: Path, err: Path, both: Path) -> str:
    """The record is in out.txt, the warning is in err.txt, and both are in all.txt."""
    start = "Run your train.py lines in the cell above. `>` and `2>` each need a file name."
    for path in (Path(out), Path(err), Path(both)):
        if not path.is_file():
            raise CheckFailed(f"a file {path}", "there is none", start)
    result, noise = (Path(path).read_text(errors="replace") for path in (out, err))
    if "Traceback" in noise:
        advice = f"{err} shows the line. Correct it and run again."
        raise CheckFailed("a program that runs", noise.strip().splitlines()[-1], advice)
    if TAG in noise:
        advice = "Which of the two arrows is for the results, and which for the errors?"
        raise CheckFailed(f"record lines in {out}", f"they are in {err}", advice)
    if TAG not in result:
        raise CheckFailed(f"record lines in {out}", "there is none", start)
    if WARNING in result:
        advice = "2>&1 and &> put both streams into one file. Write 2> and a file for the errors."
        raise CheckFailed(f"the warning in {err} only", f"it is in {out}", advice)
    if WARNING not in noise:
        advice = "The errors may be on the screen. Which arrow is for them?"
        raise CheckFailed(f"the warning in {err}", "there is none", advice)
    together = Path(both).read_text(errors="replace")
    missing = {TAG: "record lines", WARNING: "warning"}
    if lacks := [words for mark, words in missing.items() if mark not in together]:
        advice = "Read your line from left to right. Where do the results go when the errors join?"
        raise CheckFailed(f"the record and the warning in {both}", f"no {lacks[0]}", advice)
    return f"{result.count(TAG)} record lines in {out}, the warning in {err}."
