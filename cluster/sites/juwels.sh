# JUWELS Booster, Jülich Supercomputing Centre.
SITE_NAME=juwels
SITE_TITLE="JUWELS Booster, Jülich: 4 A100 a node"
SITE_SCHEDULER=slurm
SITE_LAUNCHER=srun
SITE_ACCOUNT=required
SITE_GPUS_PER_NODE=4
SITE_CORES_PER_NODE=48
SITE_INTERNET=no
SITE_SCRATCH=/p/scratch/${SBATCH_ACCOUNT:-PROJECT}/$(id -un)
SITE_MASTER_SUFFIX=i # the node's name on InfiniBand
SITE_CONTAINER="apptainer exec --nv"
SITE_TESTED="no: written from course repositories and user scripts"

# Courses often add SBATCH_RESERVATION; production jobs go to the partition booster.
export SBATCH_PARTITION=${SBATCH_PARTITION:-develbooster}
export SBATCH_GRES=${SBATCH_GRES:-gpu:4}

load_software() {
    module load Stages/2025 && module load GCC OpenMPI Python PyTorch
}

launch_ranks() {
    export SRUN_CPUS_PER_TASK=${SLURM_CPUS_PER_TASK:-1} # srun no longer inherits it
    srun --cpu-bind=none --ntasks="$1" --kill-on-bad-exit=1 "${@:2}"
}

source "$(dirname "${BASH_SOURCE[0]}")/job.sh"
