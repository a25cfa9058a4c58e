"""`cluster site check`: report what is wrong with a site file before a job fails."""

import re
import subprocess
import sysconfig
from pathlib import Path

import click

from cluster.job_file import jobfile
from cluster.schedulers.known import SCHEDULERS
from cluster.sites import site_files

# Every setting: whether it is required, and its allowed values.
WHOLE_NUMBER = re.compile(r"\d+")
SETTINGS: dict[str, tuple[bool, re.Pattern | None]] = {
    "SITE_NAME": (True, None),
    "SITE_TITLE": (True, None),
    "SITE_SCHEDULER": (True, re.compile("|".join(SCHEDULERS))),
    "SITE_LAUNCHER": (True, re.compile(r"srun|mpirun|mpiexec|torchrun|horovodrun")),
    "SITE_ACCOUNT": (True, re.compile(r"required|optional|none")),
    "SITE_GPUS_PER_NODE": (False, WHOLE_NUMBER),
    "SITE_CORES_PER_NODE": (False, WHOLE_NUMBER),
    "SITE_CORES_PER_GPU": (False, WHOLE_NUMBER),
    "SITE_GPU_CAPABILITY": (False, re.compile(r"\d+\.\d")),
    "SITE_MAX_TIME": (False, None),
    "SITE_MAX_NODES": (False, WHOLE_NUMBER),
    "SITE_MAX_JOBS": (False, re.compile(r"[1-9]\d*")),
    "SITE_INTERNET": (True, re.compile(r"yes|no")),
    "SITE_SCRATCH": (True, None),
    **dict.fromkeys(("SITE_MASTER_SUFFIX", "SITE_CONTAINER", "SITE_SRUN_OPTIONS"), (False, None)),
    **dict.fromkeys(("SITE_SUBMIT_OPTIONS", "SITE_PBS_SELECT"), (False, None)),
    "SITE_PBS_FILESYSTEMS": (False, None),
    "SITE_TESTED": (True, None),
}
FUNCTIONS = {
    "launch_ranks": "it starts the ranks of a job: launch_ranks N PROGRAM …",
    "launch": 'the file\'s last line must be: source "$(dirname "${BASH_SOURCE[0]}")/job.sh"',
}

# Jobs source site files under `set -euo pipefail`, so the check does too.
PROBE = """
set -euo pipefail; set -a
source "$1" >&2
declare -F | sed 's/^declare -f[^ ]* /function /'
env -0 | tr '\\n\\0' ' \\n' | grep -E '^(SITE|SBATCH)_' || true
"""
# As at the top of a job, where load_software runs without `set -eu`.
LOAD = 'source "$1" >&2; ! declare -F load_software >/dev/null || load_software'
SECONDS = 30


@click.group("site")
def site_group() -> None:
    """Check site files."""


@site_group.command(
    "check",
    epilog="Exit code 0: nothing is wrong; 1: something is, as the output says; 2: wrong usage.",
)
@click.argument("name", required=False)
def check_command(name: str | None) -> None:
    """Find out what is wrong with a site file: NAME, or the one in use."""
    file = site_files.chosen_file(name)
    problems = check(file)
    for problem in problems:
        click.echo(f"{file}: {problem}")
    if problems:
        raise SystemExit(1)
    click.echo(f"{file}: nothing wrong was found")


def check(file: Path) -> list[str]:
    syntax = subprocess.run(["bash", "-n", str(file)], capture_output=True, text=True)
    if syntax.returncode:
        return [
            "not valid shell: " + line.removeprefix(f"{file}: ")
            for line in syntax.stderr.splitlines()
        ]
    probe = ask("bash", "-c", PROBE, "check", str(file))
    if probe.returncode:
        words = " ".join(probe.stderr.split()) or f"exit code {probe.returncode}"
        return [f"it fails under `set -euo pipefail`, which is on when jobs source it: {words}"]
    lines = probe.stdout.splitlines()
    functions = {line.split()[1] for line in lines if line.startswith("function ")}
    values = dict(line.split("=", 1) for line in lines if re.match("(SITE|SBATCH)_", line))
    return [
        *(f"{name} is missing: {why}" for name, why in FUNCTIONS.items() if name not in functions),
        *settings_problems(file, values),
        *machine_problems(file, values),
    ]


def ask(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a command as if outside a job, with a time limit."""
    outside = site_files.environment_outside_jobs()
    try:
        return subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, env=outside)
    except (subprocess.TimeoutExpired, OSError) as error:
        late = isinstance(error, subprocess.TimeoutExpired)
        why = f"no answer within {SECONDS} s" if late else str(error)
        return subprocess.CompletedProcess(words, 1, "", why)


def settings_problems(file: Path, values: dict[str, str]) -> list[str]:
    problems = []
    for name, (needed, allowed) in SETTINGS.items():
        value = values.get(name, "")
        if needed and not value:
            problems.append(f"{name} is not set: see cluster/sites/template.sh")
        elif value and allowed and not allowed.fullmatch(value):
            is_number, words = "\\d" in allowed.pattern, allowed.pattern.replace("|", " or ")
            words = "a number above 0, as in cluster/sites/template.sh" if is_number else words
            problems.append(f"{name}={value} should be {words}")
    for name in values:
        if name.startswith("SITE_") and name not in SETTINGS:
            problems.append(f"{name} is not a known setting: see cluster/sites/template.sh")
    try:
        jobfile.seconds(values.get("SITE_MAX_TIME") or "0")
    except ValueError as error:
        problems.append(f"SITE_MAX_TIME={values['SITE_MAX_TIME']}: {error}")
    name = values.get("SITE_NAME") or file.stem
    if file.parent == site_files.FOLDER and name != file.stem:
        problems.append(f"SITE_NAME={name} should be the file's name, {file.stem}")
    if values.get("SITE_ACCOUNT") == "required" and not values.get("SBATCH_ACCOUNT"):
        use = f"cluster use {name} --account YOUR_PROJECT"
        problems.append(f"this site charges every job to an account: {use}")
    return problems


def machine_problems(file: Path, values: dict[str, str]) -> list[str]:
    scheduler = SCHEDULERS.get(values.get("SITE_SCHEDULER", ""))
    if not scheduler:
        return []
    # If the course runs jobs itself, it needs the launcher of their ranks here.
    command = scheduler.SUBMIT_PROGRAM or values.get("SITE_LAUNCHER")
    # Jobs find this environment's programs even if it is not activated.
    if command and not site_files.find_program(command, sysconfig.get_path("scripts")):
        name = values.get("SITE_NAME") or "this site"
        return [f"{command} is not on this machine: are you logged in to {name}?"]
    problems = []
    if scheduler.HEALTH:
        question, good = scheduler.HEALTH
        health = ask(*question.split())
        if health.returncode or not re.search(good, health.stdout):
            said = (health.stdout + health.stderr).strip()
            return [f"the batch system does not answer: {question}: {said}"]
    if scheduler.SUBMIT_PROGRAM == "sbatch":
        partitions = set(ask("sinfo", "--all", "--noheader", "--format=%R").stdout.split())
        wrong = {*values.get("SBATCH_PARTITION", "").split(",")} - partitions - {""}
        if partitions and wrong:
            named, there = ", ".join(sorted(wrong)), ", ".join(sorted(partitions))
            problems.append(f"SBATCH_PARTITION: there is no partition {named} here, but {there}")
    load = ask("bash", "-c", LOAD, "load", str(file))
    if load.returncode:
        said = " ".join(load.stderr.split()[-60:]) or f"exit code {load.returncode}"
        problems.append(f"load_software fails on this machine: {said}")
    return problems
