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
# **How much of the speed of 4 GPUs do I get for five changed lines?**
#
# A problem is *divisible* if its parts can be computed at the same time. A gradient is divisible: the mean over a
# batch is the mean of the means over its parts, if the parts have *equal* size. (Lesson 08 shows what happens if
# not.) TensorFlow divides a batch among the GPUs of one node with `tf.distribute.MirroredStrategy`.
#
# Allow 45 minutes. On two CPU cores all runs on this page together take one to two minutes.

# %% tags=["parameters"]
profile = (
    "smoke"  # "smoke": two replicas on two CPU cores. "full": GPUs, 50,000 images of 128 x 128
)
replicas = 2  # the larger number; in "full" as many as a node has GPUs
gpus = "gres=gpu:{n}"  # "full": how your site asks for n GPUs of a node
gpu_gb = 40  # "full": memory of one GPU in GB, as nvidia-smi shows it

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
fits = 2 ** int(math.log2((gpu_gb - 2) * 1e9 / 31e6))  # images: see "How large a batch?"
work = {"smoke": light, "full": ["--batch-size", fits, "--epochs", "5"]}[profile]

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
# | **pipeline** | its layers | the batch in small pieces, so that all layers are busy |
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
# calls run at once) and `prefetch`, because several devices consume images faster than one. It needs neither packs
# nor `cache`, because the bytes of CIFAR-10 are in memory anyway. The other `+` lines are MirroredStrategy, and
# `--steps` for the ten steps of exercise 5.4.

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
# | line | what happens without it |
# |---|---|
# | a list of devices, `--n-gpus` of them | the strategy takes **all** devices that it sees |
# | `MirroredStrategy(devices)` | with `OneDeviceStrategy` one device works, the others are only allocated |
# | build and compile inside `strategy.scope()` | build outside, compile inside: `ValueError`; both outside: one device, no error; build inside, compile outside: it trains, but the optimizer counts its steps on one device |
# | global batch = batch of a replica × N | each replica gets 1/N of the work it should have, in N times the steps |
# | rate × N | N times fewer steps, each no longer than before |
#
# On GPUs, NCCL exchanges the gradients, over NVLink where there is some (lesson 06 measures both). Without GPUs the
# program creates *logical* CPU devices, which share the cores: the program is the same, but nothing gets faster.
#
# Each device must hold the whole network, as you said in 5.1, and all copies must stay equal. The strategy takes care
# of both, for everything that is created in its scope. (`compile` enters the scope of its network by itself. But the
# optimizer that you pass to it was created before that.)
#
# **Exercise 5.2.** Complete `build_mirrored` in `train.py`. Variables that are *created* inside the scope get a
# copy on every device. The optimizer has variables, too.

# %% tags=["check"]
import train

course.check("5.2", train)

# %% [markdown]
# **Exercise 5.3.** Complete `for_all` in `train.py`, and `steps` here: how many steps does an epoch of *n* images have?


# %% tags=["exercise"]
def steps(n, per_replica, replicas):
    ### BEGIN SOLUTION Exercise 5.3: batches of an epoch, from the global batch
    return math.ceil(n / (per_replica * replicas))
    ### END SOLUTION


# %% tags=["check"]
course.check("5.3", train.for_all, steps)

# %% [markdown]
# ## The same training?
#
# Two replicas with 64 images each should train exactly like one replica with 128: same images, same mean
# gradient, same steps. The program multiplies batch and rate by N. So what must you pass to it?
#
# **Exercise 5.4.** `same_work(n)` returns the batch and rate per replica so that *n* replicas do the same work as one
# with batch 128 and rate 0.02.


# %% tags=["exercise"]
def same_work(n):
    ### BEGIN SOLUTION Exercise 5.4: batch and rate of one of n replicas
    return 128 // n, 0.02 / n
    ### END SOLUTION


# %% tags=["check"]
course.check("5.4", same_work)


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
# They agree to about seven digits, because the same numbers are added in a different order. Networks with *batch
# normalisation* (all ResNets) agree less closely. Each replica normalises with the mean of **its own** part of the
# batch. That is a different computation, but hardly worse unless the part is tiny.
#
# ## How large a batch?
#
# The memory of a device limits the batch. For the backward pass, each replica keeps at least the input of every
# convolution and every normalisation. For ResNet50V2 with images of 128 × 128, the layers' shapes add up to 5.0
# million such numbers per image, which is 20 MB in float32. The outputs of all layers would be 41 MB. A framework
# keeps an amount between the two. Use the middle, 31 MB. Parameters, their gradients and the optimizer's state take
# 0.1 to 0.4 GB, whatever the batch size. Libraries and their workspace take about 2 GB. So
#
# **images ≤ (memory − 2 GB) / 31 MB**: 1,200 in 40 GB, 2,000 in 64 GB, 2,500 in 80 GB.
#
# The textbook quoted below trained with a batch of 2,048 images on 64 GB, which leaves at most 30 MB per image. From
# `gpu_gb`, the setup cell at the top computes the largest power of two that the formula allows. With 16-bit numbers
# about twice as many images fit. (Computed from the shapes, not measured on a GPU. If the job says *out of memory*,
# halve the batch.)
#
# ## Run it
#
# Each number of replicas gets its own job, so no allocated GPU is idle.

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
series["your runs"] = course.plots.times_by_replicas(runs)
for n in (2, 4):
    course.predictions.compare(f"predict_{n}", torres["ResNet50V2, H100"][n], "s", how="read")
counted = sum(steps(50_000, 2048, n) for n in (1, 2, 4))
course.predictions.compare("predict_steps", counted, "steps", how="computed")
if profile == "smoke":
    gain = course.measure.speedup(runs[0], runs[1])
    course.expectations.compare("Two replicas over one", gain, between=(0.5, 1.4), unit="times")
course.plots.replica_scaling(series)

# %% [markdown]
# **What you should see.**
#
# - J. Torres' textbook (MareNostrum 5, H100 64 GB, CIFAR-10 at 128 × 128) prints 14, 8 and 5 s on 1, 2 and 4 GPUs for
#   ResNet50V2 with 2,048 images per GPU. The efficiency is 87.5 % and 70 %. For ResNet152V2 with 1,024 images it
#   prints 33, 18 and 10 s, so the efficiency is 92 % and 82.5 %. The whiskers show the range that times in whole
#   seconds allow.
# - On two CPU cores, two replicas are hardly faster than one, or slower, because one process already used both cores.
#   For this lesson, an epoch took 0.9 to 1.4 s with one replica and 1.2 to 1.4 s with two, on two cores of a shared
#   AMD EPYC, on several days. CPU cores can show that this program is *right*, not that it is fast.
# - You can compare speedups from different machines, as here, but not their seconds.
# - The first epoch *grows* with N, because each device gets its own copy of the graph and of the variables.
# - After some epochs the job pauses for 0.5 to 4 s (lesson 04's traps). No epoch's seconds include these pauses.
#
# How much does the batch per replica matter? Here are a few steps with a small batch:

# %%
small = [submit(n, *work, "--batch-size", 16, "--steps", 16, "--epochs", 3) for n in (1, 2)]
lines = {"1 replica": [small[0], runs[0]], "2 replicas": [small[1], runs[1]]}
course.plots.throughput_by_batch(lines)

# %% [markdown]
# Every step has a fixed cost, for starting it on N devices and exchanging gradients. With few images per replica,
# that is most of the step. **The batch is the knob of data parallelism.** Lesson 09 shows why you cannot turn it up
# forever.
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
# - The spread between the replicas is 0 in all five runs: the strategy adds the same gradient to every
#   copy, right or wrong.
# - `scope` computes the right result: it *is* one device. Neither loss nor accuracy shows that the second device
#   is idle. Only a variable's number of copies does, or `nvidia-smi`.
# - To three digits, `rate` takes half the correct step and `mean` twice the correct step. `mean` also
#   shows in the loss: guessing costs ln 10 = 2.303, and two replicas that each count as the whole batch
#   report 4.6. You meet this fault when you write your own training loop. Divide by the *global* batch
#   (`tf.nn.compute_average_loss`).
#
# ## What whole seconds say
#
# **Exercise 5.5.** `interval(a, b)` returns the smallest and the largest speedup that two times in whole
# seconds, *a* and *b*, can mean (you wrote it in lesson 02). `overlap(one, other)` says whether two
# intervals have a point in common.


# %% tags=["exercise"]
def interval(a, b):
    ### BEGIN SOLUTION Exercise 5.5: (low, high) of a / b, each off by up to half a second
    return (a - 0.5) / (b + 0.5), (a + 0.5) / (b - 0.5)
    ### END SOLUTION


def overlap(one, other):
    ### BEGIN SOLUTION Exercise 5.5: True if the intervals (low, high) share a value
    return one[0] <= other[1] and other[0] <= one[1]
    ### END SOLUTION


# %% tags=["check"]
course.check("5.5", interval, overlap)

# %% tags=["hide-input"]
for n, (a, b) in {2: (8, 18), 4: (5, 10)}.items():
    one, other = interval(14, a), interval(33, b)
    print(f"{n} GPUs: ResNet50V2 {one[0]:.2f} to {one[1]:.2f},", end="")
    print(f" ResNet152V2 {other[0]:.2f} to {other[1]:.2f}, overlap: {overlap(one, other)}")

# %% [markdown]
# Does the larger network scale better? The midpoints of the intervals suggest it, because it computes more per
# exchange. **These whole seconds cannot show it.** One more decimal could.
#
# **Exercise 5.6.** In the same book, the first two epochs take 29 and 14 s on one GPU, and 47 and 5 s on four. What
# do you report if you take the mean of both epochs? Write `mean_of_all(seconds)`, and `apparent`, which returns the
# speedup from two such lists.


# %% tags=["exercise"]
def mean_of_all(seconds):
    ### BEGIN SOLUTION Exercise 5.6: the mean of all epochs, the first one included
    return sum(seconds) / len(seconds)
    ### END SOLUTION


def apparent(one, several):
    ### BEGIN SOLUTION Exercise 5.6: mean of the base's epochs over the mean of the others
    return mean_of_all(one) / mean_of_all(several)
    ### END SOLUTION


# %% tags=["check"]
course.check("5.6", mean_of_all, apparent)

# %% [markdown]
# The mean is 21.5 s on one GPU and 26 s on four, so four look *slower* than one. In fact they were 2.8 times as fast.
#
# ## Questions
#
# 1. An article says: "`tf.distributed.MirroredStrategy()`; wrap your model with it". What is the module's
#    name? And is a model **wrapped** after it has been built, or **built** inside a scope? `"wrap"` or
#    `"build"`.
# 2. Here are four studies. Write the first letter of each one's goal (**f**aster, **d**ata, **t**uning,
#    **m**odel) as one word of four letters: 16 jobs try 16 learning rates · an 80 GB network on 64 GB GPUs
#    · last year's 12 hours of training must now take 2 hours · a forecast that reads ten times as many
#    images each night.
# 3. A job requests 2 nodes with 4 GPUs each and starts this program with `--n-gpus 4`, once. How many of
#    the 8 GPUs compute?
# 4. Here are three records of `break_it.py` on **four** replicas. Which is `scope`, which `rate`, which
#    `mean`? Write the letters in this order, as one word.
#
# | record | replicas | steps per epoch | loss of the first step | away after one step |
# |---|---|---|---|---|
# | A | 4 | 4 | 2.302 | 0.0023 |
# | B | 4 | 4 | 9.208 | 0.0091 |
# | C | 1 | 4 | 2.302 | 0 |

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: set module, wrap_or_build, goals, busy_gpus and faults_4_replicas
module = "tf.distribute"
wrap_or_build = "build"
goals = "tmfd"
busy_gpus = 4
faults_4_replicas = "CAB"
### END SOLUTION
low, high = interval(14, 5)
course.answers.note(module=module, wrap_or_build=wrap_or_build, goals=goals, busy_gpus=busy_gpus)
course.answers.note(
    interval_4_low=low, interval_4_high=high, apparent_4=apparent([29, 14], [47, 5])
)
course.answers.note(faults_4_replicas=faults_4_replicas)

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
# | `replicas` 2, though 1 was meant | no list of devices: the strategy takes all visible ones |
# | 8 GPUs allocated, `hosts` 1 | two nodes for a program that uses only one: the second one idles (not run here) |
# | rate 0.02 instead of 0.04; loss 2.302 instead of 2.300 after five epochs of a tiny network | the rate was not scaled, and there are half as many steps |
# | equal to one device in the first seven digits only | a different order of additions: expected |
# | a loss that differs from one device's in the second digit, before anything was learnt | batch normalisation by replica: 3.28, not 3.12, for 32 images that get brighter from the first to the last |
# | the loss begins at 4.6, twice as high | the mean over one replica's images, then the sum of the gradients: twice the rate |
# | four GPUs slower than one: 26 s against 21.5 s | the mean includes the first epoch, which grows with N (published: exercise 5.6) |
#
# ## Recap
#
# - List the devices, create the strategy, build and compile in its scope, and multiply batch and rate by N.
# - Ask the variables how many copies they have. Do not trust the flag.
# - State speedups as intervals if the log gives whole seconds.
#
# **Submit** your work in a terminal:
#
#     lessons submit 05
#
# Next: lesson 06 shows what travels between replicas. In lesson 07, this network runs on several nodes. Further
# reading: the guide *Distributed training with TensorFlow*; T. Ben-Nun, T. Hoefler, *Demystifying Parallel and
# Distributed Deep Learning*, arXiv:1802.09941; R. Sutton, *The Bitter Lesson*,
# 2019. If NCCL ends the job with an error: [What NCCL says](../../docs/nccl.md).
