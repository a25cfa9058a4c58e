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
# # 08 · Distributing the data
#
# **Who reads which sample?**
#
# In lesson 07 every rank read all images, and only the number of epochs was divided. Here each rank
# reads its own files. That makes an epoch shorter, needs less memory, and opens new ways to be
# wrong without an error message: images nobody reads, images everybody reads, ranks that wait for
# ever. The tool is a decorator after Jülich's `hpc4neuro`: you write its heart yourself.
#
# Allow 45 minutes. On two CPU cores all the runs of this page together take about a minute.

# %% tags=["parameters"]
profile = "smoke"  # "smoke": two CPU cores. "full": the whole data set, GPUs
ranks = 2  # the larger number of ranks; in "full" as many as you have GPUs

# %% tags=["setup"]
import importlib
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # the Keras that Horovod can average: lesson 07
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np

from lessons.toolkit import answers, data, plots, predictions
from lessons.toolkit.checks import lesson_08 as check
from lessons.toolkit.ranks import DataDistributionError

train_samples, parts = {"smoke": (6400, 8), "full": (60000, 64)}[profile]

# %% [markdown]
# ## Predict
#
# 1. On 2 ranks, each with half of the images: how long is an epoch, as a fraction of that of 2
#    ranks that read everything?
# 2. Seven files on two ranks: how many files does rank 0 get?

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_epoch_ratio and predict_files to numbers
predict_epoch_ratio = 0.5
predict_files = 4
### END SOLUTION
answers.note(predict_epoch_ratio=predict_epoch_ratio, predict_files=predict_files)

# %% [markdown]
# ## Parts
#
# `make_parts.py` cuts the training set into files. If all the sevens lay in one file, its rank would see
# nothing but sevens. As long as all ranks average in every step, the mean repairs that: tried with sorted
# parts on two ranks, test accuracy was 0.837 instead of 0.847, no more than seeds differ. But the rank's own loss and accuracy mean
# nothing then, batch normalisation has the statistics of sevens, and whoever leaves a file out leaves a class
# out. So each part gets as many of each class as the others.
#
# **Exercise 8.1**. Fill `partition` in `make_parts.py`.

# %% tags=["check"]
import make_parts

importlib.reload(make_parts)  # so that the cell sees what you just saved
check.check_8_1(make_parts.partition)

# %%
mnist = data.load("mnist", train_samples=train_samples)
make_parts.write_parts(mnist.x_train, mnist.y_train, "data/parts", parts)
for name in make_parts.list_parts("data/parts")[:3]:
    x, y, ids, total = make_parts.load_parts("data/parts", [name])
    print(
        name,
        "samples",
        ids[0],
        "to",
        ids[-1],
        "of",
        total,
        "of each digit",
        np.bincount(y, minlength=10),
    )

# %% [markdown]
# ## Round robin
#
# **Exercise 8.2.** `round_robin(items, size)`: a list with each rank's share, dealt out like cards.


# %% tags=["exercise"]
def round_robin(items, size):
    ### BEGIN SOLUTION Exercise 8.2: one list for each rank; rank r gets items r, r + size, …
    return [items[rank::size] for rank in range(size)]
    ### END SOLUTION


# %% tags=["check"]
check.check_8_2(round_robin)

# %% [markdown]
# ## One rank looks, all ranks know
#
# Why not let every rank list the folder and take its share? Because `os.listdir` promises no order:
# two nodes may see two orders, and then some files are read twice and others never. So rank 0
# looks, and tells.
#
# And if rank 0 finds no folder? If it just raised an error, the others would wait for its message
# until the job's time is over. **An error has to travel like data.**
#
# **Exercise 8.3.** Write what one rank does. `comm` has `Get_rank()`, `Get_size()` and two calls for
# messages. `bcast(thing)` *returns* on every rank what rank 0 gave; `scatter(list)` *returns* on rank r
# item r of what rank 0 gave. Every rank calls them, rank 0 too, and what the others give is ignored: a
# `None` will do. Fewer items than ranks is an error too. The check runs your function on ranks that
# are threads.


# %% tags=["exercise"]
def distribute(comm, load):
    """This rank's share of what load() returns on rank 0; DataDistributionError on all or none."""
    ### BEGIN SOLUTION Exercise 8.3: load on rank 0, send a problem or none, raise on all, scatter
    problem, shares = None, None
    if comm.Get_rank() == 0:
        try:
            items = load()
            if len(items) < comm.Get_size():
                raise ValueError(f"{len(items)} items for {comm.Get_size()} ranks")
            shares = round_robin(items, comm.Get_size())
        except Exception as error:
            problem = str(error)
    problem = comm.bcast(problem)
    if problem is not None:
        raise DataDistributionError(problem)
    return comm.scatter(shares)
    ### END SOLUTION


# %% [markdown]
# In the program you use the toolkit's, which has the names of `hpc4neuro` (a program written for that
# needs only another import):
#
#     @DataDistributor(MPI.COMM_WORLD, shutdown_on_error=True)
#     def get_filenames(path):
#         return sorted(os.listdir(path))
#
# `shutdown_on_error=True` prints the message once and ends all ranks. Fill `my_files` in `train.py`; what
# is to be decorated there is `list_parts`, which sorts, so that every run shares out alike.

# %% tags=["check"]
import train

importlib.reload(train)
check.check_8_3(distribute, train)

# %% [markdown]
# ## Steps
#
# An allreduce needs every rank. A rank with one file less has no batch left at the end of the epoch, and
# the others wait for its gradient, until the time limit. For a minute nothing is said. Then Horovod's *stall
# inspector* speaks, in the file of errors (here after 3 s, with `HOROVOD_STALL_CHECK_TIME_SECONDS=3`):
#
#     One or more tensors were submitted to be reduced, gathered or broadcasted by subset of ranks and
#     are waiting for remainder of ranks for more than 3 seconds. […]
#     Missing ranks:
#     0: [HorovodAllreduce]
#
# Rank 0 is the one that does not come. The job still waits. `HOROVOD_STALL_SHUTDOWN_TIME_SECONDS=8` ended
# it after 6 to 9 s with exit code 1 and
# *One or more rank (marked by "!") is stalled for longer than 8 seconds. Will shutdown*. Set it in long jobs.
#
# `hvd.join()` is another way: a rank that has no more data calls it, and the others go on. Tried with two
# ranks, where rank 0 had a fourth step with the value 4 and rank 1 had joined: the average was 2. The absent
# rank counts as a zero, and the sum is still divided by 2. So the last steps are too short; we agree on the
# steps instead.
#
# **Exercise 8.4.** `common_steps(counts, batch)` in `train.py`: the steps that all ranks can make. What
# remains of a rank's images behind its last full batch is a batch, too, only smaller: it counts.
#
# How much does it count? Ranks with 97 and 128 images and batch 32 make four steps, and in the fourth one
# rank has 1 image and the other has 32. Horovod takes the mean of the ranks' means, so that **one image weighs
# as much as 32**. The mean over a batch is the mean of the parts' means for *equal* parts only. `train.py`
# therefore gives the last batch of each rank a weight, size × its images / the images of all: here
# 2 × 1/33 and 2 × 32/33. This cell checks it with numbers in place of gradients.

# %% tags=["check"]
importlib.reload(train)
check.check_8_4(train.common_steps)

# %%
counts = [97, 128]
gradients = [np.full(1, 10.0), np.arange(32.0)]  # of each image in the last batch of both ranks
plain = np.mean([part.mean() for part in gradients])
weights = [train.last_weight(counts, 32, rank) for rank in (0, 1)]
weighted = np.mean([w * part.mean() for w, part in zip(weights, gradients, strict=True)])
print(f"mean of means {plain:.4f}, weighted {weighted:.4f}, of all images at once", end=" ")
print(f"{np.concatenate(gradients).mean():.4f}; weights {weights[0]:.4f} and {weights[1]:.4f}")

# %% [markdown]
# ## The diff
#
# Against lesson 07: the decorator; `load_parts` reads only this rank's files; steps are agreed; epochs
# are back to what was asked for; `MetricAverageCallback` averages loss and accuracy, which otherwise
# are those of rank 0's images. It stands before the record's callback. Three lines measure for the
# record: who looked into the folder, whose images are read twice or by nobody (by their pixels, whatever
# their file says), and your `common_steps` on ranks with unlike shares. `last_weight` and `batches_of` give
# the last step its weights. (Going on from a checkpoint is left out, so that the program stays short.)

# %%
import difflib
from pathlib import Path

from lessons.folders import course_root

old = course_root() / "lessons" / "07_horovod" / "train.py"
texts = [path.read_text().splitlines() for path in (old, Path("train.py"))]
for line in difflib.unified_diff(*texts, "07_horovod/train.py", "train.py", n=0, lineterm=""):
    if "NotImplementedError" not in line:  # lesson 07's gaps
        print(line)

# %% [markdown]
# ## Run it
#
# One rank; several ranks with files of their own; several ranks that all read everything.

# %%
from autograder.reading.files import read_files
from cluster.jobs.notebook import submit_once

jobs = {"one rank": (1, []), "own files": (ranks, []), "every file": (ranks, ["--unsharded"])}
runs = {
    name: read_files(submit_once("job.sbatch", *words, options={"ntasks": str(n)}))[0]
    for name, (n, words) in jobs.items()
}
for name, run in runs.items():
    print(f"{name}: {run.outcome}, test accuracy {run.test_accuracy.value:.4f}", end=", ")
    print(f"spread {run.end['param_spread']:g}, {run.epochs[-1].steps} steps per epoch")

# %%
maps = {name: plots.shares_of(run) for name, run in runs.items()}
plots.sample_map(maps, train_samples)

# %%
plots.steps_and_seconds(runs)

# %%
from autograder.measuring import measure

for name, run in runs.items():
    epoch, seconds = run.epochs[-1], measure.epoch_time(run).value
    processed = epoch.steps * run.header["global_batch"]
    print(f"{name}: {processed:,} images processed, {epoch.unique_samples:,} different;", end=" ")
    rate, useful = processed / seconds, epoch.unique_samples / seconds
    print(f"{rate:,.0f} images per second, {useful:,.0f} that count")
ratio = measure.epoch_time(runs["own files"]).value / measure.epoch_time(runs["every file"]).value
predictions.compare("predict_epoch_ratio", ratio)
dealt = round_robin(list(range(7)), 2)
predictions.compare("predict_files", len(dealt[0]), "files", how="computed")

# %% [markdown]
# **What you should see.**
#
# - With files of their own the ranks' rows fit together like two combs: the row *together* has no
#   white (nobody read it) and no orange (read more than once). The steps fall from 200 to 100 on two
#   ranks, and with them the time of an epoch, as far as your machine has a core for each rank and
#   the network is not too light (lesson 07).
# - When every rank reads every file, the row *together* is all orange: N times the work for the same
#   images. The output of a Jülich job with 8 tasks says `Train on 60000 samples`: that is this case.
# - Throughput counts *different* images. Count what the ranks *process*, and the unsharded run looks N
#   times as fast as it is: the last two numbers of its line. This is the trap of lesson 07, and
#   `my_files` mends it: half the steps, each image read once.
# - 60,000 different images per epoch on any number of ranks, in `full`. Test accuracy stays near
#   that of one rank; with the larger batch it may need one epoch more (lesson 09).
# - The rate is still Adam's times the number of ranks. Lesson 09 measures how far that goes: for this
#   network up to 16 ranks.
#
# ## Without files: indices
#
# If every rank can read every sample cheaply (one big file, or memory), share out *indices*. All
# ranks draw the same random order, then each takes its slice.
#
# **Exercise 8.5.** `my_samples(n, rank, size, epoch)`: the indices rank `rank` reads in an epoch; a new
# order each epoch, every sample read once.


# %% tags=["exercise"]
def my_samples(n, rank, size, epoch, seed=1):
    ### BEGIN SOLUTION Exercise 8.5: a permutation from seed and epoch, then every size-th from rank
    order = np.random.default_rng([seed, epoch]).permutation(n)
    return order[rank::size]
    ### END SOLUTION


# %% tags=["check"]
check.check_8_5(my_samples)

# %% [markdown]
# Here is what happens if each rank seeds its own order before slicing, on two ranks (the picture
# shows 400 samples, the numbers 60,000):

# %%
n = 60000
wrong = [np.random.default_rng(rank).permutation(n)[rank::2] for rank in (0, 1)]
reads = np.bincount(np.concatenate(wrong), minlength=n)
print(f"never read: {(reads == 0).mean():.3f}, read twice: {(reads == 2).mean():.3f}")
right = [my_samples(400, rank, 2, epoch=0) for rank in (0, 1)]
wrong = [np.random.default_rng(rank).permutation(400)[rank::2] for rank in (0, 1)]
plots.sample_map({"one order for all": right, "an order each": wrong}, 400)

# %% [markdown]
# A quarter is never read in this epoch and a quarter twice: ½ × ½. No error, and the accuracy hardly tells.
#
# | way | different samples per epoch | a rank reads | steps per epoch | randomness |
# |---|---|---|---|---|
# | epochs (07) | all, by each rank | everything | n / batch | each rank its own order |
# | files (here) | all, once | its files only | n / (size × batch) | within a rank's files |
# | indices (8.5) | all, once | anything, anywhere | n / (size × batch) | over everything, each epoch |
# | `Dataset.shard(size, rank)` | all, once | everything, and throws most away | n / (size × batch) | as `shuffle` before or after it |
#
# `Dataset.shard` behind an expensive map still decodes every sample on every rank: put it first, on
# file names.
#
# **Question.** 100 files lie on a slow shared file system; reading is what takes the time. Which way of
# the table reads each file once in all? `"epochs"`, `"files"`, `"indices"` or `"shard"`.
#
# **Question.** Rank 0 has 4 of 7 files of 800 images, rank 1 has 3. How many images of an epoch does nobody
# use, if both make the common number of steps with batches of 32?

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: set slow_disk to a word and unused_images to a number
slow_disk = "files"
unused_images = 3200 - train.common_steps([3200, 2400], 32) * 32
### END SOLUTION
own = runs["own files"]
answers.note(slow_disk=slow_disk, unused_images=unused_images)
answers.note(own_steps=own.epochs[-1].steps)
answers.note(never_read=train_samples - len(set().union(*maps["own files"])))

# %% [markdown]
# ## Traps
#
# Each was run: two ranks, 1,600 images in 8 parts, 2 epochs, 1,000 test images. The intact run made 25 steps
# per epoch and reached 0.847.
#
# | you see | it was |
# |---|---|
# | 800 images read twice, 800 never; accuracy 0.857 | each rank listed the folder itself, and saw another order |
# | 600 images read twice, 600 never; accuracy 0.858 | an own order drawn on each rank before slicing |
# | 19 steps instead of 25, 400 images never read; accuracy 0.835 | the last items cut off: two files that nobody reads |
# | `Missing ranks: 0: [HorovodAllreduce]`, and no end | unequal steps: `common_steps`, or equal shares (`equal="drop"`) |
# | accuracy 0.837, and each rank has classes of its own (`labels_apart`) | parts sorted by class |
# | 50 steps instead of 25, accuracy 0.889 | every rank read every file: twice the updates, for twice the time |
# | throughput N times too good | samples *processed* counted instead of different ones |
#
# No accuracy tells of images that nobody reads: two runs without half of the images look *better* than the
# intact one. Count them.
#
# Two more need another launcher or a broken folder: `horovodrun --gloo` starts no MPI, so that each rank would
# take all files (the program says "MPI sees only one"; use `mpirun` or `srun`); and an error that one rank
# prints without sending it leaves the others waiting.
#
# ## Recap
#
# - Rank 0 looks, everybody gets a share; an error travels like data.
# - Shares are disjoint and complete, steps are equal, metrics are averaged.
# - Say of every speedup how many *different* samples each epoch had.
#
# **Hand in**: in a terminal, `lessons submit 08` packs this folder and says what is in it.
#
# Next: 09 asks why N times the batch does not train N times faster. Further reading: *hpc4neuro* of
# Jülich; the pages of mpi4py on collective communication; T. Ben-Nun, T. Hoefler, arXiv:1802.09941.
