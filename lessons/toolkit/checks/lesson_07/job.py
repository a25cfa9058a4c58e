"""The job file (7.6) and its container (7.7): texts, and no Horovod."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, StillAGap, exercise, failure, shown

Function = Callable[..., Any]

TIMELINE = re.compile(r"^\s*(export\s+)?HOROVOD_TIMELINE(\s*)=(\s*)(\S*)")
ASSIGNED = re.compile(r"^\s*(?:export\s+)?(\w+)=(\S*)")
NAME = re.compile(r"\$(?:\{(\w+)[^}]*\}|(\w+))")


@exercise("7.6")
def check_7_6(job: str) -> str:
    """The job exports HOROVOD_TIMELINE before the launch, with the number of tasks in the name."""
    lines = Path(job).read_text(encoding="utf-8").splitlines()
    if any("Exercise 7.6:" in line and line.startswith("echo") for line in lines):
        raise StillAGap(
            f"export HOROVOD_TIMELINE in {job}",
            None,
            "Write the export in place of the lines `echo …` and `exit 1`.",
        )
    right = "export HOROVOD_TIMELINE=…, a file timeline_2.json on two ranks"
    found = [
        (number, match) for number, line in enumerate(lines) if (match := TIMELINE.match(line))
    ]
    launch = [number for number, line in enumerate(lines) if line.startswith("launch ")]
    if not found:
        advice = (
            "An option of horovodrun reaches only what horovodrun starts; a variable all ranks."
        )
        raise CheckFailed(right, f"no line of {job} sets HOROVOD_TIMELINE", advice)
    place, match = found[-1]
    exported, before, behind, value = match.groups()
    line = lines[place].strip()
    if before or behind:
        raise CheckFailed(right, line, "The shell wants no space around the `=`.")
    if not exported:
        advice = "Without `export` the variable stays in this script, and no rank sees it."
        raise CheckFailed(right, line, advice)
    if not launch or place > launch[-1]:
        raise CheckFailed(right, f"{line}, behind the launch", "It has to stand above the launch.")
    if "'" in value and "$" in value:
        raise CheckFailed(right, line, "Between '…' the shell leaves a name with $ as it stands.")
    (one, _), (two, unset) = (filled_in(value, lines[:place], tasks) for tasks in "12")
    if unset:
        advice = (
            f"The number of tasks is in SLURM_NTASKS and not in {unset[0]}; a name that nobody has "
            "set is empty, and with this job's `set -u` it ends the job."
        )
        raise CheckFailed(right, line, advice)
    if one == two:
        advice = "The job runs on one rank and on several: one run would write over the other's."
        raise CheckFailed(right, line, advice)
    if two != "timeline_2.json":
        raise CheckFailed("timeline_2.json on two ranks", two, "The notebook looks for that name.")
    return "On two ranks Horovod writes timeline_2.json."


def filled_in(value: str, above: Sequence[str], tasks: str) -> tuple[str, list[str]]:
    """The value as the shell makes it on so many tasks, and the names in it that are not set."""
    known = dict.fromkeys(("SLURM_NTASKS", "SLURM_NPROCS"), tasks)

    def content(name: re.Match[str]) -> str:
        return known.get(name[1] or name[2], "")

    for line in above:
        if assigned := ASSIGNED.match(line):
            known[assigned[1]] = NAME.sub(content, assigned[2]).strip('"')
    names = [braced or plain for braced, plain in NAME.findall(value)]
    return NAME.sub(content, value).strip('"'), [name for name in names if name not in known]


OUTSIDE = "mpirun (Open MPI) 4.1.5\n\nReport bugs to http://www.open-mpi.org/community/help/\n"
MPI_CASES = [
    (OUTSIDE, OUTSIDE, True, ""),
    (OUTSIDE, "mpirun (Open MPI) 4.1.2\n", True, "4.1.5 and 4.1.2 differ in the third number only"),
    (OUTSIDE, "mpirun (Open MPI) 5.0.11\n", False, "4 and 5 are different major versions"),
    (OUTSIDE, "mpirun (Open MPI) 4.0.7\n", False, "4.1 and 4.0 differ in the second number"),
    (
        OUTSIDE,
        "HYDRA build details:\n    Version:                                 4.1.5\n",
        False,
        "Hydra is MPICH's launcher: another MPI, though its number is the same",
    ),
    (
        "mpirun (Open MPI) 4.10.1\n",
        "mpirun (Open MPI) 4.1.0\n",
        False,
        "4.10 is not 4.1: compare numbers and not the first letters of the text",
    ),
    ("bash: mpirun: command not found\n", OUTSIDE, False, "there is no MPI on the host"),
]


@exercise("7.7")
def check_7_7(mpi_match: Function, pull: Function) -> str:
    """MPI outside and inside are of one make, with equal first and second numbers."""
    for host, container, right, why in MPI_CASES:
        call = f"mpi_match({first_line(host)!r}, {first_line(container)!r})"
        found = tried(call, mpi_match, host, container)
        if found is None or bool(found) != right:
            advice = f"{why[:1].upper()}{why[1:]}." if why else "The two texts are the same."
            if found is None:
                advice = "mpi_match returns True or False, in every case."
            raise CheckFailed(f"{call} is {right}", shown(found), advice)
    uri, file = "docker://horovod/horovod:latest", "horovod.sif"
    call = f"pull({uri!r}, {file!r})"
    command = tried(call, pull, uri, file)
    words = command.split() if isinstance(command, str) else command
    if not isinstance(words, Sequence) or list(words) != ["apptainer", "pull", file, uri]:
        advice = 'Return one text, f"apptainer pull {file} {uri}", or a list of its four words.'
        if isinstance(words, Sequence) and list(words)[2:] == [uri, file]:
            advice = "The slide's order is reversed: the file to be made comes first."
        elif isinstance(words, Sequence) and "singularity" in words:
            advice = "Singularity is its older name: apptainer pull."
        raise CheckFailed(f'{call} is "apptainer pull {file} {uri}"', shown(command), advice)
    return "Same make, same first two numbers; pull FILE URI."


def tried(call: str, function: Function, *texts: str) -> Any:
    """What the function returns; an error in it says for which call."""
    try:
        return function(*texts)
    except NotImplementedError:
        raise
    except Exception as error:
        _, found, advice = failure(error, tried).args
        raise CheckFailed(f"{call} returns something", found, advice) from None


def first_line(text: str) -> str:
    return text.splitlines()[0]
