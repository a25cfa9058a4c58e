"""`cluster site check`: report what is wrong with a site file before a job fails."""

import re
import subprocess
import sysconfig
from pathlib import Path

import click

from cluster.schedulers.known import SCHEDULERS
from cluster.schedulers.slurm import GPU_VARIABLES
from cluster.sites import settings, site_files
from cluster.sites.settings import SETTINGS

FUNCTIONS = {
    "launch_ranks": "without srun, the file starts the ranks itself: launch_ranks N PROGRAM …",
    "launch": 'the file\'s last line must be: source "$(dirname "${BASH_SOURCE[0]}")/job.sh"',
}

# Jobs source site files under `set -euo pipefail`, so the check does too.
PROBE = """
set -euo pipefail; set -a
source "$1" >&2
case ${SITE_LAUNCHER:-}$(declare -f launch_ranks) in mpi*SITE_SRUN_*) unset -f launch_ranks ;; esac
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
    file = site_files.course_file(name) if name else site_files.chosen_file(None)
    problems = check(file, in_use=not name)
    for problem in problems or ["nothing wrong was found"]:
        click.echo(f"{file}: {problem}")
    raise SystemExit(1 if problems else 0)


def check(file: Path, in_use: bool = True) -> list[str]:
    if b"\r" in file.read_bytes():
        return [settings.WINDOWS]
    syntax = subprocess.run(["bash", "-n", str(file)], capture_output=True, text=True)
    if syntax.returncode:
        return [f"not valid shell: {settings.shell_error(file, syntax.stderr)}"]
    probe = ask("bash", "-c", PROBE, "check", str(file))
    if probe.returncode:
        words = settings.shell_error(file, probe.stderr)
        return [f"it fails under `set -euo pipefail`, which is on when jobs source it: {words}"]
    lines = probe.stdout.splitlines()
    functions = {line.split()[1] for line in lines if line.startswith("function ")}
    values = dict(line.split("=", 1) for line in lines if re.match("(SITE|SBATCH)_", line))
    return [
        *(f"{name} is missing: {why}" for name, why in FUNCTIONS.items() if name not in functions),
        *settings_problems(file, values, in_use),
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


def settings_problems(file: Path, values: dict[str, str], in_use: bool) -> list[str]:
    problems = [
        f"{name} is not set: see cluster/sites/template.sh"
        for name, (needed, _) in SETTINGS.items()
        if needed and not values.get(name)
    ]
    problems += settings.wrong_values(values)
    for name in values:
        if name.startswith("SITE_") and name not in SETTINGS:
            problems.append(f"{name} is not a known setting: see cluster/sites/template.sh")
        if name.startswith("SBATCH_") and name[7:] not in settings.READ_BY_SBATCH.split():
            problems.append(f"{name} is not a variable that sbatch reads: see man sbatch")
    if len(gpus := gpu_variables(values)) > 1:
        problems.append(f"{' and '.join(gpus)}: Slurm adds up what they request; set only one")
    name = values.get("SITE_NAME") or file.stem
    if file.parent == site_files.FOLDER and name != file.stem:
        problems.append(f"SITE_NAME={name} should be the file's name, {file.stem}")
    needs_account = values.get("SITE_ACCOUNT") == "required" and not values.get("SBATCH_ACCOUNT")
    if needs_account and in_use:  # the site's own file names no account
        use = f"cluster use {name} --account YOUR_PROJECT"
        problems.append(f"this site charges every job to an account: {use}")
    return problems


def gpu_variables(values: dict[str, str]) -> list[str]:
    """Return the variables that request GPUs. SBATCH_GRES may request something else."""
    filled = sorted(name for name in GPU_VARIABLES if values.get(name))
    return [name for name in filled if name != "SBATCH_GRES" or "gpu" in values[name]]


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
        rows = ask("sinfo", "--all", "--noheader", "--format=%R %G").stdout.splitlines()
        partitions = {row.split()[0] for row in rows if row.strip()}
        chosen = {*values.get("SBATCH_PARTITION", "").split(",")} - {""}
        if partitions and (wrong := chosen - partitions):
            named, there = ", ".join(sorted(wrong)), ", ".join(sorted(partitions))
            problems.append(f"SBATCH_PARTITION: there is no partition {named} here, but {there}")
        resources = {row.split()[-1] for row in rows if row.split()[:1] == [*chosen]}
        if resources == {"(null)"} and (gpus := gpu_variables(values)):
            problems.append(
                f"the partition {values['SBATCH_PARTITION']} has no GPUs, but {gpus[0]} requests"
                f" {values[gpus[0]]}: see docs/sites.md, A partition without GPUs"
            )
    load = ask("bash", "-c", LOAD, "load", str(file))
    if load.returncode:
        said = " ".join(load.stderr.split()[-60:]) or f"exit code {load.returncode}"
        problems.append(f"load_software fails on this machine: {said}")
    return problems
