# A new site: copy this file to cluster/sites/NAME.sh, fill in, then `cluster site check NAME`.
# Personal parts (your account, your environment) do not belong here: `cluster use NAME --account A`
# writes them to ~/.dl-course/site.sh, which sources this file. So every SBATCH_ setting below is only
# a default for what is not set yet.

# What `cluster sites` shows.
SITE_NAME=template
SITE_TITLE="One line: machine, centre, GPUs of a node"

# slurm, pbs or laptop.
SITE_SCHEDULER=slurm

# How ranks are started: srun, mpirun, mpiexec, torchrun or horovodrun. With mpirun or mpiexec, and
# where there is no srun, define launch_ranks below.
SITE_LAUNCHER=srun

# Options for srun. Every task has to see all GPUs of its job on the node: often --gpu-bind=none.
SITE_SRUN_OPTIONS=

# Does a job need an account (project)? required, optional or none.
SITE_ACCOUNT=required

# What a GPU node has, to recognise requests for too much; leave empty if unknown.
SITE_GPUS_PER_NODE=4
SITE_CORES_PER_NODE=48

# Where jobs share nodes: the cores, and with them the memory, that belong to one GPU. A rank that
# trains on a GPU gets them even if the job file requests fewer. Leave empty where jobs get whole nodes.
SITE_CORES_PER_GPU=

# The compute capability of the GPUs of the partition below, if it is less than 7.5 (V100: 7.0), which
# the course's PyTorch needs; otherwise empty.
SITE_GPU_CAPABILITY=

# The longest job in the partition or queue below, as --time takes it; empty if unknown.
SITE_MAX_TIME=02:00:00

# The most nodes there; empty if unknown.
SITE_MAX_NODES=

# The most jobs that a user may have at a time, including waiting ones; empty if the limit is high.
# `submit_sizes` in a notebook then submits the next job when another has ended.
SITE_MAX_JOBS=

# Do compute nodes reach the internet? yes or no. With no, fetch data first: lessons data fetch.
SITE_INTERNET=no

# A fast, large folder for data and checkpoints, which the job's user can write to. Not $USER, which
# is not set everywhere: a job stops at a variable that is not set.
SITE_SCRATCH=/scratch/$(id -un)

# A suffix of the node's name for the address where ranks meet, where the fast network has its own
# name (JUWELS: i). Usually empty.
SITE_MASTER_SUFFIX=

# Options for sbatch that have no SBATCH_ variable. Usually empty.
SITE_SUBMIT_OPTIONS=

# PBS only: what follows `-l select=NODES`, and file systems the job needs.
SITE_PBS_SELECT=
SITE_PBS_FILESYSTEMS=

# The words in front of an image and a program, for jobs with COURSE_IMAGE=FILE.sif; --nv shows the
# GPUs inside. Its module, if it has one: in load_software. See docs/install-cluster.md.
SITE_CONTAINER="apptainer exec --nv"

# Where and when this file was tested, or which sources it was written from.
SITE_TESTED="not yet"

# Read by sbatch itself: they override the #SBATCH lines of a job file, so no lesson is edited. For a
# partition without GPUs, see docs/sites.md.
export SBATCH_PARTITION=${SBATCH_PARTITION:-gpu}
# `cluster submit` sets NEEDED_GPUS_PER_NODE and NEEDED_NODES to what the job's ranks can use: for sites
# that share nodes. With a bare sbatch they are empty.
export SBATCH_GPUS_PER_NODE=${SBATCH_GPUS_PER_NODE:-${NEEDED_GPUS_PER_NODE:-$SITE_GPUS_PER_NODE}}
# Others: SBATCH_QOS SBATCH_CONSTRAINT SBATCH_RESERVATION SBATCH_GRES SBATCH_GPUS_PER_TASK
# Where memory does not follow the cores, a GPU's share of it:
# export SBATCH_MEM_PER_GPU=${SBATCH_MEM_PER_GPU:-60G}

# The network for the ranks, where the first one found is the wrong one.
# export NCCL_SOCKET_IFNAME=ib0 GLOO_SOCKET_IFNAME=ib0

# Runs at the top of every job, not when submitting. Leave out what the course's own environment
# (COURSE_ENVIRONMENT, written by `cluster use`) brings along.
load_software() {
    module load Python CUDA
}

# Only where there is no srun, the two functions that job.sh defines for Slurm:
# launch_ranks N PROGRAM …: run N ranks of the program on the job's nodes.
# launch_nodes N PROGRAM …: run the program once on each of N nodes.

source "$(dirname "${BASH_SOURCE[0]}")/job.sh"
