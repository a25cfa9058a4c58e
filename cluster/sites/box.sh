# A real Slurm on one machine: `make box-up`. Four virtual nodes of 16 pretended CPUs and 4
# pretended GPUs each: it shows that a program is correct, not that it is fast.
SITE_NAME=box
SITE_TITLE="A real Slurm on this machine, 4 virtual nodes"
SITE_SCHEDULER=slurm
SITE_LAUNCHER=srun
SITE_SRUN_OPTIONS=--mpi=pmix
SITE_ACCOUNT=none
SITE_GPUS_PER_NODE=4
SITE_CORES_PER_NODE=16
SITE_MAX_TIME=1-00:00:00
SITE_MAX_NODES=4
SITE_INTERNET=yes
SITE_SCRATCH=${TMPDIR:-/tmp}
SITE_CONTAINER="apptainer exec"
SITE_TESTED="in the course's own tests"

export SBATCH_PARTITION=${SBATCH_PARTITION:-gpus}
# Many ranks share few real cores here: one thread per rank.
export OMP_NUM_THREADS=1 TF_NUM_INTRAOP_THREADS=1 TF_NUM_INTEROP_THREADS=1
# Without this, Open MPI complains about a security plug-in that it does not need.
export PMIX_MCA_psec=native
# Otherwise every rank spends a second looking for a fabric, and the virtual nodes have none.
export OMPI_MCA_btl=${OMPI_MCA_btl:-^ofi}
# Otherwise a rank that waits for a message keeps one of the few real cores busy.
export OMPI_MCA_mpi_yield_when_idle=1

load_software() {
    declare -F module >/dev/null || source /etc/profile
    module load dl-course
}

source "$(dirname "${BASH_SOURCE[0]}")/job.sh"
