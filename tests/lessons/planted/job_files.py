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
    exit "$status"
fi
"""
AGENT = """
agent=(torchrun --nnodes=2 --nproc-per-node=2 --rdzv-backend=c10d)
agent+=(--rdzv-id=1 --rdzv-endpoint="$(hosts | head -n 1):29500")
"""
ONE_CORE = """
#SBATCH --nodes=2
#SBATCH --ntasks=4
#SBATCH --cpus-per-task=1
"""
BACKGROUND = 'launch python -u train.py --folder "$folder" "$@" &\n'

# Gap of a job file -> what was put there -> words of the public check that refuses it.
JOB_FILES: dict[str, dict[str, dict[str, str]]] = {
    "00": {"job.sbatch 0.1": {TWO: "This job runs two tasks"}},
    "07": {"job_torch.sbatch 7.7": {":": "no line of"}},
    "15": {
        "job.sbatch 15.5: a warning": {"#SBATCH --signal=B:USR1@120": "B: sends the signal only"},
        "job.sbatch 15.5: another life": {
            ":": "requeue",
            'scontrol requeue "$SLURM_JOB_ID"; exit 1': "no requeue",
            REQUEUE.replace('exit "$status"', ""): "the requeued job ends",
            REQUEUE.replace('"$status" != 0', '"$status" = 75'): "137",
        },
        "job_shell.sbatch 15.6": {f"{BACKGROUND}wait $! || status=$?{REQUEUE}": "USR1 ended it"},
    },
    "17": {
        "job_nodes.sbatch 17.6: two nodes": {ONE_CORE: "loader's two workers"},
        "job_nodes.sbatch 17.6: the words": {
            AGENT: "29500 for both",
            "agent=(python)": "launch_nodes 2 torchrun",
        },
    },
}
