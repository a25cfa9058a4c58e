# An example that nobody has run: Perlmutter, NERSC. There are no partitions to choose: a constraint and a quality of service.
SITE_NAME=perlmutter
SITE_TITLE="Perlmutter, NERSC: 4 A100 a node"
SITE_SCHEDULER=slurm
SITE_LAUNCHER=srun
# The course's Open MPI needs Slurm's PMIx, in an image and without one; Cray's MPI does not. It cannot
# use Slingshot, so between nodes lesson 06 measures TCP.
SITE_SRUN_OPTIONS="--mpi=pmix --gpu-bind=none"
SITE_ACCOUNT=required # GPU projects end in _g
SITE_GPUS_PER_NODE=4
SITE_CORES_PER_NODE=64
SITE_CORES_PER_GPU=32 # as Slurm counts them, two for each core
SITE_INTERNET=yes
SITE_SCRATCH=${SCRATCH:-/pscratch}
# Images are pulled first: shifterimg pull docker:NAME; then COURSE_IMAGE=docker:NAME
SITE_CONTAINER="shifter --module=gpu,nccl-plugin --image"
SITE_TESTED="no: written from course repositories and site pages"

export SBATCH_CONSTRAINT=${SBATCH_CONSTRAINT:-gpu}
# The quality of service debug gives whole nodes; one or two GPUs are available as shared.
if [ "${NEEDED_GPUS_PER_NODE:-4}" -le 2 ] && [ "${NEEDED_NODES:-1}" = 1 ]; then
    export SBATCH_QOS=${SBATCH_QOS:-shared}
fi
export SBATCH_QOS=${SBATCH_QOS:-debug} # or regular
[ "$SBATCH_QOS" != debug ] || SITE_MAX_TIME=00:30:00 SITE_MAX_NODES=8 SITE_MAX_JOBS=5
export SBATCH_GPUS_PER_NODE=${SBATCH_GPUS_PER_NODE:-${NEEDED_GPUS_PER_NODE:-4}}
export SBATCH_GPU_BIND=${SBATCH_GPU_BIND:-none} # every rank sees all GPUs and takes its own

load_software() {
    # The plug-in through which NCCL uses Slingshot; an image gets it by --module. NCCL itself is still
    # the wheels'. If a sum over nodes hangs, NCCL_NET=Socket avoids the plug-in, but is slower.
    [ -n "${COURSE_IMAGE:-}" ] || module load nccl
}

source "$(dirname "${BASH_SOURCE[0]}")/job.sh"
