"""Lazy ways to fill a gap of a job file. The exercise's public check refuses each.

What a job file asks for is in no record, so these are not run.
"""

TWO = """
#SBATCH --ntasks=8
#SBATCH --ntasks-per-node=4
#SBATCH --time=00:05:00
#SBATCH --output=00_cluster_%j.out
#SBATCH --error=00_cluster_%j.err
"""
NEWER = '[ "$(newest)" != "$began" ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 5 ]'
REQUEUE = f"""
if [ "$status" != 0 ] && {NEWER}; then
    scontrol requeue "$SLURM_JOB_ID"
fi
"""
BACKGROUND = 'launch python -u train.py --folder "$folder" "$@" &\n'

# Gap of a job file -> what was put there -> words of the public check that refuses it.
JOB_FILES: dict[str, dict[str, dict[str, str]]] = {
    "00": {"job.sbatch 0.1": {TWO: "This job runs two tasks"}},
    "07": {"job_torch.sbatch 7.7": {":": "no line of"}},
    "15": {
        "job.sbatch 15.5: USR1": {"#SBATCH --signal=B:USR1@120": "B: sends the signal only"},
        "job.sbatch 15.5: if it failed": {
            ":": "requeue",
            'scontrol requeue "$SLURM_JOB_ID"': "no requeue",
            REQUEUE.replace('"$status" != 0', '"$status" = 75'): "137",
        },
        "job_shell.sbatch 15.6": {
            f"{BACKGROUND}wait $! || status=$?{REQUEUE}": "USR1 ended it",
        },
    },
}
