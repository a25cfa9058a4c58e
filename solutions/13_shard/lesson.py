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
# # 13 · Shard everything
#
# **What must each rank hold, and what does that cost in bytes?**
#
# With DistributedDataParallel, every rank holds all parameters, gradients and numbers of the optimizer. It is enough
# if *one* rank keeps each number, and the others borrow it in time. This idea is called ZeRO (*zero redundancy
# optimizer*). It has three stages:
#
# ```
#              DDP            stage 1        stage 2        stage 3
# rank         0     1        0     1        0     1        0     1
#
# parameters   ████  ████     ████  ████     ████  ████     ██▁▁  ▁▁██
# gradients    ████  ████     ████  ████     ██▁▁  ▁▁██     ██▁▁  ▁▁██
# optimizer    ████  ████     ██▁▁  ▁▁██     ██▁▁  ▁▁██     ██▁▁  ▁▁██
# ```
#
# You write all three with `torch.distributed`, then replace them with PyTorch's `fully_shard` (FSDP2). Every rank
# still reads its own texts and computes all layers.
#
# The network is lesson 00's GPT. Allow 130 minutes. On two CPU cores, all jobs on this page take about a minute.
#
# First, train with DDP, where every rank holds everything. The line shows what PyTorch holds on one rank during one
# step. Each stage will lower it.

# %% tags=["parameters"]
profile = "smoke"  # "smoke": two CPU cores. "full": a larger network, GPUs
ranks = 2  # in "full" as many as you have GPUs on one node
gpus = "gres=gpu:{n}"  # "full": how your site asks for n GPUs of a node

# %% tags=["setup", "hide-input"]
from lessons import course

import library
import ring
import saving
import state
import zero

brief = ["--epochs", "1", "--windows", max(48, 8 * ranks)]  # a step needs 8 windows of each rank
full = ["--layers", "12", "--width", "768", "--windows", "3200"]
size = {"smoke": brief, "full": full}[profile]

# %%
several = course.on_nodes(ranks, gpus if profile == "full" else "")


def train(*words):
    """Return the runs of train.py and of probe.py, by their way."""
    found = course.submit("job.sbatch", *size, *words, options=several)
    probes = {run.header["way"]: run for run in found if run.header["source"] == "probe"}
    return {run.header["source"]: run for run in found if run not in probes.values()}, probes


def measure(run, name):
    return next((each["value"] for each in run.measures if each["name"] == name), float("nan"))


course.plots.staircase(train("--ways", "ddp")[1])

# %% [markdown]
# ## Predict
#
# 1. Adam, float32, two ranks: how many bytes of state (parameters, gradients, optimizer) does a rank hold in stage
#    3, as a fraction of what it holds with DDP?
# 2. How many bytes does a rank receive per step in stage 3, as a multiple of what it receives with DDP?
# 3. Later you break the program: **w** wraps only the whole network, **o** creates the optimizer before sharding,
#    **n** clips by each rank's own norm. In which of these runs does the loss fall as usual? Write letters, or
#    `none`.

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_held and predict_sent to numbers, predict_same to letters
predict_held, predict_sent, predict_same = 0.5, 1.5, "wn"
### END SOLUTION
course.answers.note(predict_held=predict_held, predict_sent=predict_sent, predict_same=predict_same)

# %% [markdown]
# ## What must each rank hold?
#
# A device that trains holds parameters, gradients, the optimizer's numbers, and activations. The first three are the
# *state*. In float32, each parameter needs 4 bytes, and its gradient another 4. SGD keeps nothing more, momentum one
# number per parameter, and Adam two. So with Adam, a network of 7 billion parameters needs 112 GB before the first
# activation.
#
# *Mixed precision* has two meanings (lesson 03). With **autocast**, all of this stays float32, and only products are
# computed in bfloat16. (Until the backward pass is over, it also keeps bfloat16 copies of the weights: 2 bytes more.)
# With **bfloat16 parameters and float32 copies** (`precision="mixed"` here), parameters and gradients need 2 bytes
# each, and the optimizer keeps a float32 copy beside its means, for steps that are too small for bfloat16. Both need
# 16 bytes per parameter with Adam, but split them differently.
#
# **Exercise 13.1.** `state_bytes` in `state.py` returns the bytes on one rank at the end of the backward pass: a
# dictionary with the keys `parameters`, `gradients` and `optimizer`.

# %% tags=["check"]
course.check("13.1", state.state_bytes)

# %% [markdown]
# ## A part for every rank
#
# `zero.py` groups the parameters into *units*: one for each block of the GPT, and one for everything else. A unit
# travels in one message. Its parameters become views of one long tensor called `whole`. The optimizer updates
# only this rank's `part` of `whole`.
#
# **Exercise 13.2.** `part_of(flat, rank, size)` returns a rank's part of the tensor `flat`. Collectives need parts
# of equal length, so first append zeros to `flat`.

# %% tags=["check"]
course.check("13.2", zero.part_of)

# %% [markdown]
# ## Gather and collect
#
# Two collectives do all the work:
#
# - **All-gather**: each rank gives its part and gets all parts.
# - **Reduce-scatter**: each rank gives all of its numbers and gets one part of their sum over the ranks.
#
# Together, they form an allreduce (lesson 06). ZeRO updates the parameters in between.
#
# **Exercise 13.3.** `Unit.gather` fills `self.whole` with the parts of all ranks, using
# `dist.all_gather_into_tensor`. `Unit.collect` turns the whole gradients into
# `self.part.grad`, this rank's part of their mean, and drops the whole ones. `self.reduce_scatter(flat)` returns
# this rank's part of the sum.
#
# **Exercise 13.4.** `ring_reduce_scatter` in `ring.py` works in rounds. In each round, a rank sends one part to the
# right, receives another part from the left, and adds its own numbers to it. Start by sending part `rank - 1`, and
# you end with part `rank`. Put both messages of a round into one `dist.batch_isend_irecv` (lesson 11).

# %% tags=["check"]
course.check("13.3", zero)
course.check("13.4", ring)

# %% [markdown]
# ## When?
#
# | stage | parameters | whole gradients become parts |
# |---|---|---|
# | 1 | stay whole; gathered after the update | before the update, all units |
# | 2 | as in stage 1 | as soon as a unit has all its gradients |
# | 3 | gathered before the unit's forward pass and freed after it; gathered again before its backward pass, freed when its gradients are collected | as in stage 2 |
#
# `Zero.before_step` and `Zero.after_step` run right before and after the update. Hooks do the rest:
# `module.register_forward_pre_hook`, `module.register_forward_hook`, `module.register_full_backward_pre_hook`, and
# `unit.when_complete(call, …)`, which runs its calls when the backward pass has computed all gradients of the unit.
# PyTorch calls a hook with arguments, which you don't need here: `lambda *_: unit.gather()`. The whole network is a
# unit too: it has the parameters that are in no block.
#
# **Exercise 13.5.** `watch(module, unit, stage)` registers the hooks that a stage needs.
#
# **Exercise 13.6.** `clip(gradients, most)` limits the norm of the gradients to `most`. The norm must include *all*
# gradients, but no rank has them all. As PyTorch's `clip_grad_norm_` does, multiply by `most / (norm + 1e-6)`, or by
# 1 if that is less.

# %% tags=["check"]
course.check("13.5", zero.watch)
course.check("13.6", zero)

# %% [markdown]
# ## fully_shard
#
# PyTorch does the same with one call per unit. `fully_shard(block)` replaces the block's parameters with
# `DTensor`s, and each rank holds some of their rows. Hooks gather and free them, as yours do. You can choose:
#
# - **Units.** Each call makes one unit from the parameters that are not yet in a unit. So call `fully_shard` for the
#   blocks first and for the network last. Large units need more memory, small units more messages.
# - **Freeing.** The network's own unit stays whole after its forward pass, because the backward pass begins with
#   it. `reshard_after_forward` changes this for any unit.
# - **Prefetch.** On GPUs, the next unit is gathered while this one computes, so two whole units are in memory at a
#   time.
# - **Precision**, with a `MixedPrecisionPolicy`. Units are gathered and computed in `param_dtype`, and gradients
#   are added up in `reduce_dtype`. The parts stay float32.
#
# `torch.nn.utils.clip_grad_norm_` knows DTensors: it takes the norm over all ranks. Create the optimizer *after*
# sharding, because it must get the new parameters.
#
# **Exercise 13.7.** `shard` in `library.py` makes each block one unit and the rest another, in place. The cell
# then shows what changed in `train.py` since lesson 00. (`ways.py` calls your functions.)

# %% tags=["check"]
course.check("13.7", library)
course.show_diff(
    "00_cluster/train_gpt.py",
    "train.py",
    share_out="share_out|WAYS|way|reduce-scatter|policy",
    step_in_parts=r"shared\.|before_step|after_step|most",
    recompute="recompute",
    save=r"save\(|--save",
)

# %% [markdown]
# ## Is it the same, and who holds what?
#
# One job trains in all five ways. Then its `probe.py` tests each of them: your functions train a small float64
# network for four steps, and one process repeats these with the texts of all ranks.

# %%
runs, probes = train()

# %% tags=["hide-input"]
for way, run in probes.items():
    loss, error = runs[way].epochs[-1].train_loss.value, measure(run, "serial_error")
    held, peak = measure(run, "state_bytes") / 1e6, measure(run, "peak_bytes") / 1e6
    sent = measure(run, "times_params")
    print(f"{way}: loss {loss:.3f}, {error:.0e} from serial; ", end="")
    print(f"{held:.1f} MB of state, {peak:.1f} MB at most, {sent:.2f} × parameters received")
held = measure(probes["zero3"], "state_bytes") / measure(probes["ddp"], "state_bytes")
course.predictions.compare("predict_held", held)
sent = measure(probes["zero3"], "times_params") / measure(probes["ddp"], "times_params")
course.predictions.compare("predict_sent", sent)
twice = "Is a unit gathered or collected more often than the table says?"
course.expectations.compare(
    "zero3's bytes over ddp's", sent, (1.45, 1.6), above=twice, counted=True
)

# %% [markdown]
# **What you should see.** The losses agree in all digits, and the float64 parameters differ by 4e-12. On two ranks
# with 814,720 parameters (the number depends on which characters your Python's text contains):
#
# | | state, MB | at most, MB | × parameters received |
# |---|---|---|---|
# | `ddp` | 13.0 | 15.6 | 1.00 |
# | `zero1` | 9.8 | 11.4 | 1.00 |
# | `zero2` | 8.1 | 10.6 | 1.00 |
# | `zero3` | 6.5 | 9.8 | 1.50 |
# | `fsdp` | 6.5 | about 10 | 1.99 |
#
# (PyTorch 2.13 with Gloo. NCCL's messages are not counted: `nan`.) *State* is what PyTorch holds at the end of the
# backward pass, *at most* the peak of all tensors in a step with one text.
#
# Stages 1 and 2 send no more than DDP, because an allreduce *is* a reduce-scatter and an all-gather. Stage 3 gathers
# twice, so it sends half as much again.
#
# ## The staircase

# %%
peak = measure(probes["zero3"], "peak_bytes") / measure(probes["ddp"], "peak_bytes")
whole = "Is a unit freed after its forward pass, and are whole gradients dropped?"
course.expectations.compare("zero3's peak over ddp's", peak, (0.2, 0.7), above=whole, counted=True)
course.plots.staircase(probes, save="my_staircase.png")

# %% [markdown]
# **What you should see.**
#
# - The dashed line is DDP, which holds all of the state. Activations pile up in the forward pass and are freed in the
#   backward pass.
# - Stage 1 (blue) collects all gradients after the backward pass. Stage 2 collects them unit by unit: after
#   each peak, only this rank's part of a block's gradients is left.
# - Stage 3 and `fsdp` start lowest. Each bump is a block that is gathered, computed, and freed.
# - All of them need more than half of DDP's memory. Activations are not sharded, and a unit is whole while it
#   computes.
#
# ## What does Gloo do?
#
# Your ring sends only what it must. `--reduce-scatter library` uses PyTorch's `dist.reduce_scatter_tensor` instead.
# (`fsdp` is for the next section.)

# %%
words = ["--ways", "zero2", "fsdp", "--reduce-scatter", "library", "--policy", "mixed"]
_, gloo = train(*words, *brief)
mixed = gloo["fsdp"]
print(f"zero2: {measure(gloo['zero2'], 'times_params'):.2f} × parameters received")

# %% [markdown]
# **What you should see.** Each of two ranks receives 1.50 times its parameters instead of 1.00 times: with Gloo,
# PyTorch runs a full allreduce and keeps one part of the result. That is why `fsdp` received 2 × above. NCCL has a
# real reduce-scatter.
#
# ## Compute twice, keep less
#
# Sharding does not divide activations, because each rank has its own texts. **Activation checkpointing** keeps only
# the input of each block. In the backward pass, the block is computed once more. This second forward
# pass makes a step compute a third more, because a backward pass costs as much as two forward passes.
#
# **Exercise 13.8.** `recompute` in `library.py` uses `torch.utils.checkpoint.checkpoint`. Set
# `use_reentrant=False`: the older variant gives no gradients if the block's input needs none.

# %% tags=["check"]
course.check("13.8", library.recompute)

# %%
twice = train("--ways", "fsdp", "--recompute", *brief)[1]["fsdp"]
for name, run in {"fsdp": probes["fsdp"], "recompute": twice, "mixed": mixed}.items():
    kept, sent = measure(run, "activation_bytes") / 1e6, measure(run, "times_params")
    print(f"{name}: {kept:.1f} MB of activations, {sent:.2f} × parameters received, ", end="")
    print(f"{measure(run, 'serial_error'):.0e} from serial")
kept = measure(twice, "activation_bytes") / measure(probes["fsdp"], "activation_bytes")
course.expectations.compare("recompute's activations over fsdp's", kept, (0.05, 0.3), counted=True)

# %% [markdown]
# **What you should see.** With `recompute`, the forward pass leaves 0.3 MB behind instead of 2.3 MB. With `mixed`,
# gathering a block takes half the bytes, so each rank receives 1.5 times the parameters instead of 2.0 times. The
# activations need half the bytes, too. Gradients still travel in float32. The price is precision. After four steps of
# Adam with a rate of 0.01, half of the parameters differ by less than 1e-4 from the serial program's, but one differs
# by nearly 0.04: the farthest that Adam can go. Take the biases of the keys. Attention does not depend on them, so
# their gradient is 0, and in float64 they stay where they are. In bfloat16 rounding leaves a tiny gradient, which
# Adam turns into a whole step.
#
# Which bytes does a rank *keep* under this policy? Look at `library.py`. (`mixed_bytes`, below.)
#
# ## A checkpoint that all ranks write
#
# If no rank has room for all parameters, no rank can save them alone. With `torch.distributed.checkpoint` (`dcp`),
# every rank writes the parts that it holds, and a file `.metadata` lists where each part is. A reader takes only what
# *it* needs, so the number of ranks may change. Use a new folder for each checkpoint, on a file system that all ranks
# see: `dcp` writes in place, and a job that dies halfway leaves a mixture that loads.
#
# - `get_state_dict(model, optimizer)` returns two dictionaries of names and (sharded) tensors.
# - `dcp.save({"model": …, "optimizer": …}, checkpoint_id=folder)` is a collective: **all** ranks must call it.
# - `dcp.load(the same, checkpoint_id=folder)` fills the tensors in the dictionaries that you pass, also those of a
#   new optimizer. Then `set_state_dict(model, optimizer, model_state_dict=…, optim_state_dict=…)` puts them into
#   network and optimizer.
#
# **Exercise 13.9.** `save` and `load` in `saving.py` write and read both dictionaries.

# %% tags=["check"]
course.check("13.9", saving)

# %% [markdown]
# Train once more with `fsdp`, and save. `probe.py` then also saves and loads a small network, and compares the next
# step. Last, `load.py` loads the checkpoint on **one** rank, and writes a text.

# %%
one = course.on_nodes(1, gpus if profile == "full" else "")
saved, tested = (found["fsdp"] for found in train("--ways", "fsdp", "--save", "checkpoint"))
[loaded] = course.submit("job_load.sbatch", *size, options=one)
course.show_output([loaded])
for name, run in {"wrote": saved, "read": loaded}.items():
    print(f"{run.workers} rank(s) {name}: test loss {run.test_loss.value:.6f}")
print(f"the next step's parameters are {measure(tested, 'checkpoint_error'):.0e} apart")

# %% [markdown]
# **What you should see.** The losses are equal, and so is the next step, because Adam's means were saved as well.
# (The text is noise: a few steps teach little.)
#
# ## Break it
#
# `break_it.py` trains with `fully_shard`, first with `nothing` wrong (your `library.py`), then with one line wrong:
#
# | `without` | what is different |
# |---|---|
# | `wrap` | the blocks are not wrapped, only the whole network |
# | `optimizer` | the optimizer is created before `shard` |
# | `norm` | each rank clips by the norm of its own parts |
# | `save` | only rank 0 asks for the full parameters, to save them |

# %%
found = course.submit("job_break.sbatch", *size, "--epochs", 2, options=several)
broken = {run.header["without"]: run for run in found}
intact = broken["nothing"].epochs[-1].train_loss.value
usual = [
    name
    for name in ("wrap", "optimizer", "norm")
    if broken[name].epochs[-1].train_loss.value < intact + 0.1
]
course.predictions.compare("predict_same", "".join(name[0] for name in usual) or "none")
course.plots.faults(broken, path="", more=["peak_kb", "serial_error"])

# %% [markdown]
# **What you should see.** On two ranks, with PyTorch 2.13 on CPUs:
#
# - `wrap` trains correctly, but its peak is 13.6 MB instead of about 10 MB: all parameters are gathered at the same
#   time.
# - `optimizer` learns nothing. `fully_shard` put new parameters into the network, but the optimizer updates the old
#   ones. No error reports this.
# - `norm` looks perfect: the loss falls as usual. Only the comparison with one process shows the error: a parameter
#   differs by 8e-3 instead of 4e-12.
# - `save` stops after 5 seconds, the timeout of this run (`Timed out waiting 5000ms`). Rank 0 waits for parts that
#   nobody sends. (With NCCL, a watchdog ends the process, by default after 10 minutes: [What NCCL
#   says](../../docs/nccl.md).)
#
# ## What fits?
#
# | way | a device holds |
# |---|---|
# | `"ddp"`, `"zero1"` | its state; activations of all blocks, for its batch |
# | `"zero2"` | the same, plus the largest unit's whole gradients |
# | `"zero3"` | as `"zero2"`, plus the largest unit's whole parameters |
# | `"recompute"` | as `"zero3"`, but the activations are each block's input, and everything in one block, for its batch |
#
# Take the first way that fits. (The table is an estimate. Prefetch needs room for a second whole unit, `fully_shard`
# for a float32 copy of a unit's gradients, and libraries for a gigabyte or so.)
#
# **Exercise 13.10.** `needs(network, way)` returns the bytes on each device. `network` has `params`, `largest`
# (parameters of the largest unit), `precision`, `blocks`, `block_bytes` and `input_bytes` (for one text), `batch`
# (texts on each device) and `devices`. `state.state_bytes` knows `"zero3"`, but not `"recompute"`;
# add up its three values. The size of whole gradients and parameters depends on `precision`, as in 13.1.

# %%
from networks import NETWORKS, fits

for name, network in NETWORKS.items():
    print(f"{name}: {network}")


# %% tags=["exercise"]
def needs(network, way):
    ### BEGIN SOLUTION Exercise 13.10: state, what is whole of the largest unit, activations
    stage = "zero3" if way == "recompute" else way
    held = state.state_bytes(network.params, stage, network.devices, network.precision)
    unit = state.state_bytes(network.largest, "ddp", 1, network.precision)
    whole = unit["gradients"] if stage in ("zero2", "zero3") else 0
    whole += unit["parameters"] if stage == "zero3" else 0
    kept = network.blocks * network.block_bytes
    if way == "recompute":
        kept = network.blocks * network.input_bytes + network.block_bytes
    return sum(held.values()) + whole + network.batch * kept
    ### END SOLUTION


# %% tags=["check"]
course.check("13.10", needs)

# %%
ways = {name: fits(network, needs) for name, network in NETWORKS.items()}
for name, (way, much) in ways.items():
    print(f"{name}: {way}" + (f", {much / 1e9:.4g} GB" if way != "none" else " fits"))
fit = {f"fits_{name}": f"{much / 1e9:.4g}" for name, (way, much) in ways.items() if way != "none"}
course.answers.note(**fit)

# %% [markdown]
# If none of them fits, use more devices, move the parts to the CPU's memory (`CPUOffloadPolicy`, slow), or cut the
# network (lesson 11): between layers if the links are slow, or within layers if no device can hold the largest one.
# On several nodes, whose links are slower, give `fully_shard` a mesh of two dimensions: it then shards within a node
# and averages between nodes (*HSDP*).
#
# ## Questions
#
# - `devices_f`: what is the smallest number of devices that network f needs, if you could ask for any number?
#   (`network._replace(devices=…)`)
# - `gloo_times`: on 4 ranks in stage 2, how much does a rank receive per step if Gloo does the reduce-scatter, as a
#   multiple of its parameters?
# - `mixed_bytes`: under the *policy* `"mixed"`, how many bytes does a rank keep for each parameter of its part, for
#   the gradient, and for Adam's numbers? A word such as `"1-2-3"`.
# - `faults_8_blocks`: these are records of `break_it.py --layers 8 --width 96`. Which record is `wrap`, which is
#   `optimizer`, and which is `norm`? Write the three letters in this order, as one word.
#
# | record | loss in epochs 1, 2 | peak, kB | from serial |
# |---|---|---|---|
# | intact | 4.028, 3.424 | 10,177 | 4e-12 |
# | A | 5.105, 5.043 | 11,774 | 4e-2 |
# | B | 4.028, 3.434 | 10,177 | 8e-3 |
# | C | 4.028, 3.424 | 15,994 | 4e-12 |

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: devices_f, gloo_times, mixed_bytes and faults_8_blocks
devices_f = next(
    n for n in range(1, 99) if fits(NETWORKS["f"]._replace(devices=n), needs)[0] != "none"
)
gloo_times = 3 * 3 / 4
mixed_bytes = "4-4-8"
faults_8_blocks = "CAB"
### END SOLUTION
course.answers.note(devices_f=devices_f, gloo_times=gloo_times)
course.answers.note(mixed_bytes=mixed_bytes, faults_8_blocks=faults_8_blocks)

# %% [markdown]
# ## Traps
#
# | you see | cause |
# |---|---|
# | out of memory with `fully_shard`, although a part fits easily | only the network was wrapped |
# | out of memory although the parameters fit four times | gradients, Adam's numbers, activations |
# | the loss does not fall, nothing else is wrong | the optimizer was created before `fully_shard` |
# | the loss is as usual, but the parameters are not those of one process | clipping by a rank's own norm |
# | nothing, then `Timed out waiting`, or `Connection closed by peer` once another rank ends | only rank 0 called a collective: `full_tensor`, `dcp.save`, a forward pass |
#
# ## Recap
#
# - Adam needs 16 bytes per parameter. Stage 1 shards 8 of them (12 with bfloat16 parameters), stage 2 shards another
#   4 (2), and stage 3 shards all.
# - Stages 1 and 2 send what DDP sends. Stage 3 sends half as much again.
# - Compare the result with one process once, in float64.
# - Sharding does not shrink activations. Recomputing them does.
# - All ranks save a checkpoint, and any number of ranks can load it.
#
# **Submit** your work in a terminal:
#
#     lessons submit 13
#
# Further reading: Rajbhandari and others, *ZeRO*, arXiv:1910.02054; Zhao and others, *PyTorch FSDP*,
# arXiv:2304.11277; Chen and others, *Training deep nets with sublinear memory cost*, arXiv:1604.06174.
