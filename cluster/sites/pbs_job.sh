#!/bin/bash -l
# Runs a job file under PBS: pbs_job.sh JOBFILE [ARGUMENTS]. Started by the qsub that `cluster
# submit` prints, whose -v passes on what the #SBATCH lines request. PBS sets other variables than
# Slurm and cannot put the job's number into the output's name, so this script does both.
job_file=$1
shift

export SLURM_JOB_ID=${PBS_JOBID%%[.[]*} SLURM_JOB_NAME=$PBS_JOBNAME
export SLURM_JOBID=$SLURM_JOB_ID SLURM_SUBMIT_DIR=$PBS_O_WORKDIR
export SLURM_NTASKS=$COURSE_NTASKS SLURM_NNODES=$COURSE_NNODES SLURM_JOB_NUM_NODES=$COURSE_NNODES
export SLURM_CPUS_PER_TASK=$COURSE_CPUS_PER_TASK
SLURM_JOB_NODELIST=$(sort -u "$PBS_NODEFILE" | paste -sd ,)
export SLURM_JOB_NODELIST
if [ -n "${PBS_ARRAY_INDEX:-}" ]; then
    export SLURM_ARRAY_JOB_ID=$SLURM_JOB_ID SLURM_ARRAY_TASK_ID=$PBS_ARRAY_INDEX
fi

cd "$PBS_O_WORKDIR" || exit 1
named() { # %j and its like, in an output's name
    local name=$1
    name=${name//%[jAJ]/$SLURM_JOB_ID}
    name=${name//%a/${PBS_ARRAY_INDEX:-0}}
    echo "${name//%N/$(hostname -s)}"
}
exec >"$(named "$COURSE_OUTPUT")"
if [ -n "${COURSE_ERROR:-}" ]; then exec 2>"$(named "$COURSE_ERROR")"; else exec 2>&1; fi
exec bash "$job_file" "$@"
