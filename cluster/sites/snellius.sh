# An example that nobody has run: Snellius, SURF. Jobs get parts of a node: 18 cores per A100, 16 per H100.
SITE_NAME=snellius
SITE_TITLE="Snellius, SURF: 4 A100 a node (gpu_h100: 4 H100)"
SITE_SCHEDULER=slurm
SITE_LAUNCHER=srun
SITE_ACCOUNT=optional
SITE_GPUS_PER_NODE=4
SITE_CORES_PER_NODE=72
SITE_CORES_PER_GPU=18 # 16 in gpu_h100
SITE_INTERNET=no
SITE_SCRATCH=/scratch-shared/$(id -un)
SITE_CONTAINER="apptainer exec --nv"
SITE_TESTED="no: written from course repositories and user scripts"

export SBATCH_PARTITION=${SBATCH_PARTITION:-gpu_a100}
export SBATCH_GPUS_PER_NODE=${SBATCH_GPUS_PER_NODE:-${NEEDED_GPUS_PER_NODE:-4}}

load_software() {
    # The year first; then versioned modules, as needed. 2023 has Python 3.11, 2024 Python 3.12.
    module load "${COURSE_SNELLIUS_YEAR:-2024}"
}

source "$(dirname "${BASH_SOURCE[0]}")/job.sh"
