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
# Two processes train a small language model for you. Then you run a job of your own, kill a process, and
# find out who decides what runs where. Allow 45 minutes.
#
# Run the cells from the top, one after the other, with Shift+Enter. When you come back another day, start
# at the top again: *Run → Run All Above Selected Cell*.
#
# **On a machine that has `sbatch`**, first choose where your jobs run. Open a terminal (*File → New → Terminal*),
# find the machine's name with `cluster sites`, and type `cluster use NAME`. A laptop needs no choice.

# %% tags=["parameters"]
profile = "smoke"  # "smoke": two tasks on one node. "full": two nodes with four tasks each

# %% tags=["setup", "hide-input"]
import socket
import time
from pathlib import Path

from lessons import course

# %% [markdown]
# ## Your first training on two ranks
#
# This cell submits a **job**: a file that says what to run and how much of the machine it needs. The job
# starts `train_gpt.py` twice, at the same time. Each copy is a **rank**. Together they teach a network to
# write like Python's documentation, one character at a time. This takes about half a minute.
#
# Run the cell, then scroll down. The curve below it shows how surprised the network is by the next character:
# lower is better. The line below the curve shows what it currently writes. The untrained network begins.

# %%
[gpt] = course.submit("gpt.sbatch")
parts = ("rank ", "Before training", "After training", "    ")
for line in Path(gpt.files[0]).read_text().splitlines():
    if line.startswith(parts):
        print(line)

# %% [markdown]
# **What you should see.** Below the curve, two lines say on which host each rank ran. Before training, the network
# writes noise. After ten epochs (parts of the training), it writes letters, words and brackets, without understanding
# any of it. Each rank read 128,000 characters. After each of the 500 batches, the two averaged their *gradients*, which
# say how a change of each number changes the loss (lesson 01). `train_gpt.py` is the whole program. `gpt.py`
# contains the network, which has about 410,000 numbers. The next cell makes a picture **to show a friend**, and saves
# it beside this page.

# %%
course.plots.writing(gpt, save="my_first_gpt.png")

# %% [markdown]
#
# A job prints to a **file**, because it may start at night, on another machine, when you are logged out.
# The first cell read that file (`gpt_1.out`, or a similar name) while it grew.
#
# ## Your own job
#
# A job file is a shell script. Lines that begin with `#SBATCH` are **directives**. The **scheduler**, the
# program that gives jobs their share of the machine, reads them. The shell ignores them.
#
# | directive | requests |
# |---|---|
# | `--nodes=2` | machines |
# | `--ntasks=8` | processes in all |
# | `--ntasks-per-node=4` | processes on each node: nodes × tasks per node = tasks |
# | `--time=00:10:00` | the time limit, after which the job is ended; short jobs often start sooner |
# | `--output=train_%j.out`, `--error=…` | files for the output; `%j` becomes the job's number, so the next run does not overwrite them |
#
# **Exercise 0.1.** Open `job.sbatch` (double-click it in the list of files) and fill in the five empty directives:
# two tasks, both on one node, and five minutes. The names of both output files begin with `00_cluster_` and the
# job's number, whatever `--job-name` says. One ends in `.out`, and the other in `.err`. Save the file with Ctrl+S, then
# run the next cell. It checks the exercise: it says what it expected, what it found and what to try.

# %% tags=["check"]
course.check("0.1", Path("job.sbatch"))

# %% [markdown]
# Your job starts `train.py` twice. How does each copy know which rank it is? The program that starts the
# ranks, the **launcher**, sets environment variables for each of them.
#
# **Exercise 0.2.** Complete `facts` in `train.py`. It looks up three facts in `environ`, under the names in `NAMES`:
# the *rank*, counted from 0; the *size*, which is the number of ranks; and the *local rank*, which counts the ranks
# of each node from 0. If several names of a fact are set, the first one counts. It must also work when no launcher
# started the program. Where a program or a cell says `raise NotImplementedError("…")`, replace this with your own
# lines. (In some places it takes three lines: replace all of them.)

# %% tags=["check"]
import train

course.check("0.2", train.facts)

# %% [markdown]
# ## Predict
#
# Predict before you submit. A wrong prediction counts as much as a right one.
#
# 1. `train.py` prints one line for each task, with its number, its host and its cores. Which host name does `python
#    train.py` print when you start it right here? Give a guess, in quotes. (The prompt of a terminal often shows
#    it.)
# 2. Does it print the same name in a job, or a different one? `"same"` or `"other"`.
# 3. The last line of your job file begins with `launch python -u train.py`. You delete the word `launch`. How many
#    task lines does the job print then? Give a number.
# 4. Your first job held its cores from its start to its end. For what share of that time did they *not* train? A
#    number from 0 to 1.

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_host_here, predict_host_job, predict_lines, predict_idle
predict_host_here = socket.gethostname()
predict_host_job = "other"
predict_lines = 2
predict_idle = 0.3
### END SOLUTION
course.answers.note(
    predict_host_here=predict_host_here,
    predict_host_job=predict_host_job,
    predict_lines=predict_lines,
    predict_idle=predict_idle,
)

# %%
options = {"nodes": "2", "ntasks": "8", "ntasks-per-node": "4"} if profile == "full" else {}
[run] = course.submit("job.sbatch", options=options)
course.show_output([run])

# %% [markdown]
# The first lines are facts about the job, printed by the line `facts` in the job file. Then each task prints
# one line. The order varies, because the tasks run at the same time.
#
# The file also contains lines that `course.show_output` and `cluster logs JOB` do not show:

# %%
records = [line for line in Path(run.files[0]).read_text().splitlines() if ":::MLLOG" in line]
task = next(line for line in records if '"key":"rank"' in line)
print(f"{len(records)} lines like this one:\n{task}")

# %% [markdown]
# This is the **run record**: one line per event, such as the end of an epoch. The course draws its pictures and
# counts your points from these lines. You never need to read them.

# %%
same = {rank.host for rank in run.ranks} == {socket.gethostname()}
course.predictions.compare("predict_host_job", "same" if same else "other", how="saw")
course.plots.node_grid(run)

# %% [markdown]
# **What you should see.** The picture has one square per task, in the row of its node. Below them is the job's
# timeline from submission to end. On a cluster, the job usually ran on hosts other than this notebook's. A laptop is
# only one machine, and the first fact of the job says `site: laptop`.
#
# ## Kill a rank
#
# Now run the first job again. After its second epoch, rank 1 is killed, as if its node had failed. What
# does rank 0 do? It `"goes on"` alone, it `"waits"` for rank 1 forever, or it `"stops"`.

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_survivor to "goes on", "waits" or "stops"
predict_survivor = "stops"
### END SOLUTION
course.answers.note(predict_survivor=predict_survivor)

# %%
survivor = "goes on"
try:
    course.submit("gpt.sbatch", "--kill", 1)
except course.JobError as error:
    survivor = "waits" if "TIMEOUT" in str(error) else "stops"
    print(error)
course.predictions.compare("predict_survivor", survivor, how="saw")

# %% [markdown]
# **What you should see.** In the error file, the launcher reports that rank 1 was *killed* (`mpirun` adds: by signal
# 9). Then the launcher ends rank 0, and the job is `FAILED`. Sometimes rank 0 is faster, and the file also contains
# its traceback: in `loss.backward()`, where the ranks average their gradients, it lost its connection. One dead rank
# ends the training on all ranks, and whatever was not saved is lost. (Is rank 0 different, which writes the record? Run
# the cell again with 0 in place of 1.) A rank that hangs is worse: all the others wait for it (lesson 10).
#
# ## In a terminal
#
# A supercomputer is many machines on one network. You type on a **login node**, which all users share. Your
# programs run on **compute nodes**. The scheduler decides which job gets which nodes, and when. On most
# machines it is called Slurm. On a laptop, the course's own small scheduler takes Slurm's place.
#
# Open a terminal: *File → New → Terminal* in JupyterLab. It starts in the folder `lessons`. Change to this
# lesson's folder:
#
#     cd 00_cluster
#
# If you started JupyterLab with `make lab`, the course's commands work in its terminals. In any other terminal on your
# own machine, activate the course's environment:
#
#     source ../../.venv/bin/activate
#
# Then choose where your jobs run, unless you did so before the first job. On a laptop, type the first line. On a
# cluster, type the second, with its name (`cluster sites` lists the names) and, if needed, the project to charge:
#
#     cluster use laptop
#     cluster use juwels --account PROJECT
#
# This writes `~/.dl-course/site.sh`. The file contains everything that differs between computers: account and
# partition, modules, and what `launch` means (`srun`, `mpirun` or `mpiexec`). Every job file reads it. `sbatch` needs
# it, too: load it once in each terminal. Then submit your job:
#
#     source ~/.dl-course/site.sh
#     sbatch job.sbatch
#
# ## Watch a job, and cancel it
#
# `clock.sbatch` prints the time every two seconds, and never ends by itself: you cancel it, or its time limit does.
# Submit it. The reply ends with the job's
# number. From here on, type that number in place of `JOB`.
#
#     sbatch clock.sbatch
#     squeue --me
#     tail -F clock_JOB.out
#
# The last command waits for the output and shows it as it grows. Ctrl+C stops the display, but not the job.
# Now cancel the job, and see what the accounting says about it:
#
#     scancel JOB
#     squeue --me
#     sacct -X --jobs=JOB --format=JobID,State,Elapsed,NCPUS,NodeList
#
# The cells below run the same commands for you.

# %%
clock = course.typed("sbatch clock.sbatch").split()[3]  # Submitted batch job …
output = Path(f"clock_{clock}.out")
while clock in course.typed("squeue --me").split():  # it waits for a node, then starts
    time.sleep(8)
    if output.is_file() and output.read_text().count(" on ") > 2:
        break
columns = "JobID,State,Elapsed,NCPUS,NodeList"
lines = (f"tail {output}", "scancel JOB", "squeue --me", f"sacct -X --jobs=JOB --format={columns}")
for line in lines:
    course.typed(line.replace("JOB", clock))
    time.sleep(2)  # so that you can see it end

# %% [markdown]
# **What you should see.** In the queue, `PD` means *pending*, with the reason in brackets, `CF` *configuring* the
# nodes, `R` *running*, and `CG` *completing*. Soon after the cancel, only the accounting still lists the job, as
# `CANCELLED`, with the seconds for which it held its core.
#
# Learn these commands: they work on every Slurm machine (`sacct` where it keeps accounts).
#
# | command | shows |
# |---|---|
# | `sbatch clock.sbatch` | the job's number |
# | `squeue --me` | which of your jobs wait and why, which run, where and for how long |
# | `tail -F clock_JOB.out` | what the job prints, while it runs |
# | `scancel JOB` | nothing: the job ends |
# | `sacct -X --jobs=JOB --format=JobID,State,Elapsed,NCPUS,NodeList` | how the job ended, how long it took, how many cores it held, on which nodes |
#
# ## Break it
#
# The next cell deletes the word `launch` from a copy of your job file and submits the copy. How many task
# lines did you predict?

# %%
job = Path("job.sbatch").read_text()
Path("without_launch.sbatch").write_text(job.replace("launch python", "python"))
words = [f"--{name}={value}" for name, value in options.items()]
words += ["--output=without_launch_%j.text", "without_launch.sbatch"]
number = course.typed(f"sbatch --wait {' '.join(words)}").split()[3]
printed = Path(f"without_launch_{number}.text").read_text().splitlines()
tasks = [line for line in printed if line.startswith("task ")]
print(*tasks, sep="\n")
course.predictions.compare("predict_lines", len(tasks), how="counted")

# %% [markdown]
# `#SBATCH --ntasks=2` reserves room for two tasks, but starts none. The job file itself runs once, and so does every
# program that it calls. Starting N copies is the launcher's work. The job ended with exit code 0, but all cores but
# one were idle, as one process with one thread was all that ran.
#
# ## What a job costs
#
# Nobody else can use the cores that your job holds, whether it computes or not. So you pay for cores × time, in
# **core hours** (or GPU hours).
#
# **Exercise 0.3.** Write two functions. All times are in seconds. `jobs` is a list of triples: cores,
# elapsed time, and the CPU time that the job really used (Slurm calls it `TotalCPU`).


# %% tags=["exercise"]
def core_hours(cores, elapsed):
    """Return the price of a job that held these cores for so many seconds."""
    ### BEGIN SOLUTION Exercise 0.3: the job's price in core hours
    return cores * elapsed / 3600
    ### END SOLUTION


def idle_share(jobs):
    """Return the idle share of all that these jobs, (cores, elapsed, worked) each, pay for."""
    ### BEGIN SOLUTION Exercise 0.3: a number from 0 to 1 for all jobs together
    held = sum(cores * elapsed for cores, elapsed, _ in jobs)
    return 1 - sum(worked for *_, worked in jobs) / held
    ### END SOLUTION


# %% tags=["check"]
course.check("0.3", core_hours, idle_share)

# %% [markdown]
# In your first job, the network learned to write. How much of what you paid for was not training? (You predicted it.)
# With `-P`, `sacct` prints the chosen columns in a machine-readable form.

# %%
trained = len(gpt.ranks) * sum(epoch.seconds.value for epoch in gpt.epochs)
columns = "NCPUS,ElapsedRaw,TimelimitRaw"
accounting = course.typed(f"sacct -X -P --jobs={gpt.job_id} --format={columns}").splitlines()
row = dict(zip(accounting[0].split("|"), accounting[-1].split("|"), strict=True))
cores, elapsed = int(row["NCPUS"]), int(row["ElapsedRaw"])
print(f"{cores} cores for {elapsed} s: {core_hours(cores, elapsed):.4f} core hours,")
idle = idle_share([(cores, elapsed, trained)])
print(f"{idle:.0%} of them without training,")
print(f"{elapsed / 60 / int(row['TimelimitRaw']):.0%} of the requested time limit")
course.predictions.compare("predict_idle", idle)

# %% [markdown]
# The rest is startup (launcher, Python, imports), the test and text output: in a long run, a small share. It does not
# show a rank that waits *within* an epoch (lesson 04). Slurm's `seff` prints the share of time in which the cores
# were busy, or busily waiting: the *CPU efficiency*. (A laptop has none.)
#
#     sacct --jobs=JOB --format=JobID,State,Elapsed,NCPUS,TotalCPU,MaxRSS
#     seff JOB
#
# ## Results and errors
#
# Every program has two output streams: one for results, one for warnings and errors. A job keeps them in two
# files, `--output` and `--error`. Outside a job, the shell does this: `>` sends the results to a file, `2>` the errors,
# and `2>&1` sends the errors where the results go *at that moment*: the shell reads a line from left to right.
#
# **Exercise 0.4.** Start `train.py` in your terminal. Send its results to `out.txt` and its errors to
# `err.txt`. Then look into both files:
#
#     grep -v MLLOG out.txt
#     cat err.txt
#
# (`grep -v` leaves out the run record.) Then send both into one file, `all.txt`, with a second line. Put your two
# `train.py` lines into the next cell, in quotes, so that this page runs them, too.

# %% tags=["exercise"]
### BEGIN SOLUTION Exercise 0.4: set apart and together to the two lines, in quotes
apart = "python -u train.py --seconds 0.2 > out.txt 2> err.txt"
together = "python -u train.py --seconds 0.2 > all.txt 2>&1"
### END SOLUTION
for old in ("out.txt", "err.txt", "all.txt"):
    Path(old).unlink(missing_ok=True)  # only what these lines write counts
_ = course.typed(apart), course.typed(together)

# %% tags=["check"]
course.check("0.4", Path("out.txt"), Path("err.txt"), Path("all.txt"))
here = Path("out.txt").read_text().split(" on ")[1].split(",")[0]  # task 0 of 1 on HOST, …
course.predictions.compare("predict_host_here", here, how="saw")

# %% [markdown]
# Why do the job files say `python -u`? A program that writes to a file collects its output in a buffer and
# writes it out only now and then. Until then, `tail -f` shows nothing, even if the job is fine. `-u`
# switches the buffer off.
#
# ## Which record is which fault?
#
# Four people ran this lesson's program. Each author meant to run a job with two tasks, and made one mistake:
#
# - **A** no `launch` before `python`
# - **B** the job requests one task
# - **C** `facts` in `train.py` finds nothing
# - **D** the tasks were started by hand, in a terminal
# - **E** no `%j` in the file name
#
# The next cell shows what was printed, without the run record.

# %%
for letter in "fgjt":
    lines = Path(f"records/{letter}.rec").read_text().splitlines()
    print(f"----- {letter}", *(line for line in lines if ":::MLLOG" not in line), sep="\n")

# %% [markdown]
# Write the letters of `f`, `g`, `j` and `t` in this order, as one word.

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: faults_jobs, four letters
faults_jobs = "DBCA"
### END SOLUTION
course.answers.note(faults_jobs=faults_jobs)

# %% [markdown]
# **Open question**, without points: what is the smallest time limit with which `gpt.sbatch` still ends well on this
# machine? Defend it with `sacct`.
#
# ## Look up later
#
# **Cores and GPUs.** `1 cores` in a task's line of a job with several means **binding**: the launcher has tied this
# task to one core. If each task on a node names *all* cores of the job, nothing is bound, and they may get in each
# other's way. This command prints which cores you may use. (Two tasks with the same list share its cores.)
#
#     taskset --cpu-list --pid $$
#
# `nvidia-smi` shows the GPUs of a node. Most login nodes have none. On the node of a running job:
#
#     srun --jobid=JOB --overlap nvidia-smi
#
# Two nodes that you may meet, from JUWELS' user guide and NVIDIA's data sheets:

# %%
course.plots.nodes()

# %% [markdown]
# **An interactive hour.** To try things out, request a node and stay there:
#
#     source ~/.dl-course/site.sh
#     salloc --nodes=1 --ntasks=2 --cpus-per-task=1 --time=01:00:00
#     source ~/.dl-course/site.sh
#     launch python -u train.py
#     exit
#
# Load the site's file twice. Before the allocation, it tells `salloc` the account and the partition. Inside the
# allocation, it loads the software. If you forget `exit`, you pay for an idle node. (A laptop needs no `salloc`.)
#
# ## Traps
#
# | you see | cause |
# |---|---|
# | the second run has overwritten the first | no `%j` in `--output` |
# | output empty until the end | no `-u` |
# | `sbatch` asks for an account, or uses the wrong partition (at a centre; not run here) | the site's file was not read: `source ~/.dl-course/site.sh` |
# | `COMPLETED 0:0`, but the program failed | a failing `srun` followed by an `echo`: the exit code of the last line counts; `set -e` ends the job at the first failure |
#
# ## Recap
#
# - You request with directives, the scheduler decides, the launcher starts the ranks, and environment
#   variables tell each rank which one it is.
# - Requesting tasks starts none of them. One dead rank ends the job for all ranks (`launch` asks Slurm for that).
# - A job's results and errors go to two files, whose names contain the job's number.
# - You pay for the cores that you hold. The accounting says how long you held them.
#
# **Submit** your work, in the terminal:
#
#     lessons submit 00
#
# This packs the folder and lists what is in the package. Further reading: your centre's support pages, and the
# Slurm quick start.
