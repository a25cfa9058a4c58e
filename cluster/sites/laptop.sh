# This machine, without a batch system: `sbatch` and `cluster submit` run jobs in a queue of their own.
SITE_NAME=laptop
SITE_TITLE="This machine, without a batch system"
SITE_SCHEDULER=laptop
SITE_LAUNCHER=mpirun
SITE_ACCOUNT=none
gpus=() # in sight
if [ "${COURSE_DEVICE:-}" = cpu ]; then
    :
elif [ -n "${CUDA_VISIBLE_DEVICES+set}" ]; then
    IFS=, read -ra gpus <<<"${CUDA_VISIBLE_DEVICES#-1}" # -1 hides all
else
    for file in /dev/nvidia[0-9]*; do [ ! -e "$file" ] || gpus+=("$file"); done
fi
SITE_GPUS_PER_NODE=$([ ${#gpus[@]} = 0 ] || echo ${#gpus[@]})
unset gpus file
SITE_INTERNET=yes
SITE_SCRATCH=${TMPDIR:-/tmp}
SITE_CONTAINER="apptainer exec"
SITE_TESTED="in the course's own tests"

launch_ranks() {
    # The programs need the SLURM_ variables, but Open MPI must not conclude that there is a Slurm.
    export PRTE_MCA_ras=^slurm PRTE_MCA_plm=^slurm
    # A rank trains and communicates on one core, so MPI yields while it waits for a message.
    export OMPI_MCA_mpi_yield_when_idle=1
    # Otherwise every rank spends a second looking for a fabric, and one machine has none.
    export OMPI_MCA_btl=${OMPI_MCA_btl:-^ofi}
    local flags=()
    [ "$(id -u)" != 0 ] || flags+=(--allow-run-as-root)
    if [ "${COURSE_LAPTOP_ENOUGH:-no}" = yes ] && [ "${SLURM_CPUS_PER_TASK:-1}" = 1 ]; then
        flags+=(--map-by "pe-list=$COURSE_LAPTOP_CORES:ordered" --bind-to core) # one core per rank
    else
        flags+=(--oversubscribe --bind-to none) # the ranks share the job's cores
    fi
    mpirun "${flags[@]}" -np "$@"
}

# One machine plays all nodes: each copy of the program gets the name of another host.
launch_nodes() {
    local node status ended=0 copies=()
    for ((node = 1; node <= $1; node++)); do
        COURSE_HOST=node$node "${@:2}" &
        copies+=($!)
    done
    for node in "${copies[@]}"; do
        wait -n || {
            status=$?
            [ $ended != 0 ] || ended=$status
            kill "${copies[@]}" 2>/dev/null || true # as srun --kill-on-bad-exit
        }
    done
    return $ended
}

# Of Slurm's scontrol, the laptop's queue knows what a job needs to start again later.
scontrol() {
    if [ "$*" != "requeue $SLURM_JOB_ID" ]; then
        echo "scontrol $*: on the laptop, a job can only call: scontrol requeue \$SLURM_JOB_ID" >&2
        return 1
    fi
    touch "$COURSE_JOB_FOLDER/requeue"
    exit 0 # Slurm ends the script here
}

source "$(dirname "${BASH_SOURCE[0]}")/job.sh"
