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
# You count the operations of a step, read recorded traces, and make a slow step several times faster without changing
# what it learns. The fastest step of your class wins. The network is lesson 00's GPT, on one core. Allow 120 minutes.
# On two CPU cores, the jobs on this page take about a minute.

# %% tags=["parameters"]
profile = "smoke"  # "smoke": two CPU cores. "full": a larger network, one GPU
gpus = "gres=gpu:{n}"  # "full": how your site asks for n GPUs of a node

# %% tags=["setup", "hide-input"]
from pathlib import Path

from lessons import course
from lessons.toolkit import traces

import fast
import flops
import reading
import scaling

size = {"smoke": [], "full": ["--layers", "12", "--width", "768", "--length", "256"]}[profile]

# %% [markdown]
# This is the step that you will mend: four steps of it, as `torch.profiler` recorded them. Grey bars are parts of a
# step, and coloured bars are the operations in them. White space below a grey bar is Python or waiting. Where would
# you begin?

# %%
course.plots.trace({"of the slow step": traces.read("traces/slow.json.gz")})

# %% [markdown]
# ## Predict
#
# You will write this step's four functions again.
#
# 1. How many times faster does the step become?
# 2. What fraction of the core's measured peak does the fast step reach?
# 3. `torch.compile` generates code for the shapes that it sees. A training has texts of five lengths in turn. How
#    often does it compile by default?
# 4. Then you break one thing at a time: **i** calls `.item()` for each parameter, **w** reads without workers, **s**
#    trains in float16 without scaling the loss, **h** compiles for each length. In which of these runs does the loss
#    fall as usual? Write letters, or `none`.

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_gain, predict_share and predict_compiled to numbers, predict_same to letters
predict_gain, predict_share, predict_compiled, predict_same = 4, 0.3, 5, "iwh"
### END SOLUTION
course.answers.note(predict_gain=predict_gain, predict_share=predict_share)
course.answers.note(predict_compiled=predict_compiled, predict_same=predict_same)

# %% [markdown]
# ## How much work is a step?
#
# Nearly all of a network's work is matrix multiplication. The product of an a × b and a b × c matrix multiplies and
# adds a · b · c times, and each of the two is one floating point operation (FLOP). For each product of the forward
# pass the backward pass computes two, one for the gradient of each factor.
#
# A linear layer multiplies the matrix of its parameters with each token. (A *token* is a character here. `params`
# counts only these matrices, not norms, biases and the table of positions. The table of characters counts once: it is
# also the last layer's matrix.) Attention has two more products in each layer, and they have no parameters: queries
# times keys, then weights times values. Each token meets all tokens of its window. (We count all pairs, although half
# of them are masked.)
#
# **Exercise 14.1.** `step_flops` in `flops.py` returns the FLOP of a step. Work out the formula on paper. The job
# compares your count with that of PyTorch (`torch.utils.flop_counter.FlopCounterMode`).
#
# ## The roof
#
# Two things limit a computation: how fast the device computes, and how fast it moves bytes from and to its memory. The
# *intensity* is the FLOP per moved byte. (What stays in a cache is not moved.) No computation exceeds
#
#     min(peak, intensity × bandwidth)
#
# Plotted against the intensity, this is a sloping line that ends in a flat roof: the **roofline**. Additions, norms
# and the optimizer have about one FLOP per byte or less, so bandwidth limits them (the slope). The peak limits large
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
# These are four steps of each of six programs. Which lever helps most? Several traces may need the same lever, and some
# levers may help with none:
#
# | lever | what it does |
# |---|---|
# | `loader` | workers read the next batches while this one computes |
# | `sync` | values stay on the device; nobody asks for a number in every step |
# | `shapes` | nothing is compiled again because a shape has changed |
# | `overlap` | gradients are sent while the rest is still computed (lesson 10) |
# | `batch` | more work per operation: a larger batch, a wider network |
# | `none` | the step is as it should be: most of its time is large matrix products |
#
# They were recorded without GPUs, and contain only the outer operations. The program gave the names `part: …`.

# %%
six = {letter: traces.read(f"traces/{letter}.json.gz") for letter in "abcdef"}
course.plots.trace({letter: six[letter] for letter in "bcd"}, save="my_traces.png")

# %% [markdown]
# Write down your guesses for b, c and d before you read the numbers.

# %%
print(*(f"{name}: {fact}" for name, fact in six["a"]["about"].items()), sep="\n")
for letter, trace in six.items():
    print(f"{letter}: {traces.length_of(trace):.0f} ms, {len(trace['events'])} events")
    for name, count, ms in traces.totals(trace)[:8]:
        print(f"   {ms:9.2f} ms in {count:4} × {name}")

# %% [markdown]
# **What you should see.** A step is good if long blue bars fill the picture. `dynamo` is `torch.compile` at work. (It
# generates the code of the backward pass later, inside `CompiledFunctionBackward`.) Draw the other three, too:
# `course.plots.trace({"a": six["a"]})`.
#
# On a **GPU**, a trace has a second kind of lane. Python only *launches* kernels (`cudaLaunchKernel`), and the GPU's
# lane (a *stream*) runs them later. Launch-bound steps have gaps in that lane. A synchronisation is a long
# `cudaStreamSynchronize` inside `aten::item`: the CPU waits until the stream has caught up, and then the GPU waits for
# the next launch. NCCL's kernels have a stream of their own. (Tested with events written by hand; nobody has run
# it on a GPU.) On a CPU, operations run immediately, so `.item()` waits for nothing.
#
# Two questions are numbers. `best_loader`: how many times faster would the steps of the trace that needs `loader` be
# if the rest hid all of its input? `best_overlap`: and those of the trace that needs `overlap`, if its all-reduce
# (the spans of the collective alone) were hidden? Is any of it hidden already? Call the trace `six[…]`, and use
# `busy`, `hidden`, `traces.length_of(trace)`, and the spans `traces.spans_of(trace, "part: input")`,
# `traces.spans_of(trace, *traces.COMMUNICATION)` and `traces.spans_of(trace, "aten::", "autograd::")`.

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: trace_a to trace_f: loader, sync, shapes, overlap, batch or none; best_loader, best_overlap
trace_a, trace_b, trace_c = "shapes", "loader", "none"
trace_d, trace_e, trace_f = "overlap", "batch", "none"
whole_b, whole_d = traces.length_of(six["b"]), traces.length_of(six["d"])
sent = traces.spans_of(six["d"], *traces.COMMUNICATION)
computing = traces.spans_of(six["d"], "aten::", "autograd::")
exposed = reading.busy(sent) * (1 - reading.hidden(sent, computing))
best_loader = whole_b / (whole_b - reading.busy(traces.spans_of(six["b"], "part: input")))
best_overlap = whole_d / (whole_d - exposed)
### END SOLUTION
course.answers.note(trace_a=trace_a, trace_b=trace_b, trace_c=trace_c)
course.answers.note(trace_d=trace_d, trace_e=trace_e, trace_f=trace_f)
course.answers.note(best_loader=f"{best_loader:.3f}", best_overlap=f"{best_overlap:.3f}")

# %% [markdown]
# ## Four slow spots
#
# **Exercise 14.5.** Write the four functions of `fast.py`. Each returns what its namesake in `slow.py` returns,
# sooner. Read that file beside the trace at the top. Two functions need PyTorch's documentation, of `DataLoader` and
# of `AdamW`.
#
# - `batches`: each text takes 2 ms to read. The texts are shuffled already.
# - `gradients`: adding gradients of single texts (*accumulation*) is for batches that do not fit into memory.
# - `optimizer`: AdamW has three implementations. On a CPU, it takes the slowest one unless you ask for another.
# - `note`: on a GPU, `.item()`, `.tolist()`, `.cpu()`, `float()`, `print` and `if` wait until its stream has finished
#   all that it was given before. The program reads your tensor when the training is over.

# %% tags=["check"]
course.check("14.5", fast)

# %% [markdown]
# ## Before and after
#
# The job alternates between the two steps, and tries levers on yours (`levers.py`): *TF32* products, which round
# float32 to ten bits, *bfloat16* by autocast, and in `full` also `torch.compile`. In every round, the job measures the
# peak of a large float32 product, too. Then `probe.py` tests your functions, and counts how often each step calls the
# network, waits, and runs operations.

# %%
one = course.on_nodes(1, gpus if profile == "full" else "")
tried = ["tf32", "bfloat16"] if profile == "smoke" else ["tf32", "bfloat16", "compile"]
run, probe = course.submit("job.sbatch", *size, "--levers", *tried, options=one)


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
slow_spot = "Is one of the functions of exercise 14.5 still as slow as before?"
course.expectations.compare("The step is faster by a factor of", gains, (2, 9), below=slow_spot)
for lever in tried:
    print(f"{lever}: {measure(run, 'lever', of=lever):.2f} times as fast as your step, ", end="")
    apart = max((each["loss_apart"] for each in run.measured("lever", of=lever)), default=0)
    print(f"loss at most {apart:.5f} apart")

# %%
course.plots.step_bars(run, save="my_step.png")

# %% [markdown]
# **What you should see.** The step is two to nine times as fast, with the same loss to all printed digits. On a busy
# core (AMD EPYC, PyTorch 2.13), we saw 75 ms before and 21 ms after:
#
# - The input shrank from 22 ms to 3 ms, because two workers read while the step computes.
# - The gradients shrank from 45 ms to 15 ms: larger matrices, and an eighth of the operations.
# - Noting the gradients was never long. On a GPU, 29 of the slow step's 57 calls to `.item()` would wait for it.
#
# This processor has no TF32, so `tf32` changes no digit. With `bfloat16`, large products are 2.2 times as fast, but our
# small step became slower (0.6 to 0.9), because converting costs more than it saves. Compiling took 66 to 126 s, and
# did not make it faster. (Nobody has run it on a GPU.)
#
# ## The share of the peak
#
# **MFU**, *model FLOPs utilisation*, is the share of the peak that the step's FLOP reach:
#
#     MFU = FLOP of a step / seconds of a step / peak FLOP/s
#
# Papers use the peak from the *data sheet*, for the number format of the matrix products and without sparsity: on an
# H100 SXM, 989 TFLOP/s in bfloat16, and 67 in float32. A large product reaches less, so the share of the *measured*
# peak is larger. Never compare the two. Put your device's number into the next cell: a core has its GHz × 32 FLOP in
# float32 with AVX2, and × 64 with two units of AVX-512.

# %%
sheet = {"smoke": 2.6e9 * 32, "full": 67e12}[profile]  # FLOP/s by the data sheet of your device
rate = measure(run, "flops") / (measure(run, "step_ms", way="after") / 1000)
print(f"MFU {rate / sheet:.3f}, if the data sheet says {sheet / 1e9:.0f} GFLOP/s")
course.predictions.compare("predict_share", measure(run, "peak_share"))

# %%
points = [(each["of"], each["intensity"], each["value"]) for each in run.measured("product")]
[step] = run.measured("flops")
points.append(("your whole step", step["value"] / step["moved"], rate))
best = max(each["value"] for each in (*run.measured("peak_flops"), *run.measured("product")))
course.plots.roofline(best, measure(run, "bandwidth"), points)

# %% [markdown]
# **What you should see.** All points were measured on your device, the best product is the roof's peak, and a dotted
# line leads to what the roof allows. The whole step is far below, with 0.1 to 0.35 of the measured peak, although it
# has enough FLOP per byte. Most of the rest is lost to operations that are too small: each costs several
# microseconds of Python and PyTorch, whatever its size.
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
# many good updates in a row, it is doubled. (PyTorch: `torch.amp.GradScaler`. bfloat16 needs none.)
#
# **Exercise 14.6.** `LossScaler.step` in `scaling.py` divides, then updates or skips. It returns whether it updated.
# Ask the device once per step whether all gradients are finite, not once per parameter.

# %% tags=["check"]
course.check("14.6", scaling.LossScaler)

# %% [markdown]
# ## Compile, once
#
# `torch.compile(model)` traces the model (*dynamo*) and generates code that joins small operations (*inductor*). It
# checks before each call whether the code is right for this shape. With `dynamic=False` it generates code for each
# shape, with `dynamic=True` for any length from the beginning. By default it begins with the shape that it sees, and
# tries a code for any length when that shape changes.
#
# The job trains a tiny network in four precisions. It divides the loss by 4,096, so that gradients are as small as in
# a batch of 4,096 such parts (but it updates after each part). Then it compiles the network for texts of five lengths
# in three ways. (The backend `eager` generates no code, because we only count.)

# %%
found = course.submit("job_ways.sbatch", options=one)
ways = {run.header["source"]: run for run in found}
for way, run_of_way in ways.items():
    loss, zeros = run_of_way.epochs[-1].train_loss.value, measure(run_of_way, "zeros")
    print(f"{way}: loss {loss:.3f}, {zeros:.0%} of the gradients are 0, ", end="")
    print(f"{measure(run_of_way, 'compilations'):.0f} compilations")
lost = measure(ways["float16"], "zeros") - measure(ways["scaled"], "zeros")
course.expectations.compare("Gradients that scaling saves", lost, (0.5, 1), counted=True)
compiled = measure(ways["default"], "compilations")
course.predictions.compare("predict_compiled", compiled, how="counted")

# %% [markdown]
# **What you should see.** float32, bfloat16 and scaled float16 reach the same loss, about 3.15. Without scaling, more
# than nine in ten gradients are 0, and the loss stays above 3.4. The compiled network trains alike in all three ways.
# It is compiled five times with `dynamic=False`, twice by default, and once with `dynamic=True` (PyTorch 2.13). After
# eight compilations of a function (`recompile_limit`) PyTorch warns, and compiles it no more.
#
# ## Break it
#
# `break_it.py` trains in scaled float16, with workers and one compilation, first with `nothing` wrong, then with
# one thing missing:
#
# | `without` | what is different |
# |---|---|
# | `nothing` | nothing: this is your own code |
# | `item` | `.item()` for each parameter in each step |
# | `workers` | no workers |
# | `scaling` | the loss is not scaled |
# | `shapes` | compiles with `dynamic=False` |

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
# **What you should see.** Only `scaling` changes the loss: it falls more slowly, and no message says why. The others
# cost time, or would on a GPU.
#
# ## Faster still
#
# **Exercise 14.7.** Make your step faster still, and defend it with a trace. The fewest milliseconds per text in your
# class win. Change `fast.py`, pull levers together, or change the batch, the network or the number of workers, but not
# only the lever `bfloat16`, which is explained above. In a terminal:
#
#     sbatch job.sbatch --rounds 9 --levers bfloat16+compile --batch-size 16
#
# Below, write what you changed (`change`), the times with their range over the rounds (`times`), what in the two traces
# shows why (`evidence`), and what it costs: digits, memory, waiting, texts until the loss is the same (`price`). An
# attempt that made the step slower counts as much, if the trace explains it. The cell below it draws the traces named
# in `shown`, and writes `report.md`. Your instructor reads it and gives its point.

# %% tags=["exercise"]
change = times = evidence = price = ""
shown = ["before", "after"]
### BEGIN SOLUTION Exercise 14.7: set change, times, evidence and price to your own sentences
change = """Batches of 32 texts, four times as many as before. Everything else is as it was."""
wide, _ = course.submit("job.sbatch", *size, "--batch-size", 32, "--rounds", 3, options=one)
per_text = {texts: sorted(each["value"] / texts for each in study.measured("step_ms", way="after"))
            for texts, study in ((8, run), (32, wide))}  # fmt: skip
ranges = [f"{ms[0]:.2f} to {ms[-1]:.2f} with {texts}" for texts, ms in per_text.items()]
times = f"""Milliseconds per text, over the rounds, by texts in a batch: {" and ".join(ranges)}."""
evidence = """The step has as many operations as with 8 texts. The bars of the products are longer, and the
gaps of Python between them are not, so a text pays for fewer of them."""
price = """The activations of four times as many texts in memory, and a quarter of the updates per text:
the loss needs more texts to become the same."""
### END SOLUTION

# %% tags=["check"]
course.check("14.7", change, times, evidence, price)

# %% tags=["hide-input"]
course.plots.trace({way: traces.read(f"trace_{way}.json.gz") for way in shown}, save="study.png")
parts = {"Change": change, "Times": times, "Evidence": evidence, "Price": price}
report = "".join(f"## {title}\n\n{text}\n\n" for title, text in parts.items())
Path("report.md").write_text(f"# Faster still\n\n{report}![The traces](study.png)\n")

# %% [markdown]
# ## Questions
#
# - `enough_workers`: a step computes for 20 ms and needs 32 files. Reading a file takes 2.5 ms. What is the smallest
#   number of workers that keeps up?
# - `thin_product`: a device has a peak of 60 TFLOP/s in float32 and a bandwidth of 3 TB/s. How many TFLOP/s can the
#   product of a 24 × 4096 and a 4096 × 4096 matrix reach?
# - `mfu_h100`: suppose that a GPT of 12 layers, width 768 and 85 million multiplied parameters trains in bfloat16 with
#   windows of 1,024 tokens, that one H100 SXM makes 400,000 tokens per second, and that a large bfloat16 product
#   reaches 700 TFLOP/s there. What is the MFU?
# - `faults_wide`: these records of `break_it.py --width 48 --steps 15 --delay 0.01` were made on a CPU. Which is
#   `workers`, which `scaling`, which `shapes`, which `item`? Write the four letters in this order, as one word.
#
# | record | loss in epochs 1 to 3 | seconds of epochs 1 to 3 |
# |---|---|---|
# | A | 3.904, 3.423, 3.304 | 1.49, 0.62, 0.58 |
# | B | 3.650, 3.483, 3.473 | 1.22, 0.46, 0.54 |
# | C | 3.904, 3.423, 3.304 | 1.98, 1.13, 1.08 |
# | D | 3.904, 3.423, 3.304 | 2.58, 0.47, 0.53 |

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: enough_workers, thin_product, mfu_h100 and faults_wide
enough_workers = 32 * 2.5 / 20
thin_product = flops.attainable(24, 4096, 4096, 6e13, 3e12) / 1e12
mfu_h100 = flops.step_flops(85e6, 12, 768, 1024, 400_000) / 989e12
faults_wide = "CBDA"
### END SOLUTION
course.answers.note(enough_workers=enough_workers, faults_wide=faults_wide)
course.answers.note(thin_product=f"{thin_product:.3f}", mfu_h100=f"{mfu_h100:.4f}")

# %% [markdown]
# ## Traps
#
# | you see | cause |
# |---|---|
# | hundreds of operations, each a few microseconds long | batch or network too small, a loop over parameters |
# | `No working C++ compiler found`, or on a GPU `Failed to find C compiler` | `inductor` needs one, on compute nodes too |
#
# ## Recap
#
# - Count a step's FLOP first. MFU says how much of the data sheet's peak they reach.
# - Small operations are limited by overhead and bandwidth, large ones by the peak.
# - Read a trace before you pull a lever: what runs, what waits, how long is one operation?
#
# **Submit** your work in a terminal:
#
#     lessons submit 14
#
# Further reading: Williams and others, *Roofline*, doi:10.1145/1498765.1498785; Chowdhery and others, *PaLM* (MFU),
# arXiv:2204.02311.
