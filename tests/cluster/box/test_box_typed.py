"""Type what page 00 says to type on a Slurm machine, as an ordinary student.

The lines are the page's, in order, as one script; `JOB` is the number of the last job. Lines that
also work on a laptop are tested in tests/lessons/programs/test_typed_commands.py.
"""

import pytest

from tests.lessons.programs.typed_commands import commands

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

NOT_HERE = {
    "source ../../.venv/bin/activate": "the module does it",
    "cluster use juwels --account PROJECT": "another site",
    "seff JOB": "not every Slurm has it, and this one does not",
}
INSTEAD = [
    ("cluster use laptop", "cluster use box"),
    ("overlap nvidia-smi", "overlap hostname"),
    ("JOB", "$JOB"),
]
SAID = [
    "Jobs now run on box",
    " on node0",  # printed by the clock while it ran
    "CANCELLED",  # from the accounting
    "host of a job: node0",
    "launch: 2 ranks as the launcher counts",  # inside the allocation
    "task 1 of 2 on ",
]


def script():
    """Return the page's lines for a shell without a terminal.

    Values that a person reads off the screen are filled in.
    """
    lines = ["set -euo pipefail", "module load dl-course", "export HOME=$PWD", "cluster use box"]
    for typed in (command.line for command in commands("00")):
        if typed in NOT_HERE:
            continue
        line = typed
        for there, here in INSTEAD:
            line = line.replace(there, here)
        if typed.startswith("sbatch"):
            wait = "" if "clock" in line else " --wait"  # the clock never ends
            line = f"said=$({line.replace('sbatch', f'sbatch{wait}', 1)}); JOB=${{said##* }}"
        elif typed.startswith("tail -F"):
            line = f"timeout -s INT 10 {line} || [ $? = 124 ]"  # until Ctrl+C
        elif typed.startswith("srun --jobid"):
            clock = "$(sbatch --parsable clock.sbatch)"
            runs = "until squeue -h -j $JOB -t R | grep -q .; do sleep 0.5; done"
            line = f"JOB={clock}; {runs}; echo host of a job: $({line}); scancel $JOB"
        elif typed.startswith("salloc"):
            line += " <<'INSIDE'"  # the following lines, up to `exit`, are typed in the allocation
        elif typed.startswith("grep -v MLLOG out.txt"):  # exercise 0.4 leaves these
            line = f"echo printed > out.txt; touch err.txt; {line}"
        elif typed == "exit":
            line += "\nINSIDE"
        lines.append(line)
    return "\n".join([*lines, ""])


def test_what_the_page_says_to_type_runs_on_slurm(course, student):
    student.do(f"mkdir lessons && cp -r {course}/lessons/00_cluster lessons")
    student.do(f"cp {course}/solutions/00_cluster/*.* lessons/00_cluster")
    student.write("typed.sh", script())
    type_it = f"COURSE_ROOT={student.folder} bash -l {student.folder}/typed.sh 2>&1"
    said = student.do(f"cd lessons && {type_it}", seconds=600)
    assert [words for words in SAID if words not in said] == [], said
