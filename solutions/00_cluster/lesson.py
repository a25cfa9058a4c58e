# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 00 · The cluster
#
# **Where does my program run, who decides that, and where does its output go?**
#
# A supercomputer is many machines on one network. You type on a **login node**, which all users
# share. Your program runs on **compute nodes**, which the **scheduler** (here Slurm) gives to one
# job at a time. In this lesson nothing is trained. You send a program there and find out where it
# ran. On a laptop the same files work: the course's own small scheduler takes Slurm's part.
#
# Allow 30 minutes.

# %% tags=["parameters"]
profile = "smoke"  # "smoke": two tasks on one node. "full": two nodes with four tasks each

# %% tags=["setup"]
import importlib
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

from lessons.toolkit import answers, plots
from lessons.toolkit.checks import lesson_00 as check

# %% [markdown]
# ## Where this notebook runs
#
# A notebook has a **kernel**: the Python that executes its cells. On Open OnDemand, the web portal
# of many centres, it runs on a compute node that the portal asked for in your name. (Portals offer
# other programs the same way: RStudio, image platforms such as BisQue, NVIDIA's DIGITS.)
# The course's environment must be the kernel's environment, or the imports above would have failed.

# %%
print("host  ", socket.gethostname())
print("python", sys.executable)
print("job   ", os.environ.get("SLURM_JOB_ID", "none: no scheduler started this notebook"))

# %% [markdown]
# ## Predict
#
# 1. Which host name does `python train.py` print when you start it right here?
# 2. Which one when the same line runs in a job: the same one, or another? `"same"` or `"other"`
# 3. A job asks for `--ntasks=4` and its last line is `srun python train.py`. How many task lines
#    are in its output?

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_host_here, predict_host_job and predict_lines
predict_host_here = socket.gethostname()
predict_host_job = "other"
predict_lines = 4
### END SOLUTION
answers.note(
    predict_host_here=predict_host_here,
    predict_host_job=predict_host_job,
    predict_lines=predict_lines,
)

# %% [markdown]
# ## The request
#
# `job.sbatch` is a shell script. Lines that begin with `#SBATCH` are **directives**: `sbatch` reads
# them, the shell takes them for comments. A course at Jülich asked for its eight tasks like this:
#
#     #SBATCH --nodes=2
#     #SBATCH --ntasks=8
#     #SBATCH --ntasks-per-node=4
#     #SBATCH --output=output_%j.out
#     #SBATCH --error=error_%j.er
#     #SBATCH --time=00:10:00
#     #SBATCH --job-name=HOROVOD_KERAS_MNIST
#     #SBATCH --gres=gpu:4 --partition=develgpus
#     #SBATCH --mail-type=ALL
#
# Nodes × tasks per node must be the number of tasks. `%j` becomes the job's number, so that a second
# run does not overwrite the first. The wall time is a promise: when it is over, the job is ended;
# the less you ask for, the sooner you start.
#
# **Exercise 0.1.** Fill the five empty directives of `job.sbatch`: two tasks, both on the one node,
# five minutes, outputs named `00_cluster_<job id>.out` and `.err`. Save, then run this cell.

# %% tags=["check"]
check.check_0_1(Path("job.sbatch"))

# %% [markdown]
# What differs between computers is in one shell file a site (`cluster sites` lists them), which the
# line `source …` of the job reads: account and partition, modules, and what `launch` means (`srun`,
# `mpirun` or `mpiexec`). A lesson's files never change from site to site.
#
# On the Jülich system of 2019 that meant `module load GCC/8.3.0 TensorFlow/1.13.1-GPU-Python-3.6.8
# Keras/2.2.4-GPU-Python-3.6.8`; at BioHPC `module load python/3.6.4-anaconda` and a conda
# environment. **Modules** switch a site's software on; names and versions are the site's.
#
# **Exercise 0.2.** What `squeue` tells. Write `expand`, which turns Slurm's short node list into
# names (`jwc09n[006,009]`, and `n[01-03,07]` too), and `read_squeue` for one line of its table.


# %% tags=["exercise"]
def expand(nodelist):
    """["jwc09n006", "jwc09n009"] from "jwc09n[006,009]"; ["login1"] from "login1"."""
    ### BEGIN SOLUTION Exercise 0.2: expand the brackets; keep leading zeros
    match = re.fullmatch(r"(.*)\[(.*)\]", nodelist)
    if not match:
        return [nodelist]
    names = []
    for part in match[2].split(","):
        first, _, last = part.partition("-")
        for number in range(int(first), int(last or first) + 1):
            names.append(f"{match[1]}{number:0{len(first)}d}")
    return names
    ### END SOLUTION


# %% tags=["exercise"]
def read_squeue(line):
    """{"job_id": "1885056", "state": "CF", "nodes": 2, "hosts": [...]} from a line of squeue."""
    ### BEGIN SOLUTION Exercise 0.2: JOBID PARTITION NAME USER ST TIME NODES NODELIST(REASON)
    job_id, _, _, _, state, _, nodes, nodelist = line.split(maxsplit=7)
    return {"job_id": job_id, "state": state, "nodes": int(nodes), "hosts": expand(nodelist)}
    ### END SOLUTION


# %% tags=["check"]
check.check_0_2(expand, read_squeue)

# %% [markdown]
# `CF` means *configuring*: the nodes are being prepared. Then `R` (running), then the job is gone
# from the list. `PD` is *pending*, with the reason in brackets.
#
# ## Who am I?
#
# Started by `srun` or `mpirun`, the same program runs several times at once. Each process is a
# **task**, in MPI's words a **rank**, and learns its number from environment variables.
#
# **Exercise 0.3.** Complete `facts` in `train.py`. It must also be right where nothing launched it.

# %% tags=["check"]
import train

importlib.reload(train)
check.check_0_3(train.facts)

# %% [markdown]
# ## Result and noise
#
# Every program has two output streams. **Exercise 0.4.** In a terminal, in this folder, type
#
#     python -u train.py > out.txt 2> err.txt
#
# or run the next cell, which does the same. Then look into both files. A job does the same split
# with `--output` and `--error`.

# %% tags=["exercise"]
### BEGIN SOLUTION Exercise 0.4: run the program with its streams in out.txt and err.txt
command = f"{sys.executable} -u train.py --seconds 0.2 > out.txt 2> err.txt"
subprocess.run(command, shell=True, check=True)
### END SOLUTION

# %% tags=["check"]
check.check_0_4(Path("out.txt"), Path("err.txt"))

# %% [markdown]
# Why `-u`? A program that writes to a file collects its output in a buffer and writes it now and
# then. While `tail -f` shows nothing, your job may be doing fine.
#
# **Exercise 0.5.** The environment. A course at BioHPC (UT Southwestern, 2022) made its own with
# `conda create -n py3.6-keras …` and turned it into a kernel with `ipython kernel install --user
# --name py3.6-keras --display-name "…"`. Yours was made by `make`, or from `environment.yml` on a
# cluster. This cell asks whether the notebook really uses it.

# %% tags=["check"]
check.check_0_5()

# %% [markdown]
# ## Submit
#
# In a terminal: `sbatch job.sbatch`, `squeue -u $USER`, `tail -f 00_cluster_<job id>.out`, and to
# end it early `scancel <job id>`. Here `submit_once` does it, shows the real command and waits.

# %%
from cluster.jobs.notebook import submit_once

options = {"nodes": "2", "ntasks": "8", "ntasks-per-node": "4"} if profile == "full" else {}
files = submit_once("job.sbatch", options=options)
print(Path(files[0]).read_text())

# %%
from autograder.reading.files import read_files

[run] = read_files(files)
plots.node_grid(run)

# %% [markdown]
# **What you should see.** One square for each task, in the row of its node; below, the job from
# its submission to its end. On a cluster the hosts are not the one you typed on. On a laptop they
# are: there is only one machine, and the record says `scheduler: laptop`.
#
# For an interactive hour there is `salloc --nodes=1 --time=01:00:00`; then `srun python train.py`
# runs on the node that you were given, as often as you like. Use it to try things, and jobs for
# everything you want to keep. Leave it with `exit`, or the node stays yours and idle.

# %% [markdown]
# ## What goes wrong
#
# Three jobs went wrong. For each, name the letter of the cause:
#
# - **A** output buffered, no `python -u` · **B** no `%j` in the file name · **C** no `srun` or
#   `launch` before `python` · **D** module not loaded · **E** the launcher started N programs of
#   size 1 each
#
# 1. `--ntasks=4`, but only one task line in the output.
# 2. `tail -f` shows an empty file for ten minutes; at the end everything is there.
# 3. Four lines, and every one says *task 0 of 1*.

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: set one_line, empty_file and all_rank_zero to a letter each
one_line = "C"
empty_file = "A"
all_rank_zero = "E"
### END SOLUTION
gigaflops = run.measures[0]["value"]
answers.note(one_line=one_line, empty_file=empty_file, all_rank_zero=all_rank_zero)
answers.note(ranks_seen=len(run.ranks), gflops=gigaflops)

# %% [markdown]
# ## Traps
#
# | you see | it was |
# |---|---|
# | one line instead of four | no launcher before `python` |
# | every line says rank 0 of 1 | a launcher that does not match the MPI; the exit code is 0 |
# | the second run has overwritten the first | no `%j` in `--output` |
# | output empty until the end | no `-u` |
# | output empty, `ImportError` in the error file | module or environment not loaded |
# | `COMPLETED 0:0`, but the program failed | a failing `srun` followed by an `echo`: the last line's exit code counts, hence `set -e` in the job |
#
# Two measured facts: on a real Slurm with two virtual nodes, eight tasks started in 0.1 s; and a
# limit of one minute ended a job after about 1:25, because Slurm grants some grace.
#
# ## Recap
#
# - You ask with directives, the scheduler decides, the launcher starts the tasks, environment
#   variables tell each task who it is.
# - Result and noise go to two files, and their names carry the job's number.
# - The site's file knows the computer; the lesson does not.
#
# **Hand in**: `lessons submit 00`. More: your centre's support pages; the Slurm quick start; the
# MPI tutorial and the mpi4py documentation, which lesson 06 uses.
