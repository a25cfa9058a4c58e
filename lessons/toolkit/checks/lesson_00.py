"""Public checks of lesson 00: the cluster."""

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

from lessons.toolkit.checks.shared.check import (
    CheckFailed,
    StillAGap,
    compare,
    exercise,
    number,
    shown,
)

Function = Callable[..., Any]

MARK = "#SBATCH"
TAG = ":::MLLOG "
WARNING = "This line is a warning"
OMPI = {
    "OMPI_COMM_WORLD_RANK": "3",
    "OMPI_COMM_WORLD_SIZE": "4",
    "OMPI_COMM_WORLD_LOCAL_RANK": "1",
}


@exercise("0.1")
def check_0_1(path: Path, minutes: int = 30) -> str:
    """Tasks equal nodes × tasks per node, output names contain %j, and there is a time limit."""
    from cluster.job_file import jobfile

    try:
        job = jobfile.read(Path(path))
    except jobfile.JobFileError as error:
        raise CheckFailed("a job file that sbatch can read", error, "Correct this line.") from None
    if job.notes:
        raise CheckFailed(
            f"all directives begin with {MARK} and come before the first command",
            job.notes[0],
            f"Move the line up, or write {MARK} without a space after #.",
        )
    needed = ("nodes", "ntasks", "ntasks-per-node", "time", "output", "error")
    empty = [f"--{name}=" for name in needed if not job.options.get(name)]
    if len(empty) >= 5:
        raise StillAGap(
            "the five empty directives of job.sbatch", None, "Write a value after each `=`."
        )
    if empty:
        advice = "Write a value after the =, without a space."
        raise CheckFailed("every directive has a value", f"{' '.join(empty)} without one", advice)
    nodes, tasks, each = (whole(job, name) for name in ("nodes", "ntasks", "ntasks-per-node"))
    if tasks != 2:
        raise CheckFailed("two tasks", f"--ntasks={tasks}", "This job runs two tasks on one node.")
    if nodes * each != tasks:
        raise CheckFailed(
            "nodes x tasks per node = tasks",
            f"{nodes} x {each} is not {tasks}",
            f"With {nodes} node(s) and {tasks} tasks there are {tasks / nodes:g} on each node.",
        )
    limit = check_time(job, minutes)
    for name in ("output", "error"):
        file = job.options[name]
        if "%j" not in file:
            raise CheckFailed(
                f"%j in --{name}",
                f"--{name}={file}",
                "%j becomes the job's number; without it the next run overwrites this file.",
            )
    if job.options["output"] == job.options["error"]:
        raise CheckFailed(
            "two files, one for results and one for errors",
            f"--output and --error are both {job.options['error']}",
            "End them with .out and .err.",
        )
    check_names(job)
    return f"{nodes} node x {each} tasks, at most {limit / 60:g} minutes, two files with %j."


def check_names(job: Any) -> None:
    """Check how the names begin, as the text asks, and how they end, as the grader needs."""
    for name, ending in (("output", ".out"), ("error", ".err")):
        file = job.options[name]
        expected = f"a file name that begins with 00_cluster_%j and ends in {ending}"
        if not file.endswith(ending):
            advice = "The results go to the file that ends in .out, the errors to the other one."
            raise CheckFailed(expected, f"--{name}={file}", advice)
        if not Path(file).name.startswith("00_cluster_%j"):
            advice = (
                f"Write 00_cluster_%j{ending}: the scheduler replaces %j with the job's number."
            )
            raise CheckFailed(expected, f"--{name}={file}", advice)


def whole(job: Any, name: str) -> int:
    value = job.options[name]
    if not value.isdigit() or int(value) < 1:
        where = f"line {job.lines[name]}: --{name}={value}"
        raise CheckFailed(f"--{name} is a whole number", where, "Write a count, such as 1 or 2.")
    return int(value)


def check_time(job: Any, minutes: int) -> float:
    """Return the requested wall time in seconds."""
    from cluster.job_file import jobfile

    given = job.options["time"]
    expected = f"--time of 5 minutes, written 00:05:00 (at most {minutes} minutes)"
    try:
        seconds = jobfile.seconds(given)
    except ValueError as error:
        raise CheckFailed(expected, f"--time={given}: {error}", "Hours:minutes:seconds.") from None
    if seconds is None:
        raise CheckFailed(
            expected, f"--time={given}: no limit", "Request only the time that you need."
        )
    if seconds > 60 * minutes:
        advice = "Hours come first: 00:05:00. Short jobs often start sooner."
        raise CheckFailed(expected, f"--time={given}, {seconds / 60:g} minutes", advice)
    if seconds < 60:
        advice = "Two numbers mean minutes:seconds, so 00:05 is 5 seconds. Write 00:05:00."
        raise CheckFailed(expected, f"--time={given}, {seconds} seconds", advice)
    return seconds


@exercise("0.2")
def check_0_2(facts: Function) -> str:
    """rank, size and local_rank come from the environment; they are 0, 1, 0 without a launcher."""
    slurm = {"SLURM_PROCID": "5", "SLURM_STEP_NUM_TASKS": "8", "SLURM_LOCALID": "1"}
    both = OMPI | {"SLURM_PROCID": "0", "SLURM_LOCALID": "0"}
    cases = {
        "under mpirun": (OMPI, (3, 4, 1)),
        "under srun": (slurm, (5, 8, 1)),
        "under mpirun in a Slurm job": (both, (3, 4, 1)),
        "without a launcher": ({"HOME": "/home/you"}, (0, 1, 0)),
    }
    for case, (environ, right) in cases.items():
        expected = dict(zip(("rank", "size", "local_rank"), right, strict=True))
        try:
            found = facts(environ)
        except KeyError as error:
            advice = "Not every launcher sets every name: check `if name in environ` first."
            raise CheckFailed(f"{case}: {expected}", f"KeyError: {error}", advice) from None
        if found != expected:
            raise CheckFailed(
                f"{case}: {expected}", shown(found), facts_advice(found, expected, facts)
            )
    return "The values are right under srun, under mpirun and without a launcher."


def uses_os_environ(facts: Function) -> bool:
    with patch.dict(os.environ, OMPI):
        found = facts({})
    return isinstance(found, dict) and found.get("size") == 4


def facts_advice(found: Any, expected: dict[str, int], facts: Function) -> str:
    if not isinstance(found, dict):
        return "Return the dictionary: `return found`."
    if any(isinstance(value, str) for value in found.values()):
        return "Environment variables are text: convert them with int()."
    if uses_os_environ(facts):
        return "Look in `environ`, the function's argument, not in os.environ."
    if found == {"rank": 0, "size": 4, "local_rank": 0}:
        return (
            "Inside a Slurm job, SLURM_PROCID is 0 in every process that mpirun starts. Go "
            "through NAMES in order and stop at the first name that is set."
        )
    if expected["size"] > 1 and found.get("rank") == expected["rank"] and found.get("size") == 1:
        return (
            "Only the first fact was looked up. Is `return found` inside the loop? Indent it like "
            "the `for`."
        )
    if expected["size"] > 1 and found.get("size") == 1:
        return "The variables are set, but you still return 0, 1 and 0: store what you find."
    if expected["size"] == 1:
        return "If no launcher has set a variable, there is one task: rank 0 of 1."
    return "For each fact, take the first name in NAMES that is in environ."


@exercise("0.3")
def check_0_3(core_hours: Function, idle_share: Function) -> str:
    """core_hours returns the cost of a job, and idle_share the idle share of several jobs' cost."""
    for cores, elapsed in ((4, 1800), (1, 90)):
        right = cores * elapsed / 3600
        compare(
            number(core_hours(cores, elapsed), f"core_hours({cores}, {elapsed})"),
            right,
            f"core_hours({cores}, {elapsed})",
            {
                right * 3600: "These are core seconds: an hour has 3,600.",
                right * 60: "These are core minutes: an hour has 3,600 seconds.",
                right / cores: "You pay for every core that the job holds.",
                right * 3600 / cores**2: "A job on more cores costs more, not less.",
            },
            "What do you pay for one core for the whole time? And for all the cores?",
        )
    for jobs in ([(4, 1800, 900)], [(1, 100, 90), (8, 1000, 800)]):
        held = sum(cores * elapsed for cores, elapsed, _ in jobs)
        worked = sum(seconds for *_, seconds in jobs)
        shares = [1 - seconds / (cores * elapsed) for cores, elapsed, seconds in jobs]
        elapsed = sum(seconds for _, seconds, _ in jobs)
        right = 1 - worked / held
        compare(
            number(idle_share(list(jobs)), f"idle_share({jobs})"),
            right,
            f"idle_share({jobs})",
            {
                100 * right: "A share is a number from 0 to 1, not a percentage.",
                sum(shares) / len(shares): "This is the mean of the jobs' shares. A large job costs"
                " more than a small one, so it weighs more.",
                sum(
                    shares
                ): "This is the sum of the jobs' shares. Take the share of all jobs together.",
                1 - right: "This is the busy share. The rest was idle.",
                1 - worked / elapsed: "A job on 8 cores holds 8 core seconds per second.",
                held - worked: "These are idle core seconds. What share of all core seconds is it?",
                (held - worked)
                / 3600: "These are idle core hours. What share of all core hours is it?",
                right * held / worked: "This is idle time divided by working time. Divide by the "
                "time for which all cores were held.",
            },
            "How many core seconds did all jobs hold? In how many of those was a core working?",
        )
    return "4 cores for half an hour are 2 core hours; a large job weighs more than a small one."


@exercise("0.4")
def check_0_4(out: Path, err: Path) -> str:
    """The record is only in out.txt, and the warning is only in err.txt."""
    start = "Run your train.py line in the cell above. `>` and `2>` each need a file name."
    texts = {}
    for path in (Path(out), Path(err)):
        if not path.is_file():
            raise CheckFailed(f"a file {path}", "there is none", start)
        texts[path] = path.read_text(errors="replace")
    result, noise = texts[Path(out)], texts[Path(err)]
    if not result and not noise:
        raise CheckFailed("both files filled", "both are empty", start)
    if TAG not in result and TAG in noise:
        advice = "The two streams are swapped: > redirects the output, 2> the errors."
        if WARNING not in result + noise:  # > out.txt > err.txt: the second one gets everything
            advice = (
                "Each > redirects the results, and the second one wins. Write 2> for the errors."
            )
        elif WARNING in noise:
            advice = f"Both streams go to {err}: send the results to their own file with >."
        raise CheckFailed(f"record lines in {out}", f"they are in {err}", advice)
    if "Traceback" in noise:
        last = noise.strip().splitlines()[-1]
        raise CheckFailed(
            "a program that runs", last, f"{err} shows the line. Correct it and run again."
        )
    if TAG not in result:
        raise CheckFailed(f"record lines in {out}", "there is none", start)
    if WARNING in result:
        advice = "2>&1 and &> put both streams into one file. Write 2> and a file for the errors."
        raise CheckFailed(f"the warning in {err} only", f"it is in {out}", advice)
    if WARNING not in noise:
        advice = (
            f"The errors are in neither file; they may be on the screen. Send them to {err} "
            "with 2>."
        )
        raise CheckFailed(f"the warning in {err}", "it is not there", advice)
    lines = result.count(TAG)
    return f"{lines} record lines in {out}, the warning in {err}."


@exercise("0.5")
def check_0_5(found: Mapping[str, Any] | None = None) -> str:
    """The notebook runs in the course's environment, and Jupyter has a kernel for it."""
    found = found or environment()
    if not found["course"]:
        raise CheckFailed(
            "a Python that has the course installed",
            found["python"],
            "Create the environment (`make`, or conda with environment.yml) and choose its kernel.",
        )
    if not found["own"]:
        raise CheckFailed(
            "an environment of its own",
            f"the base installation {found['prefix']}",
            "Packages installed there affect every program. Create one for the course.",
        )
    if not found["kernels"]:
        raise CheckFailed(
            f"a kernel that starts {found['prefix']}",
            "Jupyter lists no such kernel",
            f"{found['prefix']}/bin/cluster kernel install",
        )
    return f"{found['prefix']}, kernel {found['kernels'][0]}."


def environment() -> dict[str, Any]:
    """Return this interpreter, whether it is in an environment, and the kernels that start it."""
    from importlib.metadata import distributions
    from sysconfig import get_path

    from jupyter_client.kernelspec import KernelSpecManager

    prefix = Path(sys.prefix)
    installed = list(distributions(name="dl-on-supercomputers", path=[get_path("purelib")]))
    kernels = []
    for name, spec in KernelSpecManager().get_all_specs().items():
        words = [*spec["spec"]["argv"], spec["resource_dir"]]  # a launcher may come before Python
        if any(Path(word).is_relative_to(prefix) for word in words):
            kernels.append(name)
    # A virtual environment, or a conda environment that is not conda's own (which has condabin).
    conda = (prefix / "conda-meta").is_dir() and not (prefix / "condabin").is_dir()
    return {
        "python": sys.executable,
        "prefix": str(prefix),
        "course": bool(installed),
        "own": sys.prefix != sys.base_prefix or conda,
        "kernels": sorted(kernels),
    }
