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
# # 16 · TensorFlow's own ways and parameter servers
#
# **What happens when nobody waits?**
#
# This lesson is optional: take it if you work with TensorFlow on several nodes, or want to know why recommendation
# systems still train with parameter servers. There are two schemes for workers that train one network together:
#
# ```
# all-reduce                                   parameter server
#
# worker 0 ◄──► worker 1 ◄──► worker 2         worker 0    worker 1    worker 2
#    each has all parameters;                        ╲          │          ╱
#    gradients are averaged,                          read ▲    │   ▼ gradients
#    and each waits for the slowest                         server: parameters
#                                             chief: gives orders to the workers
# ```
#
# TensorFlow calls the first scheme `MultiWorkerMirroredStrategy` and the second one `ParameterServerStrategy`. Only the
# second can train *asynchronously*: each worker sends its gradient as soon as it is ready, and nobody waits.
#
# Allow 70 minutes. On two CPU cores all the jobs on this page together take about a minute.

# %% tags=["parameters"]
profile = "smoke"  # "smoke": two CPU cores. "full": the whole data set, GPUs
ranks = 2  # workers; in "full" as many as you have GPUs, on one node or evenly on two
gpus = "gres=gpu:{n}"  # "full": how your site asks for n GPUs of a node

# %% tags=["setup", "hide-input"]
from lessons import course
from lessons.toolkit import data, quiet

import staleness

quiet.tensorflow()
few = {"smoke": ["--train-samples", "6400", "--epochs", "3"], "full": ["--model", "cnn"]}[profile]
workers_on = course.on_nodes(ranks, gpus if profile == "full" else "")
options = {**workers_on, "ntasks": str(ranks + 2)}  # and a chief and a server
if "ntasks-per-node" in options:  # on two nodes: the chief on one, the server on the other
    options["ntasks-per-node"] = str((ranks + 2) // 2)


def run(job, options, *words):
    return course.submit(job, *few, "--batch-size", 256 // ranks, *words, options=options)


# %% [markdown]
# Two workers train without waiting. The *staleness* of an update is the number of other updates between reading the
# parameters and applying the gradient. The program counts it:

# %%
[alone] = run("job_ps.sbatch", options, "--asynchronous")
course.plots.staleness({f"{ranks} workers, measured": alone})

# %% [markdown]
# **What you should see.** The staleness is 0.2 to 0.5 on average (two cores of a virtual machine that other programs
# used as well, TensorFlow 2.21). Between two orders a worker waits for the chief and has read nothing, so it
# misses nothing. How large is it if every worker always has a gradient in the making?
#
# ## Predict
#
# Each of four workers sends its gradients to a parameter server as soon as they are ready. Nobody waits.
#
# 1. All four are equally fast. While one of them computes a gradient, how many updates do the others make,
#    on average?
# 2. Now one worker takes five times as long as each of the other three. How many updates do the others make while this
#    slow one computes? (Guess also, without writing it: is the mean over *all* gradients larger than before?)

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_staleness and predict_slow to numbers
predict_staleness, predict_slow = 3, 15
### END SOLUTION
course.answers.note(predict_staleness=predict_staleness, predict_slow=predict_slow)

# %% [markdown]
# **Exercise 16.1.** `simulate_async(p, delays, updates)` in `staleness.py` simulates what many workers would do. Its
# docstring has the rules. If several workers are ready at once, any of them can go first.

# %% tags=["check"]
course.check("16.1", staleness.simulate_async)

# %%
equal = staleness.simulate_async(4, [1.0] * 4)
slow = staleness.simulate_async(4, [1.0, 1.01, 1.02, 5.0])
late, late_slow = staleness.staleness(equal), staleness.staleness(slow)
course.predictions.compare("predict_staleness", late[4:].mean(), how="simulated")
course.predictions.compare("predict_slow", int(late_slow.max()), how="simulated")
course.plots.staleness({"4 equal workers": late, "4 workers, one 5 times slower": late_slow})

# %% [markdown]
# **What you should see.** The mean stays p − 1, whatever the speeds, if each worker reads again as soon as it has
# sent. (At the start it is smaller. Ours above waited for orders.) While a worker computes a gradient, it misses
# every update, and each update is missed by p − 1 others. So the slow worker's gradients are 15 updates late at most
# (nearly always), and those of the other three 2.2 instead of 3.
#
# ## What staleness costs
#
# `train_late` trains lesson 01's network according to your list: update k uses the gradient for the parameters as
# they were after `reads[k]` updates. At each rate, the images and the number of updates stay the same; only the
# number of workers p differs.

# %%
mnist = data.load("mnist", train_samples=6400)
for rate in (0.05, 0.1):
    for p in (1, 4, 16):
        reads = staleness.simulate_async(p, [1.0] * p)
        found = [staleness.train_late(mnist, reads, rate, seed=s) for s in (1, 2)]
        print(f"rate {rate}, {p:2} workers: accuracy " + ", ".join(f"{a:.3f}" for a in found))

# %% [markdown]
# **What you should see.** The table shows the test accuracy after 400 updates with 32 images each, for seeds 1
# and 2. Only its last digit depends on the hardware. The cell above does not try the third rate. Guess what 16 workers
# learn with it, and then try it:
#
# | rate | p = 1 | p = 4 | p = 16 |
# |---|---|---|---|
# | 0.05 | .893, .893 | .886, .889 | .669, .681 |
# | 0.1 | .905, .904 | .886, .894 | .381, .337 |
# | 0.2 | .915, .913 | .858, .890 | ? |
#
# Read along a row: at the same rate, 16 workers that do not wait learn far less from the same images. Read down a
# column: one worker learns most with the largest rate, 16 workers with the smallest. Their corrections come 15
# updates late, as in a shower with a long pipe. So asynchronous training needs a *smaller* rate with more workers,
# while synchronous training with its larger batch tolerates a *larger* one (lesson 09).
#
# In asynchronous training nobody waits for a slow worker. In lesson 10 a rank that was 40 ms late
# made every step 40 ms longer. Here a late worker delays only its own gradients. With equal GPUs and a fast network
# there is little to gain, so supercomputers average by all-reduce.
#
# ## Tables
#
# So why do parameter servers live on? Because some models are mostly a table. A recommendation system keeps a row of
# numbers, an *embedding*, for each user and product, too many for one machine, so many servers share them. (The
# idea is older: Li and others, *Scaling distributed machine learning with the parameter server*, 2014, shared the
# weights of sparse logistic regressions.) A step reads the rows of its own batch, and only these get a gradient.
# (TensorFlow: `tf.nn.embedding_lookup` on a variable that a `variable_partitioner` cuts among the servers.)
#
# A dense all-reduce would send the gradient of the whole table, and every worker would have to hold it. (Newer systems
# cut the table among GPUs and exchange rows by all-to-all, in step.) And a late gradient does harm only
# where somebody else has changed the *same row* meanwhile.
#
# **Exercise 16.2.** `missed(reads, rows)` in `staleness.py` returns for each update how many of its rows others have
# changed since it read them.

# %% tags=["check"]
course.check("16.2", staleness.missed)

# %%
import numpy as np

rng = np.random.default_rng(1)
draws = {"any of 1,000,000 rows": lambda: rng.integers(0, 1_000_000, 64),
         "popular rows more often": lambda: rng.zipf(1.3, 64) % 1_000_000,
         "all parameters, as in a network": lambda: np.arange(64)}  # fmt: skip
for p in (4, 16):
    reads = staleness.simulate_async(p, [1.0] * p)
    for name, draw in draws.items():
        rows = [set(draw().tolist()) for _ in reads]
        share = sum(staleness.missed(reads, rows)) / sum(map(len, rows))
        print(f"{p:2} workers, {name}: {share:.1%} of the rows are stale")

# %% [markdown]
# **What you should see.** In a network, nearly all that an update changes has been changed by others meanwhile. In the
# table, it is less than one row in a thousand, so 16 workers hardly meet there (counted, not trained). But
# if some rows are popular, 41 % of an update's rows are stale with 4 workers, and 59 % with 16.
#
# ## Synchronous training with a server
#
# There are three kinds of tasks. The *server* keeps the parameters, *workers* compute gradients, and the *chief*
# gives orders. Servers and workers run a `tf.distribute.Server` and no training loop. The chief's
# `ClusterCoordinator` sends the workers functions:
#
#     order = coordinator.schedule(work, args=(x, y))    # by whichever worker is free
#     coordinator.join()                                 # until all orders are done
#     order.fetch()                                      # its result
#
# Asynchronous training is built into TensorFlow 2. For each order, a worker reads the parameters from the server,
# computes a gradient, and updates the server without waiting for the others. If a worker dies, another one takes over
# its order; if the chief or a server dies, the job ends. (Here the chief sends the images with each order, so that
# all ways read the same ones.) TensorFlow 2's strategy does not offer synchronous training. (TensorFlow 1's
# `SyncReplicasOptimizer` is left in `tf.compat.v1`.) But the calls above are enough to build it.
#
# **Exercise 16.3.** Write `synchronous_epoch` in `train_ps.py`. `asynchronous_epoch` above it shows how orders are
# given. `gradient(x, y, images)` divides by `images`, and adds to a sum on the server; its order fetches the loss, how
# many images were right, and how many updates had been made when it read the parameters. `update()` updates from the
# sum and returns how many updates came before.

# %% tags=["check"]
import train_ps

course.check("16.3", train_ps)

# %% [markdown]
# It has to give what an all-reduce gives. MultiWorkerMirroredStrategy is lesson 05's MirroredStrategy across many
# processes: each worker has a copy of every variable, and `RING` over gRPC, or `NCCL` between GPUs, sums gradients.
#
# | line | what happens without it |
# |---|---|
# | TF_CONFIG before the strategy | every worker trains alone, and nothing says so |
# | `with strategy.scope():` around network and `compile` | `fit` fails: the variables belong to no strategy |
# | `distribute_datasets_from_function` | `fit` shards again: half of each worker's half |
# | `TF_USE_LEGACY_KERAS=1` | Keras 3: its optimizer refuses our argument `jit_compile`, and without that `fit` ends with `Attempt to convert a value (PerReplica…) with an unsupported type` |
# | `in_time(…)` | TensorFlow silently waits for a worker that does not arrive |

# %%
workers, probe = run("job_multiworker.sbatch", workers_on)
found = {each["name"]: each["value"] for each in probe.measures}
print(f"{workers.workers} workers, {found['ranks_heard']:g} heard each other, ", end="")
print(f"{found['update_spread']:g} apart, {found['update_error']:.0e} from one process")
[server] = run("job_ps.sbatch", options, "--synchronous")
for way, each in {"all-reduce": workers, "synchronous": server, "asynchronous": alone}.items():
    last, accuracy = each.epochs[-1], each.test_accuracy.value
    print(f"{way}: {last.steps} updates in the last epoch, loss", end=" ")
    print(f"{last.train_loss.value:.6f}, accuracy {accuracy:.4f}")

# %% [markdown]
# **What you should see.** `synchronous` and the all-reduce agree in nearly all printed digits, because the two schemes
# do the same mathematics (loss 0.243692 in both, on two idle cores of an AMD EPYC). The workers' parameters are equal
# to the last bit. The loss is the mean over *all* workers, because Keras metrics are also variables of the strategy.
# (DDP printed rank 0's loss.) `asynchronous` makes one update per batch. Its loss differs between runs (0.205 and 0.203
# in two runs), because chance decides which gradient comes first.
#
# Only workers need a GPU. TensorFlow takes nearly all the memory of every GPU that it sees, so `take_gpu` hides all
# but the worker's own; chief and server see none. (Tested with a stand-in; not run on GPUs here. For NCCL's errors,
# see [What NCCL says](../../docs/nccl.md).)
#
# ## Every task gets the whole address list
#
# Horovod and DDP ranks meet through MPI or at an address that they all know. TensorFlow's way is older. Every task gets
# the hosts and ports of all tasks, as JSON (`tf_cluster.py` writes it):
#
#     TF_CONFIG={"cluster": {"worker": ["n1:10448", "n2:10449"]}, "task": {"type": "worker", "index": 0}}
#
# A task opens *its* port and calls the others on theirs by gRPC: remote procedure calls over ordinary sockets, also on
# InfiniBand. Only NCCL, between GPUs, uses InfiniBand directly. (TensorFlow's `SlurmClusterResolver` sorts host names
# as text, so that n10 comes before n2; version 2.21.)
#
# Mistakes in TF_CONFIG look like this (tried on two CPU cores, two workers on one host):
#
# | mistake | what you see |
# |---|---|
# | a worker is missing, or listens at a port that the others do not know | nothing, for an hour or more; TensorFlow catches SIGTERM (`preemption_notifier.cc`) and keeps waiting |
# | both have index 0, or both the same port | one ends: `UnknownError: Could not start gRPC server`; the other waits forever |
# | indices 1 and 2 | ``ValueError: The `task_id` 2 exceeds the maximum id of worker.``; the other waits forever |
# | `"tasks"` for `"task"` | ``ValueError: When `cluster_spec` is given, you must also specify `task_type` and `task_id`.`` |
# | an empty `"cluster"` | two runs that succeed, each alone |
#
# While TensorFlow waits it holds Python's lock: your program's timers do not run, and Ctrl-C does nothing. So
# `in_time` starts another process. After `--wait` seconds it checks the ports, says who does not answer, and ends the
# program:
#
#     worker 0 has waited 60 s for the others in vain; nobody answers as worker 1 at 127.0.0.1:16465
#
# ## Questions
#
# - `sync_updates`: four workers train for 10 s. Three of them need 0.1 s for a gradient, and the fourth needs 0.2
#   s. How many updates does sync training make, if messages take no time? `async_updates`: how many does async
#   training make? `slow_staleness`: and how late are the slow worker's gradients there on average, in updates?
# - `table_gb`: a table has a billion rows of 64 float32 numbers. How many GB (1e9 bytes) is it? `step_mb`: a step uses
#   4,096 different rows. How many MB does its worker read from the servers and send to them together?
# - `which_way`: each of these jobs trained with the same 6,400 images and 32 images per worker and step. Which record
#   is of two workers that wait for each other, which of two that do not, which of one worker, and which of four that
#   wait? Write the four letters in this order, as one word.
#
# | record | mean staleness | loss of epochs 1 and 2 |
# |---|---|---|
# | A | 0 | 0.4617, 0.1915 |
# | B | 0 | 0.5484, 0.2246 |
# | C | 0.35 | 0.4721, 0.1969 |
# | D | 0 | 0.6870, 0.2683 |

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: five numbers, and which_way with four letters
sync_updates, async_updates = 10 / 0.2, 3 * 10 / 0.1 + 10 / 0.2
slow_staleness = 3 * 2
table_gb, step_mb = 1e9 * 64 * 4 / 1e9, 2 * 4096 * 64 * 4 / 1e6
which_way = "BCAD"
### END SOLUTION
course.answers.note(sync_updates=sync_updates, async_updates=async_updates)
course.answers.note(slow_staleness=slow_staleness, which_way=which_way)
course.answers.note(table_gb=table_gb, step_mb=f"{step_mb:.3f}")

# %% [markdown]
# ## Traps
#
# | you see | cause |
# |---|---|
# | Keras 3: `fit` fails under either strategy | take tf_keras, or a loop of your own |
# | TensorFlow waits forever at the start | a wrong port in TF_CONFIG, or a worker that was not started |
# | a parameter server waits forever in the first step | too few threads, because they wait for other tasks: the course's jobs set `TF_NUM_INTEROP_THREADS=1`, so `serve` sets four; with one thread no step had begun after 80 s (two workers, two CPU cores) |
# | out of memory on a GPU that nobody uses (not run here) | another task has taken its memory: hide the GPU, and set memory growth |
#
# ## Recap
#
# - Asynchronous: p workers that never wait are p − 1 updates late on average, so the rate has to shrink. It pays
#   off only if workers differ in speed, or if they rarely need the same parameters.
# - A table with few rows in each step suits parameter servers.
# - Synchronous training is the same mathematics with a server as with an all-reduce, but the server needs more
#   tasks.
# - TF_CONFIG: one cluster for all tasks, one task for each. After a mistake in it, tasks wait or train alone,
#   seldom with an error.
#
# **Submit** your work in a terminal:
#
#     lessons submit 16
#
# Further reading: TensorFlow's guides *Multi-worker training with Keras* and *Parameter server training*;
# M. Li and others, *Scaling distributed machine learning with the parameter server*, OSDI 2014.
