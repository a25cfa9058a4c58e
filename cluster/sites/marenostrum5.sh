# An example that nobody has run: MareNostrum 5 ACC, Barcelona Supercomputing Center. No partition: a quality of service.
SITE_NAME=marenostrum5
SITE_TITLE="MareNostrum 5 ACC, BSC: 4 H100 a node"
SITE_SCHEDULER=slurm
SITE_LAUNCHER=srun
SITE_ACCOUNT=required
SITE_GPUS_PER_NODE=4
SITE_CORES_PER_NODE=80
SITE_CORES_PER_GPU=20 # and memory follows cores
SITE_MAX_TIME=02:00:00 # of acc_debug
SITE_MAX_JOBS=1 # of acc_debug
SITE_INTERNET=no # nor have login nodes: docs/install-cluster.md
SITE_SCRATCH=/gpfs/scratch/${SBATCH_ACCOUNT:-PROJECT}/$(id -un)
SITE_CONTAINER="singularity exec --nv"
SITE_TESTED="no: written from user scripts"

export SBATCH_QOS=${SBATCH_QOS:-acc_debug} # longer jobs: acc_ehpc and others
export SBATCH_GRES=${SBATCH_GRES:-gpu:${NEEDED_GPUS_PER_NODE:-4}}

load_software() {
    [ -z "${COURSE_IMAGE:-}" ] || module load singularity
}

source "$(dirname "${BASH_SOURCE[0]}")/job.sh"
