# An example that nobody has run: Polaris, Argonne Leadership Computing Facility. PBS: `cluster submit` turns a job file into qsub.
SITE_NAME=polaris
SITE_TITLE="Polaris, ALCF: 4 A100 a node, PBS"
SITE_SCHEDULER=pbs
SITE_LAUNCHER=mpiexec
SITE_ACCOUNT=required
SITE_GPUS_PER_NODE=4
SITE_CORES_PER_NODE=32
SITE_MAX_TIME=01:00:00 # of the queue debug
SITE_MAX_NODES=2
SITE_INTERNET=no # but through the centre's proxy, if you set one
SITE_SCRATCH=${SCRATCH:-/eagle}
SITE_PBS_SELECT=system=polaris
SITE_PBS_FILESYSTEMS=home:eagle
SITE_CONTAINER="apptainer exec --nv"
SITE_TESTED="no: written from site pages and user scripts"

# The same names as on the other sites; `cluster submit` writes them as qsub's -q and -A.
export SBATCH_PARTITION=${SBATCH_PARTITION:-debug}

load_software() {
    module use /soft/modulefiles || return
    if [ -n "${COURSE_IMAGE:-}" ]; then
        module load spack-pe-base && module load apptainer
    elif [ -z "${COURSE_ENVIRONMENT:-}" ]; then
        module load conda && conda activate
    fi
}

# Use PALS' mpiexec, not the one of the environment's Open MPI, which does not support PALS. So with
# the course's environment, only programs without MPI and Horovod run on several ranks (00, 10, 11, 13
# to 16). The others need mpi4py and Horovod built on Cray MPICH, as in the module conda: leave
# COURSE_ENVIRONMENT unset. In an image, its own mpirun starts the ranks, on one node only.
launch_ranks() {
    local per_node=$(($1 / ${SLURM_NNODES:-1}))
    if [ ${#container[@]} != 0 ]; then
        if [ "${SLURM_NNODES:-1}" -gt 1 ]; then
            echo "launch: ranks in an image cannot meet over nodes on polaris; ask for --nodes=1, or leave COURSE_IMAGE unset" >&2
            return 1
        fi
        "${container[@]}" mpirun --oversubscribe --bind-to none -np "$1" "${@:2+${#container[@]}}"
        return
    fi
    [ "$per_node" -gt 0 ] || per_node=1
    "$(sites_own mpiexec)" -n "$1" --ppn "$per_node" --depth="${SLURM_CPUS_PER_TASK:-1}" \
        --cpu-bind depth "${@:2}"
}

launch_nodes() {
    "$(sites_own mpiexec)" -n "$1" --ppn 1 --cpu-bind none "${@:2}"
}

source "$(dirname "${BASH_SOURCE[0]}")/job.sh"
