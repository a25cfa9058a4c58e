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
# # 10 · DistributedDataParallel
#
# **What does PyTorch do when I wrap a network, and what does it do without telling me?**
#
# DistributedDataParallel (DDP) is PyTorch's usual way to train on many GPUs. Each rank has a copy of the network and
# its own images, and the ranks average their gradients. You write the seven steps of a DDP program, then DDP itself.
# You see what it does silently, what a late rank costs, and how a job hangs.
#
# Allow 100 minutes. On two CPU cores all the jobs on this page together take two minutes.

# %% tags=["parameters"]
profile = "smoke"  # "smoke": two CPU cores. "full": the whole data set, GPUs
ranks = 2  # the larger number of ranks; in "full" as many as you have GPUs
gpus = "gres=gpu:{n}"  # "full": how your site asks for n GPUs of a node

# %% tags=["setup", "hide-input"]
from pathlib import Path

from lessons import course

few = {"smoke": ["--train-samples", "6400", "--epochs", "3"], "full": ["--model", "cnn"]}[profile]
device, runs = gpus if profile == "full" else "", {}

# %% [markdown]
# ## Somebody else's program
#
# `train_lightning.py` is complete. A `LightningModule` says *what* is trained. The `Trainer` knows *how*, on any number
# of ranks:


# %%
def run(job, workers, *words):
    batch = ["--batch-size", 256 // workers]
    return course.submit(job, *few, *batch, *words, options=course.on_nodes(workers, device))


def tell(*names):
    for name in names:
        each, last = runs[name], runs[name].epochs[-1]
        print(f"{name}: {last.steps} steps with {last.unique_samples:,} different images", end=" ")
        accuracy, spread = each.test_accuracy.value, each.end["param_spread"]
        print(f"in {last.seconds.value:.2f} s; accuracy {accuracy}, parameters {spread:g} apart")


[runs["Lightning"]] = run("job_lightning.sbatch", ranks)
tell("Lightning")

# %% [markdown]
# The processes read different images, and ended with the same parameters. Lightning connected the ranks, wrapped the
# network in DDP, and put a `DistributedSampler` into the `DataLoader`. Next you write all this yourself.
#
# ## Predict
#
# 1. Two ranks are late in turn: in every step one of them begins 40 ms late, in the next step the other. How many
#    milliseconds longer does each step take?
# 2. What share of the machine's ceiling, from 0 to 1, will DDP reach on a ResNet with two ranks? (The ceiling:
#    two ranks that never communicate, as in lesson 07.)

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_late and predict_share to numbers
predict_late, predict_share = 40, 0.9
### END SOLUTION
course.answers.note(predict_late=predict_late, predict_share=predict_share)

# %% [markdown]
# ## Seven steps
#
# `train.py` is lesson 02's PyTorch program for any number of devices. Most of the new code is in `start_ranks`,
# `distribute` and `make_loader`.
#
# | step | line | what happens without it |
# |---|---|---|
# | meet | `init_process_group`, a back end, a timeout | no rank knows the others |
# | pin | a device of its own; `torch.cuda.set_device` for calls that name none | all ranks of a node use GPU 0: `Duplicate GPU detected` ([What NCCL says](../../docs/nccl.md); not run here) |
# | share out | a `DistributedSampler` | every rank reads every image |
# | shuffle | its `set_epoch` | every epoch has the same order |
# | wrap | `DistributedDataParallel` | N networks that drift apart |
# | rank 0 only | prints, checkpoints | every line N times, broken files |
# | leave | `destroy_process_group` | with NCCL, a warning (not run here) |
#
# The wrapper sends rank 0's parameters to all ranks, once. In every step it averages gradients over *ranks*, so each
# image of a small batch counts for more.
#
# Ranks meet at an address and a port, `MASTER_ADDR` and `MASTER_PORT`, which the course's job files derive from the
# job number: with a constant port, two students on one node collide. `ranks.py` asks the launcher which rank a
# process is: `torchrun` sets `RANK`, `LOCAL_RANK` and `WORLD_SIZE`; `mpirun` and `srun` use other names. Start one
# torchrun per *node*: one per *rank* starts 4 × 4 = 16 processes on 4 GPUs.
#
# **Exercise 10.1.** Complete `start_ranks` and `distribute` in `train.py`.
#
# - The back end moves gradients: `"nccl"` between GPUs, `"gloo"` between CPUs.
# - The job may run on two nodes with four GPUs each. `start_ranks` gets two numbers for this process: which one
#   selects its GPU, and which one identifies it among all ranks? `help(train.dist.init_process_group)` lists what the
#   ranks need to meet.
# - Make this GPU the process's current device, and return it as a `torch.device`. Without GPUs, return the CPU.
# - `distribute` wraps the network. The wrapper must know its GPU, and its buckets must have the size that the
#   caller asks for.

# %% tags=["check"]
import train

course.check("10.1", train)

# %% [markdown]
# **Exercise 10.2.** Complete `make_loader`, and the first line of `train_epoch`. A `DistributedSampler` draws one
# order for all ranks from its seed and the epoch number, and gives each rank every size-th image in that order. Give
# the sampler to the `DataLoader`, with `pin_memory=gpu`, and tell the sampler before each epoch which epoch begins.

# %% tags=["check"]
course.check("10.2", train)

# %% [markdown]
# This is the only difference from the serial program, with the number of the step beside each line:

# %% tags=["hide-input"]
course.show_diff(
    "02_serial/train_torch.py",
    "train.py",
    meet="init_process_group|who_am_i|= start_ranks|backend",
    pin='set_device|"cuda", local_rank',
    share_out="DistributedSampler|sampler=",
    shuffle="set_epoch",
    wrap=r"DistributedDataParallel\(|= distribute|gpus =",
    rank_0_only="rank == 0",
    leave="destroy_process_group",
)

# %% [markdown]
# Now do the same work on one rank and on several. A step has 256 images in both runs, so the updates are the same
# except for rounding. (Choose a number of ranks that divides 256.)

# %%
runs["one rank"], _ = run("job.sbatch", 1)
runs["DDP"], probe = run("job.sbatch", ranks)
tell("one rank", "DDP")
for measure in probe.measures:
    print(f"{measure['name']}: {measure['value']}{measure['failed'] or ''}")

# %% [markdown]
# **What you should see.** Both runs take the same number of steps. Their accuracies differ by a few images out of
# 10,000. With such a small network two ranks gain nothing. They pay off with more work per message: with
# convolutions and 128 images *on each rank* (`--model cnn`), an epoch went from 8.1–9.7 s on one rank to 4.3–6.5 s on
# two (two idle cores of an AMD EPYC, Gloo).
#
# Where it must, the sampler reads some images twice to make all shares equal. The test images are divided without
# repeats.
#
# ## How to test a distributed program
#
# Equal accuracies prove little. So the job also ran `probe.py`, which calls *your* functions on the same ranks and
# printed the list above. Its four moves test any distributed program:
#
# 1. Take a few steps on all ranks, from different starts, and write down what enters the network.
# 2. Take the same steps in one process, with the images of all ranks as one batch.
# 3. Compare parameters in double precision, so every mistake is larger than rounding. Use SGD: Adam hides a gradient
#    that is twice as long as it should be.
# 4. Choose awkward sizes: 53 images cannot be shared equally.
#
# The last tests fail until the exercises below are done.
#
# ## Unwrap it
#
# `--average nothing` trains the network without the wrapper. Everything else stays: the ranks meet, share the images
# and draw new orders. Predict before you run it: will there be an error? Will the loss fall? Which test accuracy will
# the program print, and how far apart will the ranks' parameters be?

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_unwrapped to the test accuracy, from 0 to 1
predict_unwrapped = 0.9
### END SOLUTION
course.answers.note(predict_unwrapped=predict_unwrapped)

# %%
runs["unwrapped"], _ = run("job.sbatch", ranks, "--average", "nothing")
course.predictions.compare("predict_unwrapped", runs["unwrapped"].test_accuracy.value)
tell("DDP", "unwrapped")

# %% [markdown]
# **What you should see.** No error, and a falling loss. On two ranks each network has learnt from half of the images,
# and the printed accuracy mixes both: each was tested on its own half. Only comparing the parameters shows that there
# are several networks.
#
# ## When gradients travel
#
# DDP does not wait for the end of the backward pass, which begins with the last layer. It fills *buckets* with
# gradients, and a bucket leaves as soon as it is full:
#
# ```
# rank 0  forward, backward: layers 9 8 7 │ 6 5 4 │ 3 2 1 │ wait │ update
#                                bucket 0 ┐     1 ┐     2 ┐
#                      mean over ranks, one bucket after the other
#                                bucket 0 ┘     1 ┘     2 ┘
# rank 1  forward, backward: layers 9 8 7 │ 6 5 4 │ 3 2 1 │ wait │ update
# ```
#
# `bucket_cap_mb` sets their size. Without it a bucket has 25 MB, and the first one only 1 MB, so that something
# leaves early.
#
# **Exercise 10.3.** Write this yourself, in `own_ddp.py`. In exercise 6.5 each gradient left as soon as it was
# computed, and you waited at the very end. Here several gradients leave together, and PyTorch says when: after
# `parameter.register_post_accumulate_grad_hook(hook)`, it calls `hook(parameter)` in every backward pass, once
# `parameter.grad` is complete. Three gaps:
#
# - At the start all ranks need the same parameters. A broadcast changes its tensor, but autograd guards a parameter:
#   give it `parameter.detach()`, which shares the memory.
# - `computed` runs for each gradient. Is its bucket full now? Then send it without waiting: one message for the whole
#   bucket. Are all gradients of the network computed? Then receive.
# - After `receive`, each `parameter.grad` holds the mean over all ranks, and the next step can begin.
#
# All ranks have to send their buckets in the same order. Here they do, because autograd walks equal graphs in one
# order.

# %% tags=["check"]
import own_ddp

course.check("10.3", own_ddp)

# %%
runs["own"], probe = run("job.sbatch", ranks, "--average", "own")
tell("DDP", "own")
for name in ("DDP", "own"):
    print(name, *(f"{epoch.train_loss.value:.6f}" for epoch in runs[name].epochs))
for measure in probe.measures:
    if measure["name"].startswith("own"):
        print(f"{measure['name']}: {measure['value']}")

# %% [markdown]
# **What you should see.** On two ranks, the same losses in all digits. `probe.py` compared your buckets with one
# process on all ranks' images (`own_error`), and counted the gradients that were not yet computed when the first bucket
# left (`own_early`). From here on, you use PyTorch's. It also sends buffers, accumulates, and with
# `gradient_as_bucket_view=True` keeps the gradients *in* the bucket, without your two copies.
#
# `buckets.py` measures the journeys of DDP's buckets on a ResNet with 272,282 parameters (1.1 MB of gradients), then
# again with *stragglers*: the ranks take turns to begin a step 40 ms late.

# %%
[travels] = course.submit("job_buckets.sbatch", options=course.on_nodes(ranks, device))
steps = {}
for measure in travels.measures:
    if measure["name"] == "step_s":
        steps.setdefault(measure["bucket_mb"], []).append(1e3 * measure["value"])
for size, (on_time, late) in steps.items():
    print(f"{size:g} MB: a step takes {on_time:.0f} ms; with one rank late, {late:.0f} ms")
longer = [late - on_time for on_time, late in steps.values()]
course.predictions.compare("predict_late", max(longer), "ms")
course.plots.buckets(travels)

# %% tags=["hide-input"]
alone = "Is there only one rank? Then nobody waits for the late one."
slow = "Are there more ranks than cores? Then they take turns, and a step waits for that, too."
course.expectations.compare(
    "A step is longer by", longer, between=(30, 60), unit="ms", below=alone, above=slow
)
course.plots.nodes()

# %% [markdown]
# **What you should see.** Small buckets are sent early, from the last layer to the first. The single bucket is sent
# when all gradients are computed. Each of two ranks is late in every second step only, and yet *every* step takes
# about 40 ms longer. The step waits for the slowest rank.
#
# Two cores cannot show what overlap gains: Gloo moves bytes on the core that computes. NCCL moves them over the links
# in the drawing while GPUs compute (not run here).
#
# ## Buffers travel, too
#
# BatchNorm keeps running means. They are *buffers*: they have no gradient and are not averaged. DDP sends rank
# 0's buffers to all ranks at the beginning of the first forward pass, and of each one after an exchange of gradients.
#
# ## A large batch in little memory
#
# A batch that does not fit into memory is computed in parts, whose gradients add up in `parameter.grad`. This is
# *accumulation*. DDP would average in the backward pass of each part. `with model.no_sync():` prevents this. The
# last part runs outside this block and sends the sum.
#
# **Exercise 10.4.** Complete `accumulate` in `no_sync.py`.
#
# - Parts may differ in size, and you may get fewer than you asked for: `x.chunk(4)` cuts 5 images into 2, 2
#   and 1. So count the parts that you got.
# - Weight each part's mean loss by its share of the images. Then the gradients are those of the whole batch.
# - A part's forward *and* backward pass belong inside `no_sync`: DDP decides in the forward pass whether
#   gradients will travel.
# - Do a part's backward pass before the next part's forward pass: it frees the activations.

# %% tags=["check"]
import no_sync

course.check("10.4", no_sync)

# %% [markdown]
# ## A job that says nothing
#
# The worst mistake prints no error. One rank is in a collective, the others are not, and all wait: somebody wrote `if
# rank == 0:` around it, or one rank ran out of batches. Less obvious: rank 1 takes a step by itself, in `no_sync`, so
# no gradients are sent. But the network has a BatchNorm layer, and the previous step was an ordinary
# one. What does this forward pass wait for?
#
# `hang.py` does this. After 2 seconds each rank writes its stack to a file with `py-spy dump`, which inspects a
# running process from outside. After 6 seconds the ranks' timeout ends the job. Without a `timeout` in
# `init_process_group`, Gloo waits for 30 minutes and NCCL for 10. This job is meant to fail.

# %%
try:
    course.submit("job_hang.sbatch", options=course.on_nodes(ranks, device))
except course.JobError:
    print("The job failed. Its last errors:")
errors = max(Path().glob("10_hang_*.err"), key=lambda file: file.stat().st_mtime)
print(*[line[:150] for line in errors.read_text().splitlines() if "Error" in line], sep="\n")
for rank in (0, 1):
    stack = Path(f"stack_of_rank_{rank}.txt")
    if not stack.exists():
        print(f"Rank {rank} did not get as far as the hang; see above, and run this cell again.")
        continue
    dump = stack.read_text().split("Thread ")[1]
    print(f"\nrank {rank}, innermost call first:", *dump.splitlines()[1:], sep="\n")

# %% [markdown]
# **How to read it.** The top line is the call in which a rank waits; further down is the line of *your* program
# that led there. If all ranks are in the same call, suspect the network or a dead rank. If they are in different
# calls, suspect your program.
#
# **NCCL looks different** (according to PyTorch 2.13's source code; not run here). Its calls only queue work for the
# GPU, so the stack shows the next line that waits for the GPU, here `loss.item()`. NCCL's *watchdog* names the message
# in the `.err` file (`OpType=…`): see [What NCCL says](../../docs/nccl.md). Only a receiver is sure to
# wait: a small message fits into NCCL's buffers, and its sender goes on (NVIDIA/nccl#1025).
#
# | tool | shows | cost |
# |---|---|---|
# | `timeout=` of `init_process_group` | that a rank waited, and whether to send or to receive (NCCL: in which collective) | nothing |
# | `py-spy dump --pid N` on the node (`srun --overlap --jobid=… --pty bash`) | every rank's line | a pause of milliseconds; the system may forbid it (`ptrace`) |
#
# **Exercise 10.5.** Complete `step_alone` in `no_sync.py`. It is a step that one rank takes without the others.
# DDP's forward and backward passes send; the network that it wraps does not (`print(model)` shows where it is).

# %% tags=["check"]
course.check("10.5", no_sync)

# %% [markdown]
# Now do the same work with each batch split into four parts. `probe.py` tests both functions.

# %%
parts, probe = run("job.sbatch", ranks, "--accumulate", 4)
for measure in probe.measures:
    print(
        f"{measure['name']}: {measure['value'] if measure['failed'] is None else measure['failed']}"
    )
whole = runs["DDP"].test_accuracy.value
print(f"test accuracy in 4 parts {parts.test_accuracy.value}, whole {whole}")

# %% [markdown]
# ## How much faster?
#
# `speed.py` measures DDP as lesson 07 measured Horovod, in rounds of three phases: rank 0 alone; all ranks without
# communication; all ranks together, with **your** `start_ranks` and `distribute`. In the `full` profile, the network is
# ten times as wide (lesson 07), and all buckets have 25 MB.

# %%
words = {
    "smoke": "--rounds 12 --steps 1",
    "full": "--width 10 --bucket-mb 25 --steps 6 --batch-size 256",
}
rounds = words[profile].split()
[speed] = course.submit("job_speed.sbatch", *rounds, options=course.on_nodes(ranks, device))
course.predictions.compare("predict_share", course.rounds.share(speed))
if profile == "smoke":  # nobody has run it on GPUs yet, so nobody knows their range
    course.expectations.compare(
        "Share of the ceiling", course.rounds.share(speed), between=(0.75, 1.1)
    )
print(course.rounds.in_words(speed))
course.plots.speed_rounds(speed, save="my_speedup.png")

# %% [markdown]
# **What you should see.** The blue line runs just below the yellow one: ranks that exchange gradients still
# reach most of their ceiling. On two idle cores (AMD EPYC, no GPU) three runs had shares of 1.00, 0.93 and 0.94.
#
# **Open** (no points): make a step of two ranks faster without changing what is computed. Defend it with the picture
# of the buckets, or with the rounds above.
#
# ## Questions
#
# Three outputs of `train.py`, each of two ranks with one fault, and an intact one. The records are in `records/`; you
# may read them whole. (The seconds say nothing: other jobs used the cores. Losses are rank 0's.)

# %%
shown = {name: course.runs(f"records/{name}.rec")[0] for name in ("intact", "k", "r", "w")}
orders = ", ".join(epoch.read_order[:6] for epoch in shown["intact"].epochs)
print(f"intact: the orders of its epochs (`order`, hashed) are {orders}")
course.plots.faults(shown, path="", more=["step_images"], names="run")

# %% [markdown]
# - `record_k`, `record_r`, `record_w`: what is wrong? `"a"` gradients are not averaged. `"b"` Gradients are not
#   averaged, but after each step all ranks get rank 0's parameters. `"c"` The order never changes. `"d"` Each rank
#   reads all images. `"e"` Most images of a batch are not trained on. `"f"` Gradients are added up instead of averaged.
# - `waits_in_0`, `waits_in_1`: in which call do rank 0 and rank 1 wait in your hang? `"broadcast"`, `"barrier"`
#   or `"allreduce"`.
# - `read_twice`: how many of 1,601 images does a `DistributedSampler` on 4 ranks read twice in an epoch?
# - `weight_ratio`: in the last step rank 0 has 30 images and rank 1 has 10. Each loss is a mean. In the update,
#   how many times as much does one of rank 1's images count as it would in the mean over all 40?
# - `buffers_sent`: after ordinary steps come five more: two ordinary, two in `no_sync`, and one ordinary. How many of
#   these five forward passes begin by sending buffers?
# - `saved_ms`: four buckets are full after 10, 20, 30 and 40 ms and travel over one link, one after the other, for 12
#   ms each. A single bucket is full after 40 ms and travels for 48 ms. With the four buckets, how many milliseconds
#   earlier has every gradient arrived?

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: records with letters, waits_in_0 and waits_in_1 with words, and four numbers
record_k, record_r, record_w = "b", "e", "c"
waits_in_0, waits_in_1, read_twice = "barrier", "broadcast", 4 * 401 - 1601
weight_ratio, buffers_sent = (1 / 2 * 1 / 10) / (1 / 40), 3
saved_ms = (40 + 48) - (10 + 4 * 12)  # the link is busy from 10 ms on
### END SOLUTION
course.answers.note(record_k=record_k, record_r=record_r, record_w=record_w)
course.answers.note(waits_in_0=waits_in_0, waits_in_1=waits_in_1, read_twice=read_twice)
course.answers.note(weight_ratio=weight_ratio, buffers_sent=buffers_sent, saved_ms=saved_ms)

# %% [markdown]
# ## Traps
#
# | you see | cause |
# |---|---|
# | every epoch in the same order; accuracy 0.923 instead of 0.926: two seeds differ as much, so count the orders | no `set_epoch` |
#
# ## Recap
#
# - With the same images per step, the training is the same. Check this before you measure seconds.
# - Gradients leave in buckets during the backward pass; buffers travel before the forward pass.
# - A late rank delays all ranks. If a job hangs silently, set a timeout and read every rank's stack.
#
# **Submit** your work in a terminal:
#
#     lessons submit 10
#
# Next: lesson 11 splits a network that does not fit. Further reading: S. Li and others, *PyTorch Distributed:
# experiences on accelerating data parallel training*, arXiv:2006.15704; PyTorch's notes on DDP.
