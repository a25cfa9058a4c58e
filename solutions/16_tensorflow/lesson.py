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
# **How do TensorFlow's workers find each other, and what happens when nobody waits?**
#
# This lesson is optional: take it if you work with TensorFlow on several nodes, or want to know what a parameter
# server is. There are two schemes for workers that train one network together:
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
# TensorFlow calls the first scheme `MultiWorkerMirroredStrategy` and the second one `ParameterServerStrategy`. You
# write the address list that both need, train the same network both ways, and measure what it costs when workers do
# not wait for each other.
#
# Allow 60 minutes. On two CPU cores all the jobs on this page together take about a minute.

# %% tags=["parameters"]
profile = "smoke"  # "smoke": two CPU cores. "full": the whole data set, GPUs
ranks = 2  # workers; in "full" as many as you have GPUs, on one node or evenly on two
gpus = "gres=gpu:{n}"  # "full": how your site asks for n GPUs of a node

# %% tags=["setup", "hide-input"]
from lessons import course
from lessons.toolkit import data

few = {"smoke": ["--train-samples", "6400", "--epochs", "3"], "full": ["--model", "cnn"]}[profile]
device = gpus if profile == "full" else ""

# %% [markdown]
# ## Predict
#
# Each of four workers sends its gradients to a parameter server as soon as they are ready. Nobody waits.
#
# 1. All four are equally fast. While one of them computes a gradient, how many updates do the others make,
#    on average?
# 2. Now one worker takes five times as long as each of the other three. How many updates do the others make
#    while this slow one computes?

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_staleness and predict_slow to numbers
predict_staleness, predict_slow = 3, 15
### END SOLUTION
course.answers.note(predict_staleness=predict_staleness, predict_slow=predict_slow)

# %% [markdown]
# ## Every task gets the whole address list
#
# Horovod and DDP ranks find each other through MPI or at an address that they all know. TensorFlow's way is older.
# A course at Argonne in 2018 listed what the user must specify: hosts and ports of all workers, hosts and ports
# of all parameter servers, how many there are of each, and which task is the chief. This is the `ClusterSpec`,
# and every task still needs it today. Each task gets it in one variable, as JSON:
#
#     TF_CONFIG={"cluster": {"worker": ["n1:10448", "n2:10448"]}, "task": {"type": "worker", "index": 0}}
#
# `cluster` is the same for all tasks; `task` differs for each. A task opens *its* port and calls the others on
# theirs by gRPC: remote procedure calls over ordinary sockets. So gRPC uses an InfiniBand network as if it were
# Ethernet. Only NCCL, between GPUs, uses InfiniBand directly.
#
# `tf_cluster.py` collects these facts by itself: the nodes from `SLURM_JOB_NODELIST`, the rank from the launcher, and
# the ports from the job number. TensorFlow has a `SlurmClusterResolver`, too. By default it numbers ports from 8888
# upwards on each node (so two users collide: set `port_base`) and counts GPUs with `CUDA_VISIBLE_DEVICES` or
# `nvidia-smi` (or set `gpus_per_node`). It sorts host names as text, so that n10 comes before n2 (version 2.21).
#
# **Exercise 16.1.** Complete `tf_config` in `tf_cluster.py`. `hosts` and `ports` have a list for each kind of task;
# host number i belongs to port number i. Return a dictionary; `join_cluster` turns it into text.

# %% tags=["check"]
import tf_cluster

course.check("16.1", tf_cluster)

# %% [markdown]
# ## MultiWorkerMirroredStrategy
#
# This is lesson 05's MirroredStrategy across many processes. Each worker has a copy of every variable. An
# all-reduce sums gradients: `CommunicationImplementation.RING` over gRPC, or `NCCL` between GPUs.
#
# | line | what happens without it |
# |---|---|
# | TF_CONFIG before the strategy | every worker trains alone, and nothing says so |
# | `with strategy.scope():` around network and `compile` | `fit` fails: the variables belong to no strategy |
# | `distribute_datasets_from_function` | `fit` shards again: half of each worker's half |
# | `TF_USE_LEGACY_KERAS=1` | Keras 3: its optimizer ends the program with *"Argument(s) not recognized: {'jit_compile': False}"* |
# | `in_time(…)` | TensorFlow silently waits for a worker that does not arrive |
#
# Here `fit` needs Keras 2 (`tf_keras`). A training loop of your own also works with Keras 3.


# %%
def run(job, options, *words):
    batch = ["--batch-size", 256 // ranks]
    return course.submit(job, *few, *batch, *words, options=options)


workers, probe = run("job_multiworker.sbatch", course.on_nodes(ranks, device))
found = {each["name"]: each["value"] for each in probe.measures}
print(f"{workers.workers} workers, {found['ranks_heard']:g} heard each other, ", end="")
print(f"{found['update_spread']:g} apart, {found['update_error']:.0e} from one process")
print(f"accuracy {workers.test_accuracy.value:.4f}, loss of all workers", end=" ")
print(", ".join(f"{epoch.train_loss.value:.4f}" for epoch in workers.epochs))

# %% [markdown]
# **What you should see.** The workers' parameters are equal to the last bit. The loss is the mean over *all*
# workers, because Keras metrics are also variables of the strategy. (DDP printed rank 0's loss.) On one worker
# with the whole batch, the program ends with the same parameters: in float64, with 2 and 3 workers, the course's
# tests find no difference above 1e-9.
#
# Mistakes in TF_CONFIG look like this (tried on two CPU cores, two workers on one host):
#
# | mistake | what you see |
# |---|---|
# | a worker is missing, or listens at a port that the others do not know | nothing, for an hour or more; TensorFlow catches SIGTERM (`preemption_notifier.cc`) and keeps waiting |
# | both have index 0, or both the same port | one ends: `UnknownError: Could not start gRPC server`; the other waits forever |
# | indices 1 and 2 | `ValueError: The task_id 2 exceeds the maximum id of worker`; the other waits forever |
# | `"tasks"` for `"task"` | `ValueError: When cluster_spec is given, you must also specify task_type and task_id` |
# | an empty `"cluster"` | two runs that succeed, each alone |
#
# While TensorFlow waits it holds Python's lock: your program's timers do not run, and Ctrl-C does nothing. So
# `in_time` starts another process. After `--wait` seconds it checks the ports, says who does not answer, and ends the
# program:
#
#     worker 0 has waited 60 s for the others in vain; nobody answers as worker 1 at 127.0.0.1:16465
#
# ## Parameter server
#
# There are three kinds of tasks. The *server* keeps the parameters, *workers* compute gradients, and the *chief*
# gives orders. Servers and workers run a `tf.distribute.Server` and no training loop. The chief's
# `ClusterCoordinator` sends the workers functions:
#
#     order = coordinator.schedule(work, args=(x, y))    # by whichever worker is free
#     coordinator.join()                                 # until all orders are done
#
# **Asynchronous** training is built into TensorFlow 2. For each order, a worker reads the parameters from the server,
# computes a gradient, and updates the server without waiting for the others. If a worker dies, another one takes
# over its order; if the chief or a server dies, the job ends.
#
# **Synchronous** training was possible in TensorFlow 1 (`SyncReplicasOptimizer`), and is not any more. `train_ps.py
# --synchronous` builds it from the same two calls: one gradient per worker, which the server adds up; a wait; one
# update. This is lesson 06's algorithm with a server in the middle, and its result must equal
# MultiWorkerMirroredStrategy's.
#
# Only workers need a GPU. TensorFlow takes nearly all the memory of every GPU that it sees, so `take_gpu` hides all
# but the worker's own; chief and server see none. (Tested with a stand-in; not run on GPUs here. For NCCL's errors,
# see [What NCCL says](../../docs/nccl.md).) The job has two more tasks than GPUs. With both options below, one launch
# trains both ways, one after the other.

# %%
options = course.on_nodes(ranks, device)
options["ntasks"] = str(ranks + 2)  # and a chief and a server
if "ntasks-per-node" in options:  # on two nodes: the chief on one, the server on the other
    options["ntasks-per-node"] = str((ranks + 2) // 2)
both = run("job_ps.sbatch", options, "--synchronous", "--asynchronous")
servers = {found.header["source"].removeprefix("ps-"): found for found in both}
for way, found in servers.items():
    last = found.epochs[-1]
    print(f"{way}: {last.steps} updates in the last epoch, loss", end=" ")
    print(f"{last.train_loss.value:.6f}, accuracy {found.test_accuracy.value:.4f}")
print(f"MultiWorkerMirrored: loss {workers.epochs[-1].train_loss.value:.6f}")

# %% [markdown]
# **What you should see.** `synchronous` and MultiWorkerMirroredStrategy agree in all printed digits, because the
# two schemes do the same mathematics (loss 0.243692 in both, on two idle cores of an AMD EPYC). `asynchronous`
# makes one update per batch, which is twice as many with two workers. Its loss differs between runs (0.205 and
# 0.203 in two runs), because chance decides which gradient comes first. Try it in a terminal:
#
#     sbatch --ntasks=4 job_ps.sbatch --asynchronous --train-samples 6400 --epochs 3 --batch-size 128
#
# ## Staleness
#
# The *staleness* of an update is the number of other updates between reading the parameters and applying the
# gradient. The program measures it. A counter `made` holds the number of updates on the server. Each order reads
# this counter twice: before it reads the parameters, and when it updates them.
#
# First simulate what many workers would do. Worker w takes `delays[w]` seconds per gradient, and nobody waits.
#
# **Exercise 16.2.** `simulate_async(p, delays, updates)` returns a list with one number per update, in the order
# of the updates. The number says how many updates had been made when the worker read the parameters. All workers
# begin at time 0, after 0 updates. The worker that is ready first makes its update, reads the parameters again
# and starts over. If several are ready at once, any of them can go first.

# %% tags=["exercise"]
import heapq


def simulate_async(p, delays, updates=400):
    ### BEGIN SOLUTION Exercise 16.2: the first worker that is ready updates, reads again, starts over
    ready = [(delays[worker], worker) for worker in range(p)]
    heapq.heapify(ready)
    read, reads = [0] * p, []
    for update in range(updates):
        now, worker = heapq.heappop(ready)
        reads.append(read[worker])
        read[worker] = update + 1
        heapq.heappush(ready, (now + delays[worker], worker))
    return reads
    ### END SOLUTION


# %% tags=["check"]
course.check("16.2", simulate_async)

# %%
from staleness import staleness, train_late

equal, slow = simulate_async(4, [1.0] * 4), simulate_async(4, [1.0, 1.01, 1.02, 5.0])
course.predictions.compare("predict_staleness", staleness(equal)[4:].mean(), how="simulated")
course.predictions.compare("predict_slow", int(staleness(slow).max()), how="simulated")
found = course.plots.staleness_of(servers["asynchronous"])
mean = sum(updates * count for updates, count in found.items()) / sum(found.values())
print(f"Measured on {ranks} workers: {mean:.2f}; on nodes of their own it would be {ranks - 1}.")
course.plots.staleness(
    {
        f"{ranks} workers, measured": servers["asynchronous"],
        "4 equal workers, simulated": staleness(equal),
        "4 workers, one 5 times slower": staleness(slow),
    }
)

# %% [markdown]
# **What you should see**, from the top row of the picture to the bottom one:
#
# - *Measured on two workers*: the staleness is 0.2 to 0.5 on average; with a node per worker it would be 1. (Two
#   cores of a virtual machine that other programs used as well, TensorFlow 2.21.) Four processes take turns on two
#   cores, so a worker often computes a whole gradient while the other does nothing.
# - *Four equal workers, simulated*: the staleness is 3, that is p − 1. While one worker computes, each of the
#   others updates once.
# - *Four workers, one 5 times slower*: the mean hardly changes. The slow worker's gradients come very late, and
#   those of the other three come slightly earlier than before.
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
        found = [train_late(mnist, simulate_async(p, [1.0] * p), rate, seed=s) for s in (1, 2)]
        print(f"rate {rate}, {p:2} workers: accuracy " + ", ".join(f"{a:.3f}" for a in found))

# %% [markdown]
# **What you should see.** The table shows the test accuracy after 400 updates with 32 images each, for seeds 1
# and 2. Only its last digit depends on the hardware. The cell above does not try the third rate:
#
# | rate | p = 1 | p = 4 | p = 16 |
# |---|---|---|---|
# | 0.05 | .893, .893 | .886, .889 | .669, .681 |
# | 0.1 | .905, .904 | .886, .894 | .381, .337 |
# | 0.2 | .915, .913 | .858, .890 | .160, .101 |
#
# Read along a row: at the same rate, 16 workers that do not wait learn far less from the same images, and at a rate
# of 0.2 they learn nothing. Read down a column: one worker learns most with the largest rate, 16 workers with the
# smallest. Their corrections come 15 updates late, as in a shower with a long pipe. So asynchronous training needs
# a *smaller* rate with more workers, while synchronous training with its larger batch tolerates a *larger* one
# (lesson 09). This is what "weaker guarantees" means.
#
# Why was asynchronous training built? Because nobody waits for a slow worker. In lesson 10 a rank that was 40 ms late
# made every step 40 ms longer. Here a late worker delays only its own gradients. With equal GPUs and a fast network
# there is nothing to gain, so supercomputers average by all-reduce. Parameter servers were made for models that fit
# on no single machine, on clusters with slow and failing ones (Dean and others, *Large scale distributed deep
# networks*, 2012). They live on where a model is mostly a table: recommendation systems keep *embeddings* of users
# and products in terabytes on many servers, and a step needs only a few rows.
#
# ## Questions
#
# TensorFlow's documentation says: *In sync training, all workers train over different slices of input data in sync,
# and aggregating gradients at each step.* Apply this:
#
# - `slice_images`: 50,000 images, 4 workers in sync, 64 images per worker and step. How many different images does
#   one worker read in an epoch? `epoch_averages`: how often are gradients averaged in one epoch?
# - `sync_updates`: four workers train for 10 s. Three of them need 0.1 s for a gradient, and the fourth needs 0.2
#   s. How many updates does sync training make, if messages take no time? `async_updates`: how many does async
#   training make?
# - `slow_staleness`: in that async training, how late are the slow worker's gradients, in updates?
# - `sources`: BSC's article on CTE-POWER advises synchronous training up to 32–50 nodes and asynchronous beyond;
#   SURF's slides call synchronous the common choice and asynchronous hard to predict; Cray trained synchronously on
#   1,024 nodes (Mathuriya and others, 2017). Whose limit did one of the others pass? (That it could be passed does
#   not show that it paid.) `"cte"`, `"surf"` or `"cray"`.

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: five numbers, and sources with a word
slice_images, epoch_averages = 50_000 // 4, -(-50_000 // (4 * 64))
sync_updates, async_updates = 10 / 0.2, 3 * 10 / 0.1 + 10 / 0.2
slow_staleness = 3 * 2
sources = "cte"
### END SOLUTION
course.answers.note(slice_images=slice_images, epoch_averages=epoch_averages, sources=sources)
course.answers.note(sync_updates=sync_updates, async_updates=async_updates)
course.answers.note(slow_staleness=slow_staleness)

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
# - TF_CONFIG: one cluster for all tasks, one task for each. After a mistake in it, tasks wait or train alone,
#   seldom with an error.
# - Synchronous training is the same mathematics with a server as with an all-reduce, but the server needs more
#   tasks.
# - Asynchronous: p equally fast workers are p − 1 updates late, so the rate has to shrink. Asynchronous training pays
#   off only if workers differ in speed.
#
# **Submit** your work in a terminal:
#
#     lessons submit 16
#
# Further reading: TensorFlow's guides *Multi-worker training with Keras* and *Parameter server training*;
# M. Li and others, *Scaling distributed machine learning with the parameter server*, OSDI 2014.
