# This machine, without a batch system. `cluster submit` queues and runs the jobs itself.
SITE_NAME=laptop
SITE_TITLE="This machine, without a batch system"
SITE_SCHEDULER=laptop
SITE_LAUNCHER=mpirun

# LAUNCHER=horovodrun in the environment starts the ranks by Horovod's own launcher, over Gloo.
launch_ranks() {
    local ranks=$1
    shift
    if [ "${LAUNCHER:-mpirun}" = horovodrun ]; then
        horovodrun --gloo -np "$ranks" -H "localhost:$ranks" "$@"
        return
    fi
    # SLURM_ variables are set for the programs' sake: Open MPI shall not look for Slurm here.
    export PRTE_MCA_ras=^slurm PRTE_MCA_plm=^slurm
    local flags=()
    [ "$(id -u)" = 0 ] && flags+=(--allow-run-as-root)
    if [ "${COURSE_LAPTOP_ENOUGH:-no}" = no ]; then
        flags+=(--oversubscribe --bind-to none)
    elif [ "${SLURM_CPUS_PER_TASK:-1}" = 1 ]; then
        flags+=(--map-by "pe-list=$COURSE_LAPTOP_CORES:ordered" --bind-to core) # one core a rank
    else
        flags+=(--oversubscribe --bind-to none) # a rank shares the job's cores
    fi
    mpirun "${flags[@]}" -np "$ranks" "$@"
}

source "$(dirname "${BASH_SOURCE[0]}")/job.sh"
