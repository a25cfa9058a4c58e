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
# Meta's training of Llama 3 on 16,384 GPUs was interrupted unexpectedly 419 times in 54 days. GPUs were faulty 148
# times, and their memory 72 times. There were 54 software bugs, 35 faults of the network, and 7 timeouts of NCCL that
# nobody explained. Your jobs are smaller, but have a time limit. What a job did not save is lost.
#
# Here, a run is killed, warned, and killed again, and ends with *exactly* the parameters of an uninterrupted run. The
# network is lesson 13's GPT. Allow 120 minutes. On two CPU cores, all jobs on this page take about a minute.
#
# First, watch a training of 30 steps without checkpoints. It is killed after step 24 and started again.

# %% tags=["parameters"]
profile = "smoke"  # "smoke": two CPU cores. "full": a larger network, GPUs
ranks = 2  # in "full" as many as you have GPUs on one node; it must divide 16
gpus = "gres=gpu:{n}"  # "full": how your site asks for n GPUs of a node

# %% tags=["setup", "hide-input"]
from lessons import course

import atomic
import pieces
import sampler
import sharded
import signals

size = {"smoke": [], "full": ["--layers", "8", "--width", "512"]}[profile]
several = course.on_nodes(ranks, gpus if profile == "full" else "")

# %%
course.show_output(course.submit("job_first.sbatch", *size, options=several))

# %% [markdown]
# ## Predict
#
# 1. A run saves every 5 steps. After step 24, a rank is killed. How many steps are lost?
# 2. An epoch has 160 samples. The run dies in the middle of it. The next run restores everything but its sampler, which
#    begins like new. So for the rest of this epoch (80 samples) it reads from the first epoch's order, another shuffle.
#    How many of the 160 samples are then *not* read exactly once? (The job counts the worst epoch: the next one is
#    mixed, too.)
# 3. Later you leave one thing unrestored: **o**, the optimizer's state; **s**, the sampler; **r**, the random state.
#    Or the only checkpoint is half written (**h**), and training begins again at step 0. After which of these
#    accidents is the final loss as usual, to within 1 %? Write letters in the alphabet's order, or `none`.

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_lost and predict_twice to numbers, predict_unseen to letters
predict_lost, predict_twice, predict_unseen = 4, 90, "hrs"
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
# | the optimizer | Adam's running means and count of steps, and in PyTorch the learning rate |
# | the `GradScaler` | in float16: the scale of the loss (lesson 14) |
# | the schedule | its place on the curve: how the rate goes on |
# | the sampler | which samples of this epoch are still to be read, and the order of the next epoch |
# | the random state | here, 5 % of the characters are replaced by chance; elsewhere dropout and augmentation |
#
# Here all ranks draw the same random numbers. Otherwise save each rank's states, including those of NumPy, Python and
# CUDA. `snapshot.py` puts all of this into one dictionary, and back.
#
# **Exercise 15.1.** `sampler.py` shuffles the samples in each epoch. `state` returns what a new sampler needs to
# continue in the middle of an epoch, and `load` takes it. The state is small: the order itself is not in it.

# %% tags=["check"]
course.check("15.1", sampler)

# %% [markdown]
# ## Whole files
#
# A job may die while it replaces its only checkpoint. So write to another file, and give it its name at the end:
# `os.replace` renames a file at once. Readers see either the old file or the new one, never half of one. But the
# operating system reports a write as done before the bytes are on the disk. `os.fsync` waits until what a file was
# given is on the disk. (`torch.save` gives it all. Your own `write` needs a `flush` first.)
#
# Disks fail, too. So the program keeps the last two checkpoints, `step_*.pt`, and `newest` uses the older one if the
# newest cannot be read. (`map_location="cpu"`: otherwise every rank loads the tensors onto rank 0's GPU.)
#
# **Exercise 15.2.** A colleague wrote `write` in `atomic.py` like this. Two things are wrong. Repair them.
#
#     beside = Path(path).with_name("step_new.pt")
#     with open(beside, "wb") as file:
#         torch.save(state, file)
#         os.replace(beside, path)
#         os.fsync(file.fileno())
#
# **Exercise 15.3.** A file may be damaged, or arrive late on a network file system, for one rank alone. Ranks that
# begin from different steps average gradients of different networks, and later wait or fail. `agreed(folder)` runs on
# all ranks. It returns the checkpoint that rank 0 finds, on all of them. A checkpoint is large, so it must not
# travel; its number, `saved["step"]`, may (`dist.broadcast_object_list`).

# %% tags=["check"]
course.check("15.2", atomic)
course.check("15.3", atomic)

# %% [markdown]
# ## A warning
#
# Slurm can send a signal some time before the time limit:
#
# - `#SBATCH --signal=USR2@60` sends USR2 to all ranks that `srun` has started, 60 seconds before the limit. (Slurm
#   may be up to a minute early.) The batch shell does not receive it.
# - `#SBATCH --signal=B:USR2@60` sends it to the batch shell **only**.
#
# `scancel` and preemption send SIGTERM instead, and SIGKILL 30 seconds later by default (`KillWait`). A preempted job
# may first get its partition's `GraceTime` (by default 0).
#
# Without a handler, USR1 ends a process, and `torchrun`, too. `signals.py` sets a handler that only records the
# signal. The program finishes its step, saves, and ends with exit code 75.
#
# But ranks do not receive the signal at the same moment. If rank 1 receives it during step 17, it leaves.
# Rank 0 receives it during step 18, and waits in the allreduce until an error or its timeout ends it,
# without saving. So the ranks ask each other after every second step.
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
# - `--open-mode=append` keeps the output of the earlier lives. By default, each life overwrites it.
#
# Which deaths deserve another life? A faulty GPU can end a program with 1, as a bug does. But a bug usually
# stops every life at the same step. Say a rule in your own words before you write it.
#
# **Exercise 15.5.** In `job.sbatch`, let USR1 reach the ranks 120 seconds before the limit. After the launch, requeue
# the job and end this life (`exit`) if your rule says so. (`newest` prints the last file's name, and `status` is the
# launch's exit code.) Stop after 5 restarts.
#
# **Exercise 15.6.** `job_shell.sbatch` receives the signal in the batch shell (`B:`), and has to pass it on. A shell
# runs its `trap 'command' USR1` only when no program is in its foreground, and `wait` counts as none:
#
#     launch … &
#     ranks=$!
#
# `$ranks` is the shell in which `launch` runs, and `srun` is its child. `pkill -USR1 -P PARENT` signals the children of
# a process, and `srun` passes USR1 on to all ranks. The signal also ends a `wait` early, with a code that says nothing
# about the ranks, which still save. Requeue as before.
#
# (If your site forbids requeueing, an array gives five lives, without your rule:
# `CHECKPOINTS=checkpoints/array sbatch --array=1-5%1 job.sbatch`.)

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
# (Daly, 2006, after Young.) $M$ is the MTBF of the *job*: it dies with any of its nodes.
#
# ## Save in the background
#
# Training only has to stop until the state is *copied*. A thread can write the copy while the next steps run. But
# `state_dict()` returns no copy: its tensors are the parameters themselves, and the next step overwrites them.
# (`background.py` copies them. On a CPU, `tensor.to("cpu")` returns the same tensor.)
#
# ## All ranks save
#
# If no rank has room for all parameters (lesson 13), all ranks save together. With `torch.distributed.checkpoint`,
# every rank writes the parts that it holds into one folder, and at the end a file says where each part is. A reader
# takes what *it* needs, so the number of ranks may change.
#
# `dcp.save` waits until all ranks have written. `dcp.async_save` takes the same arguments (also a `process_group`),
# copies, and returns a future, whose `result()` waits. If a rank dies meanwhile, the folder stays half a checkpoint.
#
# **Exercise 15.7.** In `sharded.py`, `Saver.save` begins to write the dictionary `state`, and `Saver.finish` makes the
# checkpoint the newest: `newest` takes a folder without a suffix for complete. After `finish`, all ranks see it.

# %% tags=["check"]
course.check("15.7", sharded)

# %% [markdown]
# ## Fewer ranks, the same batch
#
# After a failure there may be fewer nodes. To keep the global batch (and so the training) the same, each rank does
# more, in pieces that fit into its memory.
#
# **Exercise 15.8.** `add_gradients` in `pieces.py` takes this rank's part of the batch, `batch[rank::size]`, in pieces
# of at most `most` samples. `loss_of_piece` returns the *mean* loss of a piece. Over all pieces and ranks, the
# gradients must add up to that of the mean over the whole batch. Return this rank's share of the loss, detached.

# %% tags=["check"]
course.check("15.8", pieces.add_gradients)

# %% [markdown]
# ## Does it survive?
#
# The first training has no accidents. In the second, a rank is killed (`kill -9`) after step 7, rank 0 receives USR1
# after step 17, and a rank is killed after step 24.
#
# After the training, the job runs `probe.py`, which tests your functions on real ranks and counts in the ranks'
# journals what was lost and read twice.


# %% tags=["hide-input"]
def finished(runs):
    """Return the job's last life, and its probe."""
    return [run for run in runs if run.outcome == "completed"][-2:]


def measure(run, name):
    return next((each["value"] for each in run.measures if each["name"] == name), float("nan"))


# %%
whole, whole_probe = finished(course.submit("job.sbatch", *size, options=several))
accidents = ["--background", "--kill-at", 7, 24, "--warn-at", 17]  # choose other steps, if you like
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
# **What you should see.** The picture shows four lives and one curve. The hatched steps were computed twice. The hash
# of all parameters is the same as without accidents, so every bit is equal. Sums depend on their order. Equal bits
# therefore need the same number of ranks and threads, the same libraries and kind of processor or GPU, and
# `torch.use_deterministic_algorithms(True)`, which excludes algorithms that add in changing orders.
#
# A checkpoint of 1.3 MB stops training for 14 to 40 ms here (virtual disk), and in the background for 1 to 2 ms. Can
# you find other steps, with a new checkpoint before each kill, that change a bit of the hash?
#
# ## Your interval
#
# Meta's 419 interruptions in 54 days occurred on a system of 2,048 nodes. Your job of tomorrow runs on 16 such nodes,
# and a checkpoint stops it for 30 seconds. After how many seconds should it save?

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: set own_interval to a number, in seconds
own_interval = (2 * 30 * 54 * 86400 / 419 * 2048 / 16) ** 0.5
### END SOLUTION
course.answers.note(own_interval=f"{own_interval:.1f}")
shorter = own_interval * (measure(whole_probe, "stop_s") / 30) ** 0.5
print(f"every {own_interval / 60:.0f} minutes; with your own stop, every {shorter:.0f} s")

# %% [markdown]
# ## Shards survive, too
#
# `shards.py` trains a small network with `fully_shard`, in double precision, and saves after steps 4, 8 and 12. While
# it saves step 8, the last rank is killed. Then **one** rank goes on.

# %%
[resumed] = course.submit("job_shards.sbatch", options=several)[-1:]
course.show_output([resumed])

# %% [markdown]
# **What you should see.** Step 8 has a folder without its final name. One rank read the parts of two from step 4, and
# ended where one process ends that was never killed.
#
# ## Elastic training
#
# `torchrun` can also continue with the remaining nodes: `--nnodes=1:2` asks for one or two. Its *agents*, one per
# node, meet at a *rendezvous*. In `job_elastic.sbatch`, two agents on one machine stand in for two nodes. The second is
# killed with its rank after step 12. From which step will the first go on?

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
# **What you should see.** One rank goes on after step 10, with the same batch of 16 in two pieces of 8. The test loss
# agrees to five or six digits, but the parameters are not equal in every bit: a run of one rank adds up in another
# order.
#
# If only a process dies, its agent notices at once, and all agents meet again. If a *node* dies with its agent, as
# here, only the other ranks can notice. Where its connections break, Gloo raises an error in the next allreduce.
# Otherwise they wait for the `timeout` of `init_process_group` (2 minutes in `train.py`). NCCL (not run here) may
# notice (`ncclRemoteError`), or PyTorch's watchdog ends them ([What NCCL says](../../docs/nccl.md)). Then their agents
# meet again, without those that no longer report, and start the program from its first line. The node of the rendezvous
# must stay up, and on Slurm the job and its `srun` need `--no-kill`; the `srun` needs `--kill-on-bad-exit=0`.
#
# ## Break it
#
# `break_it.py` interrupts a run after step 18 and continues it from a checkpoint of step 15, with `nothing`
# wrong, and then without one thing:
#
# | `without` | what is different |
# |---|---|
# | `optimizer` | Adam begins with empty means and, as PyTorch keeps the rate in the optimizer, with the first rate |
# | `sampler` | a new sampler: the first epoch's order, from its beginning |
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
course.predictions.compare("predict_unseen", "".join(sorted(name[0] for name in usual)) or "none")
course.predictions.compare("predict_twice", measure(broken["sampler"], "read_wrong"))
course.plots.faults(broken, path="", more=["apart", "read_wrong", "lost"])

# %% [markdown]
# **What you should see.** `apart` is the largest difference between a parameter and its value after uninterrupted
# training.
#
# - `optimizer` changes the loss: 3.02 instead of 3.14. Its rate is back at the first value, 1.9 times too large
#   to the end, and Adam's first steps are long.
# - `sampler` and `random` look perfect. Yet `sampler` reads 72 of the interrupted epoch's 160 samples twice or
#   never, and 88 of the next one's.
# - `half` is correct to the last bit, and costs all 18 steps instead of 3.
#
# ## Questions
#
# - `twice_waste`: with an interval twice as long as the best one, how many times as large as the smallest possible
#   waste is yours?
# - `padded_loss`: a batch of 16 texts is computed in two pieces of 8. In the first, 100 characters count, in the
#   second 300 (the rest is padding, to make all texts equally long). Their mean losses per character are 2.0 and 3.0.
#   What is the mean loss of the batch, whose gradient one process would follow?
# - `six_records`: these are records of `break_it.py` with another network, saved after step 12 and killed after step
#   16. In the order `nothing`, `optimizer`, `sampler`, `random`, `half`, `schedule` (which begins again, so the rate
#   falls more slowly than it should): which is which? Write six letters.
#
# | record | loss in epochs 2, 3 | apart | not read once | lost |
# |---|---|---|---|---|
# | A | 3.3255, 3.1966 | 0.013 | 0 | 4 |
# | B | 3.3309, 3.2355 | 0 | 0 | 4 |
# | C | 3.3305, 3.2343 | 0.004 | 0 | 4 |
# | D | 3.3309, 3.2355 | 0 | 0 | 16 |
# | E | 3.2972, 3.1156 | 0.026 | 0 | 4 |
# | F | 3.3318, 3.2314 | 0.006 | 54 | 4 |
#
# *Open, without points:* which deaths does your job not survive? Choose one (a full disk, a rank that hangs), let it
# happen, and show the journal.

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: twice_waste, padded_loss and six_records
twice_waste = (1 / 2 + 2) / 2
padded_loss = (100 * 2.0 + 300 * 3.0) / 400
six_records = "BEFCDA"
### END SOLUTION
course.answers.note(twice_waste=twice_waste, padded_loss=padded_loss, six_records=six_records)

# %% [markdown]
# ## Traps
#
# | you see | cause |
# |---|---|
# | the loss jumps or falls at each restart | the optimizer or the schedule was not restored |
# | one rank left, the others wait until their timeout, and nothing is saved | ranks did not agree on the warning |
#
# ## Recap
#
# - The next step depends on parameters, optimizer, schedule, sampler and random state. Save all of them.
# - Keep two files. Rank 0 chooses the one to begin from. A folder of shards gets its name when all ranks have written.
# - A warning loses no step if all ranks agree on it. The best interval follows from the MTBF of the whole job.
#
# **Submit** your work in a terminal:
#
#     lessons submit 15
#
# Further reading: J. T. Daly, *A higher order estimate of the optimum checkpoint interval for restart dumps*, 2006;
# Meta, *The Llama 3 herd of models*, arXiv:2407.21783, section 3.3.4.
