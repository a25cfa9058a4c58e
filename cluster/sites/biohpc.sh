# An example that nobody has run: BioHPC, UT Southwestern. No account is needed, and one GPU per job is usual.
SITE_NAME=biohpc
SITE_TITLE="BioHPC, UT Southwestern: nodes with one A100"
SITE_SCHEDULER=slurm
SITE_LAUNCHER=srun
SITE_ACCOUNT=none
SITE_GPUS_PER_NODE=1 # that a job gets: more ranks need more nodes
SITE_INTERNET=no
SITE_SCRATCH=/project
SITE_CONTAINER="singularity exec --nv"
SITE_TESTED="no: written from user scripts"

export SBATCH_PARTITION=${SBATCH_PARTITION:-GPUA100}
case $SBATCH_PARTITION in
    GPU4v100) SITE_GPUS_PER_NODE=4 SITE_GPU_CAPABILITY=7.0 ;;
    GPU4*) SITE_GPUS_PER_NODE=4 ;;
    *v100*) SITE_GPU_CAPABILITY=7.0 ;;
    *p100* | *p4 | *p40) SITE_GPU_CAPABILITY=6.0 ;;
esac
export SBATCH_GRES=${SBATCH_GRES:-gpu:${NEEDED_GPUS_PER_NODE:-1}}

load_software() {
    [ -z "${COURSE_IMAGE:-}" ] || module add singularity/3.5.3
}

source "$(dirname "${BASH_SOURCE[0]}")/job.sh"
