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
# # 11 · When the model does not fit
#
# **How do I split a model, and what is lost?**
#
# So far every rank had the whole network. That ends where its parameters, their gradients, the
# optimizer's numbers and the activations are more than one GPU holds. Then a network can be cut in two
# directions: *between* layers, so that each rank has some of them (a **pipeline**), or *through* every
# layer (**tensor parallelism**). Older texts call both model or network parallelism. You do both by
# hand, and measure how much time each leaves idle and how many bytes it sends. Then you decide by
# arithmetic which one to take, and when.
#
# This is a long lesson in two halves. Allow 80 minutes for the first one, pipelines, which brings 7 of the
# 10 points. The second, marked below, can wait for another day: cutting through layers, and what fits into
# memory. On two CPU cores all the runs of this page together take about a minute and a half.

# %% tags=["parameters"]
profile = "smoke"  # "smoke": two CPU cores. "full": the whole data set, GPUs
ranks = 2  # stages; in "full" as many as you have GPUs

# %% tags=["setup"]
import importlib

import memory
import prune

from autograder.reading.files import read_files
from lessons.toolkit import answers, plots
from lessons.toolkit.checks import lesson_11 as check
from lessons.toolkit.plots.stages import measures

import pipeline
import plan
import tensor_layers

few = ["--train-samples", "3200", "--test-samples", "2000"] if profile == "smoke" else []

# %% [markdown]
# ## Predict
#
# Nine dense layers on two ranks: rank 0 has the first ones, rank 1 the rest. Call the time that one
# process needs for a step 1. How long do the two ranks need
#
# 1. if rank 0 sends the whole batch on and waits for its gradients,
# 2. if the batch is cut into 4 micro-batches, and rank 0 begins the second while rank 1 has the first?
#
# Two more, for the second half:
#
# 3. Copies of a network with 8 layers of 256 neurons send gradients to each other; layers that are cut
#    *through* send activations. With how many images in a batch do both send the same?
# 4. Lesson 01's network learns to an accuracy of 0.93. What is left of it when 95 % of its weights, the
#    smallest, are set to zero?

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set all four to numbers; of the first two, 1 is the time of one process
predict_one = 1.0
predict_four = 0.7
predict_cross = 400
predict_95 = 0.5
### END SOLUTION
answers.note(predict_one=predict_one, predict_four=predict_four)
answers.note(predict_cross=predict_cross, predict_95=predict_95)

# %% [markdown]
# ## Who gets which layers?
#
# All stages wait for the slowest one. So do not count layers; add up what they cost. A dense layer
# costs one multiplication and one addition for each weight and image.
#
# **Exercise 11.1.** `split(costs, stages)` in `plan.py` returns where to cut: `[0, 4, 9]` gives layers 0
# to 3 to stage 0 and layers 4 to 8 to stage 1. The heaviest stage has to be as light as can be.

# %% tags=["check"]
importlib.reload(plan)  # so that the cell sees what you just saved
check.check_11_1(plan)

# %% [markdown]
# ## Forward down, gradients up
#
# `pipeline.py` is what lesson 10's DDP becomes when ranks own layers and not copies. What has changed:
#
# - a rank builds its own layers and no others; each layer has a seed of its own, so that it starts
#   alike wherever it lies;
# - activations are sent to the stage after, gradients back to the stage before;
# - **no** gradients are averaged: nobody else has these parameters. (With `--replicas 2` there are two
#   whole pipelines, the *hybrid*. Then each stage averages with the same stage of the other one.)
#
# **Exercise 11.2.** Fill `forward` and `backward` in `pipeline.py`. `stage.before` and `stage.after` are
# ranks, or `None` at the ends. (Rank 0 is a rank, but false in an `if`: ask for `is not None`.) Activations go
# through the group `stage.down`, gradients through `stage.up`. Four things are easily forgotten:
#
# - `dist.recv(tensor, rank, group=…)` fills a tensor that is there already. It must have the sender's shape,
#   dtype and device, or what arrives is rubbish. `x.new_empty(len(x), stage.width)` takes dtype and device
#   from `x`, and `torch.empty_like(outputs)` takes everything. (`torch.empty(…)` alone is float32 on the CPU.
#   The course's tests train in float64.)
# - What was received is no result of any layer here, so PyTorch keeps no gradient of it. Call
#   `x.requires_grad_()` *after* receiving and *before* the layers; then `x.grad` is what you send back.
# - The backward pass begins at the loss with `outputs.backward()`. On every other stage PyTorch has to be told
#   the gradient of `outputs`, which the stage after sends: `outputs.backward(gradient)`.
# - `dist.send` waits until the other side receives. `dist.isend` does not. It returns a message to wait for
#   later; append it to `sent`. (These three, `recv`, `send` and `isend`, are what the check knows.)

# %% tags=["check"]
importlib.reload(pipeline)
check.check_11_2(pipeline)

# %% [markdown]
# ## The bubble
#
# Call one micro-batch on one stage a turn. With p stages and m micro-batches the last stage begins in turn
# p, and then has m turns of work.
#
# Two things are called *bubble*: idle time as a share of **all the time**, and idle time over the time
# that would be **enough** if nobody ever waited. (The second is that of Megatron's papers; it may exceed 1.)
# Every question here says which one it means.
#
# **Exercise 11.3.** `bubble(stages, m)`, as a share of all the time.


# %% tags=["exercise"]
def bubble(stages, m):
    ### BEGIN SOLUTION Exercise 11.3: idle turns over all turns of a stage
    return (stages - 1) / (m + stages - 1)
    ### END SOLUTION


# %% tags=["check"]
check.check_11_3(bubble)

# %% [markdown]
# ## In which order?
#
# **GPipe** (2018) does all forward passes, then all backward passes. That is simple, but a stage keeps the
# activations of all m micro-batches. **1F1B** goes back as soon as it can. Stage s, counted from 0, first
# does `stages - s` forward passes, or m if m is smaller. Then it takes turns: one backward pass, one
# forward pass, until no forward pass is left, and then the remaining backward passes. The bubble is
# the same, but stage s keeps at most `stages - s` micro-batches, however large m is.
#
# **Exercise 11.4.** In `plan.py`: `schedule(stages, m, kind)` gives the order of work for every stage.
# `grid(rank, stages, replicas)` gives this rank's place in a hybrid: its stage, its replica, and all ranks
# that hold the same layers, with which it averages.

# %% tags=["check"]
importlib.reload(plan)
check.check_11_4(plan)

# %%
from lessons.toolkit.ranks.schedules import interleaved

drawn = {kind: plan.schedule(4, 8, kind) for kind in ("gpipe", "1f1b")}
plots.drawn_schedules(drawn | {"interleaved": interleaved(4, 8, 2)})

# %% [markdown]
# These are drawn, not measured: a backward pass takes twice as long as a forward pass, and messages take no
# time. GPipe and 1F1B end together; they differ in what they hold. *Interleaved* gives each stage two
# pieces of the network (light boxes are the second). The idle time halves (as a share of all the time it
# falls from 27 to 16 %), the messages more than double (7 borders for 3), and more is held again. (This
# course draws it and does not run it: in PyTorch 2.13 it has open stalls.)
#
# **Questions**, in your head or with your functions:
#
# - 4 stages, 8 micro-batches: which share of all the time is idle (`bubble_share`)? And the same idle
#   time over the time that would be enough (`bubble_ratio`)?
# - 8 stages, 64 micro-batches, 1F1B: how many does the first stage hold (`held_first`)?
# - GPipe's paper (arXiv:1811.06965, table 2) trained on 8 accelerators with 32 micro-batches. A Transformer
#   was 6.3 times as fast, and AmoebaNet, which is hard to divide evenly, 3.48 times. They were compared with
#   two accelerators and one micro-batch, which take turns and so are as fast as one. What is the most that
#   the bubble would have allowed (`gpipe_most`)?
# - Which stage knows the loss (`loss_rank`): `"first"`, `"every"` or `"last"`?

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: four numbers and a word
bubble_share = bubble(4, 8)
bubble_ratio = 3 / 8
held_first = 8
gpipe_most = 8 * (1 - bubble(8, 32))
loss_rank = "last"
### END SOLUTION
answers.note(bubble_share=bubble_share, bubble_ratio=bubble_ratio, held_first=held_first)
answers.note(gpipe_most=gpipe_most, loss_rank=loss_rank)

# %% [markdown]
# ## Is it the same network?
#
# One rank with all layers, then `ranks` stages, from the same seed with the same batches.

# %%
from cluster.jobs.notebook import submit_once

one, several = {"ntasks": "1"}, {"ntasks": str(ranks)}
[serial] = read_files(submit_once("job.sbatch", *few, options=one))
[staged] = read_files(submit_once("job.sbatch", *few, options=several))
[library] = read_files(submit_once("job_library.sbatch", *few[:2], options=several))
for run in (serial, staged, library):
    losses = ", ".join(f"{epoch.train_loss.value:.6f}" for epoch in run.epochs)
    print(f"{run.header['source']} on {run.workers}: losses {losses}")
    for held in measures(run, "params_held"):
        print(f"   stage {held['stage']}: layers {held['layers']}, {held['value']:,} parameters")
    for error in measures(run, "serial_error"):
        print(f"   {error['schedule']}: {error['value']:.1e} away from one process, after 3 steps")

# %% [markdown]
# **What you should see.** The losses agree in all digits, and no rank has more than its part. The errors
# come from a small network in float64 that your functions trained with 23 images in unequal
# micro-batches: 1e-13 and less is rounding, for sums are made in another order. With **batch normalisation**
# it would not be so. The mean of a micro-batch is not that of the batch, so the network would be another one.
#
# The loss exists on the last stage only: printing it elsewhere is a classic mistake. Our programs bring it
# to rank 0.
#
# **For a second reading.** `library` is `train_library.py`, the same with PyTorch's
# `torch.distributed.pipelining`: a `PipelineStage` around the layers, and `ScheduleGPipe` or `Schedule1F1B`
# instead of your `forward`, `backward` and `schedule`. It wants micro-batches of one size; for 1F1B at least
# as many as there are stages; and a loss that is a **mean** (`scale_grads=True` divides by their number).
#
# ## How long does a step take?
#
# `speed.py` takes nine layers of 512 and batches of 2,048. In every round it measures three things: rank 0
# alone with the whole network; all ranks at once, each with a whole network of its own (*silent*: what
# the machine can give); and your pipeline with 1, 2, 4, 8 and 16 micro-batches. All of it happens in one
# launch, interleaved, so that other users of the machine slow all of them down alike.

# %%
large = [] if profile == "smoke" else ["--width", "8192", "--batch-size", "4096"]
[speed] = read_files(submit_once("job_speed.sbatch", *large, options=several))
plots.step_times(speed, predicted=predict_four)

# %%
import statistics

rounds = measures(speed, "pipeline_round")
for m, said in ((1, predict_one), (4, predict_four)):
    found = statistics.median(one["together_s"][str(m)] / one["alone_s"] for one in rounds)
    print(f"{m} micro-batches: you said {said:g}, you measured {found:.2f} of one process")
for name in ("pipeline_speedup", "pipeline_share"):
    values = sorted(one["value"] for one in measures(speed, name))
    print(f"{name}: {statistics.median(values):.2f} ({values[0]:.2f} … {values[-1]:.2f})")
[best_m] = [one["value"] for one in measures(speed, "best_micro_batches")]
answers.note(best_m=best_m)

# %% [markdown]
# **What you should see.** The fastest number of micro-batches lies in the *middle*, away from both ends.
# With one, the stages take turns and nothing is gained. More micro-batches make the bubble smaller, which
# is the dashed line. But each is then a smaller matrix, with less to compute for every weight that is
# read, and one more message. On two cores of a shared Intel Xeon, with one thread per process, it was
# 205, 152, 132, 125, 138 ms for 1, 2, 4, 8, 16 micro-batches, and 197 ms in one process
# (`benchmarks/lessons/pipeline_speedup.py`). Compared within each round, the pipeline is 1.5 times as fast
# as one process, of the 1.9 that two processes give there which never speak. How much is gained depends on
# the batch. **Try it**, in a terminal, with layers of 1,024 and batches of 512:
#
#     cluster submit job_speed.sbatch --width 1024 --batch-size 512
#
# One process takes about as long, but each weight is read for a quarter of the images, and the best was
# 145 ms for 174: 1.2.
#
# Two cores show the shape. They cannot show why one does this, for here everything fits into one process.
# On GPUs a pipeline is not for speed but for room: data parallelism is faster as long as it fits.
#
# ## What every rank did
#
# One step with 4 micro-batches under each schedule. Hooks on your layers noted when each pass began and
# ended; the ranks' clocks were compared by messages back and forth.

# %%
plots.measured_stages(speed)

# %%
for kind in ("gpipe", "1f1b"):
    for held in measures(speed, "held", schedule=kind):
        kept = f"{held['value']} micro-batches, {held['bytes'] / 1e6:.1f} MB of activations"
        print(f"{kind}, rank {held['of_rank']}: held at most {kept}")
    [idle] = measures(speed, "bubble", schedule=kind)
    print(f"{kind}: {idle['value']:.2f} of the time idle; the formula says {bubble(ranks, 4):.2f}")
for off in measures(speed, "bytes_off", schedule="gpipe"):
    print(f"rank {off['of_rank']} received {off['bytes']:,} bytes in a step")

# %% [markdown]
# The formula counts the bubble alone. On top of it come stages of unequal weight, messages, and whatever
# else your machine does; and one step is a sample of one. Rank 0 holds the whole batch's images besides, under
# either schedule, so its bytes fall less than the number of its micro-batches. What has to arrive is the
# activations of the cut (2,048 images × 512 numbers × 4 bytes) at one rank, and as many gradients at the
# other. It does not matter how many micro-batches there are, or how many layers lie behind the cut.
#
# **Try it** with about as many layers on each stage, 5 and 4. Rank 1 waits for rank 0:
#
#     cluster submit job_speed.sbatch --cuts 5
#
# ## Why it hangs
#
# In `deadlock.py` two ranks swap arrays in three orders, with a time-out of 2 seconds. Which order comes
# to an end: (a) both receive, then send; (b) both send, then receive; (c) both begin to send, receive,
# then wait for what they sent? Decide before you look (`swap_order`). Such deadlocks often hide: a small
# message may be taken into a buffer, by MPI for example, and all is well until the network grows.
# Printed is what rank 0 was told. The rank whose time is up first closes the connection: when that was
# rank 1, by a hair, rank 0 reads `Connection closed by peer`.

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: set swap_order to a, b or c
swap_order = "c"
### END SOLUTION
answers.note(swap_order=swap_order)
[hung] = read_files(submit_once("job_deadlock.sbatch", options={"ntasks": "2"}))
for wait in measures(hung, "waited_s"):
    print(f"{wait['order']}: {wait['value']:.2f} s, {wait['said']}")

# %% [markdown]
# # The second half
#
# On a first reading you may stop here and go to *Traps* and *Recap* at the end, which are of both halves.
# What follows is worth about 3 of the 10 points. It has three parts, none of which needs another one.
#
# | part | exercises | allow |
# |---|---|---|
# | *Through every layer* and *Who sends less?* | 11.5 to 11.7 | 40 minutes |
# | *Does it fit?* and *Six networks*: take this one if you take only one | 11.8, 11.8b, 11.8c | 40 minutes |
# | *Stale weights, on paper*: for a second reading, no points | 11.9 | 15 minutes |
#
# ## Through every layer
#
# This is the other way to cut: every rank has a part of **each** layer, and all work on the same images at
# the same time. Megatron's recipe for two dense layers with a relu between them:
#
# - The first is cut by *outputs* and is called a **column** layer. Each rank has some of the hidden numbers,
#   with their biases. The relu of a part is a part of the relu, so nothing has to be exchanged.
# - The second is cut by *inputs* and is called a **row** layer. It takes the hidden numbers that this rank
#   has. Its result is only one term of a sum: the parts are added up once, and then the bias is, once.
#
# So two layers cost one allreduce in the forward pass. And backward? The images went to all parts, so each
# part sends a gradient back, and these add up too: an allreduce in front of the column layer. Two operators
# do it, and each is the other one turned round:
#
# | | forward | backward |
# |---|---|---|
# | `ToParts`, in front of the column layer | nothing | sum |
# | `FromParts`, behind the row layer | sum | nothing |
#
# **Exercise 11.5.** `cut` in `tensor_layers.py`: this rank's part of a weight and a bias. Mind the axis:
# PyTorch's weight is (outputs, inputs), and papers write it the other way round.
#
# **Exercise 11.6.** In the same file: what the two operators do, and `block`, the two layers. With the usual
# mistakes the loss falls all the same: the allreduce of the backward pass forgotten; a bias that every rank
# adds before the sum; a sum in both directions. So the check compares outputs and gradients with those of
# the whole layers, and the job compares every parameter after five steps.

# %% tags=["check"]
importlib.reload(tensor_layers)
check.check_11_5(tensor_layers.cut)
check.check_11_6(tensor_layers)

# %% [markdown]
# ## Who sends less?
#
# With data parallelism all gradients travel: as many numbers as there are parameters, however large the
# batch. Cut layers send what goes from block to block, for every image of the batch, however many
# parameters there are inside the blocks.
#
# **Exercise 11.7.** `bytes_a_step` in `tensor_layers.py`: the bytes that a rank receives in a step, for
# copies and for cut layers. A ring's allreduce of n numbers brings each rank 2 (p - 1) / p of them (lesson
# 06). In our network the outputs of blocks are `sizes[2], sizes[4], …`; the first block's input needs no
# gradient.

# %% tags=["check"]
importlib.reload(tensor_layers)
check.check_11_7(tensor_layers.bytes_a_step)

# %%
wide = [] if profile == "smoke" else ["--width", "4096", "--batch-sizes", "256", "16384"]
[cut] = read_files(submit_once("job_tensor.sbatch", *wide, options=several))
for step in measures(cut, "step_s"):
    said = f"{step['bytes']:12,} bytes per step, " if step.get("bytes") else f"{'':23}"
    print(f"batch {step['batch']:5} {step['way']:7} {said}{step['value']:.4f} s")
width = int(cut.header["model"].rpartition("x")[2])
sizes = [784, *[width] * 7, 10]
images = tensor_layers.bytes_a_step("tensor", sizes, 1, ranks, 8)
cross = tensor_layers.bytes_a_step("data", sizes, 1, ranks, 8) / images
print(f"both send the same with {cross:.0f} images; you said {predict_cross}")

# %% [markdown]
# **What you should see.** These bytes are no formula: the kernel counted them on the connections of each
# rank. On two ranks, in float64, copies send 4,795,501 bytes per step, for 32 images as for 1,024. Cut
# layers send 399,837 bytes for 32 images and 12,668,854 for 1,024. (Counted with PyTorch 2.13 and Gloo;
# they depend on no processor.) Both send the same with 387 images. For a block of two layers between others
# the rule is short: **cut layers send less as long as the batch has fewer images than the hidden layer has
# neurons**. (387 is more than 256 because the first layer has 784 inputs, and because the first block sends
# no gradient back.)
# And after five steps all parameters agree with those of one rank to 1e-16.
#
# **Two sources seem to disagree.** One says that model parallelism may lower communication, the other that
# its communication is high and wants one server with a fast bus. Both are right, layer by layer. Take 32
# images. A *late dense layer* of 4,096 × 4,096 has 16,781,312 gradients and 131,072 outputs. An *early
# convolution* with 64 filters of 3 × 3 × 64 has 36,928 gradients and, on 224 × 224 pixels, 102,760,448
# outputs. Which of the two, `"dense"` or `"convolution"`, sends less when it is cut than when it is copied
# (`better_cut`)? You note the answer further down, with 11.8b.
#
# Bytes are not everything. Gradients can travel while the backward pass goes on. In a cut layer everybody
# waits for the sum, once per block forward and once backward. So layers are cut within a node, over its
# fastest links, and pipelines and copies go from node to node. With all three, Megatron kept its pace from
# 32 to 3,072 GPUs: 137 → 163 TFLOP/s per A100, with networks that grew along (arXiv:2104.04473, table 1).
# Two cores show the bytes and the equality. Whether the time is worth it depends on the links.
#
# ## Does it fit?
#
# A device that trains holds four things:
#
# | | bytes |
# |---|---|
# | parameters | 4 each in float32, 2 in bfloat16 |
# | gradients | as many |
# | optimizer | SGD nothing; momentum one float32 number for each parameter, Adam two; with bfloat16 parameters a float32 copy of them besides, for steps that are too small for bfloat16 |
# | activations | what each layer was given, and the scores for the loss, for every image of the batch, until the backward pass comes by |
#
# Adam needs 16 bytes per parameter in float32, and in mixed precision 16 as well: only activations halve.
# **Checkpoints** cut the layers into parts of k and keep only what goes into each part. What is inside is
# computed once more when the backward pass comes by: about a third more time for a fraction of the
# activations. The last part goes back first, and what is done with is let go. So while a part goes back, the
# device holds what went into it and into the parts before it, and the outputs of all its layers.
#
# **Exercise 11.8.** `activations` and `memory` in `memory.py`. The program then takes real training steps
# and compares your arithmetic with two counts: the bytes of the tensors that are there, and of those that
# PyTorch keeps for the backward pass, as its own hooks tell.

# %% tags=["check"]
importlib.reload(memory)
check.check_11_8(memory)

# %% [markdown]
# ## Six networks
#
# | | parameters | optimizer | activations per image | batch per device | layers | devices | host memory |
# |---|---|---|---|---|---|---|---|
# | **a** | 25,600,000 | momentum, float32 | 0.09 GB | 128 | 50, the largest 2,400,000 | 4 of 40 GB | 64 GB |
# | **b** | 1,300,000,000 | adam, float32 | 1.5 GB | 32 | 24, the largest 60,000,000 | 4 of 40 GB | 64 GB |
# | **c** | 8,000,000,000 | adam, mixed | 2 GB | 16 | 32, the largest 250,000,000 | 8 of 40 GB | 64 GB |
# | **d** | 20,600,000,000 | adam, mixed | 0.1 GB | 64 | 12, the largest 20,500,000,000 | 8 of 64 GB | 64 GB |
# | **e** | 3,000,000,000 | adam, mixed | 1 GB | 8 | 32, the largest 100,000,000 | 1 of 24 GB | 256 GB |
# | **f** | 60,000,000 | only used | 0.5 MB | 1 | 20, the largest 8,000,000 | 1 of 0.1 GB | 0.1 GB |
#
# What helps, in order: the first word costs least, the last one most. *State* is everything but the
# activations.
#
# | word | the fullest device holds |
# |---|---|
# | `"data"`: copies, as in lesson 07 | all of the state, the whole batch's activations |
# | `"accumulate"`: the batch in small pieces, one update | all of the state, one image's activations |
# | `"pipeline"`: cut between layers | the state of its layers, of one at least; one image's activations (p micro-batches of one image are under way, and of each a device holds a p-th part) |
# | `"tensor"`: cut through layers | its share of the state, one image's activations |
# | `"offload"`: optimizer in the host's memory, or the CPU trains | one layer with its gradients, one image's activations; the host holds the state |
# | `"prune"`: leave out 80 % of the weights | what is left, a number and its place each, 8 bytes: only for a network that is not trained any more |
#
# **Exercise 11.8b.** For each network, take the first word of the table with which it fits. (Here is also the
# place for `better_cut`, the question above.)
#
# **Exercise 11.8c.** `prune` in `prune.py` sets the smallest weights to zero. It is tried on lesson 01's
# network. You predicted what is left of it.

# %% tags=["exercise"]
### BEGIN SOLUTION Exercise 11.8b: the first way that fits, for each of the six; and better_cut
better_cut = "dense"
decisions = {
    "a": "data",
    "b": "accumulate",
    "c": "pipeline",
    "d": "tensor",
    "e": "offload",
    "f": "prune",
}
### END SOLUTION
answers.note(**{f"decision_{name}": word for name, word in decisions.items()})
answers.note(better_cut=better_cut)

# %% tags=["check"]
check.check_11_8b(decisions)
importlib.reload(prune)
check.check_11_8c(prune.prune)

# %%
[held] = read_files(submit_once("job_memory.sbatch", options=one))
for case in measures(held, "bytes_held"):
    held_mb = {key[:-6]: much / 1e6 for key, much in case.items() if key.endswith("_bytes")}
    what = f"{case['optimizer']}, {case['precision']}, checkpoint {case['checkpoint_every']}"
    print(f"{what:32}", ", ".join(f"{part} {much:.1f}" for part, much in held_mb.items()))
[error] = measures(held, "memory_error")
print(f"MB held; your arithmetic is at most {error['value']:.2%} away")
less = ["--train-samples", "12800"] if profile == "smoke" else []
[pruned] = read_files(submit_once("job_prune.sbatch", *less, options=one))
print(f"all weights: {pruned.test_accuracy.value:.4f}; you said {predict_95} for 95 %")
for left in measures(pruned, "pruned_accuracy"):
    print(f"{left['share']:.0%} removed: {left['value']:.4f}, trained on {left['retrained']:.4f}")

# %% [markdown]
# **What you should see.** The arithmetic is right to a tenth of a percent; labels and counters are not in
# it. (A GPU's *peak* is higher than what it holds: workspaces of its libraries, gradients of activations
# on their way, gaps between blocks.) Half of lesson 01's weights can go for next to nothing, and 80 % for
# very little: after three epochs of 12,800 images the accuracy is 0.916–0.927 with all of them, 0.914–0.925
# with half, 0.908–0.923 with a fifth (PyTorch on a CPU, five seeds). With 95 % gone it is 0.80–0.84, and
# 0.907–0.913 after one more epoch for the weights that are left. On most hardware that is no
# faster. And with its place stored beside each number, half of the weights take as much room as all of them.
#
# **For a second reading.** The same trade of memory against idle time, as published: 1.5 billion parameters
# on 8 GPUs with 24 micro-batches, in samples per second and GPU. 1F1B made 11.8 with 30 GB, interleaved 13.1
# with 40 GB, and a schedule almost without a bubble 14.5 with 59 GB (arXiv:2401.10241, table 4).
#
# ## Stale weights, on paper (second reading)
#
# PipeDream (2018) fills the bubble by never waiting: each stage works through 1F1B without end and
# updates its weights after *every* backward pass. A micro-batch then goes forward with weights that are a
# few updates old. Version v of a stage's weights is the one after v updates; the first is 0.
# *Without stashing* the backward pass takes the weights as they are by then, so its gradient belongs to no
# network at all. *With stashing* a stage keeps, for each micro-batch under way, the version with which it
# went forward.
#
# **Exercise 11.9.** Draw 1F1B for 4 stages, count, and find the rule: `seen(micro_batch, stage, stages,
# stashing)` gives the versions in the forward and in the backward pass. All numbers begin with 0. (The
# check does not know the answer: it plays the schedule through and counts updates.)


# %% tags=["exercise"]
def seen(micro_batch, stage, stages, stashing):
    ### BEGIN SOLUTION Exercise 11.9: versions of the weights, forward and backward
    forward = max(0, micro_batch - (stages - 1 - stage))
    return forward, forward if stashing else micro_batch
    ### END SOLUTION


# %% tags=["check"]
check.check_11_9(seen)

# %% [markdown]
# On the first of 4 stages the gradient is 3 updates late, on the last one not at all. With stashing, a stage
# keeps up to 4 versions of its weights, which costs the memory that 1F1B had saved. GPipe and 1F1B with a
# flush wait instead, and are exactly serial training. Lesson 10 showed what staleness does to learning.
#
# ## Traps
#
# | you see | it was |
# |---|---|
# | nothing, for a minute, then `Timed out waiting 60000ms for recv`, or `Connection closed by peer` on the ranks whose time ended later | both ranks receive first, or both send; or 1F1B with sends that wait |
# | nothing, for half an hour | `dist.new_group` without a time-out: it does not take over that of `init_process_group` |
# | numbers that make no sense after a `recv` | the tensor that was to be filled had another dtype or shape than what was sent |
# | one rank idle half of the time | stages with as many layers each, but not of equal cost |
# | slower with 16 micro-batches than with 4 | small matrices; a stage that waits for messages |
# | a loss of 0 on rank 0 | it exists on the last stage only |
# | the loss is not that of one process | batch normalisation; a mean over unequal micro-batches |
# | gradients m times too small or too large | divided by m twice, or never: `scale_grads` and the loss both do it |
# | images per second that nobody believes | counted for one micro-batch |
# | loss falls, but not as on one rank | a forgotten allreduce in the backward pass, or one too many |
# | outputs are off by p - 1 biases | a row layer's bias added before the sum |
# | `mat1 and mat2 shapes cannot be multiplied` | the weight cut along the wrong axis |
# | two ranks hang in an allreduce | one rank calls it less often: an `if rank == 0` around it |
# | out of memory although the parameters fit four times | gradients, Adam's numbers, activations |
#
# ## Recap
#
# - Between layers: activations down, gradients up, little to send, and a bubble of p - 1 turns. Through
#   layers: no bubble, a sum for every two layers, so only over the fastest links.
# - Both are exactly the network of one process. Compare parameters with it, once, in float64.
# - The best number of micro-batches lies in the middle. GPipe holds them all, 1F1B as many as there are
#   stages.
# - Add up parameters, gradients, optimizer and activations before you buy a way to divide them. As long
#   as it fits, copies are simpler and faster.
#
# With four ranks, two pipelines of two stages each share the batch, and each stage averages with its
# like:
#
#     cluster submit --ntasks=4 job.sbatch --replicas 2
#
# Large networks are trained with all three: layers cut within a node, stages from node to node, copies of
# all that.
#
# **Hand in**: in a terminal, this packs the folder and says what is in it.
#
#     lessons submit 11
#
# Next: 12 asks how many GPUs are worth it. Further reading: Huang and others, *GPipe*, arXiv:1811.06965;
# Narayanan and others, *PipeDream*, arXiv:1806.03377, and *Megatron-LM*, arXiv:2104.04473.
