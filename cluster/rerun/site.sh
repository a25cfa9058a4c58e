# The site in use, for a job without a network: its ranks are started on this node, by MPI itself,
# because the scheduler's own launcher cannot be reached from there. Sourced in place of the site.
source "$COURSE_SITE"

if [ -n "${COURSE_RERUN_ALONE:-}" ]; then
    SITE_LAUNCHER=mpirun
    unset COURSE_JOB_FOLDER # the laptop's notes on the job, which are hidden too
    launch_ranks() {
        # The variables of the batch system are there for the programs; MPI shall not look for it.
        export PRTE_MCA_ras=^slurm,pbs PRTE_MCA_plm=^slurm OMPI_MCA_mpi_yield_when_idle=1
        export OMPI_MCA_btl=${OMPI_MCA_btl:-^ofi} # without a network there is no fabric to look for
        if [ "$1" = 1 ]; then
            "${@:2}" # mpirun would wait for all that the program left running
        elif mpirun --version | grep -q "Open MPI"; then
            mpirun --oversubscribe --bind-to none -np "$@"
        else
            mpirun -np "$@"
        fi
    }
fi
