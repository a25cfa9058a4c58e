# Sourced instead of the site file, for a job without a network. MPI itself starts the ranks on this
# node, because the scheduler's launcher cannot be reached without a network.
source "$COURSE_SITE"

SITE_LAUNCHER=mpirun
unset COURSE_JOB_FOLDER # the laptop's folder for the job, which is hidden too
launch_ranks() {
    # Programs need the batch system's variables, but MPI must not look for the batch system.
    export PRTE_MCA_ras=^slurm,pbs PRTE_MCA_plm=^slurm OMPI_MCA_mpi_yield_when_idle=1
    export OMPI_MCA_btl=${OMPI_MCA_btl:-^ofi} # no network, so no fabric to look for
    if [ "$1" = 1 ]; then
        "${@:2}" # mpirun would wait for everything that the program left running
    elif mpirun --version | grep -q "Open MPI"; then
        mpirun --oversubscribe --bind-to none -np "$@"
    else
        mpirun -np "$@"
    fi
}
