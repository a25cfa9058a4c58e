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
# With DistributedDataParallel every rank holds the same parameters, the same gradients and the same numbers of
# the optimizer. Copies are a waste: for each parameter it is enough that *one* rank keeps it, as long as
# the others can borrow it in time. This idea is called ZeRO (*zero redundancy optimizer*). It has three stages:
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
# You write all three over `torch.distributed`, then replace them by PyTorch's `fully_shard` (FSDP2). It stays
# data parallelism: every rank reads its own texts and computes all layers.
#
# The network is lesson 00's GPT, and the program is that lesson's `train_gpt.py` with small changes. Allow 110
# minutes. On two CPU cores all jobs of this page take about a minute together.

# %% tags=["parameters"]
profile = "smoke"  # "smoke": two CPU cores. "full": a larger network, GPUs
ranks = 2  # in "full" as many as you have GPUs on one node
gpus = "gres=gpu:{n}"  # "full": how your site asks for n GPUs of a node

# %% tags=["setup"]
import importlib

from autograder.reading.files import read_files
from lessons.toolkit import answers, plots, predictions
from lessons.toolkit.checks import lesson_13 as check

import library
import ring
import saving
import state
import zero

size = {"smoke": [], "full": ["--layers", "12", "--width", "768", "--windows", "3200"]}[profile]

# %% [markdown]
# ## Predict
#
# 1. Adam, float32, two ranks. How many bytes of state (parameters, gradients, optimizer) does a rank hold with
#    stage 3, as a fraction of DDP's?
# 2. How many bytes does a rank receive per step with stage 3, as a multiple of DDP's?
# 3. Later you break the program: **w** wraps only the whole network, **o** makes the optimizer before sharding,
#    **n** clips by each rank's own norm. In which of these runs does the loss fall as usual? Letters, or `none`.

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_held and predict_sent to numbers, predict_same to letters
predict_held, predict_sent, predict_same = 0.5, 1.5, "wn"
### END SOLUTION
answers.note(predict_held=predict_held, predict_sent=predict_sent, predict_same=predict_same)

# %% [markdown]
# ## What must each rank hold?
#
# With Adam in float32, a parameter needs 4 bytes, its gradient 4, and the optimizer 8: two running means. So a
# network of 7 billion parameters needs 112 GB before the first activation.
#
# Lesson 11 named two kinds of mixed precision. With **autocast** everything above stays float32. With
# **bfloat16 parameters and float32 copies**, `"mixed"` here, parameters and gradients have 2 bytes each, and the
# optimizer keeps a float32 copy beside its two means. Both need 16 bytes per parameter.
#
# **Exercise 13.1.** `state_bytes` in `state.py`: the bytes on one rank when the backward pass has ended.

# %% tags=["check"]
importlib.reload(state)  # so that the cell sees what you just saved
check.check_13_1(state.state_bytes)

# %% [markdown]
# ## A part for every rank
#
# `zero.py` groups parameters into *units*: one per block of the GPT, and one for the rest. A unit is what
# travels in one message. Its parameters become views of one long tensor, `whole`. This rank's `part` of `whole`
# is what the optimizer updates.
#
# **Exercise 13.2.** `part_of(flat, rank, size)`. Collectives want parts of equal length, so fill up with zeros.

# %% tags=["check"]
importlib.reload(zero)
check.check_13_2(zero.part_of)

# %% [markdown]
# ## Gather and collect
#
# Two collectives do all the work:
#
# | | each rank gives | each rank gets |
# |---|---|---|
# | all-gather | its part | all parts |
# | reduce-scatter | all numbers | its part of their sum |
#
# Together they are an allreduce: lesson 06's ring was a reduce-scatter followed by an all-gather. ZeRO takes them
# apart and updates in between.
#
# **Exercise 13.3.** `Unit.gather` fills `self.whole`. `Unit.collect` turns whole gradients into `self.part.grad`,
# this rank's part of their mean, and lets go of the whole ones. `self.reduce_scatter(flat)` gives the part of
# the sum.
#
# **Exercise 13.4.** `ring_reduce_scatter` in `ring.py`. In every round each rank sends one part to the right,
# receives one from the left and adds it to its own. Begin with part `rank - 1`, so that you end with part `rank`.
# With `dist.batch_isend_irecv` (lesson 11) nobody waits for a neighbour who waits.

# %% tags=["check"]
importlib.reload(zero)
importlib.reload(ring)
check.check_13_3(zero)
check.check_13_4(ring)

# %% [markdown]
# ## When?
#
# | stage | parameters | whole gradients become parts |
# |---|---|---|
# | 1 | stay whole; gathered after the update | before the update, all units |
# | 2 | the same | as soon as a unit has all of its gradients |
# | 3 | gathered before the unit's forward pass and freed after it; gathered again before its backward pass, freed when its gradients are collected | the same as 2 |
#
# `Zero.before_step` and `Zero.after_step` do what surrounds the update. The rest are hooks:
# `module.register_forward_pre_hook`, `module.register_forward_hook`, `module.register_full_backward_pre_hook`, and
# `unit.when_complete(call, …)`, which makes its calls when the backward pass has all gradients of the unit. A
# hook is a function that takes what you do not need: `lambda *_: unit.gather()`.
#
# **Exercise 13.5.** `watch(module, unit, stage)`.
#
# **Exercise 13.6.** `clip(gradients, most)`. Long steps spoil a training, so the gradients' norm is limited. The
# norm is that of *all* gradients, and no rank has them all.

# %% tags=["check"]
importlib.reload(zero)
check.check_13_5(zero.watch)
check.check_13_6(zero)

# %% [markdown]
# ## fully_shard
#
# PyTorch does the same in one call per unit. `fully_shard(block)` turns the block's parameters into `DTensor`s:
# each rank has some of their rows. Hooks gather and free them, as yours do. What you choose:
#
# - **Units.** Every call makes one of the parameters that are not yet in a unit, so blocks come first and the
#   network last. (Older texts: the *wrap policy*.) Large units need more memory, small ones more messages.
# - **Prefetch.** On GPUs the next unit is gathered while this one computes. So two are whole at a time; yours
#   wait for each other.
# - **Precision**, by a `MixedPrecisionPolicy`. `param_dtype` is what units are gathered and computed in,
#   `reduce_dtype` what gradients are added in. The parts stay float32.
# - **Clipping**: `torch.nn.utils.clip_grad_norm_` knows DTensors and takes the norm of all ranks.
#
# The optimizer comes *after*: it must get the new parameters.
#
# **Exercise 13.7.** `shard` in `library.py`.

# %% tags=["check"]
importlib.reload(library)
check.check_13_7(library)

# %% [markdown]
# ## Is it the same, and who holds what?
#
# One job trains by all five ways from the same start. Each way first makes four steps of a small network in
# float64 with your functions. Its parameters are compared with those of one network that reads the texts of all
# ranks.

# %%
from cluster.jobs.notebook import on_nodes, submit_once

several = on_nodes(ranks, gpus if profile == "full" else "")


def train(*words, options=several):
    found = read_files(submit_once("job.sbatch", *size, *words, options=options))
    return {run.header["source"]: run for run in found}


def measure(run, name):
    return next((each["value"] for each in run.measures if each["name"] == name), float("nan"))


runs = train("--save", "checkpoint")

# %%
for way, run in runs.items():
    loss, error = run.epochs[-1].train_loss.value, measure(run, "serial_error")
    held, peak = measure(run, "state_bytes") / 1e6, measure(run, "peak_bytes") / 1e6
    sent = measure(run, "times_params")
    print(f"{way}: loss {loss:.3f}, {error:.0e} from serial; ", end="")
    print(f"{held:.1f} MB of state, {peak:.1f} MB at most, {sent:.2f} × parameters received")
held = measure(runs["zero3"], "state_bytes") / measure(runs["ddp"], "state_bytes")
predictions.compare("predict_held", held)
sent = measure(runs["zero3"], "times_params") / measure(runs["ddp"], "times_params")
predictions.compare("predict_sent", sent)

# %% [markdown]
# **What you should see.** The losses agree in all digits, and float64 differs by 4e-12. On two ranks with 814,720
# parameters (their number depends on the characters of your Python's text):
#
# | | state, MB | at most, MB | × parameters received |
# |---|---|---|---|
# | `ddp` | 13.0 | 15.6 | 1.00 |
# | `zero1` | 9.8 | 11.4 | 1.00 |
# | `zero2` | 8.1 | 10.6 | 1.00 |
# | `zero3` | 6.5 | 9.8 | 1.50 |
# | `fsdp` | 6.5 | about 10 | 1.99 |
#
# (PyTorch 2.13 and Gloo; bytes depend on no processor.) *State* is what PyTorch holds when the backward pass has
# ended. *At most* is the peak of all tensors alive during a step with one text. The kernel counted the bytes
# received. Stages 1 and 2 send no more than DDP, because an allreduce *is* a reduce-scatter and an all-gather.
# Stage 3 gathers twice, so it sends half as much again. Why `fsdp` sends 2 is a question for later.
#
# ## The staircase

# %%
plots.staircase(runs, save="my_staircase.png")

# %% [markdown]
# **What you should see.** Read it from left to right.
#
# - The dashed line is DDP: all of the state from the first moment to the last. Activations pile up in the
#   forward pass and go in the backward pass.
# - Stage 1 (blue) collects all gradients after the backward pass. Stage 2 collects them unit by unit: each
#   peak is one block whose whole gradients become a part.
# - Stage 3 and `fsdp` begin lowest. Each step is a block that is gathered; it goes when it has computed.
# - Nobody gets down to half. Activations are not sharded, and the unit that computes is whole.
#
# ## What does Gloo do?
#
# Your ring sends what it has to. `--reduce-scatter library` takes PyTorch's `dist.reduce_scatter_single` instead.
# (The same job trains `fsdp` by the policy `mixed`, for the next section.)

# %%
brief = ["--epochs", "1", "--windows", "48"]
gloo = train("--ways", "zero2", "fsdp", "--reduce-scatter", "library", "--policy", "mixed", *brief)
mixed = gloo.pop("fsdp")
for way, run in gloo.items():
    print(f"{way}: {measure(run, 'times_params'):.2f} × parameters received")

# %% [markdown]
# **What you should see.** On two ranks 1.50 instead of 1.00. Gloo has no reduce-scatter of its own: PyTorch lets
# it make a whole allreduce, and keeps one part of the result. This is why `fsdp` received 2 × parameters above.
# NCCL has a real one. So count bytes before you believe a table, this one too.
#
# ## Compute twice, keep less
#
# Sharding divides the state. It does not touch activations: each rank has its own texts. **Activation
# checkpointing** keeps only what goes into a block. In the backward pass the block computes once more, so a step
# has a third more to compute: forward, forward, and a backward pass that costs as much as two. (These
# *checkpoints* have nothing to do with those on the disk.)
#
# **Exercise 13.8.** `recompute` in `library.py`, with `torch.utils.checkpoint.checkpoint`. Take
# `use_reentrant=False`: the older kind gives no gradients if the block's input needs none.

# %% tags=["check"]
importlib.reload(library)
check.check_13_8(library.recompute)

# %%
[twice] = train("--ways", "fsdp", "--recompute", *brief).values()
for name, run in {"fsdp": runs["fsdp"], "recompute": twice, "mixed": mixed}.items():
    kept, sent = measure(run, "activation_bytes") / 1e6, measure(run, "times_params")
    print(f"{name}: {kept:.1f} MB of activations, {sent:.2f} × parameters received, ", end="")
    print(f"{measure(run, 'serial_error'):.0e} from serial")

# %% [markdown]
# **What you should see.** With `recompute` the forward pass leaves 0.3 MB behind instead of 2.3, and training
# stays the same to 4e-12. With `mixed` the gathered blocks have half the bytes: 1.5 instead of 2.0 times the
# parameters arrive. Gradients still travel in float32. The price is 0.04 from serial after four steps, in a
# network where everything else is float64: bfloat16 has about three digits.
#
# Which of lesson 11's two kinds is the policy `"mixed"`? (`mixed_kind`, below.) Look at which tensors are
# bfloat16.
#
# ## A checkpoint that all ranks write
#
# The full parameters may fit on no rank, so nobody can save them alone. With `torch.distributed.checkpoint`
# every rank writes the parts that it holds, and a file `.metadata` says what is where. A reader takes what *it*
# needs, so the number of ranks may change.
#
# - `get_state_dict(model, optimizer)` gives two dictionaries of names and (sharded) tensors.
# - `dcp.save({"model": …, "optimizer": …}, checkpoint_id=folder)`: on **all** ranks, it is a collective.
# - `dcp.load(the same, checkpoint_id=folder)` fills the tensors of dictionaries that you give it. Then
#   `set_state_dict` puts them into network and optimizer.
#
# **Exercise 13.9.** `save` and `load` in `saving.py`.

# %% tags=["check"]
importlib.reload(saving)
check.check_13_9(saving)

# %% [markdown]
# Exercise 13.9 was still a gap when the job above ran? Then submit it again. `load.py` builds another network on
# **one** rank, loads, writes a text, and makes one more step.

# %%
one = on_nodes(1, gpus if profile == "full" else "")
if "ranks_wrote" not in {each["name"] for each in runs["fsdp"].measures}:
    runs |= train("--ways", "fsdp", "--save", "checkpoint")
[loaded] = read_files(submit_once("job_load.sbatch", *size, options=one))
for name, run in {"wrote": runs["fsdp"], "read": loaded}.items():
    test, after = run.test_loss.value, measure(run, "next_loss")
    print(f"{run.workers} rank(s) {name}: test loss {test:.6f}, {after:.6f} after the next step")

# %% [markdown]
# **What you should see.** Equal losses. The second one shows that Adam's running means were saved as well.
#
# ## Break it
#
# `break_it.py` trains with `fully_shard`, once with `nothing` wrong (your `library.py`), then with one line wrong:
#
# | `without` | what is different |
# |---|---|
# | `wrap` | the blocks are not wrapped, only the whole network |
# | `optimizer` | the optimizer is made before `shard` |
# | `norm` | each rank clips by the norm of its own parts |
# | `save` | rank 0 alone asks for the full parameters, to save them |

# %%
found = read_files(submit_once("job_break.sbatch", *size, options=several))
broken = {run.header["without"]: run for run in found}
intact = broken["nothing"].epochs[-1].train_loss.value
usual = [
    name
    for name in ("wrap", "optimizer", "norm")
    if broken[name].epochs[-1].train_loss.value < intact + 0.1
]
predictions.compare("predict_same", "".join(name[0] for name in usual) or "none")
plots.faults(broken, path="", more=["peak_kb", "serial_error"])

# %% [markdown]
# **What you should see.** On two ranks, with PyTorch 2.13 on CPUs:
#
# - `wrap` trains correctly, and holds 13.6 MB at most instead of about 10: everything is gathered at the same
#   time. On a network that only just fits, this is where memory runs out.
# - `optimizer` learns nothing. `fully_shard` put new parameters into the network, and the optimizer steps the old
#   ones, which it also keeps in memory. No error says so.
# - `norm` looks perfect: the loss falls as usual. Each rank scales its parts by another factor, which only the
#   comparison with one network shows (8e-3 instead of 4e-12).
# - `save` stops after 5 seconds, the timeout here: `Timed out waiting 5000ms for send operation to complete`. Rank
#   0 waits for parts that nobody sends. With the usual timeout it would wait for half an hour.
#
# ## What fits?
#
# | way | a device holds |
# |---|---|
# | `"ddp"`, `"zero1"`, `"zero2"` | its state, activations of all blocks for its batch |
# | `"zero3"` | its state; parameters and gradients of the largest unit, whole; the same activations |
# | `"recompute"` | as `"zero3"`, but of the activations each block's input, and one block's everything |
#
# Take the first way that fits: they are ordered by what they cost in messages and time.
#
# **Exercise 13.10.** `needs(network, way)`: the bytes on each device. `network` has `params`, `largest`
# (parameters of the largest unit), `precision`, `blocks`, `block_bytes` and `input_bytes` (for one text), `batch`
# (texts on each device) and `devices`. `state.state_bytes` knows `"zero3"`, not `"recompute"`.

# %%
from networks import NETWORKS, fits

for name, network in NETWORKS.items():
    print(f"{name}: {network}")


# %% tags=["exercise"]
def needs(network, way):
    ### BEGIN SOLUTION Exercise 13.10: state, the largest unit if parameters are shared, activations
    stage = "zero3" if way == "recompute" else way
    held = state.state_bytes(network.params, stage, network.devices, network.precision)
    unit = state.state_bytes(network.largest, "ddp", 1, network.precision)
    whole = unit["parameters"] + unit["gradients"] if stage == "zero3" else 0
    kept = network.blocks * network.block_bytes
    if way == "recompute":
        kept = network.blocks * network.input_bytes + network.block_bytes
    return sum(held.values()) + whole + network.batch * kept
    ### END SOLUTION


# %% tags=["check"]
check.check_13_10(needs)

# %%
for name, network in NETWORKS.items():
    way, much = fits(network, needs)
    print(f"{name}: {way}, {much / 1e9:.4g} GB")
    if way != "none":
        answers.note(**{f"fits_{name}": f"{much / 1e9:.4g}"})

# %% [markdown]
# ## Questions
#
# - `devices_f`: with how many devices does network f fit at least? (`network._replace(devices=…)`)
# - `gloo_times`: on 4 ranks, how many times its parameters does a rank of stage 2 receive per step with Gloo's
#   own reduce-scatter?
# - `mixed_kind`: is the policy `"mixed"` lesson 11's `"autocast"`, or bfloat16 parameters with float32
#   `"copies"`?
# - `faults_8_blocks`: three records of `break_it.py --layers 8 --width 96`. Which is `wrap`, which `optimizer`,
#   which `norm`? The letters in this order, as one word.
#
# | record | loss of epochs 1, 2 | kB at most | from serial |
# |---|---|---|---|
# | intact | 4.028, 3.424 | 10,177 | 4e-12 |
# | A | 5.105, 5.043 | 11,774 | 4e-2 |
# | B | 4.028, 3.434 | 10,177 | 8e-3 |
# | C | 4.028, 3.424 | 15,994 | 4e-12 |

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: devices_f, gloo_times, mixed_kind and faults_8_blocks
devices_f = next(
    n for n in range(1, 99) if fits(NETWORKS["f"]._replace(devices=n), needs)[0] != "none"
)
gloo_times = 3 * 3 / 4
mixed_kind = "copies"
faults_8_blocks = "CAB"
### END SOLUTION
answers.note(devices_f=devices_f, gloo_times=gloo_times)
answers.note(mixed_kind=mixed_kind, faults_8_blocks=faults_8_blocks)

# %% [markdown]
# ## Traps
#
# | you see | cause |
# |---|---|
# | out of memory with `fully_shard`, although a part fits easily | only the network was wrapped |
# | the loss does not fall, nothing else is wrong | the optimizer was made before `fully_shard` |
# | loss as usual, parameters not those of one network | a norm of each rank's own parts |
# | nothing, then `Timed out waiting` or `Connection closed by peer` | rank 0 alone called what is a collective: `state_dict`, `full_tensor`, a forward pass |
#
# ## Recap
#
# - Adam in float32 or in mixed precision needs 16 bytes per parameter. Stage 1 shares 8 (or 12) of them, stage 2
#   another 4 (2), stage 3 all.
# - Stages 1 and 2 send what DDP sends. Stage 3 sends half as much again.
# - It is the same training. Compare with one network, once, in float64.
# - Activations are another matter: compute twice, keep less.
# - All ranks save, any number of ranks loads.
#
# **Hand in**: in a terminal, this packs the folder and lists what is in it.
#
#     lessons submit 13
#
# Further reading: Rajbhandari and others, *ZeRO*, arXiv:1910.02054; Zhao and others, *PyTorch FSDP*,
# arXiv:2304.11277; Chen and others, *Training deep nets with sublinear memory cost*, arXiv:1604.06174.
