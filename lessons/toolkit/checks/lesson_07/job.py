"""Check a job file that requests a timeline (7.7), without needing Horovod.

Most advice follows from the text. Finally, the job is run with a replacement for `launch` that
starts nothing.
"""

import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from lessons.toolkit.checks.shared.check import CheckFailed, StillAGap, exercise

TIMELINE = re.compile(r"^\s*(export\s+)?HOROVOD_TIMELINE(\s*)=(\s*)(\S*)")
ASSIGNED = re.compile(r"^\s*(?:export\s+)?(\w+)=(\S*)")
SITE = """facts() { :; }
module() { :; }
launch() { bash -c 'echo "launched with ${HOROVOD_TIMELINE-}"'; }
"""
NAME = re.compile(r"\$(?:\{(\w+)[^}]*\}|(\w+))")


@exercise("7.7")
def check_7_7(job: str) -> str:
    """The job exports HOROVOD_TIMELINE before the launch, to a file named after the task count."""
    lines = Path(job).read_text(encoding="utf-8").splitlines()
    if any("Exercise 7.7:" in line and line.startswith("echo") for line in lines):
        raise StillAGap(
            f"export HOROVOD_TIMELINE in {job}",
            None,
            "Write the export in place of the lines `echo …` and `exit 1`.",
        )
    right = "export HOROVOD_TIMELINE=…, which gives the file timeline_2.json on two ranks"
    found = [
        (number, match) for number, line in enumerate(lines) if (match := TIMELINE.match(line))
    ]
    launch = [number for number, line in enumerate(lines) if line.startswith("launch ")]
    if not found:
        advice = (
            "An option of horovodrun reaches only what horovodrun starts; a variable reaches "
            "all ranks."
        )
        raise CheckFailed(right, f"no line of {job} sets HOROVOD_TIMELINE", advice)
    place, match = found[-1]
    exported, before, behind, value = match.groups()
    line = lines[place].strip()
    if before or behind:
        raise CheckFailed(right, line, "The shell allows no space around the `=`.")
    if not exported:
        advice = "Without `export` the variable stays in this script, and no rank sees it."
        raise CheckFailed(right, line, advice)
    if not launch or place > launch[-1]:
        raise CheckFailed(right, f"{line}, after the launch", "Move it above the launch.")
    if "'" in value and "$" in value:
        raise CheckFailed(right, line, "Inside '…', the shell does not expand $NAME.")
    (one, _), (two, unset) = (filled_in(value, lines[:place], tasks) for tasks in "12")
    if unset:
        advice = (
            f"The number of tasks is in SLURM_NTASKS, not in {unset[0]}. An unset name is empty, "
            "and with this job's `set -u` it ends the job."
        )
        raise CheckFailed(right, line, advice)
    if one == two:
        advice = (
            "The job runs on one rank and on several, and one run would overwrite the other's file."
        )
        raise CheckFailed(right, line, advice)
    if two != "timeline_2.json":
        raise CheckFailed("timeline_2.json on two ranks", two, "The notebook looks for that name.")
    seen = seen_by_launch(Path(job))
    if seen is None:
        advice = "A line above the launch ends the job, such as the gap's `exit 1`. Remove it."
        raise CheckFailed(right, f"{job} ends before its launch", advice)
    if seen != two:
        advice = "A later line changes the variable, or this line is never reached."
        raise CheckFailed(right, f"the launched program does not see what `{line}` sets", advice)
    return "On two ranks Horovod writes timeline_2.json."


def seen_by_launch(job: Path) -> str | None:
    """Return the HOROVOD_TIMELINE that a program gets when it is launched on two ranks.

    Return None if the job ends before the launch.
    """
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder, "site.sh")
        site.write_text(SITE, encoding="utf-8")
        environ = os.environ | {"COURSE_SITE": str(site), "SLURM_NTASKS": "2", "SLURM_NPROCS": "2"}
        environ.pop("HOROVOD_TIMELINE", None)
        done = subprocess.run(
            ["bash", job.name], cwd=job.resolve().parent, env=environ,
            capture_output=True, text=True, timeout=20,
        )  # fmt: skip
    found = re.findall(r"^launched with (.*)$", done.stdout, re.MULTILINE)
    return found[-1] if found else None


def filled_in(value: str, above: Sequence[str], tasks: str) -> tuple[str, list[str]]:
    """Return the value as the shell expands it, and the names of its unset variables.

    `tasks` is the number of tasks.
    """
    known = dict.fromkeys(("SLURM_NTASKS", "SLURM_NPROCS"), tasks)

    def content(name: re.Match[str]) -> str:
        return known.get(name[1] or name[2], "")

    for line in above:
        if assigned := ASSIGNED.match(line):
            known[assigned[1]] = NAME.sub(content, assigned[2]).strip('"')
    names = [braced or plain for braced, plain in NAME.findall(value)]
    return NAME.sub(content, value).strip('"'), [name for name in names if name not in known]
