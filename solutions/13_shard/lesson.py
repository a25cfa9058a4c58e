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
# if *one* rank keeps each number, and the others borrow it in time: ZeRO (*zero redundancy optimizer*). It has three
# stages:
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
# You write all three with `torch.distributed`, replace them with PyTorch's `fully_shard` (FSDP2), and then leave the
# node.
#
# The network is lesson 00's GPT. Allow 110 minutes. On two CPU cores, all jobs on this page take about a minute.
#
# First, train with DDP. The line shows what PyTorch holds on one rank during one step.

# %% tags=["parameters"]
profile = "smoke"  # "smoke": two CPU cores. "full": a larger network, GPUs
ranks = 2  # in "full" as many as you have GPUs on one node
gpus = "gres=gpu:{n}"  # "full": how your site asks for n GPUs of a node

# %% tags=["setup", "hide-input"]
from lessons import course

import library
import ring
import traffic
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
#    1, as a fraction of what it holds with DDP?
# 2. How many bytes does a rank receive per step in stage 3, as a multiple of what it receives with DDP?
# 3. Four ranks are on two nodes. If each node has its own copy, in two parts, how many bytes come into a node per
#    step, as a fraction of those that come if one copy is shared by all four?
# 4. Later you break the program: **w** wraps only the whole network, **o** creates the optimizer before sharding,
#    **n** clips by each rank's own norm. In which of these runs does the loss fall as usual? Write letters, or
#    `none`.

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_held, _sent and _node to numbers, predict_same to letters
predict_held, predict_sent, predict_node, predict_same = 0.75, 1.5, 0.4, "wn"
### END SOLUTION
course.answers.note(predict_held=predict_held, predict_sent=predict_sent)
course.answers.note(predict_node=predict_node, predict_same=predict_same)

# %% [markdown]
# ## What must each rank hold?
#
# A device that trains holds parameters, gradients, the optimizer's numbers, and activations. The first three are the
# *state*. In float32, each parameter needs 4 bytes, and its gradient another 4. Adam keeps two more numbers for each.
# So a network of 7 billion parameters needs 112 GB before the first activation.
#
# *Mixed precision* has two meanings (lesson 03). With **autocast**, all of this stays float32, and only products are
# computed in bfloat16. With **bfloat16 parameters and float32 copies** (`precision="mixed"` in 13.7), parameters and
# gradients need 2 bytes each, and the optimizer keeps a float32 copy beside its means. Both need 16 bytes of state per
# parameter, but split them differently.
#
# ## A part for every rank
#
# `zero.py` groups the parameters into *units*, which travel in one message: one for each block of the GPT, and one for
# everything else. Its parameters become views of one long tensor called `whole`, with zeros at its end, so that all
# parts are equally long. The optimizer updates only this rank's `part` of `whole`.
#
# ## Gather and collect
#
# Two collectives do all the work:
#
# - **All-gather**: each rank gives its part and gets all parts.
# - **Reduce-scatter**: each rank gives all of its numbers and gets one part of their sum over the ranks.
#
# **Exercise 13.1.** `Unit.gather` fills `self.whole` with the parts of all ranks (`dist.all_gather_into_tensor`).
# `Unit.collect` turns the whole gradients into `self.part.grad`, this rank's part of what DDP's gradients would be,
# and keeps nothing else. `self.reduce_scatter(flat)` returns this rank's part of the sum.
#
# **Exercise 13.2.** `ring_reduce_scatter` in `ring.py` works in rounds. In each round, a rank sends one part to the
# right, receives another part from the left, and adds its own numbers to it. Start by sending part `rank - 1`, and
# you end with part `rank`. Put both messages of a round into one `dist.batch_isend_irecv` (lesson 11).

# %% tags=["check"]
course.check("13.1", zero)
course.check("13.2", ring)

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
# `module.register_forward_hook`, `module.register_forward_pre_hook`, `module.register_full_backward_pre_hook`, and
# `unit.when_complete(call, …)`, which runs its calls when the backward pass has computed all gradients of the unit.
# PyTorch calls a hook with arguments, which a `lambda *_: …` takes and drops.
#
# **Exercise 13.3.** `watch(module, unit, stage)` registers the hooks that a stage needs.
#
# **Exercise 13.4.** `clip(gradients, most)` limits the norm of the gradients to `most`. The norm must include *all*
# gradients, but no rank has them all. As PyTorch's `clip_grad_norm_` does, multiply by `most / (norm + 1e-6)`, or by
# 1 if that is less.

# %% tags=["check"]
course.check("13.3", zero.watch)
course.check("13.4", zero)

# %% [markdown]
# ## fully_shard
#
# PyTorch does the same with one call per unit. `fully_shard(block)` replaces the block's parameters with `DTensor`s,
# of which each rank holds some rows. You can choose:
#
# - **Units.** Each call makes one unit from the parameters that are not yet in a unit. Large units need more memory,
#   small units more messages.
# - **Freeing.** The network's own unit stays whole after its forward pass, because the backward pass begins with
#   it. `reshard_after_forward` changes this for any unit.
# - **Precision.** Units are gathered and computed in the policy's `param_dtype`, and gradients are added up in its
#   `reduce_dtype`.
#
# `torch.nn.utils.clip_grad_norm_` takes the norm of DTensors over all ranks. Create the optimizer *after* sharding: it
# must get the new parameters.

# %%
course.show_code(library.shard)

# %% tags=["hide-input"]
course.show_diff(
    "00_cluster/train_gpt.py",
    "train.py",
    share_out="share_out|WAYS|way|reduce-scatter|policy",
    step_in_parts=r"shared\.|before_step|after_step|most",
    recompute="recompute",
    nodes="nodes",
)

# %% [markdown]
# ## Is it the same, and who holds what?
#
# One job trains in all five ways. Then its `probe.py` tests each of them: your functions train a small float64 network
# for four steps, and one process repeats those steps with the texts of all ranks.

# %%
runs, probes = train()

# %% tags=["hide-input"]
for way, run in probes.items():
    loss, error = runs[way].epochs[-1].train_loss.value, measure(run, "serial_error")
    held, peak = measure(run, "state_bytes") / 1e6, measure(run, "peak_bytes") / 1e6
    sent = measure(run, "times_params")
    print(f"{way}: loss {loss:.3f}, {error:.0e} from serial; ", end="")
    print(f"{held:.1f} MB of state, {peak:.1f} MB at most, {sent:.2f} × parameters received")
held = measure(probes["zero1"], "state_bytes") / measure(probes["ddp"], "state_bytes")
course.predictions.compare("predict_held", held)
sent = measure(probes["zero3"], "times_params") / measure(probes["ddp"], "times_params")
course.predictions.compare("predict_sent", sent)
twice = "Is a unit gathered or collected more often than the table says?"
course.expectations.compare(
    "zero3's bytes over ddp's", sent, (1.45, 1.6), above=twice, counted=True
)

# %% [markdown]
# **What you should see.** The losses agree in all digits, and the float64 parameters differ by 4e-12. On two ranks
# with 814,720 parameters (which depends on your Python's text):
#
# | | state, MB | at most, MB | × parameters received |
# |---|---|---|---|
# | `ddp` | 13.0 | 15.6 | 1.00 |
# | `zero1` | 9.8 | 11.4 | 1.00 |
# | `zero2` | 8.1 | 10.6 | 1.00 |
# | `zero3` | 6.5 | 9.8 | 1.50 |
# | `fsdp` | 6.5 | about 10 | 1.99 |
#
# (NCCL's messages are not counted: `nan`.) *State* is what PyTorch holds at the end of the backward pass, *at most* the
# peak of all tensors in a step with one text.
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
# - Stage 1 collects all gradients after the backward pass, stage 2 unit by unit: after each peak, only this rank's
#   part of a block's gradients is left.
# - In stage 3 and `fsdp`, each bump is a block that is gathered, computed, and freed.
#
# ## What does Gloo do?
#
# Your ring sends only what it must. `--reduce-scatter library` uses PyTorch's `dist.reduce_scatter_tensor` instead.

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
# Sharding does not divide activations: each rank has its own texts. **Activation checkpointing** (`--recompute`)
# keeps only the input of each block. In the backward pass, the block is computed once more, so a step computes about
# a third more.

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
# gathering a block moves half the bytes, and activations take half, too. Gradients still travel in float32. The price
# is precision. After four steps of Adam with a rate of 0.01, half of the parameters differ by less than 1e-4 from the
# serial program's, but one differs by nearly 0.04: about the farthest that Adam can go in four steps, while the
# serial program leaves it where it is. Attention does not depend on the biases of the keys, so their gradient is 0,
# and in float64 they stay nearly where they are. In bfloat16, rounding leaves a tiny gradient, which Adam turns into
# a whole step.
#
# ## Leave the node
#
# In most training nodes, GPUs are connected by NVLink: 300 GB/s per A100 and direction. A network card of 200 Gbit/s
# per GPU brings 25 GB/s, twelve times less (data sheets), and FSDP over all ranks brings every part into every node
# through these cards. **HSDP** (*hybrid* sharding) keeps one copy *per node*, in parts: ranks gather and
# reduce-scatter within their node, and only sum up the resulting parts with other nodes. For this, `fully_shard`
# takes a mesh of two dimensions: along the first, ranks hold copies; along the second, parts.
#
# **Exercise 13.5.** A colleague wrote `node_mesh` in `library.py` like this. Training is correct, memory is as planned,
# and yet the links between the nodes carry more than with FSDP. Repair it.
#
#     ranks = torch.arange(dist.get_world_size())
#     return DeviceMesh(kind, ranks.view(-1, nodes).T, mesh_dim_names=("copies", "parts"))
#
# **Exercise 13.6.** `into_node` in `traffic.py` predicts the bytes that enter a node per step. A ring visits the ranks
# of one node, then those of the next.

# %% tags=["check"]
course.check("13.5", library)
course.check("13.6", traffic.into_node)

# %% [markdown]
# In `job_nodes.sbatch`, ranks 0 and 1 stand in for one node, and ranks 2 and 3 for another, on CPUs. The kernel counts
# the bytes of *each* connection, so `probe.py` knows which came from the other "node".

# %%
nodes = {run.header["way"]: run for run in course.submit("job_nodes.sbatch")}
for way, run in nodes.items():
    came, off = measure(run, "node_mb"), measure(run, "predicted_off")
    print(f"{way}: a node receives {came:.2f} MB (13.6 is {100 * off:.1f} % off), ", end="")
    print(f"{measure(run, 'serial_error'):.0e} from serial")
fraction = measure(nodes["hsdp"], "node_mb") / measure(nodes["fsdp"], "node_mb")
course.predictions.compare("predict_node", fraction)
print(f"Without messages, a step takes {measure(nodes['fsdp'], 'compute_s'):.3f} s")

# %% [markdown]
# **What you should see.** HSDP trains like one process too, with a third of the bytes between the nodes. (With a true
# reduce-scatter, four ninths.) They are gradients, so no block waits for parameters from another node. The price is
# memory: the state is divided only among the ranks of one node.
#
# ## When does a gather hide?
#
# While one block computes, the next one's parameters can arrive. If everything overlaps, a step takes as long as the
# longer of the two: computing, or the messages between the nodes. Suppose that faster ranks compute a step of
# `nodes["fsdp"]` in 20 ms. How many **gigabits** per second must the links into a node carry, so that the ranks never
# wait?

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: set link_20ms to a number, in Gbit/s
link_20ms = 8 * measure(nodes["fsdp"], "node_mb") / 1000 / 0.020
### END SOLUTION
course.answers.note(link_20ms=f"{link_20ms:.4g}")
speeds = (0.1, 0.3, 1, 3)  # Gbit/s into a node
print("seconds per step:", *(f"{speed:3} Gbit/s" for speed in speeds))
for way, run in nodes.items():
    computed, received = measure(run, "compute_s"), 8 * measure(run, "node_mb") / 1000
    print(f"{way:17}", *(f"{max(computed, received / speed):10.3f}" for speed in speeds))

# %% [markdown]
# **What you should see.** Where a faster link no longer shortens the step, messages hide. One or two Gbit/s were enough
# for four ranks on two cores. A GPU at 400 TFLOP/s computes thousands of times as fast as such a core (under 0.1
# TFLOP/s), but its network is larger (`link_7b`, below).
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
course.plots.faults(broken, path="")

# %% [markdown]
# Which of these runs would you publish? Choose before you look at the next table.

# %%
course.plots.faults(broken, path="", more=["peak_kb", "serial_error"])

# %% [markdown]
# **What you should see.** On two ranks, with PyTorch 2.13 on CPUs:
#
# - `wrap` trains correctly, but its peak is 13.6 MB instead of about 10 MB: all parameters are gathered at once.
# - `optimizer` learns nothing: it updates the old parameters. No error reports this.
# - `norm` looks perfect. Only the comparison with one process shows the error: 8e-3 instead of 4e-12.
# - `save` stops after 5 seconds, the timeout of this run. Rank 0 waits for parts that nobody sends. (With NCCL, a
#   watchdog ends the process, by default after 10 minutes: [What NCCL says](../../docs/nccl.md).)
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
# Take the first way that fits. (An estimate: a unit that is gathered ahead, CUDA's context and NCCL's buffers need room,
# too.)
#
# **Exercise 13.7.** `needs(network, way)` returns the bytes for which each device must have room: everything in the row
# above at once, as it can happen when the backward pass begins. `network`
# has `params`, `largest` (parameters of the largest unit), `precision` (`"float32"` or `"mixed"`), `blocks`,
# `block_bytes` and `input_bytes` (for one text), `batch` (texts on each device) and `devices`.

# %%
from networks import NETWORKS, fits

for name, network in NETWORKS.items():
    print(f"{name}: {network}")


# %% tags=["exercise"]
def needs(network, way):
    ### BEGIN SOLUTION Exercise 13.7: state, what is whole of the largest unit, activations
    item, adam = {"float32": (4, 8), "mixed": (2, 12)}[network.precision]
    stage = {"ddp": 0, "zero1": 1, "zero2": 2}.get(way, 3)
    state = sum(
        each * network.params / (network.devices if stage >= first else 1)
        for each, first in ((adam, 1), (item, 2), (item, 3))
    )
    whole = max(0, stage - 1) * item * network.largest
    kept = network.blocks * network.block_bytes
    if way == "recompute":
        kept = network.blocks * network.input_bytes + network.block_bytes
    return state + whole + network.batch * kept
    ### END SOLUTION


# %% tags=["check"]
course.check("13.7", needs)

# %%
ways = {name: fits(network, needs) for name, network in NETWORKS.items()}
for name, (way, much) in ways.items():
    print(f"{name}: {way}" + (f", {much / 1e9:.4g} GB" if way != "none" else " fits"))
fit = {f"fits_{name}": f"{much / 1e9:.4g}" for name, (way, much) in ways.items() if way != "none"}
course.answers.note(**fit)

# %% [markdown]
# If none of them fits, use more devices, **offload** parts to the CPU's memory (`CPUOffloadPolicy`: they travel over
# PCIe in every step, and the CPU updates them), or cut the network (lesson 11).
#
# ## Questions
#
# - `devices_f`: what is the smallest number of devices that network f needs, if you could ask for any number?
#   (`network._replace(devices=…)`)
# - `mixed_bytes`: under the *policy* `"mixed"` of `library.py`, how many bytes does a rank keep for each parameter of
#   its part, for the gradient, and for Adam's numbers? A word such as `"1-2-3"`.
# - `link_7b`: 7 billion parameters on many nodes of 8 GPUs, with FSDP over all of them. All messages have 2 bytes per
#   number, and NCCL's reduce-scatter is real. A GPU reaches 400 TFLOP/s and reads 4,096 tokens per step, and each
#   needs 6 FLOP per parameter. How many GB/s into a node are enough to hide all messages?
# - `six_records`: six runs of one network on four ranks, two per "node". Which is FSDP, which HSDP, which the
#   colleague's mesh, which FSDP with `reshard_after_forward=False`, which FSDP without wrapped blocks, and which FSDP
#   with the fault `norm`? Write six letters in this order.
#
# | record | state, kB | peak, kB | × parameters received by a rank | by a node | from serial |
# |---|---|---|---|---|---|
# | A | 2,750 | 7,708 | 2.26 | 2.26 | 4e-12 |
# | B | 5,499 | 8,044 | 2.49 | 1.00 | 5e-12 |
# | C | 2,750 | 5,870 | 2.99 | 2.99 | 2e-2 |
# | D | 5,499 | 8,044 | 2.49 | 3.98 | 7e-12 |
# | E | 2,750 | 10,010 | 2.25 | 2.25 | 4e-12 |
# | F | 2,750 | 5,870 | 2.99 | 2.99 | 4e-12 |
#
# *Open, without points:* choose other units for this network (two blocks, half a block), predict peak and messages, and
# defend your choice with `my_staircase.png`.

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: devices_f, mixed_bytes, link_7b and six_records
devices_f = next(
    n for n in range(1, 99) if fits(NETWORKS["f"]._replace(devices=n), needs)[0] != "none"
)
mixed_bytes = "4-4-8"
link_7b = 3 * 2 * 7 / (6 * 7e9 * 4096 / 400e12)
six_records = "FBDAEC"
### END SOLUTION
course.answers.note(devices_f=devices_f, mixed_bytes=mixed_bytes)
course.answers.note(link_7b=f"{link_7b:.4g}", six_records=six_records)

# %% [markdown]
# ## Traps
#
# | you see | cause |
# |---|---|
# | nothing, then `Timed out waiting`, or `Connection closed by peer` once another rank ends | only rank 0 called a collective: `full_tensor`, a forward pass |
#
# ## Recap
#
# - Adam needs 16 bytes per parameter. Stage 1 shards 8 of them (12 with bfloat16 parameters), stage 2 shards another
#   4 (2), and stage 3 shards all.
# - Stages 1 and 2 send what DDP sends. Stage 3 sends half as much again.
# - Between nodes, send gradients only (HSDP), and divide bytes by bandwidth before you choose.
#
# **Submit** your work in a terminal:
#
#     lessons submit 13
#
# Further reading: Rajbhandari and others, *ZeRO*, arXiv:1910.02054.
