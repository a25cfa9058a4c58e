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
# PyTorch and TensorFlow have ways of their own to train on many devices. You use five of them on the
# same work, in complete programs, and compare what each asks for: lines, seconds, accuracy. Then you
# look at what the most widely used one, PyTorch's DistributedDataParallel (DDP), does without telling
# you: when gradients travel, what a late rank costs, and what a job looks like whose ranks wait for ever.
#
# Allow 100 minutes. On two CPU cores all the runs of this page together take one to two minutes.

# %% tags=["parameters"]
profile = "smoke"  # "smoke": two CPU cores. "full": the whole data set, GPUs
ranks = 2  # the larger number of ranks; in "full" as many as you have GPUs

# %% tags=["setup"]
import difflib
import importlib
import inspect
from pathlib import Path

from IPython.display import Code

from autograder.reading.files import read_files
from autograder.wording import counted
from lessons.folders import course_root
from lessons.toolkit import answers, plots
from lessons.toolkit.checks import lesson_10 as check

few = {"smoke": ["--train-samples", "6400", "--epochs", "3"], "full": ["--model", "cnn"]}[profile]
images_a_step = 256  # of all ranks together

# %% [markdown]
# ## Predict
#
# 1. Which way changes the most lines of the serial program: `"ddp"`, `"lightning"`, `"multiworker"`
#    (TensorFlow's MultiWorkerMirroredStrategy) or `"ps"` (its parameter server)?
# 2. Four workers of equal speed send their gradients to a parameter server, each as soon as it has one.
#    While a gradient is computed, how many updates do the others make, on average?
# 3. DDP on a ResNet, two ranks: which share of what the machine can give (two ranks that never speak,
#    as in lesson 07) will you reach, from 0 to 1?

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_lines to a word, predict_staleness and predict_share to numbers
predict_lines, predict_staleness, predict_share = "ps", 3, 0.9
### END SOLUTION
answers.note(predict_lines=predict_lines, predict_staleness=predict_staleness)
answers.note(predict_share=predict_share)

# %% [markdown]
# ## DDP: seven steps
#
# `train.py` is lesson 02's PyTorch program for any number of devices. What is new stands mostly in three
# functions. Here they are as they stand in your copy: at first the gaps, later what you wrote. Run the
# cell again when you like.

# %%
import train

importlib.reload(train)  # so that the cell sees what you just saved
places = (train.start_ranks, train.distribute, train.order_of)
Code("\n\n".join(inspect.getsource(place).rstrip() for place in places), language="python")

# %% [markdown]
# | step | line | what happens without it |
# |---|---|---|
# | meet | `init_process_group`, a back end, a time-out | no rank knows another |
# | pin | `torch.cuda.set_device`, by the *local* rank | all ranks of a node on GPU 0 |
# | share out | `DistributedSampler` | every rank reads every image |
# | shuffle | `sampler.set_epoch(epoch)` | every epoch in the same order |
# | wrap | `DistributedDataParallel(model)` | N networks that drift apart |
# | rank 0 only | prints, checkpoints | every line N times, broken files |
# | leave | `destroy_process_group` | a warning; on some systems ranks that never end |
#
# DDP does more than Horovod's wrapped optimizer: when the network is wrapped, it also sends rank 0's
# parameters to all. It averages over *ranks*, so a small batch weighs as much as a large one. The
# loss that is printed is that of rank 0's own images.
#
# Ranks meet at an address and a port: `MASTER_ADDR` and `MASTER_PORT`. A constant port is a trap: two
# students on one node collide. The course's job files derive it from the number of the job. Which rank a
# process is, `ranks.py` asks the launcher: `torchrun` sets `RANK`, `LOCAL_RANK` and `WORLD_SIZE`; `mpirun`
# and `srun` have names of their own. There is one torchrun per *node*, which starts that node's ranks. One
# torchrun per *rank* is the classic slip: 4 × 4 = 16 processes on 4 GPUs.
#
# **Exercise 10.1.** Fill `start_ranks` and `distribute` in `train.py`.
#
# - `start_ranks` calls `dist.init_process_group` with the back end, and passes on three things that it was
#   given: `rank=rank`, `world_size=size` and `timeout=timeout`. It returns the device. Without GPUs the back
#   end is `"gloo"` and the device `torch.device("cpu")`. With GPUs it is `"nccl"`, and the device is GPU
#   number `local_rank`, `torch.device("cuda", local_rank)`, which `torch.cuda.set_device` makes the current
#   one.
# - `distribute` returns the wrapped network: `device_ids` is `[device]` on a GPU and `None` on a CPU,
#   `bucket_cap_mb` is `bucket_mb`.
#
# **Exercise 10.2.** Fill `order_of`. A `DistributedSampler` draws one order for all ranks, from its seed
# and the number of the epoch, and gives each rank every size-th image of it. It has to be told the
# epoch. Return its numbers just as it gives them, as a tensor. (With a sampler a `DataLoader` refuses
# `shuffle=True`: the sampler shuffles already.)

# %% tags=["check"]
import train

importlib.reload(train)  # so that the cell sees what you just saved
check.check_10_1(train)
check.check_10_2(train)

# %% [markdown]
# With the gaps filled, here is the whole diff. Lines with `+` are new.

# %%
serial = course_root() / "lessons" / "02_serial" / "train_torch.py"
old, new = (path.read_text() for path in (serial, Path("train.py")))
if "raise NotImplementedError" in new:
    print("There are gaps left in train.py. Fill them, then run this cell again.")
else:
    files = ("02_serial/train_torch.py", "train.py")
    diff = difflib.unified_diff(old.splitlines(), new.splitlines(), *files, n=0, lineterm="")
    print(*diff, sep="\n")

# %% [markdown]
# Now the same work on one rank and on several: 256 images per step, all on one rank or shared out, so take
# a number of ranks that divides them. Each step has the same images, so the updates are
# the same too, but for rounding. This is *strong* scaling, and the accuracies have to agree up to a few
# test images.
#
# What your functions do is measured from outside. `ranks_heard` takes one step on a network with a
# weight for each rank, which only that rank's gradient can move. `orders_as_drawn` asks `order_of` about
# samplers that it has not seen. The record counts the images that all ranks read.

# %%
from cluster.jobs.notebook import JobError, submit_once


def run(job, workers, *words, more=0):
    batch = ["--batch-size", images_a_step // workers]
    files = submit_once(job, *few, *batch, *words, options={"ntasks": str(workers + more)})
    return read_files(files)


runs = {"DDP, 1 rank": run("job.sbatch", 1)[0], "DDP": run("job.sbatch", ranks)[0]}
for name, found in runs.items():
    last, spread = found.epochs[-1], found.end["param_spread"]
    print(f"{name}: {counted(found.workers, 'rank')}, {last.steps} steps of an epoch,", end=" ")
    print(f"{last.unique_samples:,} different images, test accuracy {found.test_accuracy.value}")
    print(f"   parameters {spread:g} apart at most; {last.seconds.value:.2f} s for the last epoch")

# %% [markdown]
# **What you should see.** As many steps, and the same accuracy up to a few of 10,000 images: sums of
# floating-point numbers depend on their order. On so light a network two ranks gain nothing: this cell's last
# epoch took 0.24 and 0.22 s on one rank, 0.22 and 0.27 s on two (two runs on two idle cores of an AMD EPYC,
# no GPU, one thread per process, Gloo). A step of 256 images takes 9 ms on one rank, and on two gradients
# travel in each. With more work for each message it is worth it: with convolutions and 128 images *on each rank* (`--model cnn`), an epoch of
# 6,400 images went from 8.1–9.7 s on one rank to 4.3–6.5 s on two (two runs of each on that machine, without
# their first epochs).
#
# **Try it** with the other launcher, in a terminal; ranks, results and record are the same:
#
#     LAUNCHER=torchrun cluster submit job.sbatch --train-samples 6400 --epochs 3 --batch-size 128
#
# Until exercise 10.6 is filled, the `.err` file of these jobs says that accumulation could not be measured:
# the job tries that one, too.
#
# The sampler makes all shares equal by having some images read twice: 1,601 images on 4 ranks are 401
# each. In a test set that would falsify the accuracy a little, so here each rank tests on all images.
#
# ## PyTorch Lightning
#
# `train_lightning.py` is complete; read it. *What* is trained stands in a `LightningModule`. *How* is the
# `Trainer`'s business: it lets the ranks meet, wraps the network in DDP, puts a `DistributedSampler` into
# your `DataLoader` and calls `set_epoch`. The loop is gone, and with it the place where you would have
# looked. `Recorder` is how you get in: a callback, whose methods Lightning calls by name.
#
# **A trap under Slurm.** Under `srun` Lightning wants one task per *GPU* and believes `SLURM_NTASKS`. It
# believes Slurm also where `mpirun` has started the ranks inside a Slurm job. But there Slurm's variables
# describe the job's script: every rank takes itself for rank 0, and all but one end with `address already
# in use` (tried with Lightning 2.6.6). So this job uses torchrun, and the program names the environment
# that it was started in: `TorchElasticEnvironment`.
#
# **A trap in the version.** 2.6.2 and 2.6.3 were malicious releases. Take 2.6.6, or another one that you
# trust.

# %%
[found] = run("job_lightning.sbatch", ranks)
runs["Lightning"] = found
print(f"{counted(found.workers, 'rank')}, {found.epochs[-1].unique_samples:,} different images,")
print(f"spread {found.end['param_spread']:g}, test accuracy {found.test_accuracy.value}")

# %% [markdown]
# ## TensorFlow: everybody is told everything
#
# Ranks of Horovod and DDP find each other, by MPI or at an address where they meet. TensorFlow's own way
# is older. A course at Argonne in 2018 listed what "user must specify": host names and ports of all worker
# processes, host names and ports of all parameter servers, the number of workers, the number of servers,
# and who is the chief. That was the `ClusterSpec`, and these five items are what it takes to this day.
# Each task is given them in one variable, as JSON:
#
#     TF_CONFIG={"cluster": {"worker": ["n1:10448", "n2:10448"]}, "task": {"type": "worker", "index": 0}}
#
# `cluster` is the same for everybody, `task` is each one's own. Each task opens *its* port and calls the
# others on theirs by gRPC: remote procedure calls over ordinary sockets. So an InfiniBand network is used
# as if it were Ethernet, unless NCCL takes over between GPUs.
#
# `tf_cluster.py` finds out all of it without asking anybody: the nodes from `SLURM_JOB_NODELIST`, the rank
# from the launcher, and the ports from the number of the job, so that two students on one node do not
# collide. TensorFlow has a `SlurmClusterResolver` too. In version 2.21 it calls `nvidia-smi` and fails
# where there is none, and it gives port 8888 to everybody.
#
# **Exercise 10.3.** Fill `tf_config` in `tf_cluster.py`. `hosts` and `ports` have a list for each kind
# of task; host number i goes with port number i. Return a dictionary; `join_cluster` turns it into text.

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
# | `TF_USE_LEGACY_KERAS=1` | Keras 3: `fit` ends in the first step; the reason stands below two pages of printed zeros |
# | `in_time(…)` | a worker that does not come is waited for, in silence |
#
# Keras 2 is what `fit` needs here. Under Keras 3 the first batch ends with *"… with an unsupported type
# (PerReplica) to a Tensor"*. A loop of one's own works with both.

# %%
[workers] = run("job_multiworker.sbatch", ranks)
runs["MultiWorker"] = workers
heard = {each["name"]: each["value"] for each in workers.measures}["ranks_heard"]
print(
    f"{workers.workers} workers, {heard:g} heard each other, {workers.end['param_spread']:g} apart"
)
print(f"accuracy {workers.test_accuracy.value:.4f}, loss of all workers", end=" ")
print(", ".join(f"{epoch.train_loss.value:.4f}" for epoch in workers.epochs))

# %% [markdown]
# **What you should see.** Workers whose parameters are equal to the last bit. The printed loss is the
# mean over *all* workers, because Keras' metrics are variables of the strategy too; DDP printed rank 0's.
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
# The worst mistake is the one that ends well; the second worst is the one that waits. While TensorFlow
# waits it holds Python's lock: no timer of your program runs, and Ctrl-C does nothing. Slurm's SIGTERM at
# the time limit is not enough either; SIGKILL 30 seconds later is. That is why `in_time` starts another
# process, which looks at the ports after `--wait` seconds, says who does not answer, and ends this one:
#
#     worker 0 has waited 60 s for the others in vain; nobody answers as worker 1 at 127.0.0.1:16465
#
# ## Parameter server
#
# This is the other scheme of lesson 06, as TensorFlow has it. There are three kinds of tasks: the *server*
# keeps the parameters, *workers* compute gradients, the *chief* gives orders. Servers and workers run a
# `tf.distribute.Server` and no training loop. The chief's `ClusterCoordinator` sends them functions:
#
#     order = coordinator.schedule(work, args=(x, y))    # by whichever worker is free
#     coordinator.join()                                 # until all orders are done
#
# **Asynchronous** is what TensorFlow 2 offers. An order reads the parameters from the server, computes
# a gradient, and updates the server at once, whatever others did meanwhile. Workers go, says the
# documentation, "without synchronizing with each other". A worker that dies is replaced by another one; a
# chief or a server that dies ends the job.
#
# **Synchronous** was possible in TensorFlow 1 (`SyncReplicasOptimizer`, on graphs). In 2.21 the class is
# still there, marked as deprecated, and `ParameterServerStrategy` has nothing in its place. `train_ps.py
# --synchronous` builds it by hand from the same two calls: as many gradients as workers, which the server
# adds up, wait, one update. It is lesson 06's algorithm with a server in the middle, and it has
# to give what MultiWorkerMirroredStrategy gives.
#
# With both options one launch trains both ways, one after the other.

# %%
both = run("job_ps.sbatch", ranks, "--synchronous", "--asynchronous", more=2)  # a chief, a server
servers = {found.header["source"].removeprefix("ps-"): found for found in both}
for way, found in servers.items():
    last = found.epochs[-1]
    print(f"{way}: {last.steps} updates in the last epoch, loss", end=" ")
    print(f"{last.train_loss.value:.6f}, accuracy {found.test_accuracy.value:.4f}")
print(f"MultiWorkerMirrored: loss {workers.epochs[-1].train_loss.value:.6f}")
runs |= {f"server, {way[:-7]}": found for way, found in servers.items()}

# %% [markdown]
# **What you should see.** `synchronous` and MultiWorkerMirroredStrategy agree in all printed digits: two
# schemes, one mathematics (loss 0.243692 in both on the machine above). `asynchronous` makes one update from each
# batch, so with two workers twice as many. Its loss differs each time you run it (0.205 and 0.203 in two
# runs), because chance decides which gradient comes first. Try it, in
# a terminal (the cell above would show you the same output again):
#
#     cluster submit --ntasks=4 job_ps.sbatch --asynchronous --train-samples 6400 --epochs 3 --batch-size 128
#
# ## Staleness
#
# The *staleness* of an update is the number of other updates between reading the parameters and applying
# the gradient. The program measures it: `made` counts updates on the server, and an order reads `made`
# before it reads the parameters and once more when it updates.
#
# First simulate what many workers would do. Worker w takes `delays[w]` seconds for a gradient, and nobody
# waits for anybody.
#
# **Exercise 10.4.** `simulate_async(p, delays, updates)` returns a list with one number for each update, in
# the order in which updates are made. The number says how many updates there had been when the worker read
# the parameters. All workers begin at time 0, from 0 updates. Whoever is ready first makes its update,
# reads the parameters anew and begins again. Of several that are ready at once, any may go first. (`min` over
# a list of times is enough; a heap finds the earliest faster.)

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
# **What you should see**, from the top row of the picture to the bottom one:
#
# - *Measured on two workers*: 0.2 to 0.5 on average, where nodes of their own would give 1. (Two cores of a
#   virtual machine that other programs used as well, TensorFlow 2.21.) Four processes take turns on two
#   cores, so a gradient is often begun and ended with nobody else's update in between.
# - *Four equal workers, simulated*: 3, that is p − 1. While one computes, each of the others updates once.
# - *Four workers, one 5 times slower*: the mean hardly changes. The slow one's gradients come very late,
#   those of the three others a little less late than before.
#
# ## What staleness costs
#
# `train_late` trains lesson 01's network by your list: update k uses the gradient at the parameters as
# they were after `reads[k]` updates. Images, rate and number of updates are the same for all; only the
# number of workers p differs.

# %%
from lessons.toolkit import data

mnist = data.load("mnist", train_samples=6400)
for rate in (0.05, 0.1):
    for p in (1, 4, 16):
        found = [train_late(mnist, simulate_async(p, [1.0] * p), rate, seed=s) for s in (1, 2)]
        print(f"rate {rate}, {p:2} workers: accuracy " + ", ".join(f"{a:.3f}" for a in found))

# %% [markdown]
# **What you should see.** Test accuracy after 400 updates of 32 images, for seeds 1 and 2. It does not
# depend on the hardware, but for the last digit. The third rate is not run above:
#
# | rate | p = 1 | p = 4 | p = 16 |
# |---|---|---|---|
# | 0.05 | .893, .893 | .886, .889 | .669, .681 |
# | 0.1 | .905, .904 | .886, .894 | .381, .337 |
# | 0.2 | .915, .913 | .858, .890 | .160, .101 |
#
# Read along a row: at the same rate, 16 workers without a barrier learn far less from the same images, and
# at 0.2 nothing. Read down a column: one worker learns most with the largest rate of the three, 16
# workers with the smallest. Their correction comes 15 updates late, as in a shower with a long pipe. So
# asynchronous training needs a *smaller* rate with more workers, where synchronous training with its
# larger batch bears a *larger* one (lesson 09). That is what "weaker guarantees" means.
#
# Why was it built all the same? Because nobody waits for a slow worker. In lesson 06 one rank that slept
# 20 ms made every step 20 ms longer. Here it delays only its own gradients. With equal GPUs and a fast
# network there is nothing to gain. Hence supercomputers average by all-reduce, and parameter servers live in
# clouds whose machines come and go.
#
# **A trap: a server with one thread.** A server's threads wait for other tasks. The course's jobs set
# `TF_NUM_INTEROP_THREADS=1`, one thread per core, which is right for training; a server with one or two
# threads waits for ever. So `serve` in `tf_cluster.py` gives it four.

# %% [markdown]
# ## Your table
#
# **Exercise 10.5.** `changed_lines(old, new)` counts the lines of the program `new` that the program `old`
# does not have. Both are texts. `difflib.unified_diff(old.splitlines(), new.splitlines(), n=0,
# lineterm="")` gives two header lines, `---` and `+++`. Skip them by their place, for a program's own line
# may begin with `++`. Then come the lines that differ: those of `old` begin with `-`, those of `new` with
# `+`. (Lines `@@ … @@` between them say where.) A line with nothing but spaces behind its sign does not
# count. The diff of equal programs is empty, without headers. One that
# `old` has once and `new` twice counts once.


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
most = max(lines, key=lines.get)
said = {"DDP": "ddp", "Lightning": "lightning", "MultiWorker": "multiworker"}.get(most, "ps")
print(f"You said that {predict_lines} changes most. Most changed: {most}, which is {said}.")
beside = [
    (name, len(Path(name).read_text().splitlines())) for name in ("ranks.py", "tf_cluster.py")
]
print("On top of that:", ", ".join(f"{name} with {count} lines" for name, count in beside))
plots.ways({name: (lines[name], found) for name, found in runs.items()})

# %% [markdown]
# **What you should see.** The table is your own: every number but *lines* comes from the records of your
# jobs. It is the same work and about the same accuracy, with little or nothing gained over one rank on so
# light a network. The differences in seconds are what an update costs in each framework. *Lines* counts the
# program alone, against the serial program of its framework; the files named above come on top.
#
# Which to take does not follow from these seconds:
#
# | you have | take |
# |---|---|
# | PyTorch and a loop of your own | DDP: nothing is hidden, everything else is built on it |
# | PyTorch, and you want logs, checkpoints and precision for two lines | Lightning |
# | Keras and one node | MirroredStrategy (lesson 05) |
# | Keras and many nodes | MultiWorkerMirroredStrategy under tf_keras, or Horovod (07) |
# | workers that come and go, or differ in speed | a parameter server, asynchronous |
# | a parameter server, and results that can be repeated | not synchronous on a server: an all-reduce does the same with fewer tasks |
# | one program for several frameworks | Horovod |
#
# Slides of SURF call `tf.distribute` tricky, and Horovod and Lightning a matter of a few lines. Your
# column *lines* says what is left of that today.
#
# A larger example from elsewhere: with DDP a vision transformer on 100,000 images of 224 × 224 (bf16, a
# fixed batch per GPU) made 242, 475, 935, 1,817, 3,597 and 6,914 images/s on 1 to 32 H100 GPUs of
# MareNostrum 5 (Torres, *Supercomputing for Artificial Intelligence*, chapter 12).
#
# ## A large batch on little memory
#
# A batch that does not fit into memory is computed in parts, whose gradients add up in `parameter.grad`.
# That is *accumulation*. DDP would average in the backward pass of each part. `with model.no_sync():`
# keeps the gradients at home; the last part, outside of it, sends the sum of all.
#
# **Exercise 10.6.** Fill `accumulate` in `no_sync.py`. Parts may differ in size: `x.chunk(3)` makes 3, 3
# and 1 of 7 images. It may also make fewer parts than you asked for: 5 images in 4 parts are 2, 2 and 1.
# So count the parts that there are, or take `tensor_split`, which makes just as many. Weigh each part's mean
# loss by its share of the images, so that the gradients are those of the whole batch. Forward *and*
# backward of a part stand in `no_sync`: DDP decides in the forward pass whether gradients will travel. A
# part's backward pass comes before the next part's forward pass: until then its activations fill the memory.
#
# The program compares the gradients with those of a batch of all ranks, in double precision. It also
# counts how often gradients travel, and how many images go through the network at once.

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
# The worst mistake prints no error: one rank is in a collective, the others are not, and all wait. Mostly
# somebody wrote `if rank == 0:` around a collective, or one rank ran out of batches. Here is a case that
# nobody intends. Rank 0 makes a step by itself, in `no_sync`, so that no gradients travel. But the
# network has a BatchNorm, whose running means are *buffers*, and DDP sends rank 0's buffers to all ranks
# **at the beginning of each forward pass**, `no_sync` or not.
#
# `hang.py` does just that. After 2 seconds each rank writes down where it stands, by `py-spy dump`,
# which looks into a running process from outside. After 6 seconds, the time-out that the ranks have set
# once they were under way, the back end gives up. By default it waits for 30 minutes, NCCL for 10; the
# `timeout` of `init_process_group` is the usual place for another number. Without a time-out the job's own
# limit ends it, and all its GPU-hours are gone. This job is meant to fail.

# %%
try:
    submit_once("job_hang.sbatch", options={"ntasks": str(ranks)})
except JobError:
    print("The job failed. Its last errors:")
errors = max(Path().glob("10_hang_*.err"), key=lambda file: file.stat().st_mtime)
print(*[line[:150] for line in errors.read_text().splitlines() if "Error" in line], sep="\n")
for rank in (0, 1):
    stack = Path(f"stack_of_rank_{rank}.txt")
    if not stack.exists():
        print(f"Rank {rank} did not get as far as the hang; see above, and run this cell again.")
        continue
    dump = stack.read_text().split("Thread ")[1]
    print(f"\nrank {rank}, innermost call first:", *dump.splitlines()[1:], sep="\n")

# %% [markdown]
# **How to read it.** Innermost first: each rank's topmost line is the call in which it waits. Further
# down stands the line of *your* program that led there. If all ranks stand in the same call, it is
# the network or a dead rank; if they stand in different ones, it is your program.
#
# | tool | it tells | it costs |
# |---|---|---|
# | `timeout=` of `init_process_group` | that a rank waited, and for what kind of message | nothing |
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
# **Exercise 10.7.** Fill `step_alone` in `no_sync.py`: a step of rank 0 that needs nobody else. The
# wrapped network holds the one that it was given, `model.module`, and that one sends nothing.

# %% tags=["check"]
importlib.reload(no_sync)
check.check_10_7(no_sync)

# %% [markdown]
# Once more the work of before, each batch in four parts. The program tries both of your functions on
# small networks of its own: the largest error of a gradient, how often gradients travelled, how many
# images went through at once, and the error of a step that rank 0 made alone.

# %%
[parts] = run("job.sbatch", ranks, "--accumulate", 4, "--timeout", 40)
for measure in parts.measures:
    print(f"{measure['name']}: {measure['value']:.3g}")
print(
    f"test accuracy in 4 parts {parts.test_accuracy.value}, whole {runs['DDP'].test_accuracy.value}"
)

# %% [markdown]
# ## When gradients travel
#
# DDP does not wait for the end of the backward pass. The last layer's gradients are ready first. As soon
# as a *bucket* of them is full it leaves, while those of earlier layers are still being computed.
# `bucket_cap_mb` is its size. With one bucket for everything nothing overlaps. With very small ones the
# latency of each exchange counts.
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
# **What you should see.** Small buckets leave early, from the last layer to the first. The single
# bucket leaves when the backward pass is over. A rank that is 40 ms late makes *every* step of every rank
# about 40 ms longer. The slowest one sets the pace, which is why a straggler is worth finding.
#
# What two cores cannot show is what overlap is worth: here Gloo moves bytes with the very core that
# computes. On GPUs NCCL moves them while the GPU computes, and the grey bars should get shorter.
#
# ## How much faster?
#
# `speed.py` measures DDP as lesson 07 measured Horovod, in rounds of three phases: rank 0 alone; all
# ranks, silent; all ranks together, with **your** `start_ranks` and `distribute`. Before that, three of
# your steps are compared with steps whose gradients are averaged by plain MPI.

# %%
few_steps, many_steps = ["--rounds", "10", "--steps", "1"], ["--steps", "30", "--batch-size", "256"]
rounds = few_steps if profile == "smoke" else many_steps
[speed] = read_files(submit_once("job_speed.sbatch", *rounds, options={"ntasks": str(ranks)}))
from autograder.measuring.rounds import share

print(f"You said a share of {predict_share}; you measured {share(speed).value:.2f}.")
plots.speed_rounds(speed)

# %% [markdown]
# **What you should see.** The blue line runs close below the yellow one: of what two silent ranks do, most
# is left when they exchange gradients. On two idle cores of a shared machine (AMD EPYC, no GPU) three runs
# of this cell's job had a share of 1.00, 0.93 and 0.94; over the rounds it lay between 0.68 and 1.04. On GPU
# nodes it depends on the network; nobody has run it there yet.
#
# ## Questions
#
# - `waits_in_0`, `waits_in_1`: in what do rank 0 and rank 1 wait in your dumps? `"broadcast"`,
#   `"barrier"` or `"allreduce"`.
# - `read_twice`: how many of 1,601 images are read twice in an epoch, by a `DistributedSampler` on 4 ranks?
#
# The SURF slides quote TensorFlow's documentation: *In sync training, all workers train over
# different slices of input data in sync, and aggregating gradients at each step. […] Typically sync
# training is supported via all-reduce and async through parameter server architecture.* And:
# *CollectiveCommunication.RING implements ring-based collectives using gRPC.* (Today the option is
# `CommunicationOptions(implementation=…)`.)
#
# - `docs_averaged`: when does synchronous training bring gradients together, at each `"step"`, at each
#   `"epoch"` or at the `"end"`?
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
# | the job stands still, without a word | a collective that one rank skips; or a missing worker |
# | 16 processes on 4 GPUs | torchrun started once per rank instead of once per node |
# | `terminate called without an active exception`, after the last line of a program with Gloo | a thread of PyTorch's that outlives Python (pytorch#190489, seen once here); the job counts as failed: submit it again |
# | `address already in use` | a constant port, which another job on the node has; or ranks that all take themselves for rank 0 |
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
# - The same images in each step give the same training. Check that before you measure seconds.
# - Gradients leave in buckets while you still compute; a late rank delays all.
# - A job that says nothing: first a time-out, then every rank's stack.
#
# **Hand in**: in a terminal, this packs the folder and says what is in it.
#
#     lessons submit 10
#
# Next: 11 splits a network that does not fit. Further reading: S. Li and others, *PyTorch Distributed:
# experiences on accelerating data parallel training*, arXiv:2006.15704; PyTorch's notes on DDP;
# Lightning's pages on clusters.
