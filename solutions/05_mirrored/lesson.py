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
# # 05 · MirroredStrategy: one node
#
# **How much of the speed of 4 GPUs do I get for five changes?**
#
# A problem is *divisible* if its parts can be computed at the same time. A gradient is divisible: the mean over a
# batch is the mean of the means over its parts, if the parts have *equal* size. (Lesson 08 shows what happens if
# not.) TensorFlow divides a batch among the GPUs of one node with `tf.distribute.MirroredStrategy`.
#
# Allow 60 minutes. On two CPU cores all runs on this page together take one to two minutes.

# %% tags=["parameters"]
profile = (
    "smoke"  # "smoke": two replicas on two CPU cores. "full": GPUs, 50,000 images of 128 x 128
)
replicas = 2  # the larger number; in "full" as many as a node has GPUs
gpus = "gres=gpu:{n}"  # "full": how your site asks for n GPUs of a node
gpu_gb = 40  # "full": memory of one GPU: 40 if nvidia-smi shows 40960MiB

# %% tags=["setup", "hide-input"]
import math
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # as the program does

from lessons import course
from lessons.toolkit import quiet

quiet.tensorflow()
few = {"smoke": ["--train-samples", "2048", "--test-samples", "512"], "full": []}[profile]
cnn = ["--model", "cnn", "--size", "32", *few]
light = [*cnn, "--batch-size", "128", "--epochs", "3", "--lr", "0.02"]
fits = 2 ** int(math.log2((gpu_gb - 2) * 1e9 / 30e6))  # images: see "How large a batch?"
work = {"smoke": light, "full": ["--batch-size", fits, "--epochs", "5"]}[profile]

# %% [markdown]
# ## Five runs, and no error
#
# Five trainings on four replicas have the same network, images and seed. One is intact, and in each of the others one
# line is wrong. One of these faults is easy to see. In another run a single device does all the work. Which run is
# that? After this page you can tell them apart.

# %%
recorded = {
    "A": [2.2963, 2.2794, 2.2688, 2.2596, 2.2471, 2.2391, 2.2225, 2.2076],
    "B": [2.2934, 2.2541, 2.2272, 2.3282, 2.2593, 2.2384, 2.2061, 2.1709],
    "C": [9.3304, 9.1290, 9.1136, 8.9493, 8.9235, 11.1873, 9.2069, 9.1865],
    "D": [2.2934, 2.2542, 2.2269, 2.3246, 2.2599, 2.2358, 2.2132, 2.1597],
    "E": [2.2858, 2.2125, 2.2246, 2.1071, 2.1001, 2.0122, 2.0620, 1.9290],
}
course.plots.losses(recorded, highest=2.5, per="epoch")

# %% [markdown]
# ## Predict
#
# One 64 GB GPU takes 14 s for an epoch of 50,000 images with batch 2,048. Each additional GPU adds another 2,048
# images to every step.
#
# 1. How many seconds does an epoch take on 2 GPUs, and on 4?
# 2. How many steps does an epoch have on 1, on 2 and on 4 GPUs? Add up the three numbers.

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_2, predict_4 and predict_steps to numbers
predict_2, predict_4 = 7.5, 4
predict_steps = 45
### END SOLUTION
course.answers.note(predict_2=predict_2, predict_4=predict_4, predict_steps=predict_steps)

# %% [markdown]
# ## Four ways to divide
#
# | | each device holds | and computes |
# |---|---|---|
# | **data** parallelism | the whole network | its part of the batch |
# | **model** parallelism | its layers | the whole batch, after the layers before it |
# | **pipeline** | its layers | the batch in small pieces, so that layers work at the same time |
# | **hybrid** | its layers | its part of the batch |
#
# Goals differ, too. *Faster*: the same training in less time. *Data*: more data in the same time.
# *Tuning*: many settings at once. *Model*: a network too large for one device.
#
# **Exercise 5.1.** There are four devices (0 to 3), a network of layers 0 to 3 and a batch of images 0 to 7. `holds`
# returns two lists: a device's layers and its images. Parts are consecutive blocks: device 0 has the first layers or
# images, and device 1 has the next. In the hybrid, devices 0 and 1 together hold one network and take the first half
# of the batch. Devices 2 and 3 hold another.


# %% tags=["exercise"]
def holds(kind, device):
    """(layers, images) of a device, for kind "data", "model", "pipeline" or "hybrid"."""
    ### BEGIN SOLUTION Exercise 5.1: two lists for each of the four kinds
    if kind == "data":
        return [0, 1, 2, 3], [2 * device, 2 * device + 1]
    if kind == "hybrid":
        half, part = divmod(device, 2)
        return [2 * part, 2 * part + 1], list(range(4 * half, 4 * half + 4))
    return [device], list(range(8))
    ### END SOLUTION


# %% tags=["check"]
course.check("5.1", holds)

# %% [markdown]
# Model parallelism and a pipeline put the same things on each device. They differ in *when* the device computes. This
# lesson is about data parallelism.
#
# ## The diff
#
# `train.py` is lesson 03's program with two stages from lesson 04: a parallel `map` (TensorFlow chooses how many
# calls run at once) and `prefetch`, because several devices consume images faster than one. The other `+` lines are
# MirroredStrategy, and `--steps` for the ten steps below exercise 5.3.

# %%
course.show_diff(
    "03_baseline/train.py",
    "train.py",
    list_devices=r"devices\(|LogicalDevice|device\.name|\"--n-gpus",
    create_the_strategy="MirroredStrategy",
    build_in_its_scope="scope|build_mirrored",
    multiply_batch_and_rate=r"for_all|replicas, lr|size, batch\)|global_batch",
    prepare_ahead="AUTOTUNE",
)

# %% [markdown]
# Each device must hold the whole network, as you said in 5.1, and all copies must stay equal. The strategy takes care
# of both, for everything that is trained and was created in its scope. (Batch normalisation's running means differ.
# They are averaged when they are read. `compile` enters the scope of its network by itself. But the optimizer that you
# pass to it was created before that.)
#
# **Exercise 5.2.** Complete `build_mirrored` in `train.py`. Variables that are *created* inside the scope get a
# copy on every device. The optimizer has variables, too.

# %% tags=["check"]
import train

course.check("5.2", train)

# %% [markdown]
# | line | what happens without it |
# |---|---|
# | a list of devices, `--n-gpus` of them | the strategy takes **all** devices that it sees |
# | `MirroredStrategy(devices)` | with `OneDeviceStrategy` one device works, the others are only allocated |
# | the scope, around network and optimizer | network outside, optimizer inside: `ValueError`; both outside: one device, no error; optimizer outside: it trains, but the optimizer counts its steps on one device |
# | `for_all`: the batch | each replica gets 1/N of the work it should have, in N times the steps |
# | `for_all`: the rate | N times fewer steps, each no longer than before |
#
# On GPUs, NCCL exchanges the gradients, over NVLink where there is some (lesson 06 times it on yours). Without GPUs the
# program creates *logical* CPU devices, which share the cores: the program is the same, but nothing gets faster.
#
# ## The same training?
#
# **Exercise 5.3.** Complete `for_all` in `train.py`: what must batch and rate of one replica become, so that the
# table's last two rows do not happen? Then write its inverse. `same_work(n)` returns the batch and rate to pass to the
# program so that *n* replicas train exactly like one with batch 128 and rate 0.02: same images, same mean gradient,
# same steps.


# %% tags=["exercise"]
def same_work(n):
    ### BEGIN SOLUTION Exercise 5.3: batch and rate of one of n replicas
    return 128 // n, 0.02 / n
    ### END SOLUTION


# %% tags=["check"]
course.check("5.3", train.for_all, same_work)


# %% tags=["hide-input"]
def submit_all(job, n, *words):
    options = course.on_nodes(1, gpus.format(n=n) if profile == "full" else "")
    return course.submit(job, "--n-gpus", n, *words, options=options)


def submit(n, *words):
    return submit_all("job.sbatch", n, *words)[0]


# %%
ten = {}
for n in (1, 2):
    batch, rate = same_work(n)
    words = ["--batch-size", batch, "--lr", rate, "--epochs", 1, "--steps", 10]
    ten[n] = submit(n, *cnn, *words)
    print(f"replicas: {n}, mean loss of ten steps {ten[n].epochs[0].train_loss.value:.7f}")

# %% [markdown]
# They agree to about seven digits. The rest differs, because the same numbers are added in a different order. Networks
# with *batch normalisation* (all ResNets) agree less closely. Each replica normalises with the mean of **its own**
# part of the batch. That is a different computation, and a worse one if the part is tiny.
#
# ## A loop of your own
#
# `fit` divides each replica's mean loss by the number of replicas. That is right for equal parts, and not quite for a
# last batch of 5 and 3 images (lesson 08). A loop of your own does not even do that: on each replica it computes the
# loss of that replica's images, and the strategy *adds* the replicas' gradients. This loss is from a program for one
# GPU:
#
#     each = keras.losses.sparse_categorical_crossentropy(labels, model(images, training=True))
#     return tf.reduce_mean(each)
#
# **Exercise 5.4.** On several replicas one of these two lines is wrong. Repair it in `loss_of`. `batch` is the number
# of images on all replicas together. The check divides 8 images into 4 and 4, and into 5 and 3. It also divides 6 into 4
# and 2, as at the end of an epoch.


# %% tags=["exercise"]
def loss_of(model, images, labels, batch):
    tf, keras = train.tf, train.keras
    ### BEGIN SOLUTION Exercise 5.4: the two lines from above, one of them repaired
    each = keras.losses.sparse_categorical_crossentropy(labels, model(images, training=True))
    return tf.reduce_sum(each) / batch
    ### END SOLUTION


# %% tags=["check"]
course.check("5.4", loss_of)

# %% [markdown]
# ## How large a batch?
#
# How many images fit into 40 GB? Guess first. For the backward pass, each replica keeps at least the input of every
# convolution and every normalisation. For ResNet50V2 with images of 128 × 128, the layers' shapes add up to 5.0
# million such numbers per image, which is 20 MB in float32. The outputs of all layers would be 41 MB. A framework
# keeps an amount between the two. The textbook quoted below trained with a batch of 2,048 images on 64 GB, so 30 MB
# per image are enough. Parameters and their gradients take 0.2 GB (with Adam's state 0.4), whatever the batch
# size. Libraries and their workspace take about 2 GB. So
#
# **images ≤ (memory − 2 GB) / 30 MB**: 1,266 in 40 GB, 2,066 in 64 GB, 2,600 in 80 GB.
#
# From `gpu_gb`, the setup cell at the top computes the largest power of two that the formula allows. With 16-bit
# numbers about twice as many images fit. (Computed from the shapes, not measured on a GPU. If the job says *out of
# memory*, halve the batch.)
#
# ## Run it
#
# Each number of replicas gets its own job, so no allocated GPU is idle.
#
# The picture compares your times with those of J. Torres' textbook (MareNostrum 5, H100 64 GB, CIFAR-10 at 128 × 128).
# On 1, 2 and 4 GPUs it prints 14, 8 and 5 s for ResNet50V2 with 2,048 images per GPU, and 33, 18 and 10 s for
# ResNet152V2 with 1,024. On four GPUs the efficiency is 70 % and 82.5 %. Does the larger network scale better? Decide
# before you look: yes, no, or it cannot be known.

# %%
runs = [submit(n, *work) for n in sorted({1, 2, replicas})]
for run in runs:
    facts = run.header
    print(
        f"{facts['replicas']} of {facts['replicas_asked']} replicas on {facts['device']}:", end=""
    )
    print(f" batch {facts['global_batch']}, rate {facts['lr']:g}, {run.epochs[0].steps} steps,")
    print("  seconds", [round(epoch.seconds.value, 2) for epoch in run.epochs], end="")
    print(f"  test accuracy {run.test_accuracy.value:.3f}", end="")
    print(f"  largest difference of a parameter between replicas {run.end['param_spread']:g}")

# %% tags=["hide-input"]
torres = {"ResNet50V2, H100": {1: 14, 2: 8, 4: 5}, "ResNet152V2, H100": {1: 33, 2: 18, 4: 10}}
series = {name: course.plots.whole_seconds(times) for name, times in torres.items()}
series["your runs"] = course.plots.epoch_times(runs)
for n in (2, 4):
    course.predictions.compare(f"predict_{n}", torres["ResNet50V2, H100"][n], "s", how="read")
counted = sum(math.ceil(50_000 / (2048 * n)) for n in (1, 2, 4))
course.predictions.compare("predict_steps", counted, "steps", how="computed")
if profile == "smoke":
    gain = course.measure.speedup(runs[0], runs[1])
    course.expectations.compare("Two replicas over one", gain, between=(0.5, 1.4), unit="times")
course.plots.speedups(series)

# %% [markdown]
# **What you should see.**
#
# - The whiskers show the range that whole seconds allow: on four GPUs 2.5 to 3.2 times and 3.1 to 3.5 times. **They
#   overlap, so these times cannot show that the larger network scales better.**
# - On two CPU cores, two replicas are hardly faster than one, or slower, because one process already used both cores.
#   For this lesson, an epoch took 0.9 to 1.4 s with one replica and 1.2 to 1.4 s with two, on two cores of a shared
#   AMD EPYC, on several days. CPU cores can show that this program is *right*, not that it is fast.
# - Speedups from different machines fit into one picture, seconds do not. But a slower GPU, or a larger batch, alone
#   gives a better speedup.
# - The first epoch *grows* with N: 29 s on one GPU and 47 s on four, in the textbook. Probably each device gets its own
#   copy of the graph.
#
# How much does the batch per replica matter? Here are a few steps with a small batch:

# %%
small = [submit(n, *work, "--batch-size", 16, "--steps", 16, "--epochs", 3) for n in (1, 2)]
lines = {"1 replica": [small[0], runs[0]], "2 replicas": [small[1], runs[1]]}
course.plots.throughput_by_batch(lines)

# %% [markdown]
# Every step has a fixed cost, for starting it on N devices and exchanging gradients. With few images per replica, it
# can be most of the step: your picture shows how much here. **The batch is the knob of data parallelism.** Lesson 09
# shows why you cannot turn it up forever.
#
# ## Break it
#
# `break_it.py` is this training on a small scale, on two replicas, with one line wrong. It also computes
# the parameters that *one* device has after the first step on the whole batch.
#
# | `--without` | what is different |
# |---|---|
# | `nothing` | intact: your functions |
# | `scope` | built and compiled outside the scope |
# | `batch` | the global batch is that of one replica |
# | `rate` | the rate is that of one replica |
# | `mean` | the loss is the mean over *one replica's* images; the gradients are then added up |
#
# With which of the four faults do the parameters still equal those of one device? Write their first
# letters in alphabetical order, as one word such as `"bm"`.

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_as_one to a word of letters
predict_as_one = "s"
### END SOLUTION
course.answers.note(predict_as_one=predict_as_one)

# %%
broken = {run.header["without"]: run for run in submit_all("job_break.sbatch", 2)}
as_one = []
for name, run in broken.items():
    told = {m["name"]: m["value"] for m in run.measures}
    print(f"without {name:7}: {run.epochs[0].steps} steps per epoch")
    if name != "nothing" and told["away_after_one_step"] < 1e-6:
        as_one.append(name[0])
course.predictions.compare("predict_as_one", "".join(sorted(as_one)))
course.plots.faults(broken, path="", more=["replicas", "first_loss", "away_after_one_step"])

# %% [markdown]
# **What you should see.** Measured on two logical devices of a 2-core machine, 512 images, batch 64 per
# replica:
#
# | without | replicas | steps per epoch | rate | loss of the first step | away from one device after one step |
# |---|---|---|---|---|---|
# | `nothing` | 2 | 4 | 0.04 | 2.295 | 1e-8 |
# | `scope` | 1 | 4 | 0.04 | 2.295 | 0 |
# | `batch` | 2 | 8 | 0.04 | 2.302 | 0.0016 |
# | `rate` | 2 | 4 | 0.02 | 2.295 | 0.0014 |
# | `mean` | 2 | 4 | 0.04 | 4.590 | 0.0029 |
#
# - The spread between the replicas is 0 in all runs on two: the strategy adds the same gradient to every
#   copy, right or wrong.
# - `scope` computes the right result: it *is* one device. Neither loss nor accuracy shows that the second device is
#   idle. A variable's number of copies does, and on several GPUs the seconds and the utilisation in `nvidia-smi` do.
#   (Not its memory: TensorFlow reserves that on every GPU that it sees.)
# - `rate` takes half the correct step and `mean` twice the correct step. `mean` is the fault of
#   exercise 5.4. It also shows in the loss: guessing costs ln 10 = 2.303, and two replicas that each count as the whole
#   batch report 4.6.
#
# ## Questions
#
# 1. Here are four studies. Write the first letter of each one's goal (**f**aster, **d**ata, **t**uning,
#    **m**odel) as one word of four letters: 16 jobs try 16 learning rates · an 80 GB network on 64 GB GPUs
#    · last year's 12 hours of training must now take 2 hours · a forecast that reads ten times as many
#    images each night.
# 2. The five runs at the top of the page are runs of `break_it.py` on **four** replicas. After one step B is 2e-8
#    away from one device, and D 0. Which is `batch`, which `mean`, which `nothing`, which `rate`,
#    which `scope`? Write the letters in this order, as one word.
#
# **Open, for no points.** On two cores, two replicas are no faster than one. Shorten their epoch without changing
# what is computed: the losses of ten steps above must stay. Defend each change with the seconds before and after it.

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: set goals and five_runs to a word each
goals = "tmfd"
five_runs = "ECBAD"
### END SOLUTION
course.answers.note(goals=goals, five_runs=five_runs)

# %% [markdown]
# ## Traps
#
# Every row that names no GPU was run on two logical devices of a 2-core machine. Most runs used a tiny network, 2,048
# images and batch 128 per replica. The intact run has 8 steps per epoch and a rate of 0.04.
#
# | you see | cause |
# |---|---|
# | 16 steps instead of 8 | one replica's batch passed as the global one, or used in the pipeline |
# | `ValueError: … was not created in the distribution strategy scope` | built outside the scope, compiled inside |
# | `replicas` 1, though 2 were asked for; every loss as it should be | built *and* compiled outside: no error at all |
# | 8 GPUs allocated, `hosts` 1 | two nodes for a program that uses only one: the second one idles (not run here) |
# | rate 0.02 instead of 0.04; loss 2.302 instead of 2.300 after five epochs of a tiny network | the rate was not scaled, and there are half as many steps |
# | a loss that differs from one device's in the second digit, before anything was learnt | batch normalisation by replica: 3.28, not 3.12, for 32 images that get brighter from the first to the last |
# | the loss begins at 4.6, twice as high | the mean over one replica's images, then the sum of the gradients: twice the rate |
#
# ## Recap
#
# - List the devices, create the strategy, create network and optimizer in its scope, and scale batch and rate.
# - Four GPUs gave 2.5 to 3.2 times the speed of one (the textbook's ResNet50V2): 61 to 81 %.
# - Ask the variables how many copies they have. Do not trust the flag.
# - State speedups as intervals if the log gives whole seconds.
#
# **Submit** your work in a terminal:
#
#     lessons submit 05
#
# Next: lesson 06 shows what travels between replicas. In lesson 07, this network runs on several nodes. Further
# reading: the guide *Distributed training with TensorFlow*; T. Ben-Nun, T. Hoefler, *Demystifying Parallel and
# Distributed Deep Learning*, arXiv:1802.09941. If NCCL ends the job with an error: [What NCCL
# says](../../docs/nccl.md).
