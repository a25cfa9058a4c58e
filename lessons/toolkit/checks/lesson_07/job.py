"""Check a job file that requests a timeline (7.7), without needing Horovod.

Most advice follows from the text. Finally, the job is run with a replacement for `launch` that
starts nothing.
"""

import os
import re
import subprocess
import tempfile
from pathlib import Path

from lessons.toolkit.checks.shared.check import CheckFailed, exercise, refuse_gap

TIMELINE = re.compile(r"^\s*(export\s+)?HOROVOD_TIMELINE(\s*)=(\s*)")
SITE = """facts() { :; }
module() { :; }
launch() { bash -c 'echo "launched with ${HOROVOD_TIMELINE-}"'; }
"""


@exercise("7.7")
def check_7_7(job: str) -> str:
    """The job exports HOROVOD_TIMELINE before the launch, to a file named after the task count."""
    refuse_gap(job, "7.7")
    lines = Path(job).read_text(encoding="utf-8").splitlines()
    right = "export HOROVOD_TIMELINE=…, which gives the file timeline_2.json on two ranks"
    found = [
        (number, match) for number, line in enumerate(lines) if (match := TIMELINE.match(line))
    ]
    launch = [number for number, line in enumerate(lines) if line.startswith("launch ")]
    if not found:
        advice = "Set a variable, which reaches all ranks; an option of horovodrun does not."
        raise CheckFailed(right, f"no line of {job} sets HOROVOD_TIMELINE", advice)
    place, match = found[-1]
    exported, before, behind = match.groups()
    line = lines[place].strip()
    if before or behind:
        raise CheckFailed(right, line, "The shell allows no space around the `=`.")
    if not exported:
        advice = "Without `export` the variable stays in this script, and no rank sees it."
        raise CheckFailed(right, line, advice)
    if not launch or place > launch[-1]:
        raise CheckFailed(right, f"{line}, after the launch", "Move it above the launch.")
    one, two = (seen_by_launch(Path(job), tasks) for tasks in "12")
    if two is None:
        advice = (
            "A line above the launch ends the job: the gap's `exit 1`, or a name that is not set "
            "(the number of tasks is in SLURM_NTASKS)."
        )
        raise CheckFailed(right, f"{job} ends before its launch", advice)
    if one == two:
        advice = "The runs on one rank and on several would overwrite the other's file."
        raise CheckFailed(right, f"{two} on any number of ranks", advice)
    if two != "timeline_2.json":
        raise CheckFailed("timeline_2.json on two ranks", two, "The notebook looks for that name.")
    return "On two ranks Horovod writes timeline_2.json."


def seen_by_launch(job: Path, tasks: str) -> str | None:
    """Return the HOROVOD_TIMELINE that a program gets when it is launched on so many ranks.

    Return None if the job ends before the launch.
    """
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder, "site.sh")
        site.write_text(SITE, encoding="utf-8")
        environ = os.environ | {"COURSE_SITE": str(site)}
        environ |= dict.fromkeys(("SLURM_NTASKS", "SLURM_NPROCS"), tasks)
        environ.pop("HOROVOD_TIMELINE", None)
        done = subprocess.run(
            ["bash", job.name], cwd=job.resolve().parent, env=environ,
            capture_output=True, text=True, timeout=20,
        )  # fmt: skip
    found = re.findall(r"^launched with (.*)$", done.stdout, re.MULTILINE)
    return found[-1] if found else None
