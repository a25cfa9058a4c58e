"""Lesson 00: two tasks on one node, in the laptop's queue, and what only looks like a job."""

from tests.lessons.planted.table import Job, Lesson, Mistake

WORDS = ("--seconds", "0.2")
LAUNCH = "launch python -u train.py"

LESSON = Lesson(
    folder="00_cluster",
    jobs={
        "right": Job(words=WORDS, start="queued"),
        "two processes by hand": Job(words=WORDS, start="by hand"),
        "mpirun by hand": Job(words=WORDS, ranks=2, environ={"SLURM_JOB_ID": "7"}),
        "python without launch": Job(
            (("job.sbatch", LAUNCH, LAUNCH.removeprefix("launch ")),), WORDS, start="queued"
        ),
        "four tasks": Job((("job.sbatch", "--ntasks=2", "--ntasks=4"),), WORDS, start="queued"),
    },
    handed_in={"00_cluster_1.out": "right"},
    mistakes={
        "none": Mistake("right", {}),
        "two processes by hand": Mistake(
            "two processes by hand",
            {
                "ranks": "a launcher started the ranks: no (run `job`); In exercise 0.1",
                "job-known": "Submit the job. Do not start the program",
            },
        ),
        "mpirun by hand": Mistake(
            "mpirun by hand",
            # It printed both streams into one file, too.
            {"job-known": "Do not start the program or its launcher by hand", "streams": ""},
        ),
        "python without launch": Mistake("python without launch", {"ranks": "`launch`"}),
        "four tasks": Mistake("four tasks", {"ranks": "In exercise 0.1, set --ntasks"}),
    },
)
