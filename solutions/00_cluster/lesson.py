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
# First, two processes train a small language model for you. Then you find out where they ran, who started
# them, and what happens when one of them dies. Allow 45 minutes.
#
# Run the cells from the top, one after the other, with Shift+Enter. When you come back another day, begin
# at the top again: *Run → Run All Above Selected Cell*.

# %% tags=["parameters"]
profile = "smoke"  # "smoke": two tasks on one node. "full": two nodes with four tasks each

# %% tags=["setup"]
import importlib
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from autograder.reading.files import read_files
from cluster.jobs.notebook import JobError, show_output, submit_once
from lessons.toolkit import answers, plots, predictions
from lessons.toolkit.checks import lesson_00 as check

# %% [markdown]
# ## Your first training on two ranks
#
# This cell submits a **job**: a file that says what to run and how much of the machine it needs. The job
# starts `train_gpt.py` twice, at the same time. Each copy is a **rank**. Together they teach a network to
# write like the documentation of Python, character by character. The curve below the cell is the network's
# surprise at the next character: lower is better.

# %%
gpt_files = submit_once("gpt.sbatch")
show_output(gpt_files)

# %% [markdown]
# **What you should see.** Two lines say which process on which host each rank was. Before training, the
# network writes noise. Ten epochs later it knows letters, words, brackets and where a sentence ends. It
# understands nothing, but all it knows came from your job: each rank read 256,000 characters, and 500
# times the two averaged what they had learnt. `train_gpt.py` is the complete program, and `gpt.py` holds
# the network: about 900,000 numbers, all of them changed by your job.
#
# A job prints into a **file**, not onto your screen. It may start in the middle of the night, on another
# machine, when nobody is logged in. The cell above read that file while it grew.
#
# ## Kill a rank
#
# Now the same job again, but after the second epoch rank 1 is killed, as if its node had failed. What does
# rank 0 do: `"goes on"` alone, `"waits"` for rank 1 for ever, or `"stops"`?
#
# Where a cell or a program says `raise NotImplementedError("…")`, something is left for you to write. Put
# it in place of that line. Here it is a prediction. Only that you predicted counts, not whether you were
# right.

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_survivor to "goes on", "waits" or "stops"
predict_survivor = "stops"
### END SOLUTION
answers.note(predict_survivor=predict_survivor)

# %%
survivor = "goes on"
try:
    submit_once("gpt.sbatch", "--kill", 1)
except JobError as error:
    survivor = "waits" if "TIMEOUT" in str(error) else "stops"
    print(error)
predictions.compare("predict_survivor", survivor, how="saw")

# %% [markdown]
# **What you should see.** Read the end of the error file from below. The launcher noticed that rank 1 ended
# on signal 9, *killed*. Rank 0 was in `loss.backward()`, where the ranks average their gradients: the other
# end of its connection was gone. So it stopped, and the launcher ended the job as `FAILED`. One dead rank
# ends the training on all ranks, and what was not saved is lost. A rank that is merely slow, or waits
# somewhere else, is worse: then all wait, and nothing ends (lesson 10 lets you see it).
#
# ## Who decides?
#
# A supercomputer is many machines on one network. You type on a **login node**, which all users share. Your
# program runs on **compute nodes**. The **scheduler** decides which job gets which of them, and when; on
# most machines it is called Slurm. On a laptop the same files work, because a small scheduler of the
# course plays Slurm's part.
#
# Open a terminal: in JupyterLab *File → New → Terminal*. It begins in the folder `lessons`. Go to this
# lesson's folder:
#
#     cd 00_cluster
#
# If you started JupyterLab with `make lab`, its terminals know the course's commands. In any other
# terminal on your own machine, switch the course's environment on, once, in this lesson's folder. (On a
# cluster your course says how.)
#
#     source ../../.venv/bin/activate
#
# Then say, once, where your jobs shall go. The first line lists the computers that the course knows:
#
#     cluster sites
#     cluster use laptop
#
# On a cluster, take its name, and the project that pays, if there is one:
#
#     cluster use juwels --account PROJECT
#
# This writes `~/.dl-course/site.sh`. That file holds all that differs between computers: account and
# partition, modules, and what `launch` means there (`srun`, `mpirun` or `mpiexec`). Every job file
# of the course reads it, so no lesson changes from computer to computer.
#
# `cluster submit` reads it, too. If you type `sbatch` yourself, read it first, once in each terminal:
#
#     source ~/.dl-course/site.sh
#
# ## Watch a job, and cancel it
#
# `clock.sbatch` prints the time every two seconds, and never ends. Submit it. The answer ends with a number.
# It is the job's; type it in place of `JOB` from here on.
#
#     cluster submit clock.sbatch
#     cluster queue
#     cluster logs -f JOB
#
# The last line shows the output as it grows, until you press Ctrl+C. That ends your watching, not the
# job. End the job, too, and see what is left of it in the accounting:
#
#     cluster cancel JOB
#     cluster queue
#     cluster accounting JOB
#
# The next cell types the same lines for you.


# %% tags=["setup"]
def typed(line):
    """Run a line as your terminal does, in the course's environment; what it printed."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(line, shell=True, env=os.environ | {"PATH": path}, capture_output=True)
    print(f"$ {line}\n{done.stderr.decode()}{done.stdout.decode()}")
    if done.returncode:
        raise JobError(f"`{line}` failed, with exit code {done.returncode}: read what it printed")
    return done.stdout.decode()


# %%
clock = typed("cluster submit clock.sbatch").split()[-1]
output = Path(f"clock_{clock}.out")
while not (output.is_file() and output.read_text().count(" on ") > 2):
    time.sleep(1)  # it waits for a node, then starts
for line in ("queue", f"logs {clock}", f"cancel {clock}", "queue", f"accounting {clock}"):
    typed(f"cluster {line}")
    time.sleep(2)  # so that you can see it end

# %% [markdown]
# **What you should see.** In the queue, `PD` means *pending*, with the reason in brackets; `CF` means
# *configuring*: the nodes are being prepared. `R` means *running*. After the cancel the job is gone from
# the queue. Only the accounting still knows it: `CANCELLED`, with the seconds that it held its core.
#
# `cluster` prints the scheduler's own command each time. Learn those: they work on every Slurm machine.
#
# | the course | Slurm | shows |
# |---|---|---|
# | `cluster submit clock.sbatch` | `sbatch clock.sbatch` | the job's number |
# | `cluster queue` | `squeue --me` | which of your jobs wait and why, which run, where and how long |
# | `cluster logs -f JOB` | `tail -f clock_JOB.out` | what the job prints, while it runs |
# | `cluster cancel JOB` | `scancel JOB` | nothing: the job ends |
# | `cluster accounting JOB` | `sacct -X --jobs=JOB` | how the job ended, on which nodes, how long, how many cores it held |
#
# ## The request
#
# Now write a request of your own. A job file is a shell script. Lines that begin with `#SBATCH` are
# **directives**: `sbatch` reads them, the shell takes them for comments.
#
# | directive | asks for |
# |---|---|
# | `--nodes=2` | machines |
# | `--ntasks=8` | processes in all |
# | `--ntasks-per-node=4` | processes on each node; nodes × tasks per node is the number of tasks |
# | `--time=00:10:00` | wall time: when it is over, the job is ended. The less you ask for, the sooner you start |
# | `--output=train_%j.out`, `--error=…` | files for what is printed; `%j` becomes the job's number, so a second run does not overwrite the first |
#
# **Exercise 0.1.** Fill the five empty directives of `job.sbatch` (double-click it in the list of files):
# two tasks, both on the one node, five minutes. The names of both output files begin with `00_cluster_`
# and the job's number; one ends in `.out`, the other in `.err`. Save the file with Ctrl+S. Then run the
# next cell. Such a cell checks an exercise. If something is wrong, it says what it expected, what it found
# and what to try.

# %% tags=["check"]
check.check_0_1(Path("job.sbatch"))

# %% [markdown]
# ## Predict
#
# Before you submit it: `train.py` prints one line for each task, with its number, its host and its cores.
#
# 1. Which host name does `python train.py` print when you start it right here? A guess, in quotes. (The
#    prompt of a terminal often shows it.)
# 2. And when the same line runs in a job: the same name, or another? `"same"` or `"other"`.
# 3. A job asks for two tasks, and its last line is `launch python -u train.py`. Somebody deletes the
#    word `launch`. How many task lines does the job print then? A number.

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_host_here, predict_host_job and predict_lines
predict_host_here = socket.gethostname()
predict_host_job = "other"
predict_lines = 2
### END SOLUTION
answers.note(
    predict_host_here=predict_host_here,
    predict_host_job=predict_host_job,
    predict_lines=predict_lines,
)

# %% [markdown]
# ## What a job costs
#
# Nobody else can use the cores that you hold, whether you compute on them or not. So you are charged for
# the cores that you hold, for as long as you hold them, in **core hours** (or GPU hours): one core for one
# hour, or four for a quarter of an hour.
#
# **Exercise 0.2.** Two functions. All times are in seconds, and `jobs` is a list of such triples: cores,
# elapsed time, and the seconds in which cores really worked for the job (Slurm's `TotalCPU`).


# %% tags=["exercise"]
def core_hours(cores, elapsed):
    """What a job is charged that held so many cores for so many seconds."""
    ### BEGIN SOLUTION Exercise 0.2: the job's price in core hours
    return cores * elapsed / 3600
    ### END SOLUTION


def idle_share(jobs):
    """Of all that these jobs, (cores, elapsed, worked) each, are charged: which share was idle?"""
    ### BEGIN SOLUTION Exercise 0.2: a number from 0 to 1 for all jobs together
    held = sum(cores * elapsed for cores, elapsed, _ in jobs)
    return 1 - sum(worked for *_, worked in jobs) / held
    ### END SOLUTION


# %% tags=["check"]
check.check_0_2(core_hours, idle_share)

# %% [markdown]
# How much of your first job, the one that learnt to write, was training? With `--parsable` (sacct calls it
# `-P`) the accounting prints all its columns, in a form for programs.

# %%
[gpt] = read_files(gpt_files)
trained = len(gpt.ranks) * sum(epoch.seconds.value for epoch in gpt.epochs)
accounting = typed(f"cluster accounting --parsable {gpt.job_id}").splitlines()
row = dict(zip(accounting[0].split("|"), accounting[-1].split("|"), strict=True))
cores, elapsed = int(row["NCPUS"]), int(row["ElapsedRaw"])
print(f"{cores} cores for {elapsed} s: {core_hours(cores, elapsed):.4f} core hours,")
print(f"{idle_share([(cores, elapsed, trained)]):.0%} of them without training,")
print(f"{elapsed / 60 / int(row['TimelimitRaw']):.0%} of the wall time that was asked for")

# %% [markdown]
# The rest is start-up (launcher, Python, imports) and what the network wrote. A long training that shows
# such a number waits for something. Lesson 04 finds out for what. Slurm does the sum for you, with *CPU
# efficiency* for the share in which cores worked. (A laptop has neither of these two commands.)
#
#     sacct --jobs=JOB --format=JobID,State,Elapsed,NCPUS,TotalCPU,MaxRSS
#     seff JOB
#
# ## Who am I?
#
# Started by `srun` or `mpirun`, the same program runs several times at once. Each process is a
# **task**, in MPI's words a **rank**, and learns its number from environment variables.
#
# **Exercise 0.3.** Complete `facts` in `train.py`: it looks the three facts up in `environ`, under the
# names that `NAMES` lists. It must also be right when no launcher started the program.

# %% tags=["check"]
import train

importlib.reload(train)
check.check_0_3(train.facts)

# %% [markdown]
# ## Result and noise
#
# Every program has two output streams: one for its results, one for warnings and errors. A job keeps them
# in two files, with `--output` and `--error`. Without a job the shell does it: `>` sends the results to a
# file, `2>` the errors.
#
# **Exercise 0.4.** Start `train.py` in your terminal. Send its results to `out.txt` and its errors to
# `err.txt`. Then look into both files:
#
#     grep -v MLLOG out.txt
#     cat err.txt
#
# (Lines with `:::MLLOG` are for programs; `grep -v` leaves them out.) Write the line that you typed into the
# next cell, in quotes, so that this page does it, too.

# %% tags=["exercise"]
### BEGIN SOLUTION Exercise 0.4: set command to the line that you typed, in quotes
command = "python -u train.py --seconds 0.2 > out.txt 2> err.txt"
### END SOLUTION
_ = typed(command)

# %% tags=["check"]
check.check_0_4(Path("out.txt"), Path("err.txt"))
here = Path("out.txt").read_text().split(" on ")[1].split(",")[0]  # task 0 of 1 on HOST, …
predictions.compare("predict_host_here", here, how="saw")

# %% [markdown]
# Why do the job files say `python -u`? A program that writes to a file collects its output in a buffer, and
# empties it now and then. Until then `tail -f` shows nothing, though your job may be doing fine. `-u` does
# without the buffer.
#
# ## Submit
#
# In your terminal you would now type
#
#     cluster submit job.sbatch
#
# `submit_once` does it from a notebook: it prints the real command, waits for the end, and returns the
# output files.

# %%
options = {"nodes": "2", "ntasks": "8", "ntasks-per-node": "4"} if profile == "full" else {}
files = submit_once("job.sbatch", options=options)
show_output(files)

# %% [markdown]
# First come the facts of the job: the line `facts` in the job file prints them. Then there is one line
# from each task, in any order, for the tasks run at the same time.
#
# The file holds more, which `show_output` and `cluster logs JOB` leave out:

# %%
records = [line for line in Path(files[0]).read_text().splitlines() if ":::MLLOG" in line]
task = next(line for line in records if '"key":"rank"' in line)
print(f"{len(records)} lines like this one:\n{task}")

# %% [markdown]
# This is the **run record**. Each line is one event: a task is there, an epoch has ended, something
# was measured. It also says how the program was started, and on what. The pictures of this course
# are drawn from it, and your points are counted from it. You never need to read it yourself.

# %%
[run] = read_files(files)
same = {rank.host for rank in run.ranks} == {socket.gethostname()}
predictions.compare("predict_host_job", "same" if same else "other", how="saw")
plots.node_grid(run)

# %% [markdown]
# **What you should see.** One square for each task, in the row of its node; below, the job from
# its submission to its end. On a cluster the hosts are not the one you typed on. On a laptop they
# are: there is only one machine, and the first of the job's facts says `site: laptop`.
#
# ## Break it
#
# The next cell deletes the word `launch` from a copy of the job file, and submits that. You have predicted
# how many task lines there are.

# %%
job = Path("job.sbatch").read_text()
Path("without_launch.sbatch").write_text(job.replace("launch python", "python"))
words = [f"--{name}={value}" for name, value in options.items()]
words += ["--output=without_launch_%j.text", "without_launch.sbatch"]
number = typed(f"cluster submit --wait {' '.join(words)}").split()[3]  # Submitted batch job …
printed = Path(f"without_launch_{number}.text").read_text().splitlines()
tasks = [line for line in printed if line.startswith("task ")]
print(*tasks, sep="\n")
predictions.compare("predict_lines", len(tasks), how="counted")

# %% [markdown]
# `#SBATCH --ntasks=2` reserves room for two tasks. It starts none: the job file itself runs
# once, and whatever it calls runs once. Starting N of them is the launcher's work. The job ends with
# exit code 0, as if all were well, and half of what you pay for idles.
#
# Three other jobs went wrong. For each, name the letter of the cause:
#
# - **A** output buffered, no `python -u`
# - **B** no `%j` in the file name
# - **C** no `srun` or `launch` before `python`
# - **D** module not loaded
# - **E** the launcher started N programs of size 1 each
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
answers.note(
    one_line=one_line,
    empty_file=empty_file,
    all_rank_zero=all_rank_zero,
    ranks_seen=len(run.ranks),
    gflops=gigaflops,
)

# %% [markdown]
# ## Where this notebook runs
#
# A notebook has a **kernel**: the Python that executes its cells. On Open OnDemand, the web portal
# of many centres, it runs on a compute node that the portal asked for in your name. (Portals offer
# other programs the same way: RStudio, image platforms such as BisQue, NVIDIA's DIGITS.)
#
# **Exercise 0.5.** The environment. A course at BioHPC (UT Southwestern, 2022) made its own with
# `conda create -n py3.6-keras …` and turned it into a kernel with `ipython kernel install --user
# --name py3.6-keras --display-name "…"`. Yours was made by `make`, or from `environment.yml` on a
# cluster. This cell asks whether the notebook really uses it.

# %% tags=["check"]
print("host  ", socket.gethostname())
print("python", sys.executable)
print("job   ", os.environ.get("SLURM_JOB_ID", "none: no scheduler started this notebook"))
check.check_0_5()

# %% [markdown]
# ## To look up later
#
# **Modules** switch a site's software on, such as `module load python/3.6.4-anaconda` at BioHPC. Names and
# versions are the site's. Here the site's file does it.
#
# **Cores and GPUs.** `1 cores` in a task's line is **binding**: the launcher has tied this task to one
# core. If two tasks on a node both say 64 cores, nothing is bound, and they may push each other
# around. To see what you may use, type this, in a job or here:
#
#     nproc
#     taskset --cpu-list --pid $$
#
# The first prints how many cores these are, the second which ones. `srun --cpu-bind=verbose …` prints the
# same for each task. For GPUs there is
#
#     nvidia-smi
#
# It shows those of the node that you are on, and most login nodes have none. To look at the node of a job
# that runs:
#
#     srun --jobid=JOB --overlap nvidia-smi
#
# **An interactive hour.** To try things, ask for a node and stay there:
#
#     source ~/.dl-course/site.sh
#     salloc --nodes=1 --ntasks=2 --cpus-per-task=1 --time=01:00:00
#     source ~/.dl-course/site.sh
#     launch python -u train.py
#     exit
#
# The site's file is read twice. The first time it tells `salloc` the account and the partition; inside the
# allocation it loads the software. Without the `exit` the node stays yours, idle, and charged to you.
# Results that you want to keep come from a job. (A laptop has no `salloc`, and needs none.)
#
# ## Traps
#
# | you see | it was |
# |---|---|
# | one line instead of four | no launcher before `python` |
# | every line says rank 0 of 1 | a launcher that does not match the MPI; the exit code is 0 |
# | the second run has overwritten the first | no `%j` in `--output` |
# | output empty until the end | no `-u` |
# | output empty, `ImportError` in the error file | module or environment not loaded |
# | `sbatch` asks for an account, or takes the wrong partition | the site's file was not read: `source ~/.dl-course/site.sh` |
# | `COMPLETED 0:0`, but the program failed | a failing `srun` followed by an `echo`: the last line's exit code counts; `set -e` in the job ends it at the first failure |
#
# And a limit is not exact: on a real Slurm (one machine that plays four nodes) a limit of one minute ended
# a job after about 1:25, because Slurm looks only now and then.
#
# ## Recap
#
# - You ask with directives, the scheduler decides, the launcher starts the ranks, environment
#   variables tell each rank who it is.
# - Asking for tasks is one thing, starting them another. One dead rank ends the job for all.
# - A job's results and its noise go to two files, and their names carry the job's number.
# - You pay for the cores that you hold. The accounting says how long, and how much of it you used.
# - The site's file knows the computer; the lesson does not.
#
# **To show a friend**: the picture of what your two ranks learnt to write. It is saved beside this page.

# %%
plots.writing(gpt, save="my_first_gpt.png")

# %% [markdown]
# **Hand in**, in your terminal:
#
#     lessons submit 00
#
# It packs this folder and says what is in it. More: your centre's support pages; the Slurm quick
# start; the MPI tutorial and the mpi4py documentation, which lesson 06 uses.
