"""Build the environment of a job on the laptop: Slurm's variables, and one thread per core."""

import os
import sys
from pathlib import Path

from cluster.schedulers.laptop.cores import whole_cores
from cluster.schedulers.laptop.job_records import QueuedJob, job_folder
from cluster.schedulers.laptop.processes import MARKER

THREADS = ("OMP_NUM_THREADS", "TF_NUM_INTRAOP_THREADS")
GPU_OPTIONS = ("gres", "gpus", "gpus-per-node", "gpus-per-task")


def variables(job: QueuedJob) -> dict[str, str]:
    """Return the variables that Slurm sets for a batch script. Every job here has one node."""
    values = {
        "SLURM_CLUSTER_NAME": "laptop",
        "SLURM_JOB_ID": str(job.id),
        "SLURM_JOBID": str(job.id),
        "SLURM_JOB_NAME": job.name,
        "SLURM_JOB_NUM_NODES": "1",
        "SLURM_NNODES": "1",
        "SLURM_JOB_NODELIST": job.host,
        "SLURMD_NODENAME": job.host,
        "SLURM_NTASKS": str(job.ntasks),
        "SLURM_CPUS_ON_NODE": str(job.ntasks * job.cpus_per_task),
        "SLURM_SUBMIT_DIR": job.folder,
        "SLURM_JOB_START_TIME": str(int(job.started or 0)),
        **dict.fromkeys(("SLURM_NODEID", "SLURM_PROCID", "SLURM_LOCALID"), "0"),
    }
    if job.seconds is not None:
        values["SLURM_JOB_END_TIME"] = str(int((job.started or 0) + job.seconds))
    if "cpus-per-task" in job.options:
        values["SLURM_CPUS_PER_TASK"] = str(job.cpus_per_task)
    if "ntasks-per-node" in job.options:
        values["SLURM_NTASKS_PER_NODE"] = job.options["ntasks-per-node"]
    for name in GPU_OPTIONS:
        # They are requested, not allocated: programs that find no GPU say so and end.
        if (asked := job.options.get(name, "")) and (name != "gres" or "gpu" in asked):
            kind = "GPUS_PER_NODE" if name == "gres" else name.upper().replace("-", "_")
            values[f"SLURM_{kind}"] = asked
    if job.restarts:
        values["SLURM_RESTART_COUNT"] = str(job.restarts)
    if job.array_job is not None:
        values |= {
            "SLURM_ARRAY_JOB_ID": str(job.array_job),
            "SLURM_ARRAY_TASK_ID": str(job.array_index),
            "SLURM_ARRAY_TASK_COUNT": str(job.array_size),
        }
    return values


def of_job(job: QueuedJob, submitter: dict[str, str]) -> dict[str, str]:
    """Return the job's environment, including what Open MPI needs as root or on too few cores."""
    kept = {
        name: value
        for name, value in submitter.items()
        # variables of another job, if a job submits this one
        if not name.startswith(("SLURM_", "OMPI_", "PMIX_", "PRTE_", "COURSE_LAPTOP_"))
    }
    programs = str(Path(sys.executable).parent)
    path = [programs, *(part for part in kept.get("PATH", os.defpath).split(":") if part)]
    enough = job.ntasks * job.cpus_per_task <= len(job.cores)
    threads = job.cpus_per_task if enough else 1
    kept |= dict.fromkeys(THREADS, str(threads)) | {"TF_NUM_INTEROP_THREADS": "1"}
    return kept | {
        "PATH": ":".join(dict.fromkeys(path)),
        "COURSE_SCHEDULER": "laptop",
        "COURSE_LAPTOP_CORES": ",".join(map(str, job.cores)),
        "COURSE_LAPTOP_ENOUGH": "yes" if enough else "no",
        MARKER: str(job_folder(job.id)),
        **variables(job),
    }


def remarks(job: QueuedJob) -> list[str]:
    """Return remarks about this machine, for the submitter and for the top of the output."""
    lines = []
    here = len(whole_cores())
    if job.ntasks > here:
        lines.append(
            f"{job.ntasks} ranks on {here} cores: more ranks than cores: no speedup can be shown"
        )
    elif job.ntasks * job.cpus_per_task > here:
        lines.append(
            f"{job.ntasks} ranks of {job.cpus_per_task} cores on {here} cores: one thread per rank"
        )
    if job.nodes_asked > 1:
        lines.append(f"{job.nodes_asked} nodes requested: this machine is one node")
    for name in job.options.keys() & {*GPU_OPTIONS}:
        lines.append(f"--{name}={job.options[name]}: the laptop allocates no GPUs")
    return [f"laptop: {line}" for line in lines]
