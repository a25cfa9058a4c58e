# An example that nobody has run: JUWELS Booster, Jülich Supercomputing Centre.
SITE_NAME=juwels
SITE_TITLE="JUWELS Booster, Jülich: 4 A100 a node"
SITE_SCHEDULER=slurm
SITE_LAUNCHER=srun
SITE_SRUN_OPTIONS=--cpu-bind=none
SITE_ACCOUNT=required
SITE_GPUS_PER_NODE=4
SITE_CORES_PER_NODE=48
SITE_INTERNET=no
SITE_SCRATCH=${SCRATCH:-/p/scratch/${SBATCH_ACCOUNT:-PROJECT}/$(id -un)}
SITE_MASTER_SUFFIX=i # the node's name on InfiniBand
SITE_CONTAINER="apptainer exec --nv"
SITE_TESTED="no: written from course repositories and user scripts"

# Courses often add SBATCH_RESERVATION; production jobs go to the partition booster.
export SBATCH_PARTITION=${SBATCH_PARTITION:-develbooster}
export SBATCH_GRES=${SBATCH_GRES:-gpu:4}

# Use InfiniBand for NCCL and Gloo; the first network that they find is slow.
export NCCL_SOCKET_IFNAME=${NCCL_SOCKET_IFNAME:-ib0} GLOO_SOCKET_IFNAME=${GLOO_SOCKET_IFNAME:-ib0}

load_software() {
    # Otherwise a task sees only one GPU, and GPU number local_rank does not exist. psslurm sets the
    # variable already, with spaces at its end, and believes only a changed one.
    export CUDA_VISIBLE_DEVICES=${SLURM_JOB_GPUS:-0,1,2,3}
    export SLURM_MPI_TYPE=${SLURM_MPI_TYPE:-pspmix} # ParaStation's PMIx, for any Open MPI
    # 2025 has Python 3.12, 2024 Python 3.11.
    module load "Stages/${COURSE_JUWELS_STAGE:-2025}" || return
    if [ -n "${COURSE_ENVIRONMENT:-}" ]; then
        module load GCC CUDA # it brings Python, MPI and the frameworks
    else
        module load GCC OpenMPI Python PyTorch # no TensorFlow or Horovod: lessons 00, 01, 06, 10 to 15
    fi
}

source "$(dirname "${BASH_SOURCE[0]}")/job.sh"
