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
# # 12 · The scaling study
#
# **How many GPUs should I ask for, and what can I say about 1,024?**
#
# You measure three kinds of scaling in one job, fit the laws that everybody quotes, and find out how far they can
# predict. Then you weigh cost against time and write a report.
#
# Allow two hours, without the report. On two idle CPU cores all jobs on this page take about a minute.

# %% tags=["parameters"]
profile = "smoke"  # "smoke": two CPU cores. "full": the whole data set, GPUs
ranks = 0  # the largest number of ranks, up to 48; 0: 2 in "smoke", in "full" the GPUs of two nodes
gpus = "gres=gpu:{n}"  # "full": how your site asks for n GPUs of a node

# %% tags=["setup", "hide-input"]
import numpy as np

from lessons import course
from lessons.toolkit import foretelling, scaling_report

few = {"smoke": "--train-samples 1280 --test-samples 500 --epochs 3", "full": ""}[profile].split()
# Published: GPUs, and for a small and a large data set images/s; for the small one also seconds
# from start to end
GPUS, SMALL_T = [1, 2, 4, 8, 16, 32], [556, 439, 380, 347, 330, 328]
SMALL, LARGE = [240, 464, 892, 1668, 3075, 5205], [242, 475, 935, 1817, 3597, 6914]

# %% [markdown]
# ## Strong scaling?
#
# One rank trained a network. Then two ranks trained it three times, and the author calls each run *strong scaling*.
# Which of them would you believe? (Other jobs used the cores, too, so the seconds say nothing. Losses are rank 0's.)

# %%
shown = {name: course.runs(f"records/{name}.rec")[0] for name in ("one", "h", "p", "y")}
course.plots.faults(shown, path="", more=["global_batch", "step_images"], names="run")

# %% [markdown]
# - `record_h`, `record_p`, `record_y`: `"a"` some images are never read. `"b"` Every rank reads all images. `"c"` Each
#   rank kept one rank's batch. `"d"` The ranks average nothing. `"e"` Each batch is trained on twice. `"f"` No fault.
#   Answer at the end of the page.
#
# ## Predict
#
# A ResNet with 272,282 parameters is trained on your largest number of ranks. Each rank has as many images per step
# as one rank alone. An epoch has the same images as on one rank.
#
# 1. What efficiency will the training reach? (1 means that twice the ranks take half the time.)
# 2. A Vision Transformer was 21.7 times as fast on 32 H100 as on one: six measured points (below). What would its
#    speedup be on 1,024 GPUs?

# %% tags=["exercise"]
course.plots.laws_beyond({"small": (GPUS, [rate / SMALL[0] for rate in SMALL])}, {}, 1024)
### BEGIN SOLUTION Predict: set predict_efficiency, from 0 to 1, and predict_1024, a speedup
predict_efficiency = 0.9
predict_1024 = 200
### END SOLUTION
course.answers.note(predict_efficiency=predict_efficiency, predict_1024=predict_1024)

# %% [markdown]
# ## Three studies share one name
#
# | kind | stays the same | the question behind it |
# |---|---|---|
# | **strong** | batch of all ranks, images per epoch | the same training, only sooner |
# | **epoch** | batch of *each* rank, images per epoch | most examples with DDP and Horovod: the global batch grows |
# | **weak** | batch and images of *each* rank | more data in the same time |
#
# In epoch and in weak scaling the global batch grows, so the training is different (lesson 09). *Scaling the batch and
# calling it strong scaling* is a frequent mistake in such tables.
#
# `train.py` is lesson 10's program plus one function, `plan`. `batch` and `samples` are the values for one rank
# alone.
#
# **Exercise 12.1.** Complete `plan` in `train.py`. For each size, return the batch of *each* rank, and the number of
# images of *all* ranks per epoch. Divide a batch with `//`. If this leaves a remainder, it is dropped: 64 images on 3
# ranks are 21 per rank. So choose a batch that all your sizes divide.

# %% tags=["check"]
import train

course.check("12.1", train)
course.show_diff(
    "10_native/train.py",
    "train.py",
    plan=r"plan\(|KINDS|--scaling|samples \* size|batch // size|local_batch|data.load",
    scale_the_rate=r"args\.lr \*",
    test_every_epoch="val_accuracy|evaluate",
)

# %% [markdown]
# ## Measure in rounds, in one job
#
# Jobs of different sizes would run at different times, beside other jobs. So `study.py` starts all ranks once and
# measures in **rounds**. In each round, first 1, then 2, then 4 … ranks train on their images once, while the others
# sleep.
#
# The grey line is the **ceiling**. It is measured while all ranks train at the same time, each on one rank's images,
# and never communicate. Strong scaling can exceed it, because smaller pieces may fit into a cache.
#
# In the `full` profile, the network is ten times as wide (lesson 07).

# %%
ranks = min(48, ranks or (course.two_nodes() if profile == "full" else 2))
device = gpus if profile == "full" else ""
alone = {"smoke": (32, 2, 1), "full": (32 * min(max(8, ranks), 32), 24, 10)}
batch, steps, width = alone[profile]
weak = min(steps, 50_000 // ranks // batch) * batch  # CIFAR-10 has 50,000 images
words = ["--batch-size", batch, "--train-samples", steps * batch, "--weak-samples", weak]
course.submit("job_study.sbatch", *words, "--width", width, options=course.on_nodes(ranks, device))
runs = course.runs("12_study_*.out")  # all of them count
tables = dict(course.study_table.by_kind(runs))
own_efficiency = tables["epoch"][-1].efficiency.value
course.predictions.compare("predict_efficiency", own_efficiency)
scaling_report.tell_missing(tables)
scaling_report.tell_crowded(runs)
course.plots.scaling_study(runs)

# %% [markdown]
# **What you should see.** On two idle cores, both epoch and weak scaling come close to the silent copies. Strong
# scaling stays a little behind: with half the images per step, a rank computes for half as long but exchanges just as
# much.
#
# ## One number for what is lost
#
# **Karp and Flatt's** e = (1/S − 1/p) / (1 − 1/p) turns a speedup S on p devices into the serial part that would
# explain it. If e is the same for all p, the data agree with such a serial part. If e rises, overhead grows with p.
# If e falls, Amdahl's law (fixed work) does not describe the experiment.
#
# One cost can be computed beforehand, with the **α–β model** from lesson 06. A ring sends 2(p−1) messages of n/p
# bytes, one after the other. Each takes α seconds of latency, and then n/p bytes travel at B bytes per second.
#
# **Exercise 12.2.** `efficiency(kind, p, step_s, exchange_s)` predicts a study. One rank alone needs `step_s` seconds
# for a step. On p ranks each step ends with an exchange of `exchange_s` seconds, during which nobody computes. Which
# efficiency has `"strong"`, `"epoch"` or `"weak"` scaling? Begin with the seconds of a step, and the steps of an epoch.


# %% tags=["exercise"]
def efficiency(kind, p, step_s, exchange_s):
    ### BEGIN SOLUTION Exercise 12.2: what a rank computes per step, over what p such steps cost
    computed_s = step_s / p if kind == "strong" else step_s
    return computed_s / (computed_s + exchange_s)
    ### END SOLUTION


# %% tags=["check"]
course.check("12.2", efficiency)


def karp_flatt(speedup, p):
    return (1 / speedup - 1 / p) / (1 - 1 / p)


def ring_s(p, size, alpha=5e-6, rate=2.5e10):
    return 2 * (p - 1) * alpha + 2 * (p - 1) / p * size / rate


for p in (2, 32, 1024):  # 108 MB of gradients; a step of 80 ms on one GPU
    found = [efficiency(kind, p, 0.08, ring_s(p, 108e6)) for kind in ("strong", "weak")]
    print(f"{p:,} ranks: ring {1e3 * ring_s(p, 108e6):.0f} ms;", end=" ")
    print(f"efficiency {found[0]:.3f} in strong and {found[1]:.3f} in weak scaling")

# %% [markdown]
# `GPUS`, `SMALL` and `LARGE` above contain two published studies. A Vision Transformer was trained on 1 to 32 H100 of
# MareNostrum 5, with a small and with a large data set (J. Torres, *Supercomputing for Artificial Intelligence*,
# chapter 12). Each GPU's batch was fixed, so this is epoch scaling. For the small set e falls from .0345 to .0153, so
# Amdahl's law does not hold there.
#
# ## Fit the laws, each with what it assumes
#
# | law | it assumes |
# |---|---|
# | **Amdahl** S = 1/(f + (1−f)/p) | the work is fixed, and a part f is serial |
# | **Gustafson** S = p − s(p−1) | the work grows with p, but a part s of the time does not |
# | **USL** S = p/(1 + σ(p−1) + κp(p−1)) | workers wait for something shared (σ), and each has to agree with every other (κ) |
# | **fixed cost** T = a + b/p | starting, loading and saving take *a* seconds for every p |
#
# Amdahl's and Gustafson's laws become straight lines through 0, y = f·x with x = p − 1, if you choose y well. By least
# squares the slope is sum(x·y) / sum(x·x), over all sizes.
#
# **Exercise 12.3.** Bring both into this form (Gustafson's with s instead of f), and fit them. Sizes and speedups are
# lists that begin with 1. `fixed_and_divided` returns a and b; its line need not pass through 0 (`np.polyfit`).


# %% tags=["exercise"]
def amdahl_f(sizes, speedups):
    ### BEGIN SOLUTION Exercise 12.3: f, from all sizes
    p, gain = np.array(sizes), np.array(speedups)
    return (p - 1) @ (p / gain - 1) / ((p - 1) @ (p - 1))
    ### END SOLUTION


def gustafson_s(sizes, speedups):
    ### BEGIN SOLUTION Exercise 12.3: s, from all sizes
    p, gain = np.array(sizes), np.array(speedups)
    return (p - 1) @ (p - gain) / ((p - 1) @ (p - 1))
    ### END SOLUTION


def fixed_and_divided(sizes, seconds):
    ### BEGIN SOLUTION Exercise 12.3: a and b, from all sizes
    b, a = np.polyfit(1 / np.array(sizes), seconds, 1)
    return a, b
    ### END SOLUTION


# %% tags=["check"]
course.check("12.3", amdahl_f, gustafson_s, fixed_and_divided)

# %% [markdown]
# **Exercise 12.4.** `usl(sizes, speedups)` returns σ and κ, two slopes of y = σ·(p − 1) + κ·x. For these tables an
# unconstrained fit of both has κ < 0 and so predicts a *negative speedup* at 1,024. In that case set κ = 0 and fit σ
# alone. (If σ is below 0, set σ = 0 and fit κ again.) `at(sizes, speedups, p)` returns the lowest and the highest
# value that Amdahl, Gustafson and the USL predict for p workers.


# %% tags=["exercise"]
def usl(sizes, speedups):
    """Return σ and κ. np.linalg.lstsq(columns, y) solves y = columns @ [σ, κ]: a row per size."""
    ### BEGIN SOLUTION Exercise 12.4: σ and κ, neither below 0
    p = np.array(sizes, float)
    columns, y = np.stack([p - 1, p * (p - 1)], axis=1), p / np.array(speedups) - 1
    sigma, kappa = np.linalg.lstsq(columns, y, rcond=None)[0]
    if kappa < 0:
        return max(0.0, amdahl_f(sizes, speedups)), 0.0
    return (sigma, kappa) if sigma >= 0 else (0.0, columns[:, 1] @ y / (columns[:, 1] ** 2).sum())
    ### END SOLUTION


def at(sizes, speedups, p):
    ### BEGIN SOLUTION Exercise 12.4: the lowest and the highest of three laws at p
    f, s, (a, b) = (fit(sizes, speedups) for fit in (amdahl_f, gustafson_s, usl))
    said = [p / (1 + f * (p - 1)), p - s * (p - 1), p / (1 + a * (p - 1) + b * p * (p - 1))]
    return min(said), max(said)
    ### END SOLUTION


# %% tags=["check"]
course.check("12.4", usl, at)

# %%
small, large = ([rate / rates[0] for rate in rates] for rates in (SMALL, LARGE))
print("e, small:", *(f"{karp_flatt(*pair):.4f}" for pair in zip(small[1:], GPUS[1:], strict=True)))
sets, fits, lines = {"small": (GPUS, small), "large": (GPUS, large)}, {}, {}
if len(tables["epoch"]) > 2:  # two sizes fit any law
    sets["own"] = tuple(zip(*((r.ranks, r.speedup.value) for r in tables["epoch"]), strict=True))
for name, (sizes, S) in sets.items():
    fits |= {f"{name}_f": amdahl_f(sizes, S), f"{name}_s": gustafson_s(sizes, S)}
    fits[f"{name}_low_1024"], fits[f"{name}_high_1024"] = at(sizes, S, 1024)
    lines[name] = [fits[f"{name}_f"]], [fits[f"{name}_s"]], usl(sizes, S)
fits["small_fixed_s"], fits["small_divided_s"] = fixed_and_divided(GPUS, SMALL_T)
course.answers.note(**{name: float(value) for name, value in fits.items()})
low, top = fits["small_low_1024"], fits["small_high_1024"]
guess = course.interval.Measure(np.sqrt(low * top), low, top)
course.predictions.compare("predict_1024", guess, how="computed")
course.plots.laws_beyond(sets, lines, 1024)

# %% [markdown]
# **What you should see.** Amdahl's law passes within 4 % of all six points, although e falls. A good fit does not
# prove the assumption. Gustafson's law misses the large set by up to 4 % and the small one by up to 17 %. With κ = 0
# the USL is Amdahl's law. At 1,024 GPUs, 32 times as many as were measured, the laws predict speedups of 59 to 715
# for the small set and 187 to 919 for the large one. **The choice of law matters more than the data.**
#
# The ring above takes 9 ms on 32 ranks and 19 ms on 1,024, and nearly all of the difference is latency. (This assumes
# 5 µs and 25 GB/s, one network card of 200 Gbit/s.) It is too pessimistic: DDP's exchange overlaps the backward pass
# (lesson 10), and on many nodes NCCL may use a tree, whose latency grows with log p. It is too optimistic, for it
# ignores stragglers, shared links and reading the data.
#
# The fixed cost is 318 s for the small set, and 313 s for the large one (fitted to the book's times). So the small
# set's throughput grew 21.7-fold, but its total time shrank only 1.7-fold. *Epoch times and total times do not belong
# in one table.*
#
# ## Foretell
#
# The next tables hide their last value. Predict an interval for it, then look. Two things are graded: the interval is
# **honest** if it contains the truth, and **useful** if high / low is at most the printed limit.

# %% tags=["hide-input"]
for name, table in foretelling.TABLES.items():
    relative = [size / table.sizes[0] for size in table.sizes]
    low, high = at(relative, table.speedups, table.asked / table.sizes[0])
    first = table.values[0]
    said = (first / high, first / low) if table.is_time else (first * low, first * high)
    print(f"{name}: {table.title} ({table.source})")
    print(
        "  ",
        ", ".join(f"{n:,}: {v:g}" for n, v in zip(table.sizes, table.values, strict=True)),
        table.what,
    )
    print(f"   {table.asked:,}: ?   laws: {said[0]:.4g} to {said[1]:.4g}", end="; ")
    print(f"high / low at most {table.widest}")
course.plots.nodes()

# %% [markdown]
# No fit knows where the first node (drawn above) ends and the network begins, how much a repeat would differ, or
# whether each device's batch stayed the same. So take the laws' range and widen it to allow for what you do not know.
#
# **Exercise 12.5.** For each table, write an interval, low and high, in the table's unit. The next cell
# checks them and shows the measured values. Once you have run it, your intervals count as they are.

# %% tags=["exercise"]
intervals = {}
### BEGIN SOLUTION Exercise 12.5: fill intervals["k80_resnet50"] = low, high, and so on for all six
intervals["k80_resnet50"] = 2100, 2980
intervals["k80_resnet152"] = 950, 1220
intervals["p100_vgg16"] = 815, 1075
intervals["a100_minutes"] = 2.85, 4.2
intervals["llm_tokens"] = 1160000, 1430000
intervals["megascale"] = 5.95, 7.6
### END SOLUTION

# %% tags=["check"]
course.check("12.5", intervals)
intervals = foretelling.first(intervals)  # those of an earlier look, if there was one
ends = {f"foretold_{name}": f"{low:g} to {high:g}" for name, (low, high) in intervals.items()}
course.answers.note(**ends)
honest = [foretelling.reveal(name, low, high) for name, (low, high) in intervals.items()]
print(f"Honest: {sum(honest)} of {len(honest)} of your intervals.")

# %% [markdown]
# **What you should see.** The range of the three laws contains three of the six measured values, although no
# prediction goes beyond twice the largest size in its table. Did you beat them? VGG16 lost most with its last
# doubling, on GPUs of the same node. What in its remark explains that?
#
# ## Time to accuracy
#
# When the batch grows, the only fair measure is **time to accuracy**: the seconds until the test accuracy reaches a
# target *and holds it at the next evaluation*. A study takes the median of several seeds. Below, one seed has to do,
# and only training is timed. In MLPerf v0.6 ResNet-50 took 52.74, 2.59 and 1.33 minutes on 16, 512 and 1,536 V100s, in
# 60, 72 and 90 epochs. So 96 times as many GPUs were 39.7 times as fast, which is an efficiency of 0.41. This is a
# product: 0.62 for the speed per epoch times 0.67 for learning, which took 50 % more epochs.
#
# **Exercise 12.6.** `time_to(target, accuracies, seconds)` gets two lists with one entry per epoch. It returns `None`
# unless the target was reached and still held at the next evaluation. A value equal to the target counts.


# %% tags=["exercise"]
def time_to(target, accuracies, seconds):
    ### BEGIN SOLUTION Exercise 12.6: seconds of all epochs up to the first that is there, as is the next
    for i in range(len(accuracies) - 1):
        if min(accuracies[i : i + 2]) >= target:
            return sum(seconds[: i + 1])
    return None
    ### END SOLUTION


# %% tags=["check"]
course.check("12.6", time_to)

# %%
# This lesson's program, on one rank, and on several in strong and in epoch scaling:
jobs = {"one": (1, "epoch"), "strong": (ranks, "strong"), "epoch": (ranks, "epoch")}
trained = {}
for name, (n, kind) in jobs.items():
    run, _ = course.submit(
        "job.sbatch", "--scaling", kind, *few, options=course.on_nodes(n, device)
    )
    trained[name] = run
    curve = [epoch.val_accuracy.value for epoch in run.epochs]
    reached = time_to(0.8, curve, [epoch.seconds.value for epoch in run.epochs])
    print(f"{name}: {run.workers} ranks, batch {run.header['global_batch']}, accuracy", end=" ")
    print(", ".join(f"{accuracy:.3f}" for accuracy in curve), end="; 0.8 after ")
    print("more than its epochs" if reached is None else f"{reached:.2f} s")

# %% [markdown]
# **What you should see.** In strong scaling the curve matches that of one rank, except for the last digit. On two
# ranks, epoch scaling makes half as many updates and lags behind in the first epoch: in one run .738 instead of .772
# (CPU cores, one seed).
#
# ## Cost against time
#
# You are billed for the allocation: GPUs × hours from start to end, whether the GPUs compute or wait. Slurm's
# accounting records this, and the energy of whole nodes if the site measures it:
#
#     sacct -X -n -P -o JobID,Elapsed,AllocTRES,ConsumedEnergy -j 1885056
#     1885056|00:10:30|billing=80,cpu=80,gres/gpu=8,mem=960G,node=2|5.04M
#
# More GPUs take less time and cost more. Where is the **sweet spot**? One answer is the size at which *cost × time*
# is smallest.
#
# **Exercise 12.7.** `sweet_spot(sizes, seconds)` returns the size for which GPUs × seconds × seconds is smallest.
# `cost(line)` returns GPU-hours (0 without GPUs) and kWh of a line like the one above:
#
# - Times are `[days-]hours:minutes:seconds`.
# - A line counts the GPUs of all nodes, and may list them twice: `gres/gpu:h100=4,gres/gpu=4`.
# - Energy is in joules, with K, M or G for thousands, millions or billions. 1 kWh is 3.6 million joules. A site that
#   measures no energy leaves the field empty or writes `0`: then return `None`.


# %% tags=["exercise"]
def cost(line):
    ### BEGIN SOLUTION Exercise 12.7: GPU-hours, and kWh or None
    _, elapsed, allocated, energy = line.split("|")
    days, _, clock = elapsed.rpartition("-")
    hours, minutes, seconds = map(int, clock.split(":"))
    gpus = dict(part.split("=") for part in allocated.split(",")).get("gres/gpu", 0)
    total = int(gpus) * (24 * int(days or 0) + hours + minutes / 60 + seconds / 3600)
    scale = {"K": 1e3, "M": 1e6, "G": 1e9}.get(energy[-1:], 1)
    return total, float(energy.rstrip("KMG")) * scale / 3.6e6 if energy.strip("0.") else None
    ### END SOLUTION


def sweet_spot(sizes, seconds):
    ### BEGIN SOLUTION Exercise 12.7: the sweet spot
    return min(zip(sizes, seconds, strict=True), key=lambda pair: pair[0] * pair[1] ** 2)[0]
    ### END SOLUTION


# %% tags=["check"]
course.check("12.7", cost, sweet_spot)

# %% [markdown]
# This cell shows what your own jobs cost (if your site keeps accounts), and time and cost of both published sets (of
# the large one by the line 313 + 2,052/p) and of your epoch scaling.

# %%
numbers = ",".join(sorted({run.job_id for run in (*runs, *trained.values()) if run.job_id}))
columns, costs = "JobID,Elapsed,AllocTRES,ConsumedEnergy", {}
told = course.typed(f"sacct -X -n -P --format={columns} --jobs={numbers} || true")
for line in told.splitlines():
    gpu_hours, kwh = cost(line)
    energy = "no energy on record" if kwh is None else f"{kwh:.3g} kWh"
    job, *took = line.split("|")
    costs[f"job {job}"] = f"{gpu_hours:.3g} GPU-hours, {energy} ({took[0]} of {took[1]})"
    print(f"job {job}:", costs[f"job {job}"])
times = {"small": (GPUS, SMALL_T), "large": (GPUS, [313 + 2052 / p for p in GPUS])}
times["own"] = tuple(zip(*((r.ranks, r.seconds.value) for r in tables["epoch"]), strict=True))
for name, data in times.items():
    shown = (f"{t:.3g} s × {p} = {p * t:.3g}" for p, t in zip(*data, strict=True))
    print(f"{name}: sweet spot {sweet_spot(*data)}; time × GPUs:", ", ".join(shown))

# %% [markdown]
# **What you should see.** For the small set, 32 GPUs take 328 s, one takes 556 s, and the sweet spot is one GPU. For
# the large set it is 8 GPUs. For a line a + b/p, cost × time is smallest near p = b/a, where the divided work takes
# as long as the fixed cost. Say in your recommendation which you prefer, this or the *fastest* size.
#
# **Questions.** Which kind of scaling is each of these? `"strong"`, `"epoch"` or `"weak"`.
#
# - `kind_a`: ImageNet, 32 images per step on each GPU, on 8 to 256 GPUs; seconds per epoch.
# - `kind_b`: ImageNet, 8,192 images per step over all GPUs, on 8 to 256 GPUs.
# - `kind_c`: Every GPU gets a file with 10,000 images; seconds to go through it, on 8 to 256 GPUs.
# - `kind_d`: A DDP program with `DataLoader(data, 64, sampler=DistributedSampler(data))`, as it is, on 1 to 8 GPUs.
#
# Answer with one letter, or with two, such as `"ab"`:
#
# - `supported`: which recommendation do the small set's numbers support? (a) Ask for 32, because it is 21.7 times as
#   fast. (b) Ask for 32 if somebody waits, and pay many times as much for 3.8 minutes less. (c) Ask for 32 if
#   half of the paid GPU time has to be useful, because 0.68 is above it. (d) Ask for 1,024: by Gustafson's law that is
#   715 times as fast.
# - `cannot_tell`: which two can the rounds of `study.py` *not* show? (a) whether strong scaling keeps up with epoch
#   scaling here; (b) which size reaches a given accuracy first; (c) what twice your largest size would gain; (d) how
#   much of the lost speed is due to the machine itself.
#
# `sweet_large`: the sweet spot of the six `GPUS` for the large set, if its fixed cost fell from 313 s to 120 s.
# `second_cost`: with 32 instead of 8 GPUs, how many GPU-seconds more does the small set pay for each second saved?
#
# ## The report
#
# The cell below fills in hardware, tables, picture and costs from the records, and laws from your fits. You write
# three parts. **Question**: what did you want to know, and for which decision? **Recommendation**: how many ranks,
# based on which number, and why not more? **What is not known**: which questions do these runs leave open?
#
# **Exercise 12.8.** Write the three parts, and answer the questions. The recommendation names a number of ranks from
# the epoch-scaling table, with its efficiency, speedup or time.
#
# **Open.** Make one kind of scaling better on your machine without changing what is learnt, or find out why you cannot.
# Put it into a fourth part, **Faster**: what you changed, what you expected, two measurements with their ranges, and
# what they allow you to say. A change that gained nothing counts as much, if you explain it.
#
# **A classmate** reads your report and fills in `classmate.md`, five questions, with their name. Run the last cell
# again: it adds the form to `report.md`. Read a classmate's report, too. Your instructor reads both, and gives 2 points
# for the report and 1 for *Faster*. The form has no points.

# %% tags=["exercise"]
question = recommendation = unknown = faster = ""
### BEGIN SOLUTION Exercise 12.8: set the four texts, and the questions' names
best = dict(course.study_table.by_kind(course.runs("12_study_*.out")))["epoch"][-1]
question = f"Should I ask for {ranks} ranks instead of one to train this ResNet on CIFAR-10?"
recommendation = f"""{best.ranks} ranks, if nobody else waits for them: their efficiency in epoch scaling is
{best.efficiency.value:.2f}. Not more, because no larger size was measured."""
unknown = (
    "Larger sizes, because two points fit every law; other machines; accuracy with other seeds."
)
faster = "Not tried. A larger batch on each rank pays for an exchange less often, in fewer updates."
record_h, record_p, record_y, supported, cannot_tell = "f", "d", "c", "b", "bc"
kind_a, kind_b, kind_c, kind_d = "epoch", "strong", "weak", "epoch"
sweet_large, second_cost = sweet_spot(GPUS, [120 + 2052 / p for p in GPUS]), 7720 / 19
### END SOLUTION
course.answers.note(record_h=record_h, record_p=record_p, record_y=record_y, kind_a=kind_a)
course.answers.note(kind_b=kind_b, kind_c=kind_c, kind_d=kind_d, sweet_large=sweet_large)
course.answers.note(supported=supported, cannot_tell=cannot_tell, second_cost=second_cost)

# %% tags=["check"]
course.check("12.8", question, recommendation, unknown)

# %%
scaling_report.write(
    runs,
    laws={name: f"{value:.4g}" for name, value in fits.items()},
    costs=costs,
    question=question,
    recommendation=recommendation,
    unknown=unknown,
    faster=faster,
)

# %% [markdown]
# ## Traps
#
# | you see | cause |
# |---|---|
# | a perfect "strong" curve | each rank kept its batch: epoch scaling |
# | far too many kWh | the job shared its node: Slurm counts the whole node's energy |
#
# Errors on GPUs: [What NCCL says](../../docs/nccl.md).
#
# ## Recap
#
# - Say which kind of scaling you measured; it decides what a speedup means.
# - A law is an assumption. Far beyond the data, the choice of law matters more than the data, so state an interval.
# - Decide by time to accuracy and GPU-hours, not by speedup alone.
#
# **Submit** your work in a terminal:
#
#     lessons submit 12
#
# Further reading: T. Hoefler, R. Belli, *Scientific benchmarking of parallel computing systems*,
# SC15; N. Gunther, *A general theory of computational scalability*, arXiv:0808.1431.
