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
# # 14 · Where do the milliseconds go?
#
# **Which lever helps my step?**
#
# A training step reads a batch, computes gradients, updates the parameters, and writes something down. Each can waste
# time. Before you change anything, you need two numbers, how much work a step requires and how much the device can do
# in the same time, and a *trace*, which shows what happened when.
#
# You count the operations of a step, read six recorded traces, and make a slow step several times faster without
# changing what it learns. The network is lesson 00's GPT. Everything runs on one core. Allow 120 minutes. On two CPU
# cores, the jobs on this page take about a minute.

# %% tags=["parameters"]
profile = "smoke"  # "smoke": two CPU cores. "full": a larger network, one GPU
gpus = "gres=gpu:{n}"  # "full": how your site asks for n GPUs of a node

# %% tags=["setup", "hide-input"]
from lessons import course
from lessons.toolkit import traces

import fast
import flops
import lengths
import reading
import scaling

size = {"smoke": [], "full": ["--layers", "12", "--width", "768", "--length", "256"]}[profile]

# %% [markdown]
# These are four steps of a slow training, as `torch.profiler` recorded them. Grey bars are parts of a step, and
# coloured bars are the operations in them. White space below a grey bar is Python or waiting. Where would you begin?

# %%
course.plots.trace({"b": traces.read("traces/b.json.gz")})

# %% [markdown]
# ## Predict
#
# Later you fix four slow spots in a step: the training reads its own files, computes one text at a time, updates
# parameter by parameter, and calls `.item()` for each gradient.
#
# 1. How many times faster does the step become?
# 2. What fraction of the core's peak does the fast step reach?
# 3. Then you break one thing at a time: **i** calls `.item()` for each parameter, **w** reads without workers, **s**
#    trains in float16 without scaling the loss, **h** compiles for shapes that change. In which of these runs does
#    the loss fall as usual? Write letters, or `none`.

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_gain and predict_mfu to numbers, predict_same to letters
predict_gain, predict_mfu, predict_same = 4, 0.3, "iwh"
### END SOLUTION
course.answers.note(predict_gain=predict_gain, predict_mfu=predict_mfu, predict_same=predict_same)

# %% [markdown]
# ## How much work is a step?
#
# Nearly all of a network's work is matrix multiplication. Each parameter of a linear layer is multiplied with each
# token and added to a sum, which makes two floating point operations (FLOP). The backward pass computes two such
# products, one for the gradient of the input and one for that of the parameters. Together, that is 6 FLOP per
# parameter and token. (A *token* is a character here. `params` counts only the matrices: norms, biases and the table
# of positions are not multiplied in this way.)
#
# Attention has two more products in each layer, and they have no parameters: queries times keys, then weights times
# values. Per token, each is 2 · length · width FLOP in the forward pass, and twice that in the backward pass. We
# count all pairs, although half of them are masked.
#
# The share of the device's peak that these FLOP reach is called **MFU**, *model FLOPs utilisation*:
#
#     MFU = FLOP of a step / seconds of a step / peak FLOP/s
#
# **Exercise 14.1.** `step_flops` in `flops.py` returns the FLOP of a step. The job compares your count with that of
# PyTorch (`torch.utils.flop_counter.FlopCounterMode`). On a CPU, this counter misses attention if PyTorch computes it as one
# operation, so the job computes it as plain products.
#
# ## The roof
#
# A device cannot compute faster, or it cannot move bytes faster. The *intensity* of a computation is its FLOP per
# moved byte. No computation exceeds
#
#     min(peak, intensity × bandwidth)
#
# Plotted against the intensity, this is a sloping line that ends in a flat roof: the **roofline**. Additions, norms
# and the optimizer have less than one FLOP per byte, so bandwidth limits them (the slope). The peak limits large
# matrix products (the flat part). A product is large only if *all three* sizes are.
#
# **Exercise 14.2.** `attainable` in `flops.py` returns the FLOP/s that a matrix product can reach.

# %% tags=["check"]
course.check("14.1", flops.step_flops)
course.check("14.2", flops.attainable)

# %% [markdown]
# ## Read a trace
#
# `torch.profiler` writes down when each operation starts and ends:
#
#     with torch.profiler.profile() as profiler:
#         for _ in range(4):
#             step()
#     profiler.export_chrome_trace("trace.json")   # open it at ui.perfetto.dev
#     print(profiler.key_averages().table(sort_by="cpu_time_total"))
#
# Profile a few steps, but not the first ones. `torch.profiler.record_function("update")` gives a part of your program
# a name in the trace. Two numbers help to read it:
#
# **Exercise 14.3.** `busy(spans)` in `reading.py` returns the time during which at least one of the spans is running.
#
# **Exercise 14.4.** `hidden(communication, computing)` returns the fraction of the communication time that overlaps
# with computation. Only the rest costs time.

# %% tags=["check"]
course.check("14.3", reading.busy)
course.check("14.4", reading.hidden)

# %% [markdown]
# ## Six traces
#
# These are four steps of each of six programs. Each lever fixes the problem in exactly one trace:
#
# | lever | what it does |
# |---|---|
# | `loader` | workers read the next batches while this one computes |
# | `sync` | values stay on the device; nobody asks for a number in every step |
# | `shapes` | all batches get the same shape, so that nothing is compiled again |
# | `overlap` | gradients are sent while the rest is still computed (lesson 10) |
# | `batch` | more work per operation: a larger batch, a wider network |
# | `none` | the step is as it should be: most of its time is large matrix products |
#
# They were recorded without GPUs; each file says on which processor. They contain only the outer operations. The
# program itself gave the names `part: …`.

# %%
six = {letter: traces.read(f"traces/{letter}.json.gz") for letter in "abcdef"}
print(*(f"{name}: {fact}" for name, fact in six["a"]["about"].items()), sep="\n")
for letter, trace in six.items():
    whole, ops = traces.length_of(trace), traces.spans_of(trace, "aten::", "autograd::")
    read, sent = traces.spans_of(trace, "part: input"), traces.spans_of(trace, "gloo:all_reduce")
    each = 1000 * reading.busy(ops) / len(ops)
    items = len(traces.spans_of(trace, "aten::item"))
    print(f"{letter}: {whole:.0f} ms, {len(ops)} operations of {each:.0f} µs on average, ", end="")
    print(f"{items} × item, ", end="")
    print(f"input {reading.busy(read) / whole:.0%}, ", end="")
    told = f"{reading.busy(sent):.0f} ms ({reading.hidden(sent, ops):.0%} of it hidden)"
    print(f"all-reduce {told}" if sent else "no all-reduce")

# %%
for letter, trace in six.items():
    print(letter)
    for name, count, ms in traces.totals(trace)[:8]:
        print(f"   {ms:9.2f} ms in {count:4} × {name}")

# %%
course.plots.trace({letter: six[letter] for letter in "bcd"}, save="my_traces.png")

# %% [markdown]
# **What you should see.** A step is good if long blue bars fill the picture. `dynamo` is `torch.compile` at work. (It
# generates the code of the backward pass later, inside `CompiledFunctionBackward`.) Draw the other three, too:
# `plots.trace({"a": six["a"]})`.
#
# On a **GPU**, a trace has a second kind of lane. Python only *launches* kernels, and the lane of the GPU (a
# *stream*) runs them later. Launch-bound steps have gaps in that lane. A synchronisation appears in the CPU's lane as
# a long `cudaStreamSynchronize` inside `aten::item`: the CPU waits until the stream has caught up, and then the GPU
# waits for the next launch. NCCL's kernels (`ncclDevKernel_AllReduce…`) have a stream of their own. (These short
# files leave such inner events out: export the whole trace, as above.) On a CPU, operations run immediately, so
# `.item()` waits for nothing. Its time says little here, so count the calls.

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: trace_a to trace_f: loader, sync, shapes, overlap, batch or none
trace_a, trace_b, trace_c = "shapes", "loader", "none"
trace_d, trace_e, trace_f = "overlap", "batch", "sync"
### END SOLUTION
course.answers.note(trace_a=trace_a, trace_b=trace_b, trace_c=trace_c)
course.answers.note(trace_d=trace_d, trace_e=trace_e, trace_f=trace_f)

# %% [markdown]
# ## Four slow spots
#
# `slow.py` has the functions of a slow step, and `fast.py` waits for yours. Both train the same network with the
# same texts.
#
# **Exercise 14.5.** `batches` in `slow.py` reads texts while the training waits. Each text takes 2 ms, as if it were
# a small file on a busy disk. In `fast.py`, return a `DataLoader` with `num_workers`. Workers are processes that read
# ahead. They keep up if workers × (time per step) ≥ (time to read a batch). Here a batch has eight texts, and a step
# takes about 20 ms. The texts are shuffled already. (On a GPU, add `pin_memory=True`, and copy with
# `non_blocking=True`.)
#
# **Exercise 14.6.** The function `gradients` in `slow.py` processes one text at a time and sums the gradients. This
# is **gradient accumulation**: it allows a batch that does not fit into memory. Here the batch does fit, so compute
# it at once. (If you do accumulate, divide the loss by the number of parts; lesson 10 has the rest.)
#
# **Exercise 14.7.** `optimizer` in `slow.py` runs about ten operations for each of 28 parameters, as on a CPU by
# default. (On GPUs, PyTorch groups them: `foreach`.) AdamW has an option that updates all of them in one operation.
#
# **Exercise 14.8.** `note` in `slow.py` calls `.item()` for each parameter. On a GPU, each call waits until
# everything that its stream was given before has finished. Return a tensor instead, which the program reads when the
# training is over.

# %% tags=["check"]
course.check("14.5", fast.batches)
course.check("14.6", fast.gradients)
course.check("14.7", fast.optimizer)
course.check("14.8", fast.note)

# %% [markdown]
# ## Before and after
#
# The job alternates between the two steps. In every round, it also measures the core's peak with a large float32
# matrix product, because a data sheet does not describe your machine. Then `probe.py` tests your functions, and
# counts how often each step calls the network, waits, and runs operations.

# %%
one = course.on_nodes(1, gpus if profile == "full" else "")
run, probe = course.submit("job.sbatch", *size, options=one)


def measure(run, name, **at):
    found = [each["value"] for each in run.measured(name, **at)]
    return sorted(found)[len(found) // 2] if found else float("nan")


# %% tags=["hide-input"]
for way in ("before", "after"):
    prefix = "before_" if way == "before" else ""
    names = ("forwards", "update_ops", "waits")
    counts = {name: measure(probe, prefix + name) for name in names}
    print(f"{way}: {measure(run, 'step_ms', way=way):.1f} ms per step, {counts}")
gains = [each["value"] for each in run.measured("gain")]
course.predictions.compare("predict_gain", sorted(gains)[len(gains) // 2])
slow_spot = "Is one of exercises 14.5 to 14.8 still as slow as before?"
course.expectations.compare("The step is faster by a factor of", gains, (2, 9), below=slow_spot)

# %%
course.plots.step_bars(run, save="my_step.png")

# %% [markdown]
# **What you should see.** (A GPU's bars are its own times, marked by CUDA events.) The step is two to nine times as
# fast, with the same loss to all printed digits. On a busy core (AMD EPYC, PyTorch 2.13), we saw 75 ms before and 21
# ms after:
#
# - The input shrank from 22 ms to 3 ms, because the workers read while the step computes.
# - The gradients shrank from 45 ms to 15 ms, because eight texts make larger matrices and an eighth of the
#   operations.
# - The update shrank from 5 ms to 2 ms.
# - Noting the gradients was never long. On a GPU, 29 of the slow step's 57 calls to `.item()` would wait for it.
#   Those in the optimizer's loop would not, because AdamW counts its steps on the CPU.
#
# ## The share of the peak
#
# `own_mfu`: compute the MFU of the fast step in each round, with that round's peak, and take the median of the
# rounds. Your count of the FLOP comes from exercise 14.1, or from the record, which has PyTorch's count:
# `measure(run, "flops")`. (This is the share of the *measured float32* peak. Papers divide by the data sheet's peak
# in the format of the products: 989 TFLOP/s in bfloat16 on an H100, where float32 has 67. Never compare the two.)

# %% tags=["exercise"]
steps_ms = [each["value"] for each in run.measured("step_ms", way="after")]
peaks = [each["value"] for each in run.measured("peak_flops")]
### BEGIN SOLUTION Answer: own_mfu, the median over the rounds of FLOP / seconds of a step / peak
work = measure(run, "flops")
shares = [work / (ms / 1000) / peak for ms, peak in zip(steps_ms, peaks, strict=True)]
own_mfu = sorted(shares)[len(shares) // 2]
### END SOLUTION
course.answers.note(own_mfu=f"{own_mfu:.3f}")
course.predictions.compare("predict_mfu", own_mfu)

# %% tags=["hide-input"]
width, length, tokens = {"smoke": (64, 32, 8 * 32), "full": (768, 256, 8 * 256)}[profile]
points = []
for name, (rows, inner, columns) in {
    "one text": (length, width, 4 * width),
    "eight texts": (tokens, width, 4 * width),
    "large product": (768, 768, 768),
}.items():
    moved = 4 * (rows * inner + inner * columns + rows * columns)
    reach = flops.attainable(
        rows, inner, columns, measure(run, "peak_flops"), measure(run, "bandwidth")
    )
    points.append((name, 2 * rows * inner * columns / moved, reach))
points.append(("an addition", 1 / 8, measure(run, "bandwidth") / 8))
course.plots.roofline(measure(run, "peak_flops"), measure(run, "bandwidth"), points)

# %% [markdown]
# **What you should see.** You get an MFU of 0.1 to 0.35. The points are not measured: they show what the roof
# *allows* by your `attainable`, and that is more, because even the product for one text has enough FLOP per byte. The
# rest is lost to operations that are too small: each costs several microseconds of Python and PyTorch, whatever its
# size. So the next thing to try is a wider network or a larger batch.
#
# ## Two bytes per number
#
# With `torch.autocast`, matrix products use 2-byte numbers. **bfloat16** has the range of float32 and two or three
# digits. **float16** has three or four digits, but nothing below 6e-8 except 0, and nothing above 65,504. In a large
# batch each token has only a small share of the mean loss, and the gradients that travel back from it are as small.
# In float16, they become 0.
#
# **Loss scaling** multiplies the loss, and so all gradients, by a large factor before the backward pass, and divides
# the gradients by it before the update. If something overflows, the update is skipped and the factor halved. After
# many good updates in a row, it is doubled. (PyTorch: `torch.amp.GradScaler`. bfloat16 does not need it.)
#
# **Exercise 14.9.** `LossScaler.step` in `scaling.py` divides, then updates or skips. It returns whether it updated.
# Ask the device once per step whether all gradients are finite, not once per parameter.
#
# ## Compile, once
#
# `torch.compile(model)` traces the model (*dynamo*) and generates code that joins small operations (*inductor*). The
# code is generated for the shapes of the first call. If a shape changes, it is generated again. At the second shape
# PyTorch tries to generate code for *any* length: for our five lengths it compiles twice by default, once with
# `dynamic=True`, and five times with `dynamic=False` (PyTorch 2.13). This job forbids it with `dynamic=False`, as
# programs that cannot be generalised do. After eight recompilations (`recompile_limit`) PyTorch gives up. So avoid
# shapes that change, such as the last, smaller batch, or texts of different lengths.
#
# **Exercise 14.10.** `padded` in `lengths.py` adds positions at the end of each row. The loss must not count them:
# `cross_entropy` ignores -100.

# %% tags=["check"]
course.check("14.9", scaling.LossScaler)
course.check("14.10", lengths.padded)

# %% [markdown]
# The job trains a tiny network in four precisions. It divides the loss by 4,096, so that gradients are as small as in
# a batch of 4,096 such parts (but it updates after each part). Then it compiles the network for texts of five
# lengths, without and with padding. It uses the backend `eager`, which traces but generates no code, because we only
# count.

# %%
found = course.submit("job_ways.sbatch", options=one)
ways = {run.header["source"]: run for run in found}
for way, run_of_way in ways.items():
    loss, zeros = run_of_way.epochs[-1].train_loss.value, measure(run_of_way, "zeros")
    print(f"{way}: loss {loss:.3f}, {zeros:.0%} of the gradients are 0, ", end="")
    print(f"{measure(run_of_way, 'compilations'):.0f} compilations")
lost = measure(ways["float16"], "zeros") - measure(ways["scaled"], "zeros")
course.expectations.compare("Gradients that scaling saves", lost, (0.5, 1), counted=True)

# %% [markdown]
# **What you should see.** float32, bfloat16 and scaled float16 reach the same loss, about 3.2. Without scaling, more
# than nine in ten gradients are 0, and the loss stays above 3.4. With padding, one compilation is enough, and the
# loss is the same. (But a third of the tokens, from 24 to 32 on average, is padding.)
#
# **Speed** is another question. On GPUs, three levers come first: TF32
# (`torch.set_float32_matmul_precision("high")`), bfloat16 by autocast, and `torch.compile`. The steps above use none
# of them, and nobody has measured them for this course. This CPU (AMD EPYC with AVX512-BF16) multiplies large
# bfloat16 matrices 2.2 times as fast as float32, but our small step becomes no faster, because converting costs as
# much. In float16, it took five to thirteen times *longer*: the CPU has no float16 products.
#
# **Real compilation** needs a C++ compiler on a CPU (`InvalidCxxCompiler: No working C++ compiler found`), and a C
# compiler on a GPU, for Triton (`Failed to find C compiler`), also on compute nodes. Generating code for this tiny
# network took 16 to 36 s for *each* shape on a busy core, so try it in a terminal: `python train_ways.py --ways
# padded --backend inductor`.
#
# ## Break it
#
# `break_it.py` trains in scaled float16, with workers, padding and compilation, first with `nothing` wrong, then with
# one thing missing:
#
# | `without` | what is different |
# |---|---|
# | `nothing` | nothing: this is your own code |
# | `item` | `.item()` for each parameter in each step |
# | `workers` | no workers |
# | `scaling` | the loss is not scaled |
# | `shapes` | no padding |

# %%
found = course.submit("job_break.sbatch", options=one)
broken = {run.header["without"]: run for run in found}
intact = broken["nothing"].epochs[-1].train_loss.value
letters = {"item": "i", "workers": "w", "scaling": "s", "shapes": "h"}
usual = [letters[name] for name in letters
         if broken[name].epochs[-1].train_loss.value < intact + 0.1]  # fmt: skip
course.predictions.compare("predict_same", "".join(usual) or "none")
course.plots.faults(broken, path="", more=["waits_per_step", "own_reads", "zeros", "compilations"])

# %% [markdown]
# **What you should see.** Only `scaling` changes the loss: it falls more slowly, and no message says why. `item`
# waits 29 times more per step. With the fault `workers`, the training reads every text itself, which takes 8 ms or
# more of each step. `shapes` compiles five times.
#
# ## Questions
#
# - `enough_workers`: a step computes for 20 ms and needs 32 files. Reading a file takes 2.5 ms. What is the smallest
#   number of workers that keeps up?
# - `thin_product`: a device has a peak of 60 TFLOP/s and a bandwidth of 3 TB/s. Is the product of a 4 × 4096 and a
#   4096 × 4096 matrix limited by the `peak` or the `bandwidth`?
# - `faults_wide`: these are records of `break_it.py --width 48 --steps 15`. Which is `workers`, which is `scaling`,
#   which is `shapes`? Write the three letters in this order, as one word.
#
# | record | loss in epochs 1 to 3 | own reads | zeros | compilations |
# |---|---|---|---|---|
# | intact | 3.904, 3.423, 3.304 | 0 | 0.00 | 1 |
# | A | 3.904, 3.423, 3.304 | 0 | 0.00 | 5 |
# | B | 3.904, 3.423, 3.304 | 1 | 0.00 | 1 |
# | C | 3.651, 3.482, 3.480 | 0 | 0.98 | 1 |

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: enough_workers, thin_product and faults_wide
enough_workers = 32 * 2.5 / 20
thin_product = "bandwidth" if flops.attainable(4, 4096, 4096, 6e13, 3e12) < 6e13 else "peak"
faults_wide = "BCA"
### END SOLUTION
course.answers.note(
    enough_workers=enough_workers, thin_product=thin_product, faults_wide=faults_wide
)

# %% [markdown]
# ## Traps
#
# | you see | cause |
# |---|---|
# | the input is as long as the computing, and the processor idles meanwhile | the `DataLoader` has no workers |
# | hundreds of operations, each a few microseconds long | batch or network too small, a loop over parameters |
# | the first step of each kind takes seconds | a new shape is compiled |
# | the loss in float16 falls more slowly, nothing else is wrong | small gradients became 0 |
# | accumulated gradients are too large by the number of parts | the loss was not divided |
#
# ## Recap
#
# - A step takes 6 FLOP per parameter and token, plus attention. MFU says how much of the peak they reach.
# - Small operations are limited by overhead and bandwidth, large ones by the peak.
# - Read a trace before you pull a lever: what runs, what waits, how long is one operation?
# - Measure before and after in turns, and check that the loss stays the same.
# - float16 needs loss scaling. Compiled code wants shapes that do not change.
#
# **Submit** your work in a terminal:
#
#     lessons submit 14
#
# Further reading: Williams and others, *Roofline*, doi:10.1145/1498765.1498785; Micikevicius and others, *Mixed
# precision training*, arXiv:1710.03740; Chowdhery and others, *PaLM* (which defines MFU), arXiv:2204.02311.
