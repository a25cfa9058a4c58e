# What a terminal of `make lab` reads first: your own settings, then the course's environment, so that
# `lessons`, `cluster` and `autograder` are found whatever came before.
[ ! -r ~/.bashrc ] || . ~/.bashrc
. "$(dirname "${BASH_SOURCE[0]}")/../../.venv/bin/activate"
# Last, so that a real Slurm comes first: sbatch, squeue, scancel and sacct for the laptop's queue.
PATH=$PATH:$(cd "$(dirname "${BASH_SOURCE[0]}")/../jobs/laptop_bin" && pwd)
