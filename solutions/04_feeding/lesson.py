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
# # 04 · Feeding the model
#
# **Is the device waiting for data, and how would I know?**
#
# Training needs four things from a machine: arithmetic, memory, a network between nodes, and input and output for
# many readers at once. This lesson is about the last one. You read the same images from single files, from packs and
# from memory. You replace the neural network with a wait, to see the input alone. Then you build the pipeline that
# hides the input behind the computing.
#
# Allow 45 minutes. On two CPU cores, all the runs on this page together take one to two minutes.

# %% tags=["parameters"]
profile = "smoke"  # "smoke": two CPU cores. "full": the whole data set, a GPU
cores = 0  # the cores of a job; 0: two, and in "full" those that belong to a GPU of this site
gpus = "gres=gpu:{n}"  # "full": how your site asks for n GPUs of a node

# %% tags=["setup", "hide-input"]
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # the Keras that Horovod can average: lesson 07
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # NumPy's products on one core, as its sums

import numpy as np

from lessons import course
from lessons.toolkit import data, quiet

quiet.tensorflow()
small = "--train-samples 6400 --size 32 --batch-size 64 --buffer 512 --epochs 4"
sizes = {"smoke": small, "full": "--epochs 3"}[profile].split()

# %% [markdown]
# Two recorded inputs read the same images, in batches of 64, with a wait of 3 ms in place of each training step. Both
# have a fault. Can you see either of them in this picture? (At the end of this page, you name both.)

# %%
recorded = {letter: course.runs(f"records/{letter}.rec")[0] for letter in "gmrz"}
course.plots.epoch_bars({letter: recorded[letter] for letter in "rz"})

# %% [markdown]
# ## Predict
#
# 1. 6,400 images are stored in 6,400 files, and again in 32 packs of 200. Both are in the system's cache.
#    By what factor is reading from the packs faster? A number.
# 2. The input prepares batches ahead of time while a GPU computes (*prefetch*). Still, the GPU waits for
#    input half of the time. You add a second GPU to the same node, fed by the same input. Does that shorten
#    the epoch? `"yes"` or `"no"`.

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_packs_over_files to a number, predict_two_gpus to a word
predict_packs_over_files = 5
predict_two_gpus = "no"
### END SOLUTION
course.answers.note(
    predict_packs_over_files=predict_packs_over_files, predict_two_gpus=predict_two_gpus
)

# %% [markdown]
# ## Packs
#
# A file costs time before its first byte: the system looks up its name, checks permissions, opens it, and later
# closes it. On a cluster, a few servers look up file names for all users. Many readers of many small files are a
# heavy load for them: each file costs several requests. So images go into **packs**. TFRecord, WebDataset and HDF5
# files are packs.
#
# In `sources.py` a record is a sample's number, its label and its pixels: 3,077 bytes. A single file
# contains one such record. A pack contains many.
#
# **Exercise 4.1.** Complete `write_packs` in `sources.py`.

# %% tags=["check"]
import sources

course.check("4.1", sources.write_packs)

# %% [markdown]
# ## In which order
#
# SGD wants samples in random order. A disk wants them one after the other. The compromise has two parts:
# **the packs in a new order each epoch**, and a **buffer** from which samples are drawn.
#
# **Exercise 4.2.** Complete `order(names, epoch, seed)` in `sources.py`. Each epoch has its own permutation.
# A second run with the same seed has the same permutations.

# %% tags=["check"]
course.check("4.2", sources.order)

# %% [markdown]
# Does the buffer compensate for sorted packs? Here are 6,400 labels in 32 packs.

# %%
import tensorflow as tf

cifar = data.load("cifar10", train_samples=6400, as_float=False)
rng = np.random.default_rng(1)


def as_read(labels):
    labels = labels.reshape(32, 200)[list(sources.order(np.arange(32), 0, 1))].ravel()
    return list(tf.data.Dataset.from_tensor_slices(labels).shuffle(512).as_numpy_iterator())


by_class = np.sort(cifar.y_train)
inside = rng.permuted(by_class.reshape(32, 200), axis=1).ravel()

# %%
orders = {
    "sorted by class, shuffled inside each pack": inside,
    "sorted by class, packs in random order, buffer of 512": as_read(by_class),
    "written mixed, packs in random order, buffer of 512": as_read(cifar.y_train),
}
for name, labels in orders.items():
    shares = [np.bincount(batch).max() / 64 for batch in np.reshape(labels, (-1, 64))]
    print(f"{name}: {min(shares):.2f} to {max(shares):.2f}, median {np.median(shares):.2f}")

# %% [markdown]
# The numbers are the share of the most frequent class in each batch of 64. With ten classes, about 0.16 is good.
# 1.00 means a batch of a single class: the network learns airplanes, then forgets them for automobiles, and the
# loss looks like the teeth of a saw. A buffer of two or three packs helps, but some
# batches are still more than half one class. **Write packs mixed.** Then the random order and the buffer suffice.
#
# ## The stages
#
# | stage | what it does | where it belongs |
# |---|---|---|
# | `cache()` | keeps everything so far in memory | after what is slow, before what is random, where the data is still small |
# | `map(decode, num_parallel_calls=n)` | opens and decodes *n* pieces at once | where there are pieces; n = cores of the job |
# | `prefetch(n)` | prepares *n* batches while the network computes | where the network takes them |
# | `prepare(…)` | batches, scales and resizes (lesson 03) | 50,000 images are 0.15 GB as bytes of 32 × 32, and 9.8 GB as floats of 128 × 128 |
# | `shuffle(buffer)` | draws from a buffer, anew in each epoch | where it draws samples, not batches |
# | `unbatch()` | turns a pack into single samples | before anything is shuffled |
#
# **Exercise 4.3.** Complete `stages(pieces, decode, args)` in `train.py`. `args` has `workers`, `cache`,
# `buffer`, `size`, `batch_size` and `prefetch`. Call `cache()` and `prefetch()` only if the arguments
# of the same name are true. Prefetch 4 batches.

# %% tags=["check"]
import train

course.check("4.3", train.stages)

# %% [markdown]
# ## The diff
#
# The three sources, `stages` and `--compute-ms` are new since lesson 03. With `--compute-ms`, the program
# builds no network. Instead, each step waits for the given number of milliseconds (in `input_only.py`). The
# program then measures the input alone.

# %%
course.show_diff(
    "03_baseline/train.py",
    "train.py",
    read_pieces="from sources|pieces|data/input",
    prepare_ahead=r"stages|\.cache|shuffle|prefetch|private_threadpool",
    time_the_input="compute|wait_instead",
)

# %% [markdown]
# ## Run it
#
# Files, packs and memory are read in one job and take turns epoch by epoch, so other load on the machine
# affects all three about equally. The job runs first with one core, then with all cores. The files are written
# once, to your site's fast folder (`SITE_SCRATCH`), not beside the program: never submit or back up 50,000
# files.

# %%
# "full": 50,000 files, each opened up to 7 times. At 1 ms per opening that takes 6 minutes.
one = course.on_nodes(1, gpus if profile == "full" else "", minutes=40)
cores = cores or (course.cores_per_gpu() if profile == "full" else 2)
whole = one | {"cpus-per-task": str(cores)}
alone = ["--source", "files", "packs", "memory", "--compute-ms", "0", *sizes]
runs = {}
for n in (1, cores):
    options = one | {"cpus-per-task": str(n)}
    for run in course.submit("job.sbatch", *alone, options=options):
        runs[f"{run.header['source']}, {n} core" + "s" * (n > 1)] = run
files, packs, memory = list(runs.values())[-3:]

# %% [markdown]
# How many images per second does the network process? A run of ResNet50V2, fed from packs, shows this. (The
# `smoke` profile takes lesson 03's small network, `cnn`. With so few images, only its timings are
# meaningful.)

# %%
light = "--model cnn --train-samples 640 --test-samples 64 --epochs 2"
few = {"smoke": light, "full": ""}[profile].split()
[net] = course.submit("job.sbatch", *sizes, *few, options=whole)
published = {"ResNet50V2, 128 px, one H100 (Torres' textbook, 14 s per epoch)": 50000 / 14}
course.plots.input_rates(runs, net, published)

# %%
faster = course.measure.speedup(files, packs)
course.predictions.compare("predict_packs_over_files", faster)
course.expectations.compare(
    "Packs over files", faster, between=({"smoke": 2, "full": 1.4}[profile], 20), unit="times",
    below="Does each pack contain 200 images? Many small packs are small files again.",
    above="Are the files on a network file system? There, opening one costs more.",
)  # fmt: skip

# %% [markdown]
# **What you should see.**
#
# - Packs deliver a few times as many images per second as single files, although *both* come from memory: you wrote
#   them a moment ago, and the system keeps what it can. What remains is the cost of each file: to open it, and to
#   decode it alone.
# - Packs are nearly as fast as memory. Both are limited by the work that `tf.data` does on every sample
#   (unbatch, shuffle, batch). Reading packs without that work is much faster still: see below.
# - Two cores decode two files at once. On an idle machine that gains up to a factor of two. If others use the cores, it
#   may gain nothing.
# - The dashed line is the network on your machine. If a bar ends to the right of the line, the input is faster than
#   the network: the run is **compute-bound**, and a faster input gains nothing. If it ends to the left of the line,
#   the run is **input-bound**, and the device waits. On two CPU cores, even the small network is compute-bound. An
#   H100 (the dotted line) processes 3,600 images of 128 × 128 per second, so there the input matters. (Another
#   machine, larger images: do not divide by it.)
# - Torres' textbook measured both cases on an H100: with a light network, 1,598 images per second without loader
#   processes and 10,818 with 8 of them; with a heavy one, 88 to 95 with any number.
#
# ## Cold and warm
#
# The system keeps files in memory, in its **page cache**. A read from there is *warm*. A read that really
# goes to the disk is *cold*. In the first epoch of a job, most reads are cold, if nobody has read
# or written the files shortly before. Later epochs are warm as long
# as the data set fits into the node's memory. Here you measure each kind by itself. `forget` asks the system
# to drop a file from the cache. Some file systems cannot do that: a file system in memory has no disk to read
# from. By what factor is cold slower than warm? Guess before you run the cells.


# %%
import tempfile
import time
from pathlib import Path


def forget(path):
    with open(path, "rb+") as file:
        os.fsync(file.fileno())  # only what is on the disk can be dropped
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def images_per_s(paths):
    start = time.perf_counter()
    size = sum(len(path.read_bytes()) for path in paths)
    return size / sources.RECORD / (time.perf_counter() - start)


# %%
records = sources.to_records(cifar.x_train, cifar.y_train)[:1600]
ways = {"files": sources.write_files, "packs": lambda rows, to: sources.write_packs(rows, to, 32)}
for way, write in ways.items():
    with tempfile.TemporaryDirectory() as folder:
        write(records, folder)
        paths = sorted(Path(folder).iterdir())
        cold, warm = [], []
        for _ in range(3):
            for path in paths:
                forget(path)
            cold.append(images_per_s(paths))
            warm.append(images_per_s(paths))
    print(f"{way}: cold {np.median(cold):9,.0f}, warm {np.median(warm):9,.0f} images/s")
    times, how = list(np.divide(warm, cold)), {"below": "Is your temporary folder in memory?"}
    course.expectations.compare("  warm over cold", times, (1.5, 50), **how, again="Run it again.")

# %% [markdown]
# **What you should see.** Cold reads are several times slower than warm reads, for files and for packs, and
# cold packs are at least as fast as warm files. On the local disk of a busy virtual machine with two cores,
# single files reached 4,500 to 8,300 images per second cold and 29,000 to 54,000 warm. Packs reached 57,000
# to 222,000 images per second cold and 400,000 to 1,500,000 warm (bytes alone, nothing decoded; five runs,
# with 1,600 and with 6,400 images). If the two do not differ, your temporary folder is not on a disk, or the
# disk's own cache served the reads. On a shared file system, cold reads are the usual case, because other
# jobs fill the servers' caches, too.
#
# **Staging.** A compute node often has a disk of its own, which nobody else slows down. Copy the packs
# there once, at the start of the job, and read every epoch from there. One sequential copy of 32 packs is
# easy work for any file system, and it pays off from the second cold epoch on. Many sites call that disk
# `$TMPDIR` and empty it when the job ends. In the job file, before `launch` (with several nodes, once on
# each of them):
#
#     mkdir -p "$TMPDIR/packs"
#     cp -r "$folder/." "$TMPDIR/packs"
#     folder=$TMPDIR/packs
#
# ## At the same time
#
# With `--compute-ms` you choose how long the network would take. The second cell below chooses this
# time so that an epoch's simulated computing takes as long as its input. That is where overlapping gains most.
#
# If the two overlap, an epoch takes as long as the longer one. If they take turns, their times add up.


# %%
def epoch_seconds(t_in, t_comp, overlapped):
    return max(t_in, t_comp) if overlapped else t_in + t_comp


# %%
wait_ms = 1000 * course.measure.epoch_time(files).value / files.epochs[-1].steps
balanced = ["--source", "files", "--compute-ms", f"{wait_ms:.1f}", *sizes]
[ahead] = course.submit("job.sbatch", *balanced, options=whole)
[in_turn] = course.submit("job.sbatch", *balanced, "--no-prefetch", options=whole)
for run, overlapped in ((ahead, True), (in_turn, False)):
    t_in, t_comp = (
        course.plots.median_of_measure([run], name) for name in ("input_s", "compute_s")
    )
    print(f"input {t_in:.2f} s, computing {t_comp:.2f} s: ", end="")
    print(f"{epoch_seconds(t_in, t_comp, overlapped):.2f} s expected, ", end="")
    print(f"{course.measure.epoch_time(run).value:.2f} s measured ({run.header['source']})")
    expected = epoch_seconds(t_in, t_comp, overlapped)
    over = [epoch.seconds.value / expected for epoch in run.epochs[1:]]
    course.expectations.compare("  measured over expected", over, between=(0.75, 1.25))

# %%
course.plots.input_overlap(ahead, in_turn)

# %% [markdown]
# **What you should see.** If the two take turns, an epoch takes the sum of their times. With `prefetch` it takes
# slightly longer than the slower of the two, because neither the first batch nor filling the shuffle buffer can be
# hidden. Your numbers should be within 25 % of the formula's. Each run has its own marker in the plot.
#
# Now check your second prediction, with this formula and your input. If batches are prepared ahead of time
# and a GPU waits half of the time, its computation takes half as long as the input. A second GPU halves the
# computing time.

# %% tags=["hide-input"]
t_in = course.plots.median_of_measure([ahead], "input_s")
for overlapped, way, t_comp in ((True, "with prefetch", t_in / 2), (False, "in turn", t_in)):
    one, two = (epoch_seconds(t_in, t_comp / gpus, overlapped) for gpus in (1, 2))
    print(f"{way}: one GPU {one:.2f} s, two {two:.2f} s per epoch")
    if overlapped:
        course.predictions.compare("predict_two_gpus", "yes" if two < one else "no", how="computed")

# %% [markdown]
# With prefetch, the input alone sets the pace: you pay for two GPUs, and each waits three quarters of the time. If they
# take turns, the second GPU does shorten the epoch, by a quarter, because the epoch then includes all computing time.
# But `prefetch` would gain more, with one line of code.
#
# TensorFlow now adds a missing `prefetch` by itself (`input_only.py` turns that off to show your own stages).
# PyTorch's `DataLoader` does not: with `num_workers=0`, input and computation take turns on a CPU. On a GPU the next
# batch is read while queued kernels run, unless something in each step waits for the GPU, such as `.item()` (lesson
# 14).
#
# ## Arithmetic or memory
#
# The same question comes back inside the processor, which waits for its memory as a GPU waits for its files.
# Adding two arrays moves many bytes and computes little. A matrix product does the opposite.
#
# **Exercise 4.4.** `gigabytes_per_s` is for `a + b`, with *n* float32 numbers in each array. `gigaflops` is for a
# product of *n* × *n* matrices. Both run on one core. NumPy's additions use one core anyway, and the setup at the top
# of this page limits its matrix products to one.


# %% tags=["exercise"]
def gigabytes_per_s(n, seconds):
    ### BEGIN SOLUTION Exercise 4.4: bytes, in 10⁹ per second
    return 3 * 4 * n / seconds / 1e9
    ### END SOLUTION


def gigaflops(n, seconds):
    ### BEGIN SOLUTION Exercise 4.4: operations, in 10⁹ per second
    return 2 * n**3 / seconds / 1e9
    ### END SOLUTION


# %% tags=["check"]
course.check("4.4", gigabytes_per_s, gigaflops)

# %%
import timeit

a, b, out = (np.ones(10_000_000, np.float32) for _ in range(3))
m = np.ones((1024, 1024), np.float32)
add = min(timeit.repeat(lambda: np.add(a, b, out), number=1, repeat=7))
product = min(timeit.repeat(lambda: m @ m, number=1, repeat=7))
bandwidth, arithmetic = gigabytes_per_s(len(a), add), gigaflops(1024, product)
print(f"a + b:   {bandwidth:6.1f} GB/s, {len(a) / add / 1e9:6.1f} GFLOP/s")
print(f"m @ m:   {arithmetic:6.1f} GFLOP/s")
print(f"Below {arithmetic / bandwidth:.1f} operations per byte, this core waits for memory.")

# %% [markdown]
# The first number counts each array once. Most processors also read memory before they write to it, so they move up
# to a third more.
#
# A dense layer with 4,096 inputs and 4,096 outputs does 0.5 operations per byte for a single sample, because each
# weight is used once: this core waits.
#
# **Question.** A 3 × 3 convolution turns 256 channels of 32 × 32 points into 256 channels of the same size. How many
# operations per byte does it do for a single sample? (float32; count weights, input and output once.) Can this core
# feed it?
#
# ## Which record is which fault?
#
# Four inputs like those of this page were recorded: 6,400 images in 32 packs, a buffer of 512, four epochs. Each has
# one fault:
#
# - **A** the packs have the same order in each epoch
# - **B** no `prefetch`
# - **C** no `shuffle`
# - **D** `cache()` after `shuffle`
# - **E** a pack is missing
# - **F** `drop_remainder=True`
#
# The seconds are those of a typical epoch. `over_sum` compares each epoch's seconds with those of its input and its
# waits, one after the other. `kept` is the correlation of the images' places with those in the previous epoch: 1
# means the same order, and a new order of 32 packs gives −0.4 to 0.4. `neighbours` is the share of images that follow
# the one stored before them.
#
# Write the letters of `g`, `m`, `r` and `z` in this order, as one word.

# %%
shown = {
    "input_s": "input",
    "compute_s": "waits",
    "epoch_over_sum": "over_sum",
    "order_kept": "kept",
    "in_sequence": "neighbours",
}
for letter, run in recorded.items():
    last, seconds = run.epochs[-1], course.measure.epoch_time(run).value
    print(f"{letter}: {last.steps} steps, {last.unique_samples} images, {seconds:.2f} s", end="")
    for name, words in shown.items():
        print(f", {words} {course.plots.median_of_measure([run], name):.3f}", end="")
    print()

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: conv_per_byte, a number, and faults_input, four letters
operations = 2 * 9 * 256 * 256 * 32 * 32
conv_per_byte = operations / (4 * (9 * 256 * 256 + 2 * 256 * 32 * 32))
faults_input = "DBEA"
### END SOLUTION
course.answers.note(conv_per_byte=conv_per_byte, faults_input=faults_input)

# %% [markdown]
# **Open question**, without points: make your packs' epoch shorter still, and show with a measurement what now sets the
# pace.
#
# ## Traps
#
# | you see | cause |
# |---|---|
# | a loss like the teeth of a saw | packs sorted by class, and shuffled only inside |
# | the second run is far faster than the first | the system's file cache, not your change: compare runs of the same kind |
# | more loader workers, slower | more workers than the job has cores |
# | a faster GPU, or more GPUs, and the same epoch time | the run is input-bound, with prefetch |
# | out of memory (exit code 137) late in the first epoch | `cache()` after `prepare`: floats of full size |
# | your support team writes to you | millions of small files on the shared file system |
#
# ## Recap
#
# - What packs gain depends on the machine, so measure it. Whether a second GPU helps depends on which
#   is slower, input or computing.
# - Measure the input alone (a wait instead of the network) and the network alone (data in memory). With a
#   good pipeline, an epoch takes as long as the slower of the two, and no longer.
# - Write packs mixed, and read them in a new order each epoch. Know for each stage what goes wrong in another place.
# - Say whether files were cold or cached when you quote a reading speed. Where cold reads are slow, stage
#   the packs on the node's own disk.
#
# **Submit** your work in a terminal:
#
#     lessons submit 04
#
# Next: lesson 05 uses the parallel `map` and `prefetch` on several devices. Further reading: TensorFlow's
# guide *Better performance with the tf.data API*; PyTorch's page on `DataLoader`; your site's page on its
# file systems.
