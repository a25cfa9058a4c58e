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
# # 06 · Allreduce by hand
#
# **What travels between workers in one step, and how long must it take?**
#
# Several processes run lesson 01's program. Each computes the gradient of its share of a batch, and needs the mean
# over all shares before it can take the step. This exchange is called **allreduce**. You write it twice, count its
# bytes, and predict its time.
#
# Allow 80 minutes. On two CPU cores all runs on this page take less than a minute.

# %% tags=["parameters"]
profile = "smoke"  # "smoke": two CPU cores. "full": all images, 1 to 16 ranks, up to 512 MB
gpus = "gres=gpu:{n}"  # "full": how your site asks for n GPUs of a node

# %% tags=["setup", "hide-input"]
import numpy as np

from lessons import course
from lessons.toolkit.ranks import Hang, run_on_ranks

full = profile == "full"
sizes = ["--epochs", "5"] if full else ["--train-samples", "12800", "--epochs", "3"]
rank_counts = [1, 2, 4, 8, 16] if full else [1, 2, 4]

# %% [markdown]
# ## Four runs, and no error
#
# Four ranks train one network on the same images, and add up their gradients with a function like the one that you will
# write. One run is intact. In each of the others one line is wrong, and nothing was printed. Is the lowest loss the
# right one? After this page you can tell them apart.

# %%
recorded = {
    "A": [1.0692, 0.4766, 0.3862, 0.3694, 0.2605, 0.3032],
    "B": [0.9560, 0.4278, 0.3431, 0.3124, 0.2065, 0.2278],
    "C": [1.1429, 0.5645, 0.4368, 0.3890, 0.3003, 0.3386],
    "D": [0.7510, 0.3558, 0.2233, 0.1857, 0.0948, 0.0791],
}
course.plots.losses(recorded, per="epoch")

# %% [markdown]
# ## Predict
#
# A network of 25.6 million parameters (a ResNet-50) has 102.5 MB of gradients. Four workers need the gradients' sum.
# How many megabytes must the *busiest* process transfer before every process has the sum? (What it sends and receives
# at the same time counts once.)
#
# 1. The workers form a **ring**, and each talks only to its two neighbours.
# 2. A separate **parameter server** receives from and sends to all four.

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_ring_mb and predict_server_mb to a number of megabytes each
predict_ring_mb = 150
predict_server_mb = 800
### END SOLUTION
course.answers.note(predict_ring_mb=predict_ring_mb, predict_server_mb=predict_server_mb)

# %% [markdown]
# ## A parameter server
#
# In `collectives.py` beside this notebook, `comm` is an **mpi4py** communicator: `comm.Send(array, dest=1)`,
# `comm.Recv(array, source=0)`. New to MPI? Read the [MPI tutorial](https://mpitutorial.com/) and [mpi4py's
# documentation](https://mpi4py.readthedocs.io/en/stable/) first.
#
# **Exercise 6.1.** Complete `ps_allreduce`. Rank 0 is both server and worker, and on every rank the sum must end up
# in `values`. The check runs your function on 1 to 4 *simulated* ranks, which are threads of this notebook. They
# never buffer a message, so a call that could hang does hang.

# %% tags=["check"]
import collectives

course.check("6.1", collectives.ps_allreduce)

# %% [markdown]
# ## A ring
#
# Cut the array into as many chunks as there are ranks. In each round every rank sends one chunk to the right and
# receives one from the left. In the first size − 1 rounds the received chunk is *added*. After them each rank owns
# one finished chunk. In the next size − 1 rounds the received chunk *replaces* the old one.
#
# In the first round rank r sends chunk r, later the chunk that it has just received, sum included. On three ranks:
#
# | round | rank 0 sends | rank 1 sends | rank 2 sends | the received chunk |
# |---|---|---|---|---|
# | 1 | chunk 0 | chunk 1 | chunk 2 | is added |
# | 2 | chunk 2 | chunk 0 | chunk 1 | is added: now rank 0 owns chunk 1, rank 1 chunk 2, rank 2 chunk 0 |
# | 3 | chunk 1 | chunk 2 | chunk 0 | replaces |
# | 4 | chunk 0 | chunk 1 | chunk 2 | replaces: everyone has all three |
#
# If you `Send` to the right and then `Recv` from the left, small messages work, because MPI buffers them. Above a few
# kilobytes `Send` waits for the receiver:


# %%
def tempting(comm, values):
    received = np.empty_like(values)
    comm.Send(values, dest=(comm.rank + 1) % comm.size)
    comm.Recv(received, source=(comm.rank - 1) % comm.size)


try:
    run_on_ranks(tempting, [np.ones(4) for _ in range(3)])
except Hang as hang:
    print(hang)

# %% [markdown]
# `comm.Sendrecv(give, dest=right, recvbuf=take, source=left)` does both at once.
#
# **Exercise 6.2.** Complete `ring_allreduce`. `chunks` are views into `values`: writing into a chunk changes the array.
# If size does not divide the length, the first chunks are one number longer.

# %% tags=["check"]
course.check("6.2", collectives.ring_allreduce)

# %%
# Your own two functions, on more than 4 ranks
both = {"server": collectives.ps_allreduce, "ring": collectives.ring_allreduce}
counted = {
    scheme: {p: run_on_ranks(f, [np.zeros(960) for _ in range(p)]).busiest / (8 * 960)
             for p in (1, 2, 4, 8, 16)}
    for scheme, f in both.items()
}  # fmt: skip
for scheme, arrays in counted.items():
    print(
        f"{scheme}: the busiest rank moves", {p: round(n, 3) for p, n in arrays.items()}, "arrays"
    )

# %% [markdown]
# **What you should see.** The server moves 2(p − 1) arrays (30 on 16 ranks). In the ring, each rank moves 2(p − 1)/p
# arrays, which is never more than two. With whole arrays going around, each rank would move p − 1.
#
# The two halves of your ring have names. **Reduce-scatter** leaves each rank with one finished chunk. **Allgather**
# gives all ranks all chunks. Each half moves (p − 1)/p arrays. Lesson 13 uses them one by one.
#
# ## How long must it take?
#
# A message of n bytes takes **α + β·n** seconds: α is the latency, and β is 1 / bandwidth. An allreduce of n bytes
# needs these messages, one after another:
#
# - *ring*: 2(p − 1) messages of n/p bytes;
# - *server*, with rank 0 also a worker: 2(p − 1) messages of n bytes;
# - *servers*, k separate ones that work at the same time: 2p messages of n/k bytes per server.
#
# **Exercise 6.3.** Write `model`, and write `fit`, which fits the ring's α and β to measured points. Each point is
# one equation with two unknowns, seconds = 2(p − 1)·α + 2(p − 1)/p·n·β. `np.linalg.lstsq` fits all points at once.
# Large arrays would dominate the fit, so divide both sides of each equation by its seconds.


# %% tags=["exercise"]
def model(scheme, p, n, alpha, beta, servers=1):
    """Seconds of an allreduce of n bytes on p workers; scheme: "ring", "server" or "servers"."""
    ### BEGIN SOLUTION Exercise 6.3: the seconds of each scheme
    messages, size = {
        "ring": (2 * (p - 1), n / p),
        "server": (2 * (p - 1), n),
        "servers": (2 * p, n / servers),
    }[scheme]
    return messages * (alpha + beta * size)
    ### END SOLUTION


# %% tags=["exercise"]
def fit(sizes, seconds, p):
    """(alpha, beta) of a ring of p ranks from the sizes in bytes and the measured seconds."""
    ### BEGIN SOLUTION Exercise 6.3: least squares of the relative error, np.linalg.lstsq
    sizes, seconds = np.asarray(sizes), np.asarray(seconds)
    rows = np.stack([np.full(len(sizes), 2 * (p - 1)), 2 * (p - 1) / p * sizes], axis=1)
    alpha, beta = np.linalg.lstsq(rows / seconds[:, None], np.ones(len(sizes)), rcond=None)[0]
    return alpha, beta
    ### END SOLUTION


# %% tags=["check"]
course.check("6.3", model, fit)

# %% [markdown]
# ## Five calls
#
# Cray's CPE ML Plugin (2018) is allreduce for TensorFlow in a handful of calls. Its published demo reads:
#
#     mc.init(1, 1, totsize, "tensorflow")             # numbers of all gradients together
#     mc.config_team(0, 0, 100, max_steps, 2, 200)     # … a report every 200 steps
#     new_vars = mc.broadcast(tf.trainable_variables(), 0)
#     grads = mc.gradients(grads, 0)                   # after the backward pass, in every step
#     mc.finalize()
#
# `ml_comm.py` is such a plugin in fifty lines of mpi4py. Its `broadcast` and `gradients` *return* new arrays, which
# `train.py` calls `params` and `gradients`.
#
# **Exercise 6.4.** Put the calls into `train.py`, and complete `steps`, whose result is passed to
# `config_team` as `max_steps`. Each update uses `batch` images on each rank. How many updates do E epochs of n
# images take?

# %% tags=["check"]
import train

course.check("6.4", train)

# %% [markdown]
# `train.py` differs from lesson 01's in five ways: a communicator; a *slice* of the batch for each rank
# (`batch[rank::size]`); a *broadcast*; averaged *gradients*; and printing and saving on rank 0 alone. The batch is 32
# for all ranks together, as on one rank. Are the parameters the same as on one rank, too? In one correct run on 2
# ranks a weight differed by 0.0046 in float32, and by 1e-15 in float64. So the last two runs compare in float64.

# %%
runs = {}
for ranks in rank_counts:
    [runs[ranks]] = course.submit("job.sbatch", *sizes, options={"ntasks": str(ranks)})
    run = runs[ranks]
    print(f"ranks {ranks}: {run.epochs[-1].seconds.value:.2f} s per epoch,", end=" ")
    print(f"test accuracy {run.test_accuracy.value}, spread {run.end['param_spread']}")
exact = [*sizes, "--precision", "float64"]
for ranks in (1, 2):
    [two] = course.submit("job.sbatch", *exact, options={"ntasks": str(ranks)})
away = next(m["value"] for m in two.measures if m["name"] == "difference_to_serial")
print(f"largest difference to the serial run: {away:.1e}")
if not full:
    gain = course.measure.speedup(runs[1], runs[2])
    course.expectations.compare("Two ranks over one", gain, between=(0.4, 1.4), unit="times")
course.plots.speedups({"your runs": course.plots.epoch_times(runs.values())})

# %% [markdown]
# **What you should see.** `param_spread`, the largest difference of any parameter between any two ranks, is exactly
# 0. Five seeds with 12,800 images ended at test accuracies from 0.920 to 0.933, on 1, 2 and 4 ranks. The time does
# *not* fall: a step takes a fraction of a millisecond to compute, and then the ranks exchange 200 to 400 kB each.
#
# ## Break it
#
# `break_it.py` is this training in float64, with **your ring** for the exchange and one line wrong:
#
# - `--without nothing`: intact: the sum from your `ring_allreduce` is divided by the number of ranks;
# - `--without divide`: the sum is not divided;
# - `--without half`: the ring stops after its first half, so nobody passes the finished chunks on;
# - `--without slice`: every rank takes rank 0's slice of the batch;
# - `--without send`: no training; everyone sends arrays of five sizes around the ring before anyone receives.
#
# Which of `divide`, `half` and `slice` leave the ranks with *different* parameters? Write their first letters in
# alphabetical order as one word, such as `"dh"`.

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_unlike to a word of letters
predict_unlike = "h"
### END SOLUTION
course.answers.note(predict_unlike=predict_unlike)

# %%
found = course.submit("job_break.sbatch")
broken = {run.header["without"]: run for run in found}
for m in broken.pop("send").measures:
    print(f"Send of {m['bytes']:7,} bytes, nobody receives:", "done" if m["value"] else "waits")
unlike = [name[0] for name, run in broken.items() if run.end["param_spread"] > 1e-6]
course.predictions.compare("predict_unlike", "".join(sorted(unlike)))
course.plots.faults(broken, more=["first_step", "away_from_one_rank"])

# %% [markdown]
# **What you should see.** Measured on two ranks of one machine, 3,200 images, 2 epochs, global batch 32:
#
# | without | spread at the end | first step, times one rank's | away from one rank at the end | last loss | test accuracy |
# |---|---|---|---|---|---|
# | `nothing` | 0 | 1.000 | 6e-16 | 0.422 | 0.878 |
# | `divide` | 0 | 2.000 | 0.16 | 0.354 | 0.881 |
# | `half` | 0.15 | 0.840 | 0.06 | 0.473 | 0.856 |
# | `slice` | 0 | 1.128 | 0.13 | 0.463 | 0.860 |
#
# - A spread of 0 proves that all ranks agree, but not that they are right. With `divide` and with `slice` all ranks
#   take the same wrong step. Only the comparison with one rank shows the fault.
# - `divide` takes steps twice as long, and learns *more* in two epochs.
# - With `half` each rank has one finished chunk and one with only its own gradients (on four ranks also partial sums).
# - Open MPI buffers up to about 4 kB between two ranks of one node: 800 bytes were sent, 8,000 were not.
#
# ## While the backward pass still runs
#
# Part of the exchange can be hidden. The last layer's gradient is ready first, and can travel while earlier ones are
# computed. `comm.Iallreduce(gradient, total)` starts a sum and returns a request; `request.Wait()` waits for it.
# `total` must be another array. MPI reads `gradient` until `Wait`, but `Iallreduce` does not keep it alive. If
# nothing else does, its memory is reused or given back: the sum is garbage, or the job ends with a segmentation fault
# (two ranks, a million numbers, Open MPI 5.0.11).
#
# **Exercise 6.5.** Complete `overlapped_allreduce` in `collectives.py`.

# %% tags=["check"]
course.check("6.5", collectives.overlapped_allreduce)

# %% [markdown]
# ## Time it
#
# `exchange.py` times your server, your ring and the library's own `MPI_Allreduce` in turn. The reported time is the
# *slowest* rank's median.


# %%
def times_of(run, key):  # scheme or back end -> pairs of bytes and seconds
    found = {}
    for m in (m for m in run.measures if m["name"] == "allreduce_s"):
        found.setdefault(m[key], []).append((m["bytes"], m["value"]))
    return found


more = ["--floats", 256, 2560, 25600, 256000, 1000000, 2560000, 25600000] if full else []
apart = {"nodes": "2", "ntasks-per-node": "1"} if full else {}  # through the network, not memory
[exchange] = course.submit("job_exchange.sbatch", *more, options=apart)
large = ["--floats", 256, 2560, 25600, 256000, 2560000, 25600000, 128000000] if full else []
inside = [n for n in range(2, course.two_nodes() + 1) if course.on_nodes(n).get("nodes") == "1"]
points = times_of(exchange, "scheme")
for scheme, measured in points.items():
    print(f"{scheme:8} ms:", *(f"{n / 1000:.0f} kB {1000 * s:.2f}," for n, s in measured))

# %% tags=["hide-input"]
share = dict(points["library"])[10_240_000] / dict(points["ring"])[10_240_000]
least = 0.4 if full else 0.6  # between nodes the library knows better ways
whole = "Does each of your ring's messages carry a whole chunk?"
course.expectations.compare("10 MB, your ring over the library", share, (least, 1.5), below=whole)
unseen, p = 4_000_000, exchange.workers
seen = [point for point in points["ring"] if point[0] != unseen]
alpha, beta = fit(*zip(*seen, strict=True), p)
print(f"alpha {1e6 * alpha:.0f} µs, bandwidth {1 / beta / 1e9:.1f} GB/s")
measured, foretold = dict(points["ring"])[unseen], model("ring", p, unseen, alpha, beta)
print(f"4 MB: measured {1000 * measured:.2f} ms, the model says {1000 * foretold:.2f} ms")
cache = "Does an array of 4 MB fit into your cache?"
course.expectations.compare("Measured over predicted", measured / foretold, (0.5, 1.5), below=cache)
lines = {s: lambda n, s=s: model(s, p, n, alpha, beta) for s in ("server", "ring")}
course.plots.allreduce_times(points, lines, [unseen])

# %% [markdown]
# **What you should see.** Latency dominates on the left, bytes on the right. On two cores of a shared Intel Xeon
# (Open MPI 5.0.11), two ranks took 7 µs for 1 kB with the server, 24 with the ring and 3 with the library. For 10 MB
# they took 3.2, 1.8 and 1.7 ms. Arrays that fit into the cache are faster than the model says.
#
# ## Why rings lose when ranks are many
#
# A rank of the ring sends less than two arrays for any p, but in 2(p − 1) messages, one after another, and
# each has latency α. A **tree** sends whole arrays up and down: 2·log₂(p) messages of n bytes. **Halving and doubling**
# (partners at distance p/2, p/4, …, each time with half the data) sends as few messages as the tree and as few bytes
# as the ring. The cell assumes α = 5 µs and 12.5 GB/s, typical of one network card between nodes. Before you run it,
# guess: how many times slower than the tree is the ring for 4 kB on 1,024 ranks?

# %%
alpha, beta = 5e-6, 1 / 12.5e9
schemes = {
    "ring": lambda p, n: model("ring", p, n, alpha, beta),
    "tree": lambda p, n: 2 * np.log2(p) * (alpha + beta * n),
    "halving and doubling": lambda p, n: 2 * np.log2(p) * alpha + 2 * (p - 1) / p * beta * n,
}
for n in (4_000, 102_500_000):
    print(f"{n / 1e6:g} MB, ms on 4, 16, 64, 256, 1,024 and 4,096 ranks:")
    for name, seconds in schemes.items():
        row = [1e3 * seconds(p, n) for p in (4, 16, 64, 256, 1024, 4096)]
        print(f"  {name:20}", *(f"{ms:8.2f}" for ms in row))

# %% [markdown]
# **What you should see.** For 4 kB on 1,024 ranks, the ring takes 10 ms and the tree a hundredth of that. For 102.5
# MB, the ring is within a sixth of the best up to 256 ranks. At 4,096 ranks, latency is 41 of its 57 ms; halving and
# doubling takes 16.5 ms, and the plain tree takes 197 ms. So libraries choose by size and number of ranks. NCCL has
# rings and *pipelined double* trees, with the latency of a tree and nearly the bandwidth of a ring (NVIDIA's article
# on NCCL 2.4): 16.5 ms here (computed). (The model assumes that distant partners are as fast as neighbours.)
#
# ## Back ends, and many small arrays
#
# `backends.py` times MPI and Gloo, and NCCL where there are GPUs. **Algorithm bandwidth** is n bytes / seconds. **Bus
# bandwidth** is algorithm bandwidth times 2(p − 1)/p: the bytes that each rank of a ring really moves. Compare bus
# bandwidth with the data sheet.
#
# Most of a network's gradient arrays are small. Horovod and DDP copy many into one buffer and send that: **fusion**.

# %%
places = {"here": {}}
if full:  # a GPU for each rank, where there are some
    places = {"between nodes": course.on_nodes(2, gpus.format(n=1)) | apart}
    within = course.on_nodes(max(inside, default=2), gpus)
    if within not in places.values():  # nodes with one GPU have nothing within
        places["within a node"] = within
for place, options in places.items():
    [found] = course.submit("job_backends.sbatch", *large, options=options)
    p = found.workers
    for name, measured in times_of(found, "backend").items():
        a, b = fit(*zip(*measured, strict=True), p)
        n, seconds = max(measured)
        speed, moved = n / seconds / 1e9, 2 * (p - 1) / p
        print(f"{place}, {name:5} alpha {1e6 * a:.0f} µs, bandwidth {1e-9 / b:.2f} GB/s;", end=" ")
        print(f"{n / 1e6:.0f} MB: algorithm {speed:.2f}, bus {moved * speed:.2f} GB/s")

# %% tags=["hide-input"]
for m in found.measures:  # many small arrays, and the two halves
    if m["name"] in ("fusion_s", "half_s"):
        what = f"{m['arrays']} of 1 kB" if m["arrays"] else f"{m['bytes'] / 1e6:.0f} MB"
        print(f"{m['backend'] or 'mpi':5} {what}, {m['what']:14}: {1e3 * m['value']:.2f} ms")
course.plots.nodes()

# %% [markdown]
# **What you should see.** The smallest array takes much longer with Gloo than with MPI. The 160 arrays of 1 kB take
# longer one by one than fused. The two halves together take about as long as the allreduce.
#
# In the `full` profile, the cell measures within a node, with all its GPUs, and between two nodes (drawn above), up to
# 512 MB, because 10 MB is too little to fill NVLink. The two nodes use one GPU each, and so perhaps one card: 25 GB/s
# (data sheet). [What NCCL says](../../docs/nccl.md) explains its errors, and how to see which network it uses.
#
# ## Late, and early
#
# The same job timed a training step. One rank that is 20 ms late, a **straggler**, makes every rank about 20 ms late:

# %% tags=["hide-input"]
growth = next(m["value"] for m in exchange.measures if m["name"] == "straggler_growth_ms")
turns = "Are there more ranks than cores? Then they take turns, and a step waits for that, too."
course.expectations.compare("A step is longer by", growth, between=(15, 30), unit="ms", above=turns)
for m in exchange.measures:
    if m["name"] == "step_s":
        what = m.get("exchange") or f"the last rank sleeps {m['straggler_ms']} ms"
        print(f"{what:28} {1000 * m['value']:8.2f} ms per step")

# %% [markdown]
# Overlapping gains little on a CPU: the same core computes and moves the message.
#
# ## Write down your answers
#
# - `ring_1024_mb` (in MB) and `server_1024_gb` (in GB, one separate server): the two values that you predicted, for
#   1,024 workers instead of four.
# - `whole_arrays`: how many times as many bytes move on 8 ranks if whole arrays go around the ring?
# - `servers_16`: 16 workers use k separate servers. From which k on does the busiest server move no more bytes than a
#   rank in a ring of 16?
# - `four_runs`: here is more about the four runs from the top of the page, which are runs of `break_it.py` on **four**
#   ranks. Which is `divide`, which `half`, which `nothing`, which `slice`? Write the letters in this order, as one
#   word.
#
# | run | spread at the end | length of the first step, times that of C | test accuracy |
# |---|---|---|---|
# | A | 0.33 | 0.537 | 0.883 |
# | B | 0 | 0.652 | 0.904 |
# | C | 0 | 1 | 0.889 |
# | D | 0 | 2.608 | 0.922 |
#
# **Open, for no points.** For one size of array, make your ring faster than the library's `MPI_Allreduce`, or faster
# than it was. Defend it with the picture that `exchange.py` draws, and say why it is not even faster.

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: five names, see above
ring_1024_mb = 2 * 1023 / 1024 * 102.5
server_1024_gb = 2 * 1024 * 102.5 / 1000
whole_arrays = 8 / 2
servers_16 = 18
four_runs = "DABC"
### END SOLUTION
note = course.answers.note
note(ring_1024_mb=ring_1024_mb, server_1024_gb=server_1024_gb, whole_arrays=whole_arrays)
note(servers_16=servers_16, four_runs=four_runs)
course.predictions.compare("predict_ring_mb", 153.75, "MB", how="computed")
course.predictions.compare("predict_server_mb", 820, "MB", how="computed")

# %% [markdown]
# ## Traps
#
# Every row was run. Rows with numbers come from two ranks on two cores of an AMD EPYC, with 12,800 images, 2 epochs
# and float64. The intact run had a loss of 0.279 and a test accuracy of 0.917.
#
# | you see | cause |
# |---|---|
# | runs with 100 floats, hangs with a million | blocking sends around the ring (`send`) |
# | accuracy 0.920, loss 0.224: better than intact, spread 0; not the parameters of one rank | gradients summed and not divided, or the rate scaled although the batch is not: twice the rate |
# | accuracy 0.910, `param_spread` 0.89 | no broadcast and unlike seeds, or the result of `mc.broadcast` thrown away |
# | accuracy 0.924, loss 0.299, `param_spread` 0.24 | what `mc.gradients` returns was not assigned: no exchange |
# | accuracy 0.924, spread 0, not the parameters of one rank | all ranks read the same half |
# | spread 0.15, growing from the first step on; half of each gradient is right | the ring's second half is missing (`half`) |
# | accuracy 0.908, loss 0.330, spread 0 | a mean that is divided once more: half the rate |
# | twice the bytes that you computed | float64 gradients: NumPy's default |
# | a single exchange is quick, the job is slow | rank 0's own clock, which stops when rank 0 is done. `exchange.py` takes the slowest rank's time |
#
# ## Recap
#
# - A message takes α + βn seconds. Count messages and bytes before you measure.
# - For many ranks or small arrays use trees, and send small arrays as one.
# - The slowest rank sets the pace. A correct program has equal parameters on all ranks, but so do many wrong ones.
#
# **Submit** your work in a terminal:
#
#     lessons submit 06
#
# Next: lesson 07 uses Horovod, which does this for TensorFlow and PyTorch.
