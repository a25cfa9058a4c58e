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
# # 10 · The frameworks' own ways
#
# **What do I get without Horovod, and what does it ask of me?**
#
# PyTorch and TensorFlow bring ways of their own to train on many devices. You use five of them on the
# same work, in complete programs, and count what each asked for: lines, seconds, accuracy. Then you
# look at what the most widely used one, PyTorch's DistributedDataParallel (DDP), does behind your
# back: when gradients travel, what a late rank costs, and how a job looks in which ranks wait for ever.
#
# Allow 100 minutes. On two CPU cores all the runs of this page together take about two minutes.

# %% tags=["parameters"]
profile = "smoke"  # "smoke": two CPU cores. "full": the whole data set, GPUs
ranks = 2  # the larger number of ranks; in "full" as many as you have GPUs

# %% tags=["setup"]
import difflib
import importlib
from pathlib import Path

from autograder.reading.files import read_files
from autograder.wording import counted
from lessons.folders import course_root
from lessons.toolkit import answers, plots
from lessons.toolkit.checks import lesson_10 as check

few = {"smoke": ["--train-samples", "6400", "--epochs", "3"], "full": ["--model", "cnn"]}[profile]
images_a_step = {"smoke": 64, "full": 256}[profile]  # of all ranks together

# %% [markdown]
# ## Predict
#
# 1. Which way changes most lines of the serial program: `"ddp"`, `"lightning"`, `"multiworker"`
#    (TensorFlow's MultiWorkerMirroredStrategy) or `"ps"` (its parameter server)?
# 2. Four workers of equal speed send their gradients to a parameter server, each when it is done. How
#    many updates by others does a gradient find that were not there when it was begun, on average?
# 3. DDP on a ResNet, two ranks: which share of what the machine can give will you reach, from 0 to 1?

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_lines to a word, predict_staleness and predict_share to numbers
predict_lines, predict_staleness, predict_share = "ps", 3, 0.9
### END SOLUTION
answers.note(predict_lines=predict_lines, predict_staleness=predict_staleness)
answers.note(predict_share=predict_share)

# %% [markdown]
# ## DDP: the diff
#
# `train.py` is lesson 02's PyTorch program for any number of devices. Lines with `+` are new.

# %%
serial = course_root() / "lessons" / "02_serial" / "train_torch.py"
texts = [path.read_text().splitlines() for path in (serial, Path("train.py"))]
for line in difflib.unified_diff(*texts, "02_serial/train_torch.py", "train.py", n=0, lineterm=""):
    if "NotImplementedError" not in line:  # gaps
        print(line)

# %% [markdown]
# | step | line | what happens without it |
# |---|---|---|
# | meet | `init_process_group`, a back end, a time-out | no rank knows another |
# | pin | `torch.cuda.set_device`, by the *local* rank | all ranks of a node on GPU 0 |
# | share out | `DistributedSampler` | every rank reads every image |
# | shuffle | `sampler.set_epoch(epoch)` | every epoch in the same order |
# | wrap | `DistributedDataParallel(model)` | N networks that drift apart |
# | rank 0 only | prints, checkpoints | N times every line, broken files |
# | leave | `destroy_process_group` | a warning; on some systems ranks that never end |
#
# DDP does more than Horovod's wrapped optimizer: it also sends rank 0's parameters to all when the
# network is wrapped. It averages over *ranks*: with unlike batches the small one weighs as much as
# the large one. The printed loss is that of rank 0's own images.
#
# Ranks meet at an address and a port: `MASTER_ADDR` and `MASTER_PORT`. A constant port is a trap: two
# students on one node collide. The course's job files make it from the number of the job. Who a rank
# is, `ranks.py` asks the launcher: `torchrun` sets `RANK`, `LOCAL_RANK` and `WORLD_SIZE`; `mpirun` and
# `srun` have names of their own. `LAUNCHER=torchrun cluster submit job.sbatch` starts the same program
# by torchrun: one torchrun *a node*, which starts that node's ranks. One torchrun a *rank* is the
# classical slip: 4 × 4 = 16 processes on 4 GPUs.
#
# **Exercise 10.1.** Fill `start_ranks` and `distribute` in `train.py`. Without GPUs the back end is
# `"gloo"` and the device the CPU; with GPUs `"nccl"` and GPU number `local_rank`, which
# `torch.cuda.set_device` makes the current one. `device_ids` is `[device]` on a GPU, `None` on a CPU.

# %% tags=["check"]
import train

importlib.reload(train)  # so that the cell sees what you just saved
check.check_10_1(train)

# %% [markdown]
# **Exercise 10.2.** Fill `order_of`. A `DistributedSampler` draws one order for all ranks, from its seed
# and the number of the epoch, and gives each rank every size-th image of it. It has to be told the
# epoch. (Beside a sampler a `DataLoader` refuses `shuffle=True`: the sampler shuffles already.)

# %% tags=["check"]
importlib.reload(train)
check.check_10_2(train)

# %% [markdown]
# Now the same work on one rank and on several: 64 images a step, all on one rank or shared out. The
# images of a step are the same ones, so the updates are the same too: this is *strong* scaling, and
# the accuracies have to agree to the last digits.
#
# What your functions do is measured from outside: `ranks_heard` takes one step on a network with a
# weight for each rank, which only that rank's gradient can move. The record counts the images that
# all ranks read.

# %%
from cluster.jobs.notebook import JobError, submit_once


def run(job, workers, *words, more=0):
    batch = ["--batch-size", images_a_step // workers]
    files = submit_once(job, *few, *batch, *words, options={"ntasks": str(workers + more)})
    return read_files(files)[0]


runs = {"DDP, 1 rank": run("job.sbatch", 1), "DDP": run("job.sbatch", ranks)}
for name, found in runs.items():
    last, spread = found.epochs[-1], found.end["param_spread"]
    print(f"{name}: {counted(found.workers, 'rank')}, {last.steps} steps of an epoch,", end=" ")
    print(f"{last.unique_samples:,} different images, test accuracy {found.test_accuracy.value}")
    print(f"   largest difference of a parameter between ranks: {spread:g}")

# %% [markdown]
# **What you should see.** As many steps and the same accuracy, to a few of 10,000 images: sums of
# floating-point numbers in another order. On so light a network two ranks gain little, and may lose:
# measured on two cores, with as many images *on each rank* as before on one, an epoch of 6,400 images
# went from 0.37 to 0.9–1.1 s. With convolutions (`--model cnn`, 128 images a rank) it went from 4.8 to 2.7 s.
#
# The sampler makes all ranks equal by reading some images twice: 1,601 images on 4 ranks are 401 each.
# Over a test set that falsifies the accuracy a little, so here each rank tests on all images.
#
# ## PyTorch Lightning
#
# `train_lightning.py` is complete; read it. What is trained stands in a `LightningModule`; how, is the
# `Trainer`'s: it meets the ranks, wraps the network in DDP, puts a `DistributedSampler` into your
# `DataLoader` and calls `set_epoch`. The loop is gone, and with it the place where you would have
# looked. `Recorder` is how you get in: a callback, whose methods Lightning calls by name.
#
# Lightning knows Slurm: under `srun` it wants one task *a GPU* and believes `SLURM_NTASKS`. Inside a Slurm
# job it also believes Slurm where `mpirun` has started the ranks, and there Slurm's variables are those
# of the job's script: every rank takes itself for rank 0, and all but one end with `address already in
# use` (tried with Lightning 2.6.6). So this job uses torchrun, and the program names the environment it was
# started in: `TorchElasticEnvironment`. Take 2.6.6 or another version that you trust: 2.6.2 and 2.6.3
# were malicious releases.

# %%
runs["Lightning"] = run("job_lightning.sbatch", ranks)
found = runs["Lightning"]
print(f"{counted(found.workers, 'rank')}, {found.epochs[-1].unique_samples:,} different images,")
print(f"spread {found.end['param_spread']:g}, test accuracy {found.test_accuracy.value}")

# %% [markdown]
# ## TensorFlow: everybody is told everything
#
# Horovod and DDP find each other: MPI or an address to meet at tells a rank how many there are.
# TensorFlow's own way is older. A course at Argonne in 2018 listed what "user must specify": host names
# and ports of all worker processes, host names and ports of all parameter servers, the number of
# workers, the number of servers, and who is the chief. That was the `ClusterSpec`, and the five items are
# still what it takes today. Each task is given them in one variable, as JSON:
#
#     TF_CONFIG={"cluster": {"worker": ["n1:10448", "n2:10448"]}, "task": {"type": "worker", "index": 0}}
#
# `cluster` is the same for everybody, `task` is one's own. Each task opens *its* port and calls the
# others on theirs, by gRPC: remote procedure calls over ordinary sockets. So an InfiniBand network is used
# as if it were Ethernet, unless NCCL takes over between GPUs.
#
# Nobody is asked. `tf_cluster.py` takes the nodes from `SLURM_JOB_NODELIST`, the rank from the launcher,
# and the ports from the number of the job, so that two students on one node do not collide. TensorFlow
# has a `SlurmClusterResolver` too; in version 2.21 it calls `nvidia-smi` and fails where there is none,
# and gives port 8888 to everybody.
#
# **Exercise 10.3.** Fill `tf_config` in `tf_cluster.py`. `hosts` and `ports` have a list for each kind
# of task; host number i goes with port number i. Return a dictionary; `join_cluster` makes text of it.

# %% tags=["check"]
import tf_cluster

importlib.reload(tf_cluster)
check.check_10_3(tf_cluster)

# %% [markdown]
# ## MultiWorkerMirroredStrategy
#
# Lesson 05's MirroredStrategy over many processes. A copy of every variable on each worker, gradients
# summed by an all-reduce: `CommunicationImplementation.RING` over gRPC, or `NCCL` between GPUs.
# (The slides quoted below call it `CollectiveCommunication.RING`, its name of 2020.)
#
# | line | what happens without it |
# |---|---|
# | TF_CONFIG before the strategy | every worker trains alone, and nothing says so |
# | `with strategy.scope():` around network and `compile` | `fit` refuses: variables of no strategy |
# | `distribute_datasets_from_function` | `fit` shards once more: half of each worker's half |
# | `TF_USE_LEGACY_KERAS=1` | Keras 3: `fit` ends in the first step, after two pages of zeros |
# | `in_time(…)` | a worker that does not come is waited for, in silence |
#
# Keras 2 is what `fit` needs here. Under Keras 3 the first batch ends with *"… with an unsupported type
# (PerReplica) to a Tensor"*. A loop of one's own works with both.

# %%
runs["MultiWorker"] = workers = run("job_multiworker.sbatch", ranks)
heard = {each["name"]: each["value"] for each in workers.measures}["ranks_heard"]
print(
    f"{workers.workers} workers, {heard:g} heard each other, {workers.end['param_spread']:g} apart"
)
print(f"accuracy {workers.test_accuracy.value:.4f}, loss of all workers", end=" ")
print(", ".join(f"{epoch.train_loss.value:.4f}" for epoch in workers.epochs))

# %% [markdown]
# **What you should see.** Workers whose parameters are equal to the last bit. The printed loss is the
# mean over *all* workers: Keras' metrics are variables of the strategy as well, where DDP printed rank 0's.
# On one worker with the whole batch the same program ends with the same parameters: in float64, with
# 2 and 3 workers, the course's tests find no difference above 1e-9.
#
# ### What goes wrong, and how it looks
#
# Each was run on two CPU cores, with two workers on one host.
#
# | mistake | what you see | after |
# |---|---|---|
# | a worker is missing | nothing at all; SIGTERM is caught (`preemption_notifier.cc: SIGTERM caught`) and it waits on | TensorFlow gives up after an hour; after 10 minutes we killed it |
# | a port that the others do not know | the same on *both* | for ever |
# | both are told index 0 | one: `UnknownError: Could not start gRPC server`; the other waits | at once; for ever |
# | both get the same port | the same | at once; for ever |
# | indices 1 and 2 | `ValueError: The task_id 2 exceeds the maximum id of worker`; the other waits | at once; for ever |
# | `"tasks"` for `"task"` | `ValueError: When cluster_spec is given, you must also specify task_type and task_id` | at once |
# | no `"worker"` in the cluster | two runs that end well, each alone | as long as one |
#
# So the worst is the one that ends well, and the second worst the one that waits. While TensorFlow waits
# it holds Python's lock: no timer of your program runs, and Ctrl-C does nothing. Slurm's SIGTERM at the
# time limit is not enough either; SIGKILL 30 seconds later is. That is why `in_time` starts another
# process, which looks at the ports after `--wait` seconds, says who does not answer, and ends this one:
#
#     worker 0 has waited 60 s for the others in vain; nobody answers as worker 1 at 127.0.0.1:16465
#
# ## Parameter server
#
# The other scheme of lesson 06, as TensorFlow brings it. Four tasks, three kinds: the *server* keeps the
# parameters, *workers* compute gradients, the *chief* gives orders. `tf.distribute.Server` is all that
# servers and workers run; they contain no training loop. The chief's `ClusterCoordinator` sends functions:
#
#     order = coordinator.schedule(work, args=(x, y))    # by whichever worker is free
#     coordinator.join()                                 # until all orders are done
#
# **Asynchronous** is what TensorFlow 2 offers. An order reads the parameters from the server, computes
# a gradient, and updates the server at once, whatever others did meanwhile. Its documentation: workers
# go "without synchronizing with each other". A worker that dies is replaced by another one; a chief or
# a server that dies ends the job.
#
# **Synchronous** there was in TensorFlow 1 (`SyncReplicasOptimizer`, on graphs); in 2.21 the class is
# still there, called deprecated, and `ParameterServerStrategy` has nothing in its place. `train_ps.py
# --synchronous` builds it by hand from the same two calls: as many gradients as workers, wait, add,
# divide by the images, one update. It is lesson 06's algorithm with a server in the middle, and it has
# to give what MultiWorkerMirroredStrategy gives.

# %%
servers = {}
for way in ("synchronous", "asynchronous"):
    servers[way] = run("job_ps.sbatch", ranks, f"--{way}", more=2)  # a chief and a server
    last = servers[way].epochs[-1]
    print(
        f"{way}: {last.steps} updates in the last epoch, loss {last.train_loss.value:.6f},", end=" "
    )
    print(f"accuracy {servers[way].test_accuracy.value:.4f}")
print(f"MultiWorkerMirrored: loss {workers.epochs[-1].train_loss.value:.6f}")
runs |= {f"server, {way[:-7]}": found for way, found in servers.items()}

# %% [markdown]
# **What you should see.** `synchronous` and MultiWorkerMirroredStrategy agree in all printed digits: two
# schemes, one mathematics (3,200 images, seed 1: loss 0.294393 after two epochs in both). `asynchronous`
# makes an update of every batch, twice as many with two workers, and its loss is another one each time
# you run it: which gradient comes first is chance. Run it twice.
#
# ## Staleness
#
# The *staleness* of an update: how many others were made between reading the parameters and applying the
# gradient. The program measures it: `made` on the server counts updates, an order reads it before the
# parameters and once more when it updates.
#
# First simulate what many workers would do. Worker w takes `delays[w]` seconds for a gradient; nobody
# waits.
#
# **Exercise 10.4.** `simulate_async(p, delays, updates)`: a list with a number for each update, in the
# order in which they are made: how many updates there had been when its worker read the parameters.
# All begin at time 0 and read state 0. Whoever is ready first updates, reads anew and begins again.

# %% tags=["exercise"]
import heapq


def simulate_async(p, delays, updates=400):
    ### BEGIN SOLUTION Exercise 10.4: whoever is ready first updates, reads anew and begins again
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
check.check_10_4(simulate_async)

# %%
from staleness import staleness, train_late

equal, slow = simulate_async(4, [1.0] * 4), simulate_async(4, [1.0, 1.01, 1.02, 5.0])
late = staleness(equal)[4:].mean()
print(f"You said {predict_staleness} updates for four equal workers; it is {late:g}, p - 1.")
found = plots.staleness_of(servers["asynchronous"])
mean = sum(updates * count for updates, count in found.items()) / sum(found.values())
print(f"Measured on {ranks} workers: {mean:.2f}; on nodes of their own it would be {ranks - 1}.")
plots.staleness(
    {
        f"{ranks} workers, measured": servers["asynchronous"],
        "4 equal workers, simulated": staleness(equal),
        "4 workers, one 5 times slower": staleness(slow),
    }
)

# %% [markdown]
# **What you should see.** p − 1 for p equal workers: while one computes, each of the others updates once.
# A slow worker changes little in the mean; *its* gradients are very late, those of the others a little
# less than before. On two cores four processes take turns, so a gradient is often begun
# and ended with nobody in between: 0.2 to 0.5 in the mean instead of 1 (two cores of a virtual machine that
# other programs used as well). On nodes of their own, workers come near p − 1.
#
# ## What staleness costs
#
# `train_late` trains lesson 01's network by your list: update k takes the gradient at the parameters
# after `reads[k]` updates. The same images, the same rate, the same number of updates; only p differs.

# %%
from lessons.toolkit import data

mnist = data.load("mnist", train_samples=6400)
for rate in (0.05, 0.1):
    for p in (1, 4, 16):
        found = [train_late(mnist, simulate_async(p, [1.0] * p), rate, seed=s) for s in (1, 2)]
        print(f"rate {rate}, {p:2} workers: accuracy " + ", ".join(f"{a:.3f}" for a in found))

# %% [markdown]
# **What you should see** (400 updates of 32 images, NumPy; seeds 1 and 2):
#
# | rate | p = 1 | p = 4 | p = 16 |
# |---|---|---|---|
# | 0.05 | .893, .893 | .886, .889 | .669, .681 |
# | 0.1 | .905, .904 | .886, .894 | .381, .337 |
# | 0.2 | .915, .913 | .858, .890 | .160, .101 |
#
# At one rate 16 workers without a barrier learn far less from the same images, and at 0.2 nothing. The
# rate that is best for one is too high for 16: the correction comes 15 updates late, as in a shower
# with a long pipe. So asynchronous training needs a *smaller* rate with more workers, where synchronous
# training of a larger batch bears a *larger* one (lesson 09). That is what "weaker guarantees" means.
#
# Why it was built all the same: nobody waits for a slow worker. In lesson 06 one rank that sleeps 20 ms
# made every step 20 ms longer. Here it delays only its own gradients. With equal GPUs and a fast
# network there is nothing to win: hence all-reduce on supercomputers, and servers in clouds whose
# machines come and go.
#
# **A trap: a server with one thread.** A server waits for others *inside* of its threads. The course's
# jobs set `TF_NUM_INTEROP_THREADS=1`, one thread a core, which is right for training; `train_ps.py`
# gives its servers four.

# %% [markdown]
# ## Your table
#
# **Exercise 10.5.** `changed_lines(old, new)`: how many lines of the program `new` (a text) the program
# `old` has not. `difflib.unified_diff(old.splitlines(), new.splitlines(), n=0, lineterm="")` gives
# two header lines, `---` and `+++`, and then each line that differs: `-` is one of `old`, `+` one of
# `new`. Empty lines do not count.


# %% tags=["exercise"]
def changed_lines(old, new):
    ### BEGIN SOLUTION Exercise 10.5: the lines of the diff with a +, without header and empty lines
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), n=0, lineterm="")
    return sum(line[0] == "+" and line[1:].strip() != "" for line in list(lines)[2:])
    ### END SOLUTION


# %% tags=["check"]
check.check_10_5(changed_lines)

# %%
ancestors = {"train.py": "train_torch.py", "train_lightning.py": "train_torch.py"}
lines = {}
for name, found in runs.items():
    program = found.header["program"]
    ancestor = serial.with_name(ancestors.get(program, "train.py"))
    lines[name] = changed_lines(ancestor.read_text(), Path(program).read_text())
print(f"You said that {predict_lines} changes most. Most changed: {max(lines, key=lines.get)}.")
plots.ways({name: (lines[name], found) for name, found in runs.items()})

# %% [markdown]
# **What you should see.** The same work, the same accuracy, and little or nothing gained over one rank
# on so light a network: the differences are what each framework costs for an update. *Lines* counts the
# program alone; `ranks.py` (33 lines) and `tf_cluster.py` (134) come on top. What the ways are good
# for does not show in seconds:
#
# | you have | take |
# |---|---|
# | PyTorch and a loop of your own | DDP: nothing is hidden, everything else is built on it |
# | PyTorch, and you want logs, checkpoints, precision for two lines | Lightning |
# | Keras and one node | MirroredStrategy (lesson 05) |
# | Keras and many nodes | MultiWorkerMirroredStrategy under tf_keras, or Horovod (07) |
# | workers that come and go, or of unlike speed | a parameter server, asynchronous |
# | one program for several frameworks | Horovod |
#
# Slides of SURF call `tf.distribute` tricky and Horovod and Lightning a matter of few lines. Your
# column *lines* says what is left of that today.
#
# Larger, elsewhere: a vision transformer on 100,000 images of 224 × 224 (bf16, a fixed batch a GPU) made
# 242, 475, 935, 1,817, 3,597 and 6,914 images/s on 1 to 32 H100 GPUs of MareNostrum 5 with DDP, and the
# whole job went from 2,350 to 310 s (Torres, *Supercomputing for Artificial Intelligence*).
#
# ## A large batch on little memory
#
# A batch that does not fit into memory is computed in parts, whose gradients add up in `parameter.grad`:
# *accumulation*. DDP would average after each part's backward. `with model.no_sync():` keeps the
# gradients at home, and the last part, outside of it, sends the sum of all.
#
# **Exercise 10.6.** Fill `accumulate` in `no_sync.py`. Parts may be unlike: 7 images in 3 parts are
# 3, 3 and 1. Weigh each part's mean loss by its share of the images, so that the gradients are
# those of the whole batch. The program compares them with a batch of all ranks, in double
# precision, and counts how often they travel and how many images go through the network at once.

# %% tags=["check"]
import no_sync

importlib.reload(no_sync)
check.check_10_6(no_sync)

# %% [markdown]
# N micro-batches are one large batch, as long as no layer looks at a batch as a whole. BatchNorm
# does: it normalises each part by itself.
#
# ## A job that says nothing
#
# The worst mistake prints no error: one rank is in
# a collective, the others are not, and all wait. Mostly somebody wrote `if rank == 0:` around one, or
# one rank ran out of batches. Here is one that nobody means. Rank 0 makes a step by itself, in
# `no_sync`, for no gradients shall travel. But the network has a BatchNorm, whose running means are
# *buffers*, and DDP sends rank 0's buffers to all **at the beginning of each forward**, `no_sync` or not.
#
# `hang.py` does just that. After 3 seconds each rank writes down where it stands, by `py-spy dump`,
# which looks into a running process from outside. After 8 seconds, the `timeout` that
# `init_process_group` was given, the back end gives up. The default is 30 minutes, of NCCL 10; and
# where there is none, the limit of your job ends it, and all its GPU-hours are gone. This job is to fail.

# %%
try:
    submit_once("job_hang.sbatch", options={"ntasks": str(ranks)})
except JobError:
    print("The job failed. Its last errors:")
errors = max(Path().glob("10_hang_*.err"), key=lambda file: file.stat().st_mtime)
print(*[line[:150] for line in errors.read_text().splitlines() if "Error" in line], sep="\n")
for rank in (0, 1):
    dump = Path(f"stack_of_rank_{rank}.txt").read_text().split("Thread ")[1]
    print(f"\nrank {rank}, innermost call first:", *dump.splitlines()[1:], sep="\n")

# %% [markdown]
# **How to read it.** Innermost first: each rank's topmost line is the call in which it waits. Further
# down stands the line of *your* program that led there. If all ranks stand in the same call, it is
# the network or a dead rank; if they stand in different ones, it is your program.
#
# | tool | it tells | it costs |
# |---|---|---|
# | `timeout=` of `init_process_group` | that one waited, and for what kind of message | nothing |
# | `py-spy dump --pid N` on the node (`srun --overlap --jobid=… --pty bash`) | every rank's line | nothing; the system may forbid it (`ptrace`) |
# | `faulthandler.dump_traceback_later(60)` | the same, from inside, Python only | one line |
# | `dist.monitored_barrier(timeout=…)`, Gloo | which rank did not come | a barrier |
# | `TORCH_DISTRIBUTED_DEBUG=DETAIL` | which two calls do not fit together | slow; with PyTorch 2.13 and Gloo this program crashed by it (signal 11) |
#
# What you find in the output when the time-out has come:
#
# | launcher | it prints |
# |---|---|
# | `mpirun` | `prterun detected that one or more processes exited with non-zero status`, and the first one's name |
# | `torchrun` | `ChildFailedError`, all ranks in a table, and below *Root Cause (first observed failure)* |
# | `srun` | `srun: error: NODE: task 0: Exited with exit code 1`; `--kill-on-bad-exit` ends the others |
#
# The first one to fail is not always the one to blame: rank 0 timed out, and rank 1 then reports
# `Connection closed by peer`.
#
# **Exercise 10.7.** Fill `step_alone` in `no_sync.py`: a step of rank 0 for which nobody else is needed.
# The wrapped network holds the one that it was given, `model.module`, and that one sends nothing.

# %% tags=["check"]
importlib.reload(no_sync)
check.check_10_7(no_sync)

# %% [markdown]
# Once more the work of before, each batch in four parts. The program tries both of your functions on
# small networks of its own: the largest error of a gradient, how often gradients travelled, how many
# images went through at once, and the error of a step that rank 0 made alone.

# %%
parts = run("job.sbatch", ranks, "--accumulate", 4, "--timeout", 40)
for measure in parts.measures:
    print(f"{measure['name']}: {measure['value']:.3g}")
print(
    f"test accuracy in 4 parts {parts.test_accuracy.value}, whole {runs['DDP'].test_accuracy.value}"
)

# %% [markdown]
# ## When gradients travel
#
# DDP does not wait for the end of backward. The last layer's gradients are ready first; as soon as a
# *bucket* of them is full it leaves, while earlier layers are still being computed. `bucket_cap_mb` is
# its size. One bucket for everything is no overlap at all. With very small ones each exchange's
# latency counts.
#
# `buckets.py` measures it on a ResNet of 272,282 parameters (1.1 MB of gradients), and once more
# with a last rank that begins each step 40 ms late.

# %%
[travels] = read_files(submit_once("job_buckets.sbatch", options={"ntasks": str(ranks)}))
steps = {}
for told in travels.measures:
    if told["name"] == "step_s":
        steps.setdefault(told["bucket_mb"], []).append(1e3 * told["value"])
for size, (alike, late) in steps.items():
    print(f"{size:g} MB: a step takes {alike:.0f} ms; with one late rank {late:.0f} ms for all")
plots.buckets(travels)

# %% [markdown]
# **What you should see.** Small buckets leave early and from the last layer to the first; the single
# bucket leaves when backward is over. A rank that is 40 ms late makes *every* step of every rank about
# 40 ms longer: the slowest sets the pace, which is why a straggler is worth finding.
#
# What two cores cannot show is what overlap is worth: here Gloo moves bytes with the core that is
# computing. On GPUs NCCL moves them while the GPU computes, and the grey bars get shorter.
#
# ## How much faster?
#
# `speed.py` measures DDP as lesson 07 measured Horovod, in rounds of three phases: rank 0 alone; all
# ranks, silent; all ranks together, with **your** `start_ranks` and `distribute`. Before, three of your
# steps are compared with steps whose gradients are averaged by plain MPI.

# %%
rounds = {"smoke": [], "full": ["--steps", "30", "--batch-size", "256"]}[profile]
[speed] = read_files(submit_once("job_speed.sbatch", *rounds, options={"ntasks": str(ranks)}))
from autograder.measuring.rounds import share

print(f"You said a share of {predict_share}; you measured {share(speed).value:.2f}.")
plots.speed_rounds(speed)

# %% [markdown]
# **What you should see.** Blue nearly fills the hatched bars: most of what two silent ranks do is left
# when they exchange gradients. On two cores of a shared machine (Intel Xeon, no GPU), other programs
# running, the share was 0.97, between 0.76 and 1.13 over the rounds. On GPU nodes it depends on the
# network, and nobody has run it there yet.
#
# ## Questions
#
# - `waits_in_0`, `waits_in_1`: in what do rank 0 and rank 1 wait in your dumps? `"broadcast"`,
#   `"barrier"` or `"allreduce"`.
# - `read_twice`: images that a `DistributedSampler` has read twice an epoch, 1,601 on 4 ranks?
#
# The SURF slides quote TensorFlow's documentation: *In sync training, all workers train over
# different slices of input data in sync, and aggregating gradients at each step. […] Typically sync
# training is supported via all-reduce and async through parameter server architecture.* And:
# *CollectiveCommunication.RING implements ring-based collectives using gRPC.* (Today the option is
# `CommunicationOptions(implementation=…)`.)
#
# - `docs_averaged`: how often does synchronous training bring gradients together? `"step"`, `"epoch"`
#   or `"end"`.
# - `docs_same_data`: do its workers read the same images? `"yes"` or `"no"`.
# - `docs_ring`: what carries RING's messages? `"grpc"`, `"nccl"` or `"mpi"`.
# - `docs_async`: what would you build asynchronous training on? `"allreduce"` or `"servers"`.
# - `sources`: an article on CTE-POWER advises synchronous training up to 32–50 nodes and asynchronous
#   beyond; SURF calls synchronous the common choice and asynchronous hard to predict; Cray trained
#   synchronously on 1,024 nodes. Whose statement does a measurement of another contradict? `"cte"`,
#   `"surf"` or `"cray"`.

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: waits_in_0, waits_in_1, read_twice, docs_averaged to docs_async, sources
waits_in_0, waits_in_1, read_twice = "broadcast", "barrier", 4 * 401 - 1601
docs_averaged, docs_same_data, docs_ring, docs_async = "step", "no", "grpc", "servers"
sources = "cte"
### END SOLUTION
answers.note(waits_in_0=waits_in_0, waits_in_1=waits_in_1, read_twice=read_twice)
answers.note(docs_averaged=docs_averaged, docs_same_data=docs_same_data)
answers.note(docs_ring=docs_ring, docs_async=docs_async, sources=sources)

# %% [markdown]
# ## Traps
#
# | you see | it was |
# |---|---|
# | every epoch in the same order; accuracy a little worse | no `set_epoch` |
# | `ValueError: sampler option is mutually exclusive with shuffle` | `shuffle=True` beside a sampler |
# | a few images too many in an epoch | the sampler pads: count *different* ones |
# | the job stands, without a word | a collective that one rank skips; or a missing worker |
# | 16 processes on 4 GPUs | torchrun started once a rank instead of once a node |
# | `address already in use` | a constant port, which another job on the node has; or ranks that all believe to be rank 0 |
# | accumulated gradients N times too large | a sum of means; weigh each part |
# | accumulation no faster than small batches | no `no_sync`: gradients travel after each part |
# | unlike batches, and the result depends on the number of ranks | DDP averages over ranks, not images |
# | Keras 3: `fit` fails under MultiWorkerMirroredStrategy or a parameter server | tf_keras, or a loop of your own |
# | TensorFlow waits for ever at the start | a wrong port in TF_CONFIG, or a worker that was not started |
#
# ## Recap
#
# - DDP is seven steps: meet, pin, share out, shuffle, wrap, guard, leave. Lightning does most of them;
#   what is left in `train_lightning.py` is yours: who prints, and leaving.
# - Same images a step, same training: measure it before you measure seconds.
# - Gradients leave in buckets while you still compute; a late rank delays all.
# - A silent job: a time-out first, then every rank's stack.
#
# **Hand in**: in a terminal, `lessons submit 10` packs this folder and says what is in it.
#
# Next: 11 splits a network that does not fit. Further reading: S. Li and others, *PyTorch Distributed:
# experiences on accelerating data parallel training*, arXiv:2006.15704; PyTorch's notes on DDP;
# Lightning's pages on clusters.
