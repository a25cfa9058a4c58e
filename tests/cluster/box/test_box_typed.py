"""What pages 00 and 03 say to type on a Slurm machine is typed there, by an ordinary student.

The same lines, in the page's order, as one script; `JOB` is the last job's number. What a laptop
can type, too, tests/lessons/programs/test_typed_commands.py types in its place on the page.
"""

import pytest

from tests.lessons.programs.typed_commands import commands

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

NOT_HERE = {
    "source ../../.venv/bin/activate": "the module does it",
    "cluster use juwels --account PROJECT": "another site",
    "seff JOB": "not every Slurm has it, and this one does not",
    "nvidia-smi": "the GPUs are pretended",
}
SMALL = "--model MobileNet --size 32 --train-samples 64 --test-samples 64 --batch-size 32"
INSTEAD = [
    ("cluster use laptop", "cluster use box"),
    ("overlap nvidia-smi", "overlap hostname"),
    ("--model ResNet152V2 $small", "--model MobileNet $small"),
    ("--model ResNet152V2", SMALL),
    ("samples 512", "samples 64"),
    ("JOB", "$JOB"),
]
SAID = {
    "00": [
        "Jobs now run on box",
        " on node0",  # the clock, while it ran
        "CANCELLED",  # what the accounting says of it
        "host of a job: node0",
        "launch: 2 ranks in one MPI world",  # inside the allocation
        "task 1 of 2 on ",
    ],
    "03": ["Epoch 2/2", "Test accuracy: "],
}


def script(lesson):
    """The page's lines for a shell without a terminal: with what a person reads off the screen."""
    lines = ["set -euo pipefail", "module load dl-course", "export HOME=$PWD", "cluster use box"]
    for typed in (command.line for command in commands(lesson)):
        if typed in NOT_HERE:
            continue
        line = typed
        for there, here in INSTEAD:
            line = line.replace(there, here)
        if typed.startswith("cluster submit"):
            line = f"said=$({line}); echo $said; JOB=${{said##* }}"
            line += "" if "clock" in line else "; cluster wait $JOB"  # the clock never ends
        elif typed.startswith("cluster logs -f"):
            line = f"timeout -s INT 10 {line} || [ $? = 124 ]"  # until Ctrl+C
        elif typed.startswith("srun --jobid"):
            clock = "$(sbatch --parsable clock.sbatch)"
            runs = "until squeue -h -j $JOB -t R | grep -q .; do sleep 0.5; done"
            line = f"JOB={clock}; {runs}; echo host of a job: $({line}); scancel $JOB"
        elif typed.startswith("salloc"):
            line += " <<'INSIDE'"  # what follows is typed in the allocation, up to `exit`
        elif typed.startswith("grep -v MLLOG out.txt"):  # exercise 0.4 leaves these
            line = f"echo printed > out.txt; touch err.txt; {line}"
        elif typed == "exit":
            line += "\nINSIDE"
        lines.append(line)
    return "\n".join([*lines, ""])


@pytest.mark.parametrize("lesson", ["00", "03"])
def test_what_the_page_says_to_type_runs_on_slurm(lesson, course, student):
    name = {"00": "00_cluster", "03": "03_baseline"}[lesson]
    student.do(f"mkdir lessons && cp -r {course}/lessons/{name} lessons")
    student.do(f"cp {course}/solutions/{name}/*.* lessons/{name}")
    student.write("typed.sh", script(lesson))
    begin = "lessons" if lesson == "00" else f"lessons/{name}"
    type_it = f"COURSE_ROOT={student.folder} bash -l {student.folder}/typed.sh 2>&1"
    said = student.do(f"cd {begin} && {type_it}", seconds=600)
    assert [words for words in SAID[lesson] if words not in said] == [], said
