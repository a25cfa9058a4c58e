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
# Lesson 07's `train.py` read all images on every rank, and only the number of epochs was divided. Here each rank
# trains on its own files. That makes an epoch shorter. It also introduces new mistakes that raise no error: images
# that nobody reads, images that everybody reads, and ranks that wait forever. The tool is a decorator modelled on
# Jülich's `hpc4neuro`. You write its core yourself.
#
# Allow 75 minutes. On two CPU cores all runs on this page together take about a minute.

# %% tags=["parameters"]
profile = "smoke"  # "smoke": two CPU cores. "full": the whole data set, GPUs
ranks = (
    0  # the larger number of ranks; 0: 2 in "smoke", in "full" the GPUs of two nodes of this site
)
gpus = "gres=gpu:{n}"  # "full": how your site asks for n GPUs of a node

# %% tags=["setup", "hide-input"]
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # the Keras that Horovod can average: lesson 07

import numpy as np

from lessons import course
from lessons.toolkit import data, quiet
from lessons.toolkit.ranks import DataDistributionError

course.provide_horovod()  # compiles it if it is missing
quiet.tensorflow()
train_samples, parts = {"smoke": (6400, 8), "full": (60000, 64)}[profile]

# %% [markdown]
# ## Four runs, and no error
#
# Four ranks share 6,400 images. One of these runs is intact. In each of the others one line is wrong, and nothing was
# printed about it. One is easy to see. Which of the other three would you trust, and why? After this page you can
# tell them apart.

# %%
recorded = {
    "A": [0.4687, 0.1292, 0.0596, 0.0301, 0.0232, 0.0187],
    "B": [2.3592, 2.2909, 2.2760, 2.2610, 2.2165, 2.1712],
    "C": [0.4945, 0.1690, 0.0930, 0.0601, 0.0332, 0.0208],
    "D": [0.4416, 0.0511, 0.0118, 0.0042, 0.0024, 0.0016],
}
course.plots.losses(recorded, per="epoch")

# %% [markdown]
# ## Predict
#
# Two ranks have half of the images each. How long is their epoch, as a fraction of the epoch of two ranks that both
# read everything?

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_epoch_ratio to a number
predict_epoch_ratio = 0.5
### END SOLUTION
course.answers.note(predict_epoch_ratio=predict_epoch_ratio)

# %% [markdown]
# ## Parts
#
# `make_parts.py` cuts the training set into files. If all sevens were in one file, a rank with this file alone would
# see nothing but sevens. As long as all ranks average in every step, the mean repairs that: with sorted parts on two
# ranks test accuracy was 0.837 instead of 0.847, which is no more than the difference between seeds. But then the
# rank's own loss and accuracy mean nothing, batch normalisation uses the statistics of sevens, and a run that misses
# a file misses a whole class. So all parts get the same number of images of each class, give or take one.
#
# **Exercise 8.1.** Complete `partition` in `make_parts.py`.

# %% tags=["check"]
import make_parts

course.check("8.1", make_parts.partition)

# %%
mnist = data.load("mnist", train_samples=train_samples)
make_parts.write_parts(mnist.x_train, mnist.y_train, "data/parts", parts)
for name in make_parts.list_parts("data/parts")[:3]:
    x, y, ids, total = make_parts.load_parts("data/parts", [name])
    print(f"{name}: samples {ids[0]} to {ids[-1]} of {total}, of each digit {np.bincount(y)}")

# %% [markdown]
# ## A mean of means
#
# Every rank tests the network on its own images. This function is to return the accuracy over the images of all ranks.
# `comm.allreduce(x)` returns the sum of all ranks' x, on every rank.
#
#     def accuracy(comm, right, tested):  # this rank's numbers of images
#         return comm.allreduce(right / tested) / comm.Get_size()
#
# **Exercise 8.2.** It returned 0.55 where 100 of 150 images were right. Repair it. (A rank may have no images to
# test.)


# %% tags=["exercise"]
def accuracy(comm, right, tested):
    ### BEGIN SOLUTION Exercise 8.2: the line from above, repaired
    return comm.allreduce(right) / comm.allreduce(tested)
    ### END SOLUTION


# %% tags=["check"]
course.check("8.2", accuracy)

# %% [markdown]
# ## One rank looks, all ranks know
#
# Why not let every rank list the folder and take its share? Because `os.listdir` promises no order. Two nodes
# may see different orders, and then some files are read twice and others never. So rank 0 looks and informs the
# others.
#
# And if rank 0 finds no folder? If it just raised an error, the others would wait for its message until the job's time
# limit (with plain mpi4py; `python -m mpi4py` would end them). **An error has to travel like data.**
#
# **Exercise 8.3.** Write what one rank does. Items are dealt like cards: of 7 files, rank 0 of 2 gets files 0, 2, 4
# and 6. Fewer items than ranks is an error, too. The check runs your function on ranks that are threads of this
# notebook. Every rank makes these calls:
#
# | call | returns |
# |---|---|
# | `comm.Get_rank()`, `comm.Get_size()` | this rank, the number of ranks |
# | `comm.bcast(thing)` | rank 0's argument, on every rank |
# | `comm.scatter(list)` | item r of rank 0's list, on rank r |
#
# Only rank 0's arguments count: the others pass `None`.


# %% tags=["exercise"]
def distribute(comm, load):
    """This rank's share of what load() returns on rank 0; DataDistributionError on all or none."""
    ### BEGIN SOLUTION Exercise 8.3: what one rank does
    problem, shares = None, None
    if comm.Get_rank() == 0:
        try:
            items = load()
            if len(items) < comm.Get_size():
                raise ValueError(f"{len(items)} items for {comm.Get_size()} ranks")
            shares = [items[rank :: comm.Get_size()] for rank in range(comm.Get_size())]
        except Exception as error:
            problem = str(error)
    problem = comm.bcast(problem)
    if problem is not None:
        raise DataDistributionError(problem)
    return comm.scatter(shares)
    ### END SOLUTION


# %% [markdown]
# In the program you use the toolkit's version, which uses `hpc4neuro`'s names (a program written for it needs only a
# different import):
#
#     @DataDistributor(MPI.COMM_WORLD, shutdown_on_error=True)
#     def get_filenames(path):
#         return sorted(os.listdir(path))
#
# `shutdown_on_error=True` prints the message once and ends all ranks. Complete `my_files` in `train.py`, too. It shares
# out only the names of the parts, sorted, so every run divides the files in the same way.

# %% tags=["check"]
import train

course.check("8.3", distribute, train)

# %% [markdown]
# ## Steps
#
# An allreduce needs every rank. A rank with one file fewer has no batch left at the end of the epoch, and the
# others wait for its gradient until the time limit. For a minute nothing is reported. Then Horovod's *stall
# inspector* writes into the error file (here after 3 s, with `HOROVOD_STALL_CHECK_TIME_SECONDS=3`):
#
#     One or more tensors were submitted to be reduced, gathered or broadcasted by subset of ranks and
#     are waiting for remainder of ranks for more than 3 seconds. […]
#     Missing ranks:
#     0: [HorovodAllreduce]
#
# Rank 0 is missing. Is it the culprit or the victim? Decide now; you find out under *Break it*. The job still waits.
# With this and `HOROVOD_STALL_SHUTDOWN_TIME_SECONDS=8`, Horovod ended it some seconds later, with exit code 1. In
# long jobs set it to some minutes: longer than any pause of one rank, such as a checkpoint. (Below
# `HOROVOD_STALL_CHECK_TIME_SECONDS`, 60 by default, it is ignored.)
#
# `hvd.join()` is another way: a rank that has no more data calls it, and the others go on. In a trial on two
# ranks, rank 0 took a fourth step, with the value 4, after rank 1 had joined. The average was 2: the absent rank
# counts as a zero, and the sum is still divided by 2. So the last gradients are too small. We agree on the number of
# steps instead.
#
# **Exercise 8.4.** Complete `common_steps(counts, batch)` in `train.py`. It returns the number of steps that all
# ranks can make. The images left after a rank's last full batch form a smaller batch, which also counts.
#
# How much does it count? Ranks with 97 and 128 images and batch 32 make four steps. In the fourth step, one rank has
# 1 image and the other has 32. Horovod takes the mean of the ranks' means, so **the one image weighs as much as the
# 32**. `train.py` therefore gives the last batch of each rank a weight, size × its images / all ranks' images: here 2
# × 1/33 and 2 × 32/33. The second cell below checks this with numbers in place of gradients.

# %% tags=["check"]
course.check("8.4", train.common_steps)

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
# New since lesson 07: the decorator; `load_parts`, which reads only this rank's files; an agreed number of steps; as
# many epochs on each rank as were asked for; `MetricAverageCallback`, which averages loss and accuracy (a mean of
# means: exact only for equal shares). `last_weight` and `batches_of` weight the last step.
#
# `probe.py` runs after each training, on the same ranks. It cuts a few images into parts with your functions, and
# compares what the ranks read, pixel by pixel. Then ranks with *unequal* shares train for an epoch. Each process
# repeats these steps alone, with the images of all ranks in one batch. If you drop the weights of the last step,
# `probe_error` rises from 4e-9 to 0.1.

# %%
course.show_diff(
    "07_horovod/train.py",
    "train.py",
    own_files="my_files|list_parts|load_parts|DataDistributor|mpi4py",
    agree_on_steps="common_steps|counts = ",
    weight_the_last_step="weigh",
    average_metrics="MetricAverage",
)

# %% [markdown]
# ## Run it
#
# There are three runs: on one rank, on several ranks with their own files, and on several ranks that all read
# everything.

# %%
ranks = ranks or (course.two_nodes() if profile == "full" else 2)
device = gpus if profile == "full" else ""
jobs = {"one rank": (1, []), "own files": (ranks, []), "every file": (ranks, ["--unsharded"])}
runs = {
    name: course.submit("job.sbatch", *words, options=course.on_nodes(n, device))[0]
    for name, (n, words) in jobs.items()
}
for name, run in runs.items():
    print(f"{name}: {run.outcome}, test accuracy {run.test_accuracy.value:.4f}", end=", ")
    print(f"spread {run.end['param_spread']:g}, {run.epochs[-1].steps} steps per epoch")

# %%
maps = {name: course.plots.shares_of(run) for name, run in runs.items()}
course.plots.sample_map(maps, train_samples)

# %% tags=["hide-input"]
for name, run in runs.items():
    epoch, seconds = run.epochs[-1], course.measure.epoch_time(run).value
    processed = epoch.steps * run.header["global_batch"]
    print(f"{name}: {processed:,} images processed, {epoch.unique_samples:,} different;", end=" ")
    rate, useful = processed / seconds, epoch.unique_samples / seconds
    print(f"{rate:,.0f} images per second, {useful:,.0f} that count")
ratio = (
    course.measure.epoch_time(runs["own files"]).value
    / course.measure.epoch_time(runs["every file"]).value
)
course.predictions.compare("predict_epoch_ratio", ratio)

# %% [markdown]
# **What you should see.**
#
# - With each rank reading its own files, the rows fit together like two combs: the row *together* has no white
#   (nobody read it) and no orange (read more than once). The steps fall from 200 to 100 on two ranks. The epoch
#   time falls with them if your machine has a core for each rank and the network is not too light (lesson 07).
# - When every rank reads every file, the row *together* is all orange: the ranks do N times the work for the same
#   images.
# - Throughput counts *distinct* images. If you count the images that the ranks *process*, the unsharded run looks N
#   times as fast as it is: compare the last two numbers in its line.
# - In the `full` profile, an epoch on 64 ranks has 30 steps, with 64 times the rate (not run here). Expect a lower
#   test accuracy: lesson 09.
#
# ## Out of one node
#
# `nodes.py` is lesson 07's program of the same name, with `my_files`, `common_steps` and the last step's weights from
# your `train.py`. It trains ResNet50V2 on the parts of CIFAR-10 that your `partition` makes. On N ranks, each trains
# on 64 / N files, if N divides 64. That saves no memory yet: for the test images, every rank still loads the whole
# data set.
#
# In the `full` profile, the next cell submits `job_nodes.sbatch` on 1, 2, 4 … ranks, as many per node as the node has
# GPUs (lesson 07). Nobody has run it on GPUs for this course yet. Should NCCL end it: [What NCCL
# says](../../docs/nccl.md).

# %%
if profile == "full":
    from IPython.display import display

    cifar = data.load("cifar10")
    make_parts.write_parts(cifar.x_train, cifar.y_train, "data/photographs", parts)
    both = course.submit_sizes("job_nodes.sbatch", ranks=ranks, gpus=gpus)
    nodes = [run for run in both if run.epochs]  # without those of probe.py
    for run in nodes:
        where = {rank.host: rank.samples for rank in run.ranks}
        print(f"{run.workers} ranks: images of one rank on each node {where},", end=" ")
        print(f"{run.epochs[-1].steps} steps, last loss {run.epochs[-1].train_loss.value:.3f}")
    display(course.plots.speedups({"your runs": course.plots.epoch_times(nodes)}))

# %% [markdown]
# **What you should see** in the `full` profile. If the curve bends between one node and two, the network is the first
# suspect (lesson 07). If it bends later, suspect a short epoch: on 16 ranks it is 13 steps.
#
# ## Without files: indices
#
# If every rank can read every sample cheaply (one big file, or memory), deal out *indices*. All
# ranks draw the same random order, then each takes its slice.
#
# **Exercise 8.5.** `my_samples(n, rank, size, epoch)` returns the indices that rank `rank` reads in an epoch.
# Each epoch has a new order, in which all ranks together read every sample once.


# %% tags=["exercise"]
def my_samples(n, rank, size, epoch, seed=1):
    ### BEGIN SOLUTION Exercise 8.5: this rank's indices in this epoch
    order = np.random.default_rng([seed, epoch]).permutation(n)
    return order[rank::size]
    ### END SOLUTION


# %% tags=["check"]
course.check("8.5", my_samples)

# %% [markdown]
# And if each of two ranks draws its order from a seed of its own? White means that nobody reads an image. What share of
# the row will be white? (The picture shows 400 samples, and the numbers are for 60,000.)

# %%
n = 60000
wrong = [my_samples(n, rank, 2, epoch=0, seed=rank) for rank in (0, 1)]
reads = np.bincount(np.concatenate(wrong), minlength=n)
print(f"never read: {(reads == 0).mean():.3f}, read twice: {(reads == 2).mean():.3f}")
right = [my_samples(400, rank, 2, epoch=0) for rank in (0, 1)]
wrong = [my_samples(400, rank, 2, epoch=0, seed=rank) for rank in (0, 1)]
course.plots.sample_map({"one order for all": right, "an order each": wrong}, 400)

# %% [markdown]
# In this epoch a quarter of the images are never read and a quarter are read twice: ½ × ½. There is no error,
# and the accuracy hardly shows it.
#
# | way | different samples per epoch, if the shares are equal | a rank reads | steps per epoch | randomness |
# |---|---|---|---|---|
# | epochs (07) | all, by each rank | everything | n / batch, rounded up | each rank its own order |
# | files (here) | all, once | its files only | n / (size × batch), rounded up | within a rank's files |
# | indices (8.5) | all, once | anything, anywhere | the same | over everything, each epoch |
# | `Dataset.shard(size, rank)` before `shuffle` | all, once | everything, and throws most away | the same | within a rank's samples |
# | `shuffle`, with a seed per rank, before `shard` | three quarters on two ranks, as above | the same | the same | over everything |
#
# `Dataset.shard` after an expensive `map` still decodes every sample on every rank. Shard first, on the file
# names.
#
# ## Break it
#
# `break_it.py` is the same training with the data divided wrongly:
#
# | `--without` | what is different |
# |---|---|
# | `nothing` | intact |
# | `same` | every rank takes rank 0's files |
# | `own` | each rank shuffles the list of files by itself before it takes its share: *an order each*, of files |
# | `labels` | on each rank the labels are shuffled, but the images are not |
# | `steps` | the last rank has one file fewer, and makes as many steps as it has batches |
#
# With the fault `same` and two ranks, half of the images are never read. The intact run reaches a test accuracy of 0.91
# in two epochs of 6,400 images. What accuracy will be left?

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_same_half to a number
predict_same_half = 0.85
### END SOLUTION
course.answers.note(predict_same_half=predict_same_half)

# %%
from pathlib import Path

found = course.submit("job_break.sbatch", options=course.on_nodes(ranks, device))
broken = {run.header["without"]: run for run in found}
course.predictions.compare("predict_same_half", broken["same"].test_accuracy.value)
stalled = broken.pop("steps")
asked = next(m["value"] for m in stalled.measures if m["name"] == "steps_asked")
print(f"without steps: the ranks wanted to make {asked} steps per epoch. Horovod said:")
for line in Path(stalled.files[0]).with_suffix(".err").read_text().splitlines():
    if line.startswith(("Missing", "One or more rank", *"0123456789")):
        print("   ", line[:75])
course.plots.faults(broken, path="", more=["images_missing", "images_twice"])

# %% [markdown]
# **What you should see.** Measured on two ranks of one 2-core machine, 6,400 images in 8 files, 2 epochs, 2,000
# test images:
#
# | without | images never read | read twice | test accuracy |
# |---|---|---|---|
# | `nothing` | 0 | 0 | 0.908 |
# | `same` | 3,200 | 3,200 | 0.889 |
# | `own` | 2,400 | 2,400 | 0.896 |
# | `labels` | 0 | 0 | 0.097 |
# | `steps` | 800 | 0 | ends in the first epoch: 100 steps and 75 |
#
# - Losing half of the images costs two hundredths of accuracy, and the training loss gets *better*: half the images,
#   each seen twice per epoch, are memorised sooner. Only counting shows the fault.
# - `labels` is the other way round: every count is right, and the loss stays near the value for guessing (ln 10 =
#   2.303) until the network begins to memorise the wrong labels.
# - `steps`: **the missing rank 0 is the victim.** The last rank has ended its epoch and waits for the mean of the
#   metrics (`HorovodAllreduce`). Rank 0 does not get there, because it waits for the last rank's gradients. The message
#   may also name those tensors, whose names contain `grads`. Here Horovod warns after 3 s and stops after 6.
#
# ## Questions
#
# **Question.** Rank 0 has 4 and rank 1 has 3 of 7 files with 500 images each. How many images are left unused in an
# epoch if both make `common_steps` steps with batches of 64?
#
# **Question.** The four runs at the top of the page are runs of `break_it.py` on **four** ranks, for six epochs. With
# the fault `same`, how many of the 6,400 images does no rank read?
#
# **Question.** Which of the four runs is `labels`, which `nothing`, which `own`, which `same`? Write the letters in
# this order, as one word.
#
# **Open, for no points.** An epoch on two ranks with their own files often takes more than half of the epoch on one
# rank. Where does the rest go? Shorten it without reading less, and defend the change with measured seconds.

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: set unused_images and never_read to a number each, four_runs to a word
unused_images = 2000 - train.common_steps([2000, 1500], 64) * 64
never_read = 6400 - 6400 // 4
four_runs = "BCAD"
### END SOLUTION
course.answers.note(unused_images=unused_images, never_read=never_read, four_runs=four_runs)

# %% [markdown]
# ## Traps
#
# Each row was run on two ranks of one 2-core machine, with 1,600 images in 8 parts, 2 epochs and 1,000 test images.
# The intact run made 25 steps per epoch and reached an accuracy of 0.847.
#
# | you see | cause |
# |---|---|
# | 800 images read twice, 800 never; accuracy 0.857 | each rank listed the folder itself, and saw a different order |
# | 600 images read twice, 600 never; accuracy 0.858 | each rank drew its own order of the files, then took its share |
# | 19 steps instead of 25, 400 images never read; accuracy 0.835 | the last items cut off: two files that nobody reads |
# | `Missing ranks: 0: [HorovodAllreduce]`, and no end | unequal steps: `common_steps`, or equal shares (`DataDistributor(…, equal="drop")`, which leaves files out) |
# | accuracy 0.837, and each rank has classes of its own (`labels_apart`) | parts sorted by class |
# | 50 steps instead of 25, accuracy 0.889 | every rank read every file: twice the updates, for twice the time |
#
# ## Recap
#
# - Rank 0 lists the files and gives every rank a share. It sends errors to all ranks, too.
# - With every speedup, report how many *different* samples each epoch had.
#
# **Submit** your work in a terminal:
#
#     lessons submit 08
#
# Next: lesson 09 asks why N times the batch does not train N times faster. Further reading: Jülich's *hpc4neuro*;
# mpi4py's pages on collective communication.
