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
# layer (**tensor parallelism**). You do both by hand, measure what each leaves idle and sends, and
# decide by arithmetic when which is worth it.
#
# Allow 120 minutes. On two CPU cores all the runs of this page together take about a minute and a half.

# %% tags=["parameters"]
profile = "smoke"  # "smoke": two CPU cores. "full": the whole data set, GPUs
ranks = 2  # stages; in "full" as many as you have GPUs

# %% tags=["setup"]
import importlib

from autograder.reading.files import read_files
from lessons.toolkit import answers, plots
from lessons.toolkit.checks import lesson_11 as check
from lessons.toolkit.plots.stages import measures

import pipeline
import plan

few = ["--train-samples", "3200", "--test-samples", "2000"] if profile == "smoke" else []
large = [] if profile == "smoke" else ["--width", "8192", "--batch-size", "4096"]

# %% [markdown]
# ## Predict
#
# Nine dense layers on two ranks: rank 0 has the first ones, rank 1 the rest. One process needs 1 for a
# step. What do the two need
#
# 1. if rank 0 sends the whole batch on and waits for its gradients,
# 2. if the batch is cut into 4 micro-batches, and rank 0 begins the second while rank 1 has the first?

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set both to numbers; 1 is as long as one process takes
predict_one = 1.0
predict_four = 0.7
### END SOLUTION
answers.note(predict_one=predict_one, predict_four=predict_four)

# %% [markdown]
# ## Who gets which layers?
#
# All stages wait for the slowest. So layers are not counted: their costs are added up. A dense layer
# costs one multiplication and addition for each weight and image.
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
# ranks, or `None` at the ends. `dist.recv(tensor, rank, group=…)` fills a tensor that is there already;
# activations go through the group `stage.down`, gradients through `stage.up`. Two things are easily
# forgotten: what was received is no result of any layer, so PyTorch keeps no gradient of it unless you
# call `x.requires_grad_()`; and `dist.send` waits until the other side receives. `dist.isend` does
# not; it returns a message to wait for later, which belongs into `sent`.

# %% tags=["check"]
importlib.reload(pipeline)
check.check_11_2(pipeline)

# %% [markdown]
# ## The bubble
#
# With p stages and m micro-batches the last stage begins in turn p, and then has m of them to do. A
# turn is one micro-batch on one stage.
#
# Two things are called *bubble*: idle time as a share of **all the time**, and idle time over the time
# that would be **enough** if nobody ever waited (Megatron's papers; it may pass 1). Every question here
# says which.
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
# **GPipe** (2018) does all forward passes, then all backward passes: simple, but a stage keeps the
# activations of all m micro-batches. **1F1B** goes back as soon as it can: stage s does `stages - s`
# forward passes, then one backward and one forward pass by turns. The bubble is the same; a stage keeps
# at most as many micro-batches as there are stages.
#
# **Exercise 11.4.** In `plan.py`: `schedule(stages, m, kind)`, the order of every stage, and
# `grid(rank, stages, replicas)`, this rank's place in a hybrid: its stage, its replica, and all ranks
# that hold the same layers, with which it averages.

# %% tags=["check"]
importlib.reload(plan)
check.check_11_4(plan)

# %%
from lessons.toolkit.ranks.schedules import interleaved

drawn = {kind: plan.schedule(4, 8, kind) for kind in ("gpipe", "1f1b")}
plots.drawn_schedules(drawn | {"interleaved": interleaved(4, 8, 2)})

# %% [markdown]
# These are drawn, not measured: a backward pass takes twice a forward pass, messages take no time.
# GPipe and 1F1B end together; the difference is in what they hold. *Interleaved* gives each stage two
# pieces of the network (light boxes are the second): the bubble halves, the messages double, and more
# is held again. (This course draws it and does not run it: in PyTorch 2.13 it has open stalls.)
#
# **Questions**, in your head or with your functions:
#
# - 4 stages, 8 micro-batches: which share of all the time is idle (`bubble_share`)? And the same idle
#   time over the time that would be enough (`bubble_ratio`)?
# - 8 stages, 64 micro-batches, 1F1B: how many does the first stage hold (`held_first`)?
# - GPipe's paper (arXiv:1811.06965, table 2) trained on 8 accelerators with 32 micro-batches: a
#   Transformer 6.3 times as fast as on one with one micro-batch, AmoebaNet, which is hard to divide
#   evenly, 3.48 times. What is the most that the bubble would have allowed (`gpipe_most`)?
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
# **What you should see.** The losses agree to all digits, and no rank has more than its part. The last
# lines come from a small network in float64 that your functions trained with 23 images in unequal
# micro-batches: 1e-15 is rounding. With **batch normalisation** it would not be so: the mean of a
# micro-batch is not that of the batch, so the network would be another one.
#
# `library` is `train_library.py`, the same with PyTorch's `torch.distributed.pipelining`: a
# `PipelineStage` around the layers, and `ScheduleGPipe` or `Schedule1F1B` in the place of your
# `forward`, `backward` and `schedule`. It wants micro-batches of one size, for 1F1B at least as many as
# stages, and a loss that is a **mean** (`scale_grads=True` divides by their number). The loss exists on
# the last stage only: printing it elsewhere is a classic mistake. Our programs bring it to rank 0.
#
# ## How long does a step take?
#
# `speed.py` takes nine layers of 1,024 and batches of 512. In every round it measures rank 0 alone with
# the whole network, all ranks at once each with one of their own (*silent*: what the machine can give),
# and your pipeline with 1, 2, 4, 8 and 16 micro-batches. One launch and interleaved: who else uses the
# machine slows all of them down.

# %%
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
# With one, the stages take turns and nothing is gained. More micro-batches make the bubble small, which
# is the dashed line; but each is then a smaller matrix, with less to compute for each weight that is
# read, and one more message. On another machine with two cores, eight layers and one thread a process it was
# 250, 191, 179, 192, 227 ms for 1, 2, 4, 8, 16 micro-batches, and 235 ms in one process: 1.3 of 2.
#
# Two cores show the shape. They cannot show why one does this: here everything fits into one process.
# On GPUs a pipeline is not for speed but for room; data parallelism is faster as long as it fits.
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
# The formula counts the bubble alone. Stages that are not of one weight, messages, and whatever else
# your machine does come on top; one step is one sample. What has to arrive is the activations of the
# cut (512 images × 1,024 numbers × 4 bytes) at one rank, as many gradients at the other: whatever the
# number of micro-batches, and whatever the size of the layers.
#
# **Try it**: the same with stages of equally many layers, 5 and 4:
# `cluster submit job_speed.sbatch --cuts 5`. Rank 1 waits for rank 0.
#
# ## Why it hangs
#
# `deadlock.py` has two ranks swap arrays in three orders, and a time-out of 3 seconds. Which order comes
# to an end: (a) both receive, then send; (b) both send, then receive; (c) both begin to send, receive,
# then wait for what they sent? Decide before you look. (Deadlocks of this kind often hide: a small message may be
# taken into a buffer, by MPI for example, and all is well until the network grows.)

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: set order to a, b or c
order = "c"
### END SOLUTION
answers.note(order=order)
[hung] = read_files(submit_once("job_deadlock.sbatch", options={"ntasks": "2"}))
for wait in measures(hung, "waited_s"):
    print(f"{wait['order']}: {wait['value']:.2f} s, {wait['said']}")
