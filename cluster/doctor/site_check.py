"""`cluster site check`: report what is wrong with a site file before a job fails."""

import difflib
import os
import re
import shutil
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
    "SITE_NAME": (True, re.compile(r"[a-z][a-z0-9_-]*")),
    "SITE_TITLE": (True, None),
    "SITE_SCHEDULER": (True, re.compile("|".join(SCHEDULERS))),
    "SITE_LAUNCHER": (True, re.compile(r"srun|mpirun|mpiexec|torchrun|horovodrun")),
    "SITE_ACCOUNT": (True, re.compile(r"required|optional|none")),
    "SITE_GPUS_PER_NODE": (False, WHOLE_NUMBER),
    "SITE_CORES_PER_NODE": (False, WHOLE_NUMBER),
    "SITE_CORES_PER_GPU": (False, WHOLE_NUMBER),
    "SITE_MAX_TIME": (False, None),
    "SITE_MAX_NODES": (False, WHOLE_NUMBER),
    "SITE_MAX_JOBS": (False, re.compile(r"[1-9]\d*")),
    "SITE_INTERNET": (True, re.compile(r"yes|no")),
    "SITE_SCRATCH": (True, None),
    "SITE_MASTER_SUFFIX": (False, None),
    "SITE_SUBMIT_OPTIONS": (False, None),
    "SITE_PBS_SELECT": (False, None),
    "SITE_PBS_FILESYSTEMS": (False, None),
    "SITE_CONTAINER": (False, None),
    "SITE_TESTED": (True, None),
}
FUNCTIONS = {
    "launch_ranks": "it starts the ranks of a job: launch_ranks N PROGRAM …",
    "launch": 'the file\'s last line must be: source "$(dirname "${BASH_SOURCE[0]}")/job.sh"',
}
# The functions that a site file may define for jobs.
OWN_FUNCTIONS = ("launch_ranks", "launch_nodes", "load_software")
PLACEHOLDER = re.compile(r"(?i)<.*>|\byour|xxx|changeme|\bproject\b|todo|\.\.\.|…")

TEMPLATE = site_files.FOLDER / "template.sh"

# Jobs source site files under `set -euo pipefail`, so the check does too.
PROBE = """
set -euo pipefail; set -a
source "$1" >&2
declare -F | sed 's/^declare -f[^ ]* /function /'
env -0 | tr '\\n\\0' ' \\n' | grep -E '^(SITE|SBATCH)_' || true
"""


@click.group("site")
def site_group() -> None:
    """Check site files."""


@site_group.command(
    "check",
    epilog="Exit code 0: nothing is wrong; 1: something is, and the output says what; 2: mistyped.",
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
    probe = subprocess.run(
        ["bash", "-c", PROBE, "check", str(file)],
        capture_output=True,
        text=True,
        timeout=30,
        env=site_files.environment_outside_jobs(),
    )
    if probe.returncode:
        words = " ".join(probe.stderr.split()) or f"exit code {probe.returncode}"
        return [f"it fails under `set -euo pipefail`, which is on when jobs source it: {words}"]
    lines = probe.stdout.splitlines()
    functions = {line.split()[1] for line in lines if line.startswith("function ")}
    values = dict(line.split("=", 1) for line in lines if "=" in line)
    return [
        *(f"{name} is missing: {why}" for name, why in FUNCTIONS.items() if name not in functions),
        *misspelt_functions(functions),
        *settings_problems(values),
        *left_from_template(file, values),
        *personal_problems(values),
        *machine_problems(values),
    ]


def settings_problems(values: dict[str, str]) -> list[str]:
    problems = []
    for name, (needed, allowed) in SETTINGS.items():
        value = values.get(name, "")
        if needed and not value:
            problems.append(f"{name} is not set: see cluster/sites/template.sh")
        elif value and allowed and not allowed.fullmatch(value):
            problems.append(f"{name}={value} should be {allowed.pattern.replace('|', ' or ')}")
    for name in values:
        if name.startswith("SITE_") and name not in SETTINGS:
            problems.append(f"{name} is not a known setting; {closest(name)}")
    try:
        jobfile.seconds(values.get("SITE_MAX_TIME") or "0")
    except ValueError as error:
        problems.append(f"SITE_MAX_TIME={values['SITE_MAX_TIME']}: {error}")
    return problems


def misspelt_functions(functions: set[str]) -> list[str]:
    """Report functions whose names look misspelt, because no job would call them."""
    unknown = sorted(functions - set(OWN_FUNCTIONS))
    near = {name: difflib.get_close_matches(name, OWN_FUNCTIONS, 1, 0.85) for name in unknown}
    return [
        f"no job calls the function {name}; did you mean {meant[0]}?"
        for name, meant in near.items()
        if meant
    ]


def left_from_template(file: Path, values: dict[str, str]) -> list[str]:
    """Report values that were copied unchanged from the template."""
    problems = []
    name, title = values.get("SITE_NAME", ""), values.get("SITE_TITLE", "")
    if file.parent == site_files.FOLDER and name not in ("", file.stem):
        problems.append(f"SITE_NAME={name} should be the file's name, {file.stem}")
    if file.stem != "template" and title and f'SITE_TITLE="{title}"' in TEMPLATE.read_text():
        problems.append(f"SITE_TITLE={title} is still the template's: describe this machine")
    return problems


def closest(name: str) -> str:
    near = difflib.get_close_matches(name, SETTINGS, n=1)
    return f"did you mean {near[0]}?" if near else "see cluster/sites/template.sh"


def personal_problems(values: dict[str, str]) -> list[str]:
    account = values.get("SBATCH_ACCOUNT", "")
    if PLACEHOLDER.search(account):
        return [f"SBATCH_ACCOUNT={account} is a placeholder: {use_account(values)}"]
    if values.get("SITE_ACCOUNT") == "required" and not account:
        return [f"this site charges every job to an account: {use_account(values)}"]
    return []


def use_account(values: dict[str, str]) -> str:
    return f"cluster use {values.get('SITE_NAME', 'SITE')} --account YOUR_PROJECT"


def machine_problems(values: dict[str, str]) -> list[str]:
    scheduler = SCHEDULERS.get(values.get("SITE_SCHEDULER", ""))
    # If the course runs jobs itself, it needs the launcher of their ranks here.
    command = scheduler and (scheduler.SUBMIT_PROGRAM or values.get("SITE_LAUNCHER"))
    # Jobs find this environment's programs even if it is not activated.
    positions = os.pathsep.join([os.environ.get("PATH", os.defpath), sysconfig.get_path("scripts")])
    if command and not shutil.which(command, path=positions):
        name = values.get("SITE_NAME") or "this site"
        return [f"{command} is not on this machine: are you logged in to {name}?"]
    return []
