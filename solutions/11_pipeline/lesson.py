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
# A whole network on every rank is impossible when parameters, gradients, the optimizer's numbers and activations need
# more memory than one GPU has. (If only the state is too large: lesson 13.) You can cut the network in two
# directions:
#
# ```
# a pipeline: between layers                   tensor parallelism: through every layer
#
# rank 0   layers 1 2 3 4                      rank 0   half of 1, half of 2, … half of 8
#             │ ▲                                          ▲      ▲             ▲
# activations ▼ │ gradients                                ▼      ▼  sums       ▼
# rank 1   layers 5 6 7 8                      rank 1   half of 1, half of 2, … half of 8
# ```
#
# Allow 80 + 45 minutes: 80 for pipelines (about 8 of the 10 points), 45 for the second part. On two CPU cores all
# jobs on this page take about 90 seconds.

# %% tags=["parameters"]
profile = "smoke"  # "smoke": two CPU cores. "full": the whole data set, GPUs
ranks = 2  # stages; in "full" as many as you have GPUs, and at most nine, one for each layer
gpus = "gres=gpu:{n}"  # "full": how your site asks for n GPUs of a node

# %% tags=["setup", "hide-input"]
import statistics

from lessons import course
from lessons.toolkit.ranks import schedules

import pipeline
import plan
import tensor_layers

few = ["--train-samples", "3200", "--test-samples", "2000"] if profile == "smoke" else []

# %% [markdown]
# ## Four runs
#
# One process trained a network of nine layers. Then two ranks trained it, each with a part of the layers. Three of
# these runs have a fault. Guess now which ones. At the end of this page, you can name them, and each fault.

# %%
shown = {name: course.runs(f"records/{name}.rec")[0] for name in ("serial", "g", "n", "v")}
course.plots.faults(shown, path="", names="run")

# %% [markdown]
# ## Predict
#
# Nine dense layers run on two ranks: rank 0 has the first ones, and rank 1 has the rest. One process takes 1 unit of
# time per step. How long do the two ranks take
#
# 1. if rank 0 sends the whole batch on and waits for its gradients,
# 2. if the batch is cut into 4 micro-batches, and rank 0 begins the second while rank 1 computes the first?
#
# And for the second part:
#
# 3. Copies of a network with 8 layers of 256 neurons send gradients to each other. If the layers *themselves*
#    are cut instead, the ranks send activations. At about how many images per batch do both send the same amount? (A
#    layer has 256 × 256 weights, and 256 activations per image.)

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set all three to numbers; of the first two, 1 is the time of one process
predict_one, predict_four, predict_cross = 1.0, 0.7, 400
### END SOLUTION
course.answers.note(predict_one=predict_one, predict_four=predict_four, predict_cross=predict_cross)

# %% [markdown]
# # Pipelines
#
# ## Who gets which layers?
#
# All stages wait for the slowest one. So do not count layers; add up their costs. A dense layer costs one
# multiplication and one addition per weight and image.
#
# **Exercise 11.1.** `split(costs, stages)` in `plan.py` returns where to cut: `[0, 4, 9]` puts layers 0 to 3 on stage
# 0 and layers 4 to 8 on stage 1. Make the heaviest stage as light as possible.

# %% tags=["check"]
course.check("11.1", plan)

# %% [markdown]
# ## The bubble
#
# One micro-batch on one stage is a turn. With p stages and m micro-batches, the last stage begins in turn p and then
# works for m turns. The idle turns are the *bubble*, stated as a share of the **total time**, or relative to the time
# **needed without waiting** (in Megatron's papers).
#
# **Exercise 11.2.** `bubble(stages, m)` returns the bubble as a share of the total time.


# %% tags=["exercise"]
def bubble(stages, m):
    ### BEGIN SOLUTION Exercise 11.2: idle turns over all turns of a stage
    return (stages - 1) / (m + stages - 1)
    ### END SOLUTION


# %% tags=["check"]
course.check("11.2", bubble)

# %% [markdown]
# ## In which order?
#
# **GPipe** (2018) does all forward passes, then all backward passes. This is simple, but a stage keeps the
# activations of all m micro-batches (the paper keeps only their inputs, and computes the rest twice). **1F1B** starts
# backward passes as soon as it can. Stage s, counted from 0, first does `stages - s` forward passes, or m if m is
# smaller. Then it alternates one backward and one forward pass until no forward pass is left, and ends with the
# remaining backward passes. The bubble is the same, but stage s keeps at most `stages - s` micro-batches, however
# large m is.
#
# **Exercise 11.3.** In `plan.py`, `schedule(stages, m, kind)` returns the order of work for every stage. `grid(rank,
# stages, replicas)` returns this rank's place in a *hybrid* (several pipelines side by side): its stage, its replica,
# and all ranks with the same layers, whose gradients are added. The stages of a pipeline are consecutive ranks:
# with two stages, ranks 0 and 1 are replica 0, and ranks 2 and 3 are replica 1.

# %% tags=["check"]
course.check("11.3", plan)

# %%
course.plots.schedule_sliders(plan.schedule, bubble)

# %%
drawn = {"1f1b": plan.schedule(4, 8, "1f1b"), "interleaved": schedules.interleaved(4, 8, 2)}
course.plots.drawn_schedules(drawn)

# %% [markdown]
# Your two functions drew the picture with the sliders (it needs JavaScript). Move them: on 4 stages, from which m on
# do less than 30 % of the turns idle, and what does a stage of each kind then hold? Both pictures are drawn, not
# measured: a backward pass takes twice as long as a forward pass, and messages take no time. *Interleaved* gives each
# stage two pieces of the network (the second is light). It idles less, but sends over 7 boundaries instead of 3.
#
# ## Forward down, gradients up
#
# `pipeline.py` runs these schedules. What has changed since lesson 10:
#
# - A rank builds only its own layers. Each layer has its own seed, so it starts with the same numbers on any rank.
# - Activations go to the next stage, and gradients go back to the previous one.
# - **No** gradients are averaged: no other rank has these parameters.
#
# **Exercise 11.4.** Complete `forward` and `backward` in `pipeline.py`. `stage.before` and `stage.after` are ranks,
# or `None` at the ends. (Rank 0 is false in an `if`, so test `is not None`.) Activations go through the group
# `stage.down`, and gradients go through `stage.up`. In order:
#
# | | first stage | stages in between | last stage |
# |---|---|---|---|
# | `forward` | layers, send | receive, layers, send | receive, layers |
# | `backward` | receive, `backward` | receive, `backward`, send | `backward`, send |
#
# Four things are easy to forget:
#
# - `dist.recv(tensor, rank, group=…)` fills an existing tensor, which needs the sender's shape, dtype and device. If
#   it is too small, Gloo ends the process; if it is too large, old numbers stay at its end. (`new_empty` and
#   `empty_like` take dtype and device from a tensor.)
# - PyTorch computes no gradient for a received tensor unless you ask for it with `requires_grad_()`, *after* receiving
#   and *before* applying the layers.
# - The last stage begins its backward pass at the loss with `outputs.backward()`. Every other stage gets the gradient
#   of its `outputs` from the next stage: `outputs.backward(gradient)`.
# - With Gloo, `dist.send` waits until the other side receives. `dist.isend` does not: it returns a request to wait
#   for later. Append it to `sent`.

# %% tags=["check"]
course.check("11.4", pipeline)

# %% [markdown]
# ## Is it the same network?
#
# This cell trains on one rank, then on `ranks` stages, with the same seed and batches. After training, each job runs
# `probe.py`, which tests your functions.

# %%
device = gpus if profile == "full" else ""
one, several = course.on_nodes(1, device), course.on_nodes(ranks, device)
serial, _ = course.submit("job.sbatch", *few, options=one)
staged = course.submit("job.sbatch", *few, options=several)
parts = ["--micro-batches", 2 ** max(2, (ranks - 1).bit_length())]  # at least one for each stage
library = course.submit("job_library.sbatch", *few[:2], *parts, options=several)
for run in (serial, *staged, *library):
    losses = ", ".join(f"{epoch.train_loss.value:.6f}" for epoch in run.epochs)
    print(f"{run.header['source']} on {run.workers}: losses {losses}")
    for held in run.measured("params_held"):
        print(f"   rank {held['of_rank']} holds {held['value']:,} parameters")
    for kind in ("gpipe", "1f1b", "library"):
        for error in run.measured(f"{kind}_error"):
            print(f"   {kind}: {error['value']:.1e} away from one process, after 3 steps")

# %% [markdown]
# **What you should see.** The losses agree in all digits (`full`: nearly. Rounding adds up, and the library leaves
# out the last, smaller batch), and no rank holds more than its part. The errors come from a small network in float64,
# with 23 images in unequal micro-batches (the library: 24 in equal ones). Differences up to 1e-13 are rounding.
# **Batch normalisation** would break this: it uses the mean of a micro-batch, not of the batch.
#
# `library` is `train_library.py`, which does the same with PyTorch's `torch.distributed.pipelining`. `ScheduleGPipe`
# or `Schedule1F1B` replaces your `forward`, `backward` and `schedule`.
#
# ## How long does a step take?
#
# `speed.py` uses nine layers, 512 neurons wide, and batches of 2,048. In every round it measures three things: rank 0
# alone with the whole network; all ranks at once, each with the whole network (*silent*: the machine's ceiling); and
# your pipeline with 1, 2, 4, 8 and 16 micro-batches.

# %%
large = [] if profile == "smoke" else ["--width", "8192", "--batch-size", "4096"]
[speed] = course.submit("job_speed.sbatch", *large, options=several)
course.plots.step_times(speed, predict_four)

# %% tags=["hide-input"]
rounds = speed.measured("pipeline_round")
for m, name in ((1, "one"), (4, "four")):
    ratios = [each["together_s"][str(m)] / each["alone_s"] for each in rounds]
    course.predictions.compare(f"predict_{name}", statistics.median(ratios), "of one process")
for name in ("pipeline_speedup", "pipeline_share"):
    values = sorted(each["value"] for each in speed.measured(name))
    print(f"{name}: {statistics.median(values):.2f} ({values[0]:.2f} … {values[-1]:.2f})")

# %% [markdown]
# **What you should see.** A *medium* number of micro-batches was fastest here. With one micro-batch, the stages take
# turns and nothing is gained. More micro-batches shrink the bubble (the dashed line), but each one adds a message,
# and is less efficient because it is smaller. On two cores of a shared Intel Xeon, with one thread per process, a
# step took 205, 152, 132, 125 and 138 ms with 1, 2, 4, 8 and 16 micro-batches, and 197 ms in one process
# (`benchmarks/lessons/pipeline_speedup.py`). With the best number, the pipeline is 1.5 to 1.6 times as fast as one
# process; two silent processes are 1.9 times as fast.
#
# So within a node you build a pipeline to save memory: two silent processes are faster, and copies add one exchange
# of 9 MB per step to them. Between nodes, its messages are smaller than those of cut layers (Narayanan and others), and
# than those of copies while batch × width is below the number of parameters.
#
# ## What every rank did
#
# Hooks on your layers recorded one step with 4 micro-batches under each schedule.

# %% tags=["hide-input"]
for kind in ("gpipe", "1f1b"):
    for held in speed.measured("held", schedule=kind):
        kept = f"{held['value']} micro-batches, {held['bytes'] / 1e6:.1f} MB of activations"
        print(f"{kind}, rank {held['of_rank']}: held at most {kept}")
    [idle] = speed.measured("bubble", schedule=kind)
    print(f"{kind}: {idle['value']:.2f} of the time idle; the formula says {bubble(ranks, 4):.2f}")
counted = speed.measured("bytes_off", schedule="gpipe")
for off in counted:
    print(f"rank {off['of_rank']} received {off['bytes']:,} bytes in a step")
if not counted:
    print("bytes: not counted, because NCCL does not send them through the kernel's sockets")
course.plots.measured_stages(speed)

# %% [markdown]
# The formula counts only the bubble; in the measurement, ranks also wait for messages and for the heavier stage. One
# rank receives the activations at the cut (2,048 images × 512 numbers × 4 bytes), and the other as many gradients,
# whatever the number of micro-batches or layers.
#
# ## Why it hangs
#
# In `deadlock.py` two ranks swap arrays over Gloo, with a timeout of 2 seconds: (a) both receive, then send; (b) both
# send, then receive; (c) both begin to send, receive, then wait for their sends; (d) both submit the two messages as
# one batch:
#
#     dist.batch_isend_irecv([dist.P2POp(dist.irecv, theirs, other), dist.P2POp(dist.isend, mine, other)])
#
# **NCCL**'s calls only queue work on the GPU, and there the queue can hang: an `isend` and an `irecv` between the
# same two ranks run one after the other. If both queue the send first, both wait for ever (NVIDIA/nccl#479; not run
# here), unless the message fits into NCCL's buffers (lesson 10). In a batch the order does not matter. `pipeline.py`
# has two groups instead: messages down and messages up have separate queues. They can run at the same time, but CUDA
# does not promise it (NVIDIA/nccl#783), so even this may hang.
#
# Decide before you run it: which orders finish over Gloo?

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_orders to the letters of the orders that finish
predict_orders = "cd"
### END SOLUTION
course.answers.note(predict_orders=predict_orders)

# %%
[hung] = course.submit("job_deadlock.sbatch", options=course.on_nodes(2, device))
for wait in hung.measured("waited_s"):
    print(f"{wait['order']}: {wait['value']:.2f} s, {wait['said']}")
names = ["both_receive", "both_send", "send_without_waiting", "in_one_batch"]
letters = dict(zip(names, "abcd", strict=True))
ended = [letters[w["order"]] for w in hung.measured("waited_s") if w["said"] == "done"]
course.predictions.compare("predict_orders", "".join(sorted(ended)))

# %% [markdown]
# # Tensor parallelism
#
# ## Through every layer
#
# Now every rank has a part of **each** layer, and all ranks work on the same images at once. This is Megatron's
# recipe for two dense layers with a relu between them:
#
# - The first layer is cut by *outputs* and is called a **column** layer. Each rank computes some of the hidden numbers
#   and stores their biases. The relu treats each number separately, so nothing is exchanged.
# - The second layer is cut by *inputs* and is called a **row** layer. Each rank's input is its own hidden
#   numbers. Its result is one term of a sum: add up the ranks' results, then add the bias once.
#
# Two operators enclose the two layers: `ToParts` before the column layer, `FromParts` after the row layer. In the
# forward pass, `ToParts` passes the images on, and `FromParts` sums the ranks' results. What do they do in the backward
# pass? Derive it: what is the gradient of a number that went to every part, and what that of one term of a sum?
#
# **Exercise 11.5.** `cut` in `tensor_layers.py` returns this rank's part of a weight and a bias. Mind the axis:
# PyTorch's weight is (outputs, inputs); papers write it the other way round.
#
# **Exercise 11.6.** In the same file, fill in the two operators, and `block`. With the usual mistakes the loss still
# falls.

# %% tags=["check"]
course.check("11.5", tensor_layers.cut)
course.check("11.6", tensor_layers)

# %% [markdown]
# ## Who sends less?
#
# Two copies send one number per parameter, whatever the batch size. Cut layers send the numbers between blocks, for
# every image.
#
# **Exercise 11.7.** `bytes_a_step` in `tensor_layers.py` returns the bytes that a rank receives per step, for copies
# and for cut layers. In a ring allreduce of n numbers each rank receives 2 n (p − 1) / p (lesson 06). In our network
# every two layers are a block. Which numbers does it sum in the forward pass, and which in the backward pass? (The
# images need no gradient.)

# %% tags=["check"]
course.check("11.7", tensor_layers.bytes_a_step)

# %%
wide = [] if profile == "smoke" else ["--width", "4096", "--batch-sizes", "256", "16384"]
nccl = ["--backend", "nccl", "--precision", "float32"]  # for its seconds
jobs = [[], nccl] if profile == "full" else [[]]
longer = course.on_nodes(ranks, device, minutes=60)  # "full", a step: 3.2 GB on 2 ranks, 5.6 on 8
cuts = [course.submit("job_tensor.sbatch", *wide, *more, options=longer)[0] for more in jobs]
for step in (step for cut in cuts for step in cut.measured("step_s")):
    sent = f"{step['bytes']:12,} bytes per step, " if step.get("bytes") else f"{'':29}"
    print(f"batch {step['batch']:5} {step['way']:7} {sent}{step['value']:.4f} s")
for width in dict.fromkeys((256, cuts[0].header["width"])):
    sizes = [784, *[width] * 7, 10]
    images = tensor_layers.bytes_a_step("tensor", sizes, 1, ranks, 8)
    whole = tensor_layers.bytes_a_step("data", sizes, 1, ranks, 8)
    if width == 256:
        course.predictions.compare("predict_cross", whole / images, "images", how="computed")
course.plots.bytes_by_batch(cuts[0], whole, images)

# %% [markdown]
# **What you should see.** The lines are your formula; the dots are what the kernel counted on a rank's connections,
# with Gloo's own messages. With 256 neurons the lines cross at 387 images, on any number of ranks. For a block of two
# layers between other blocks the rule is short: **cut layers send less as long as the batch has fewer images than the
# hidden layer has neurons**. (387 is more than 256 because the first layer has 784 inputs and the first block sends
# no gradient back.) After five steps all parameters agree with those of one rank to 1e-16. Gloo's times say nothing
# about NVLink, so the `full` profile also runs float32 over NCCL (not run here; errors: [What NCCL
# says](../../docs/nccl.md)).
#
# Bytes are not everything: gradients travel during the backward pass, but in a cut layer all ranks wait for the sum
# (libraries hide a part of it). So cut layers within a node, over its fastest links, and use pipelines and copies
# between nodes.
#
# ## Questions
#
# - `record_g`, `record_n`, `record_v`: what is wrong in the runs at the top of this page? `"a"` Rank 1 has the first
#   layers, and rank 0 the last ones. `"b"` Gradients arrive as zeros. `"c"` A micro-batch's loss is a mean over the
#   micro-batch, not over the batch. `"d"` Layers were counted, not their costs. `"e"` Activations arrive as zeros.
#   `"f"` 1F1B ran instead of GPipe.
# - `fewest_m`: with 16 stages, how many micro-batches do you need at least, so that *less* than 10 % of the time is
#   idle?
# - `gpipe_most`: GPipe's paper (arXiv:1811.06965, table 2) compares 8 accelerators and 32 micro-batches with two
#   accelerators that take turns. These two are only as fast as one. The 8 trained a Transformer 6.3 times as fast,
#   and AmoebaNet, which is hard to divide evenly, 3.48 times. What is the largest speedup that the bubble allows?
#
# **Open** (no points): the first part measured a pipeline that is slower than two silent processes. Where does the rest
# go? Find a change that makes a step faster, and defend it with the picture of what every rank did.

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: three letters and two numbers
record_g, record_n, record_v = "e", "b", "c"
fewest_m = next(m for m in range(1, 1000) if bubble(16, m) < 0.1)
gpipe_most = 8 * (1 - bubble(8, 32))
### END SOLUTION
course.answers.note(record_g=record_g, record_n=record_n, record_v=record_v)
course.answers.note(fewest_m=fewest_m, gpipe_most=gpipe_most)

# %% [markdown]
# ## Traps
#
# | you see | cause |
# |---|---|
# | nothing for a minute, then `Timed out waiting 60000ms for send operation to complete` | 1F1B with sends that wait |
# | nothing for half an hour (NCCL: 10 minutes) | `dist.new_group` without a timeout: it does not inherit that of `init_process_group` |
# | loss falls, but not as on one rank | a forgotten allreduce in the backward pass, or one too many; a row layer's bias added on every rank before the sum |
#
# ## Recap
#
# - A network cut between layers sends little (activations down, gradients up), but has a bubble of p − 1 turns. A
#   network cut through layers has no bubble, but every two layers need a sum in each pass: use only the fastest links.
# - GPipe holds all micro-batches, and 1F1B holds only as many as there are stages.
# - As long as the network fits and a larger batch is useful (lesson 09), copies are simpler and faster.
#
# On four ranks, two pipelines of two stages share the batch:
#
#     sbatch --ntasks=4 job.sbatch --replicas 2
#
# **Submit** your work in a terminal:
#
#     lessons submit 11
#
# Next: lesson 13 shards the state, and lesson 12 asks how many GPUs are worth it. Further reading: Huang and others,
# *GPipe*, arXiv:1811.06965; Narayanan and others, *Megatron-LM*, arXiv:2104.04473.
