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
# # 15 · A job that survives
#
# **How much work does a dead node cost?**
#
# While Meta trained Llama 3 on 16,384 GPUs, something failed 419 times in 54 days. Your jobs are smaller, but have a
# time limit. What a job did not save is lost.
#
# Here, a training run is killed, warned, and killed again, and ends with *exactly* the parameters of an uninterrupted
# run.
#
# The network is lesson 13's GPT, with a full copy on every rank. Allow 120 minutes. On two CPU cores, all jobs on
# this page take about a minute.

# %% tags=["parameters"]
profile = "smoke"  # "smoke": two CPU cores. "full": a larger network, GPUs
ranks = 2  # in "full" as many as you have GPUs on one node; it must divide 16
gpus = "gres=gpu:{n}"  # "full": how your site asks for n GPUs of a node

# %% tags=["setup", "hide-input"]
from lessons import course

import atomic
import background
import interval
import pieces
import sampler
import signals
import snapshot

size = {"smoke": [], "full": ["--layers", "8", "--width", "512"]}[profile]

# %% [markdown]
# ## Predict
#
# 1. A run saves every 5 steps. After step 24, a rank is killed. How many steps are lost?
# 2. An epoch has 160 samples. The run dies in the middle of it. The next run restores everything but the
#    position of its sampler. So it reads the 80 samples that are left in the epoch from a new shuffle of all 160.
#    How many of the 160 samples are then *not* read exactly once? Give a number between 0 and 160.
# 3. Later you leave one thing unrestored: **o**, Adam's running means; **s**, the sampler; **r**, the random state.
#    Or the only checkpoint is half written (**h**), and training begins again at step 0. After which of these
#    accidents is the final loss as usual, to within 1 %? Write letters, or `none`.

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_lost and predict_twice to numbers, predict_unseen to letters
predict_lost, predict_twice, predict_unseen = 4, 90, "srh"
### END SOLUTION
course.answers.note(
    predict_lost=predict_lost, predict_twice=predict_twice, predict_unseen=predict_unseen
)

# %% [markdown]
# ## What to save
#
# Parameters are not enough. The next step also depends on
#
# | what | because |
# |---|---|
# | the optimizer | Adam's running means and its count of steps; the scale of the loss in float16 (lesson 14) |
# | the schedule | the learning rate of the next step |
# | the sampler | which samples of this epoch are still to be read, and the order of the next epoch |
# | the random state | here, 5 % of the characters are replaced by chance; elsewhere dropout and augmentation |
#
# Here all ranks draw the same random numbers, so one random state is enough. Otherwise save each rank's
# states, including those of NumPy, Python and CUDA.
#
# **Exercise 15.1.** In `snapshot.py`, `capture(training)` returns all of this in one dictionary, and
# `restore(training, saved)` puts it back into new objects.
#
# **Exercise 15.2.** `sampler.py` shuffles the samples in each epoch. `state` returns what a new sampler needs to
# continue in the middle of an epoch, and `load` takes it. A position alone is not enough. Save the generator's state
# from *before* the shuffle, so that the new sampler can repeat it.

# %% tags=["check"]
course.check("15.1", snapshot)
course.check("15.2", sampler)

# %% [markdown]
# ## Whole files
#
# A job may die while it replaces its only checkpoint. So write in four steps:
#
# 1. Write to another name beside the file, which must not look like a checkpoint (`step_*.pt`):
#    `with open(beside, "wb") as file: torch.save(state, file)`.
# 2. `file.flush()` gives the bytes to the operating system.
# 3. `os.fsync(file.fileno())` waits until they are on the disk.
# 4. `os.replace(beside, path)` renames the file. Readers see either the old file or the new one, never half of one.
#    (Against a power cut, `fsync` the folder, too: it has the new *name*.)
#
# Disks fail, too. So the program keeps the last two checkpoints, and uses the older one if the newest cannot be read.
# But a file may be damaged, or arrive late on a network file system, for one rank alone, and ranks that begin from
# different steps hang at the end. So rank 0 chooses for all.
#
# **Exercise 15.3.** In `atomic.py`,
#
# - `write(state, path)` does the four steps.
# - In the loop of `newest(folder)`, return what `torch.load(path, map_location="cpu")` reads. (Otherwise every rank
#   loads the tensors onto rank 0's GPU.) If that raises an exception, print one sentence with the file's name, and
#   let the loop go on.
# - `agreed(folder)` runs on all ranks. Rank 0 calls `newest`, and sends its step, or `None`, to all:
#   `dist.broadcast_object_list([step])` replaces the list's content on the others. They load the file of this step.

# %% tags=["check"]
course.check("15.3", atomic)

# %% [markdown]
# ## A warning
#
# Slurm can send a signal some time before the time limit:
#
# - `#SBATCH --signal=USR1@120` sends USR1 to all ranks that `srun` has started, 120 seconds before the limit. (Slurm
#   may be up to a minute early.) The batch shell does not receive it.
# - `#SBATCH --signal=B:USR1@120` sends it to the batch shell **only**.
#
# Preemption and `scancel` send SIGTERM instead, and SIGKILL some seconds later; a program of your own should handle
# both. Without a handler, USR1 ends a process, and `torchrun`, too, unless `--signals-to-handle` names it.
# `signals.py` sets one that only records the signal. It is the first import of `train.py`, because a signal may come
# while PyTorch is still loading. The program finishes its step, saves, and ends with exit code 75, which Unix calls a
# temporary failure.
#
# But ranks do not receive the signal at the same moment. If rank 0 receives it during step 17, it saves and leaves.
# Rank 1 receives it during step 18, and waits in the allreduce forever. So the ranks ask each other, here after every
# second step. That costs an allreduce.
#
# **Exercise 15.4.** `anyone_warned(device)` in `signals.py` returns whether *any* rank has received a signal, on all
# ranks. The list `warnings` contains the signals that this process has received.

# %% tags=["check"]
course.check("15.4", signals)

# %% [markdown]
# ## A job that comes back
#
# A job can put itself back into the queue: `scontrol requeue JOB`. It keeps its number, and later starts again from
# its first line. `SLURM_RESTART_COUNT` then says how often that has happened. It is not set in the first life, so
# write `${SLURM_RESTART_COUNT:-0}`: the job file's `set -u` ends it at any unset variable. Two lines prepare this:
#
# - `--requeue` allows it. Slurm then also restarts the job by itself if a *node* fails.
# - `--open-mode=append` keeps the output of the earlier lives. Otherwise each life overwrites it.
#
# `train.py` looks for the newest checkpoint in `checkpoints/` and the number of its job. If there is one, it
# continues there. If not, it begins at step 0.
#
# Which deaths deserve another life? A faulty GPU, the most frequent cause in Meta's list, usually ends a program with
# 1, as a bug does. But a bug stops every life at the same step.
#
# **Exercise 15.5.** In `job.sbatch`, request USR1 for the ranks, 120 seconds before the limit. After the launch, call
# `scontrol requeue "$SLURM_JOB_ID"` if `status` is not 0 and there is a newer checkpoint than the one that this life
# began with: `newest` prints the last file's name, and `began` has the first answer. Stop after 5 restarts.
#
# **Exercise 15.6.** `job_shell.sbatch` receives the signal in the batch shell (`B:`), and has to pass it on. A shell
# reacts to `trap 'command' USR1` only when no program is in its foreground. So launch in the background, then `wait
# "$ranks"`:
#
#     launch … &
#     ranks=$!
#
# `$ranks` is the shell in which `launch` runs, and `srun` is its child (`-P` means: children of). So
# `pkill -USR1 -P "$ranks"` signals `srun`, which passes USR1 on to all ranks. The signal also ends the `wait` early,
# with a nonzero code. So wait a second time, and take `status` from there (`||` keeps `set -e` from ending the
# script). Then requeue as before.

# %% tags=["check"]
course.check("15.5", "job.sbatch")
course.check("15.6", "job_shell.sbatch")

# %% [markdown]
# ## How often?
#
# A checkpoint stops training for `write_s` seconds, and a failure costs half an interval on average. With an interval
# $w$ and a mean time between failures (MTBF) $M$, the fraction of time wasted is about
#
# $$\frac{\mathrm{write\_s}}{w} + \frac{w}{2M}, \qquad \text{smallest at} \quad
# w = \sqrt{2 \cdot \mathrm{write\_s} \cdot M}.$$
#
# (Young, 1974; Daly, 2006.) $M$ is the MTBF of the *job*. A job on $n$ nodes dies with any of them, so its MTBF is
# that of one node, divided by $n$. (A failure also costs a restart: the queue, loading, compiling. That is often
# more, but does not change the best interval.)
#
# **Exercise 15.7.** `best_interval(write_s, node_mtbf_s, nodes)` in `interval.py` returns $w$ in seconds.

# %% tags=["check"]
course.check("15.7", interval.best_interval)

# %% [markdown]
# ## Save in the background
#
# Training only has to stop until the state is *copied*. A thread can write the copy while the next steps run. But
# `state_dict()` returns no copy: its tensors are the parameters themselves, and the next step overwrites them.
# `tensor.to("cpu")` copies from a GPU, but on a CPU it returns the same tensor.
#
# `background.py` waits for the last write before it starts another, because two threads could finish in the wrong
# order. If a thread fails, perhaps because the disk is full, `result()` raises its error here.
#
# **Exercise 15.8.** `copied(value)` returns the same structure of dictionaries, lists and tuples, with a copy of each
# tensor in the CPU's memory, without gradients (`.detach()`). A function that calls itself is the shortest way.

# %% tags=["check"]
course.check("15.8", background.copied)

# %% [markdown]
# ## Fewer ranks, the same batch
#
# After a failure there may be fewer nodes. To keep the global batch (and so the training) the same, each rank does
# more: if its part no longer fits into memory, in pieces, whose gradients it adds up.
#
# A piece's loss is a mean over the piece. Weight it by `len(piece) / len(batch)`. Then the sum over all pieces and
# ranks is the mean over the whole batch.
#
# **Exercise 15.9.** `add_gradients` in `pieces.py` takes this rank's part of the batch, `batch[rank::size]`, splits it
# into pieces of at most `most` samples, calls `backward` for each weighted loss, and returns their sum, detached.

# %% tags=["check"]
course.check("15.9", pieces.add_gradients)

# %% [markdown]
# ## Does it survive?
#
# The first training has no accidents. The second has three: a rank is killed (`kill -9`) after step 7, rank 0
# receives USR1 after step 17, and a rank is killed after step 24.
#
# Each rank keeps a journal beside the checkpoints. After the training, the job runs `probe.py`, which tests your
# functions on real ranks and counts in the journals what was lost and read twice.

# %% tags=["hide-input"]
several = course.on_nodes(ranks, gpus if profile == "full" else "")


def finished(runs):
    """Return the job's last life, and its probe."""
    return [run for run in runs if run.outcome == "completed"][-2:]


def measure(run, name):
    return next((each["value"] for each in run.measures if each["name"] == name), float("nan"))


# %%
whole, whole_probe = finished(course.submit("job.sbatch", *size, options=several))
accidents = ["--background", "--kill-at", 7, 24, "--warn-at", 17]
survived, survived_probe = finished(course.submit("job.sbatch", *size, *accidents, options=several))

# %% tags=["hide-input"]
for run, probe in ((whole, whole_probe), (survived, survived_probe)):
    print(f"{measure(probe, 'lives'):.0f} lives: parameters {run.ranks[0].param_hash}, ", end="")
    print(f"{measure(probe, 'read_wrong'):.0f} samples not read once, ", end="")
    print(f"stopped {1000 * measure(probe, 'stop_s'):.0f} ms for a checkpoint")
course.predictions.compare("predict_lost", measure(survived_probe, "lost_to_kill"))
equal = whole.ranks[0].param_hash == survived.ranks[0].param_hash
print("equal in every bit" if equal else "not equal: what was not restored?")
course.plots.lives(survived_probe, beside=whole_probe, save="my_lives.png")

# %% [markdown]
# **What you should see.** The picture shows four lives and one curve. The hatched steps were computed twice: 2 after
# the first kill, 4 after the second, and none after the warning. The hash of all parameters is the same as without
# accidents, so every bit is equal. Sums depend on their order. Equal bits therefore need the same number of
# ranks, the same libraries and kind of processor or GPU, and algorithms that always add in one order. On GPUs,
# `torch.use_deterministic_algorithms(True)` in `train.py` excludes others.
#
# A checkpoint of 1.3 MB stops training for 14 to 40 ms here (virtual disk), and in the background for 1 to 2 ms.
#
# A short time limit and slow steps show the real warning:
#
#     sbatch --time=00:02:00 --signal=USR1@60 job.sbatch --pace 5
#
# On a Slurm site, a requeued job waits for about two minutes. `scancel` ends the job permanently.
#
# If your site forbids requeueing, submit a chain of jobs with one folder. Each begins when the one before it has
# ended, however it ended:
#
#     export CHECKPOINTS=checkpoints/chain
#     first=$(sbatch --parsable job.sbatch)
#     sbatch --dependency=afterany:$first job.sbatch
#
# ## Your interval
#
# Suppose that one node fails every five years, and that the job has 1,000 nodes. (Meta's 2,048 nodes of eight GPUs
# failed more often: 2,048 · 54 days / 419 is once in 264 days per node.)

# %%
stop = measure(whole_probe, "stop_s")
own_interval = interval.best_interval(stop, 5 * 8766 * 3600, 1000)
course.answers.note(own_interval=f"{own_interval:.1f}")
print(f"A stop of {stop:.4f} s: save every {own_interval:.0f} s")

# %% [markdown]
# ## Elastic training
#
# `torchrun` can also continue with the remaining nodes: `--nnodes=1:2` asks for one or two. Its *agents*, one per
# node, meet at a *rendezvous*.
#
# When a node dies, no agent notices. The surviving *ranks* do: with Gloo, their connection breaks in the next
# allreduce, and they raise an error. With NCCL they wait, until its watchdog ends them after the `timeout` of
# `init_process_group` (10 minutes by default, 2 in `train.py`; [What NCCL says](../../docs/nccl.md)). Only then do
# their agents meet again, without those that no longer report, and start the program from its first line.
# `--max-restarts` limits how often. The node of the rendezvous must stay up, and on Slurm the job needs `--no-kill`.
# Otherwise Slurm ends the job with its first dead node.
#
# In `job_elastic.sbatch`, two agents on one machine stand in for two nodes, each with a GPU or none. The second is
# killed with its rank.

# %%
two = course.on_nodes(
    min(2, ranks), gpus if profile == "full" else ""
)  # two agents, a GPU for each
one, one_probe = finished(course.submit("job_elastic.sbatch", *size, "--kill-at", 12, options=two))
apart = abs(one.test_loss.value - whole.test_loss.value)
weighed = "Is the loss of a piece weighed, and is every sample of the batch read?"
course.expectations.compare(
    "The difference in test loss", apart, (0, 0.001), above=weighed, counted=True
)
print(
    f"{one.workers} rank at the end, {measure(one_probe, 'lost_to_kill'):.0f} steps lost, ", end=""
)
print(f"{measure(one_probe, 'read_wrong'):.0f} samples not read once")
equal = whole.ranks[0].param_hash == one.ranks[0].param_hash
print("The parameters are", "equal." if equal else "no longer equal in every bit.")

# %% [markdown]
# **What you should see.** One rank goes on after step 10, with the same batch of 16 in two pieces of 8. Each sample
# is still read once. The test loss agrees to five or six digits, but not the parameters in every bit: one rank adds
# up the same numbers in another order.
#
# ## Break it
#
# `break_it.py` interrupts a run after step 18 and continues it from a checkpoint of step 15, with `nothing`
# wrong, and then without one thing:
#
# | `without` | what is different |
# |---|---|
# | `optimizer` | Adam begins with empty means |
# | `sampler` | the epoch begins again, in the order of the first epoch |
# | `random` | the random state is that of a new process |
# | `half` | the only checkpoint is half written, so training begins at step 0 |

# %%
found = course.submit("job_break.sbatch", *size, options=several)
broken = {run.header["without"]: run for run in found}
last = {name: run.epochs[-1].train_loss.value for name, run in broken.items()}
usual = [
    name
    for name in ("optimizer", "sampler", "random", "half")
    if abs(last[name] / last["nothing"] - 1) < 0.01
]
course.predictions.compare("predict_unseen", "".join(name[0] for name in usual) or "none")
course.predictions.compare("predict_twice", measure(broken["sampler"], "read_wrong"))
course.plots.faults(broken, path="", more=["apart", "read_wrong", "lost"])

# %% [markdown]
# **What you should see.** `apart` is the largest difference between a parameter and its value after uninterrupted
# training.
#
# - `optimizer` changes the loss: 3.02 instead of 3.14, because Adam's first steps are long. In a large training run,
#   they can undo days of work.
# - `sampler` and `random` look perfect. Yet 88 of the 160 samples in the second epoch are read twice or never.
# - `half` is correct to the last bit, and costs all 18 steps instead of 3.
#
# ## Questions
#
# - `large_interval`: Llama 3 had 419 failures in 54 days. If a checkpoint stops training for 60 seconds, how many
#   minutes between two checkpoints are best?
# - `twice_waste`: with an interval twice as long as the best one, how many times as large as the smallest possible
#   waste is yours?
# - `who_hears`: who receives the signal of `--signal=B:USR1@120`: the `shell`, `srun`, the `ranks`, or `all`?
# - `faults_other`: these are records of `break_it.py --layers 3 --width 48 --saved-at 12 --kill-at 16`. Which is
#   `sampler`, which is `random`, which is `half`? Write the three letters in this order, as one word.
#
# | record | loss in epochs 2, 3 | apart | not read once | lost |
# |---|---|---|---|---|
# | intact | 3.3309, 3.2355 | 0 | 0 | 4 |
# | A | 3.3309, 3.2355 | 0 | 0 | 16 |
# | B | 3.3318, 3.2314 | 0.006 | 54 | 4 |
# | C | 3.3305, 3.2343 | 0.004 | 0 | 4 |

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: large_interval, twice_waste, who_hears and faults_other
large_interval = interval.best_interval(60, 54 * 86400 / 419, 1) / 60
twice_waste = (1 / 2 + 2) / 2
who_hears = "shell"
faults_other = "BCA"
### END SOLUTION
course.answers.note(large_interval=f"{large_interval:.2f}", twice_waste=twice_waste)
course.answers.note(who_hears=who_hears, faults_other=faults_other)

# %% [markdown]
# ## Traps
#
# | you see | cause |
# |---|---|
# | the loss jumps or falls at each restart | the optimizer or the schedule was not restored |
# | nothing, but two equal runs differ | the sampler or a random state was not restored |
# | `PytorchStreamReader failed` when the job comes back | a half-written file, without another beside it |
# | the job ends at the first USR1, and nothing is saved | no function for the signal, or no trap in the shell |
# | one rank saved, the others wait until the time limit | ranks did not agree on the warning |
# | after a restart the ranks hang at the end | they did not agree on the checkpoint |
# | the output begins in the middle | `--open-mode=append` is missing |
#
# ## Recap
#
# - The next step depends on parameters, optimizer, schedule, sampler and random state. Save all of them.
# - Write a new file, `fsync`, `os.replace`, and keep two files. Rank 0 chooses the one to begin from.
# - Requeue a job as long as it makes progress.
# - A warning costs nothing if all ranks agree on it.
# - The best interval follows from the MTBF of the whole job.
# - Test survival by killing your job. Compare hashes and counts, because the loss hides most mistakes.
#
# **Submit** your work in a terminal:
#
#     lessons submit 15
#
# Further reading: J. W. Young, *A first order approximation to the optimum checkpoint interval*, CACM 17 (1974); J. T.
# Daly, *A higher order estimate of the optimum checkpoint interval for restart dumps*, Future Generation Computer
# Systems 22 (2006); Meta, *The Llama 3 herd of models*, arXiv:2407.21783, section 3.3.4.
