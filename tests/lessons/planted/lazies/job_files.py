"""The laziest ways to fill a gap of a job file. The exercise's public check refuses each.

What a job file asks for is in no record, so these are not run: `filled` makes the file.
"""

import re

from tests.lessons.planted.lazy import LazyJobs

TWO = """
#SBATCH --ntasks=2
#SBATCH --ntasks-per-node=2
#SBATCH --time=00:05:00
#SBATCH --output=00_cluster_%j.out
#SBATCH --error=00_cluster_%j.err
"""
EXPORT = "export HOROVOD_TIMELINE=timeline_$SLURM_NTASKS.json"

HEARD = "15.5: USR1 to the ranks, two minutes before the time limit"
AGAIN = "15.5: if it failed and has a newer checkpoint, scontrol requeue; 5 times"
BACKGROUND = 'launch python -u train.py --folder "$folder" "$@" &\n'
FAILED, FURTHER = '[ "$status" != 0 ]', '[ "$(newest)" != "$began" ]'
SELDOM = '[ "${SLURM_RESTART_COUNT:-0}" -lt 5 ]'


def requeue_if(*conditions: str) -> str:
    return f'\nif {" && ".join(conditions)}; then\n    scontrol requeue "$SLURM_JOB_ID"\nfi\n'


REQUEUE = requeue_if(FAILED, FURTHER, SELDOM)
TRAP = "trap 'pkill -USR1 -P \"$!\"' USR1\n"

JOB_FILES: dict[str, LazyJobs] = {
    "00": {
        "job.sbatch 0.1": {
            "nothing": ("", "still a gap"),
            "the page's example": (
                TWO.replace("=2", "=8", 1).replace("node=2", "node=4"), "This job runs two tasks"
            ),
            "one task": (TWO.replace("=2", "=1"), "This job runs two tasks"),
            "a 2 for everything": (re.sub("=.*", "=2", TWO), "%j becomes the job's number"),
            "no time limit": (TWO.replace("00:05:00", "UNLIMITED"), "no limit"),
            "only in comments": (TWO.replace("#SBATCH", "# SBATCH"), "without a space after #"),
            "names without a number": (TWO.replace("_%j", ""), "%j becomes the job's number"),
            "one file": (TWO.replace(".err", ".out"), "End them with .out and .err"),
        },
    },
    "07": {
        "job_torch.sbatch 7.7": {
            "nothing": ("", "no line of"),
            "a command that does nothing": (":", "no line of"),
            "a comment": (f"# {EXPORT}", "no line of"),
            "printed": (f"echo '{EXPORT}'", "no line of"),
            "the notebook's name": (EXPORT.replace("$SLURM_NTASKS", "2"), "overwrite the other's"),
            "not exported": (EXPORT.removeprefix("export "), "Without `export`"),
            "with the gap's last line": (f"{EXPORT}\nexit 1", "`exit 1`. Remove it"),
            "where nobody gets": (f"if false; then\n{EXPORT}\nfi", "never reached"),
            "taken back": (f"{EXPORT}\nunset HOROVOD_TIMELINE", "later line changes the variable"),
        },
    },
    "15": {
        f"job.sbatch {HEARD}": {
            "nothing": ("", "no signal"),
            "to the shell": ("#SBATCH --signal=B:USR1@120", "B: sends the signal only"),
            "too late": ("#SBATCH --signal=USR1@10", "seconds before"),
            "another signal": ("#SBATCH --signal=TERM@120", "listens for USR1"),
        },
        f"job.sbatch {AGAIN}": {
            "nothing": ("", "requeue"),
            "a command that does nothing": (":", "requeue"),
            "always": ('scontrol requeue "$SLURM_JOB_ID"', "no requeue"),
            "for ever": (requeue_if(FAILED, FURTHER), "after 5 restarts"),
            "after a warning only": (requeue_if('[ "$status" = 75 ]', FURTHER, SELDOM), "137"),
            "after a signal only": (
                requeue_if('[ "$status" -ge 75 ]', FURTHER, SELDOM), "A GPU that fails"
            ),
            "after any error": (requeue_if(FAILED, SELDOM), "at the same step again"),
            "with any checkpoint": (
                requeue_if(FAILED, '[ -n "$(newest)" ]', SELDOM), "at the same step again"
            ),
        },
        "job_shell.sbatch 15.6": {
            "nothing": ("", "the job launches"),
            "without a trap": (f"{BACKGROUND}wait $! || status=$?{REQUEUE}", "USR1 ended it"),
            "in the foreground": (
                "trap 'pkill -USR1 -P \"$$\"' USR1\n"
                + BACKGROUND.replace("&\n", "|| status=$?") + REQUEUE,
                "they do not",
            ),
            "not waited for": (f"{BACKGROUND}{TRAP}{REQUEUE}", "ended before them"),
            "never again": (
                f"{BACKGROUND}{TRAP}wait $! || wait $! || status=$?", "exit code",
            ),
            "waited for once": (f"{BACKGROUND}{TRAP}wait $! || status=$?{REQUEUE}", "exit code"),
            "to the wrong shell": (
                f"{BACKGROUND}trap 'kill -USR1 $!' USR1\nwait $! || wait $! || status=$?{REQUEUE}",
                "signal its child",
            ),
        },
    },
}  # fmt: skip
