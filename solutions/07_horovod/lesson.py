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
# # 07 · Horovod
#
# **Which lines turn a serial program into one for any number of GPUs, and what does each prevent?**
#
# In lesson 06 you averaged gradients by hand. Horovod does that behind an optimizer, for Keras and
# for PyTorch, over MPI, Gloo or NCCL. It came out of Uber in 2017, leaves the framework as it is and
# asks for five steps. You fill them in, run on one and on two ranks, and look for the traps in which
# a program trains happily and does not do what you think.
#
# Allow 70 minutes. On two CPU cores all the runs of this page together take two to three minutes.

# %% tags=["parameters"]
profile = "smoke"  # "smoke": two CPU cores. "full": the whole data set, GPUs
ranks = 2  # the larger number of ranks; in "full" as many as you have GPUs

# %% tags=["setup"]
import importlib
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # the Keras that Horovod can average: see "Keras 3" below
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

from autograder.wording import counted
from lessons.toolkit import answers, plots
from lessons.toolkit.checks import lesson_07 as check
from lessons.toolkit.ranks import timeline

few = {"smoke": ["--train-samples", "6400"], "full": []}[profile]
fewer = ["--train-samples", "1600", "--test-samples", "2000", "--epochs", "2"]
rounds = {"smoke": [], "full": ["--steps", "30", "--batch-size", "256"]}[profile]
cnn = ["--model", "cnn", "--batch-size", "64", *(fewer if profile == "smoke" else [])]

# %% [markdown]
# ## Predict
#
# The program of lesson 02 is started on 4 ranks. Gradients are averaged, and every rank still reads
# **all** the images.
#
# 1. How long does an epoch take, against one rank? `"quarter"`, `"same"` or `"longer"`.
# 2. 4 epochs on one rank reached a test accuracy of 0.98. Which does 1 epoch on each of 4 ranks reach?

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_epoch to one of the three words, predict_accuracy to a number
predict_epoch = "same"
predict_accuracy = 0.975
### END SOLUTION
answers.note(predict_epoch=predict_epoch, predict_accuracy=predict_accuracy)

# %% [markdown]
# ## The diff
#
# `train.py` is lesson 02's program plus five steps. This cell shows the difference: `+` lines are new.
# (In your copy the steps are still gaps.)

# %%
import difflib
from pathlib import Path

from lessons.folders import course_root

old = course_root() / "lessons" / "02_serial" / "train.py"
texts = [path.read_text().splitlines() for path in (old, Path("train.py"))]
for line in difflib.unified_diff(*texts, "02_serial/train.py", "train.py", n=0, lineterm=""):
    if "NotImplementedError" not in line:  # gaps
        print(line)

# %% [markdown]
# | step | line | what happens without it |
# |---|---|---|
# | 1 initialise | `hvd.init()` | the ranks do not know of each other: N runs of size 1 |
# | 2 pin | GPU number `hvd.local_rank()` | all ranks of a node on GPU 0: out of memory, or N times slower |
# | 3 wrap and scale | `DistributedOptimizer`, rate × size | N networks that drift apart |
# | 4 broadcast | parameters of rank 0 | averaged gradients of unlike networks: loss falls, nonsense |
# | 5 rank 0 only | checkpoint and prints | N ranks write one file: it is broken when you need it |
#
# One slide calls rank 0 the *master* that sends variables to the *workers*. It sends them once; then
# it trains like all others. There is no master while training. Horovod also had a front end for
# MXNet, which has been retired.
#
# **Exercise 7.1.** Fill `start_horovod` in `train.py`. `hvd.rank()` counts over all nodes,
# `hvd.local_rank()` within one.

# %% tags=["check"]
import train

importlib.reload(train)  # so that the cell sees what you just saved
check.check_7_1(train)

# %% [markdown]
# **Exercise 7.2.** Fill `make_optimizer`. One step now uses `size` batches, so there are fewer steps
# for the same data; the rate grows with the batch. (That this has limits is lesson 09.)

# %% tags=["check"]
importlib.reload(train)
check.check_7_2(train)

# %% [markdown]
# **Exercise 7.3.** Fill `start_alike`. The program seeds each rank differently, so that each shuffles
# in an order of its own: with one seed all ranks would read the same batch at the same time, and the
# mean of N equal gradients is the gradient you had. So the parameters start unlike, too, until they
# are broadcast: every rank calls `broadcast_variables`, rank 0 to send and the others to receive.
#
# Horovod's callback `BroadcastGlobalVariablesCallback` acts *after* the first batch. That is why
# the program broadcasts by itself, before the first.
#
# What you fill in is measured from outside. `ranks_heard` takes one step on a network with a weight for
# each rank, which only that rank's gradient can move: where all are averaged, all weights move. And the
# record compares the ranks' parameters when training begins and at the end of each epoch.

# %% tags=["check"]
importlib.reload(train)
check.check_7_3(train)

# %% [markdown]
# **Exercise 7.4.** Fill `save_checkpoint`: rank 0 alone writes, and only the weights, for `--resume`
# reads them with `model.load_weights`. It returns the number of files that this rank wrote: 1 or 0.
# The program does not take its word for it: each rank is given a name of its own, the last rank counts
# on the disk what is new, and at the end rank 0 reads its file back.

# %% tags=["check"]
importlib.reload(train)
check.check_7_4(train)

# %% [markdown]
# `train_torch.py` is the same in PyTorch, complete, for you to read: `hvd.DistributedOptimizer`
# with `named_parameters`, `broadcast_parameters`, `broadcast_optimizer_state`. In a TensorFlow loop
# of your own the pair is `DistributedGradientTape` and `broadcast_variables`.
#
# ## When the time limit ends your job
#
# Both programs write the checkpoint after each epoch, and `--resume` goes on from it:
#
#     cluster submit job.sbatch --epochs 8 --resume
#
# The run then ends with the very parameters of a run that was never stopped. For this a checkpoint
# holds more than parameters: Adam's moments, the number of epochs done, and the seed from which every
# epoch's order is drawn. `checkpoint.py` has the other half. The new file replaces the old one at once,
# so a job that is ended while it writes loses nothing; and rank 0 alone reads, then tells the others
# what it found, *or that it found nothing*. If it just ended with an error, they would wait for ever.
#
# ## How many epochs?
#
# A course at Jülich divides the epochs: all ranks read all data, and each makes ceil(asked / size) epochs.
#
# **Exercise 7.5.** `epochs(asked, size)` of each rank, and `passes(asked, size)`: how often all ranks together
# go through the data.

# %% tags=["exercise"]
import math


def epochs(asked, size):
    ### BEGIN SOLUTION Exercise 7.5: asked divided by size, rounded up
    return math.ceil(asked / size)
    ### END SOLUTION


def passes(asked, size):
    ### BEGIN SOLUTION Exercise 7.5: passes over the data of all ranks together
    return epochs(asked, size) * size
    ### END SOLUTION


# %% tags=["check"]
check.check_7_5(epochs, passes)

# %%
for size in (1, 2, 3, 4, 5, 6, 7, 8):
    each, all_of_them = epochs(4, size), passes(4, size)
    each = counted(each, "epoch")
    print(f"size {size}: each rank makes {each}, {all_of_them} passes over the data in all")

# %% [markdown]
# Three ranks make 6 passes where 4 were asked for: half as much work again. (Rounding down instead
# gives 0 epochs on 8 ranks, as in the Cray program of lesson 06.)
#
# ## A diary of every step
#
# Horovod can note what it does for each tensor and when: its *timeline*. The program needs no change.
# The variable `HOROVOD_TIMELINE`, the name of a file, has to be in the environment of all ranks.
# (`horovodrun` has an option for it, `--timeline-filename`.)
#
# **Exercise 7.6.** Ask for it in `job_torch.sbatch`, which will run on one rank and on several: the
# name of the file says on how many, so that no run writes over another's. Slurm tells the job its
# number of tasks in the variable `SLURM_NTASKS`; call the file `timeline_2.json` on two ranks,
# `timeline_1.json` on one.

# %% tags=["check"]
check.check_7_6("job_torch.sbatch")

# %% [markdown]
# ## Run it
#
# Two networks, each on one rank and on several: one dense layer in Keras, two convolutions in PyTorch.
# `--ntasks` before the file overrides the job's own line.

# %%
from cluster.jobs.notebook import submit_once

one, several = {"ntasks": "1"}, {"ntasks": str(ranks)}
files = {
    ("mlp512", 1): submit_once("job.sbatch", *few, options=one),
    ("mlp512", ranks): submit_once("job.sbatch", *few, options=several),
}

# %%
files["cnn", 1] = submit_once("job_torch.sbatch", *cnn, options=one)
files["cnn", ranks] = submit_once("job_torch.sbatch", *cnn, options=several)

# %%
from autograder.reading.files import read_files

runs = {key: read_files(found)[0] for key, found in files.items()}
for (name, n), run in runs.items():
    print(f"{name} on {counted(n, 'rank')}: {run.outcome}, lr {run.header['lr']:g}, ", end="")
    print(f"test accuracy {run.test_accuracy.value:.4f}, {run.total_seconds.value:.1f} s in all")
    print(f"   largest difference of a parameter between ranks: {run.end['param_spread']:g}")
    for rank in run.ranks:
        where = f"rank {rank.rank} on {rank.host}, local number {rank.local_rank}"
        print(f"   {where}: {rank.samples} images, {counted(rank.files_written, 'file')}")

# %%
names = {"mlp512": "Keras, 407,050 parameters", "cnn": "PyTorch, two convolutions"}
plots.time_and_accuracy(
    {text: [runs[name, n] for n in (1, ranks)] for name, text in names.items()},
    published={1: 0.9805, 4: 0.9773},
)

# %% [markdown]
# **What you should see.**
#
# - The parameters of all ranks are equal to the last bit, and one rank wrote a file.
# - The light network gains nothing: too little work for each exchange of 407,050 gradients. Measured
#   on two cores of one machine with nothing else running, it went from 0.67 to 0.89 s an epoch.
# - The convolutions gain: 60,000 images, batch 128 a rank, 30 s an epoch on one core, 23 s on two ranks
#   over MPI, 20 s over Gloo. Two *independent* programs side by side on that machine were only 1.9
#   times as productive as one, so 1.9 and not 2 is the most that two ranks can reach there.
#   In `smoke` you train on 1,600 images; starting and testing are most of your seconds, whatever trains.
# - Accuracy stays about the same. Jülich printed .9805 on one GPU and .9773 on four. Jülich's larger
#   network on 8 tasks reached .9911 after 12 epochs.
# - All times here are from start to end, not of an epoch: an epoch of this program is as long
#   on 8 ranks as on one. Only there are fewer of them.
#
# ## What a step is made of
#
# The timeline of the convolutions. A tensor is *negotiated* from the moment one rank has its gradient
# until all have it; then it *travels*, often together with others. What is left of a step is
# computing alone.

# %%
steps = timeline.steps(timeline.read_timeline(f"timeline_{ranks}.json"))
seconds, travels, negotiated = timeline.typical(steps)
print(
    f"median of {len(steps)} steps: {1e3 * seconds:.0f} ms, of which gradients travel {travels:.0%}"
)
print(f"and {negotiated:.0%} are spent negotiating, while none travels")
plots.tensor_timeline(steps[-4:-1])

# %% [markdown]
# Gradients become ready from the last layer to the first, so negotiating begins while the first
# layers are still being computed: it is not all lost. Much of it: your ranks do not have equal work.
# Much travelling: your network is small for its gradients, and this part bounds what more ranks can
# give. `chrome://tracing` shows the whole file.
#
# ## How much faster?
#
# An epoch in which every rank reads everything cannot tell. `speed.py` can: in one launch it goes
# through rounds of three phases, with **your** `start_horovod`, `make_optimizer` and `start_alike`, on
# a network that computes much for each gradient, a ResNet of 273,658 parameters for images of 32 × 32.
# (Its images are noise: a step takes as long, and nothing has to be loaded.)
#
# | phase | who computes | what travels |
# |---|---|---|
# | alone | rank 0; the others sleep | nothing |
# | silent | all ranks | nothing |
# | together | all ranks | the gradients, through your optimizer |
#
# In a phase each rank that computes makes as many steps, so on N ranks
#
# - **speedup** = N × alone / together: the work that all do in a time, over that of one;
# - **ceiling** = N × alone / silent: what this machine can give at most. Two cores share memory, caches
#   and clock, so it may be less than N, and no program is to blame;
# - **share** = silent / together: what is left of the ceiling. The rest is what your exchange costs.
#
# Each is computed within a round: who else uses the machine slows all three phases down. The median
# of the rounds counts. Before that, three of your steps are compared with steps whose gradients are
# averaged by plain MPI, and after each round the parameters of all ranks with each other: ranks that
# save themselves the exchange are no faster training.
#
# Which share will your ranks reach, from 0 to 1?

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_share to a number
predict_share = 0.9
### END SOLUTION
answers.note(predict_share=predict_share)

# %%
[speed] = read_files(submit_once("job_speed.sbatch", *rounds, options=several))
plots.speed_rounds(speed)

# %% [markdown]
# **What you should see.** On two cores of an AMD EPYC the ceiling was 1.9 to 2.0 and the share 0.93 to
# 1.00. While other programs ran on these cores, the ceiling fell to 1.2, and the share stayed 0.95:
# that is what the rounds are for.
#
# What two cores show: averaging 273,658 gradients (1.1 MB, through memory) costs little beside a step
# of 110 ms. What they cannot show: a GPU computes this step in a few milliseconds, and then the same
# exchange, between nodes through the network, is no longer small. That is why larger batches, larger
# networks and fast networks belong to many GPUs; submit this job on them and compare the shares.
#
# ## Who read what?

# %%
two = runs["mlp512", ranks]
samples = two.header["dataset"]["train_samples"]
reads = {f"train.py on {ranks} ranks": plots.shares_of(two)}
twice = sum(len(share) for share in reads[f"train.py on {ranks} ranks"]) - samples
print(f"{samples + twice:,} images read an epoch, to see {samples:,} different ones")
plots.sample_map(reads, samples)

# %% [markdown]
# Each rank's row is blue from end to end: every rank reads every image. So the row *together* is all
# orange. Published course material trains like this with the
# epochs *not* divided, and then N GPUs do N times the work in the same time. It looks well in every
# plot of accuracy. In the record it shows at once: `samples` of a rank is the whole set. Dividing the
# epochs mends the time; dividing the **data** is better, and the next lesson.
#
# **Question.** The Jülich slides print this for `mpirun -np 4` of a program with
# `epochs = ceil(4 / hvd.size())`, `batch_size=32`, and no rank guard:
#
#     Epoch 1/4
#     60000/60000 [======] - 8s 125us/sample - loss: 0.2004 - acc: 0.9410
#     Epoch 2/4
#     60000/60000 [======] - 7s 121us/sample - loss: 0.0786 - acc: 0.9763
#
# Which two of these can that program *not* print? (a) `1/4` for the epoch; (b) `60000` for the samples
# of a rank; (c) a loss below 0.1; (d) each line only once. Two letters, such as `"bc"`.
#
# **Question.** Lines of 2018, and today's in another order:
#
# | then | now |
# |---|---|
# | `config = tf.ConfigProto()`, `config.gpu_options.visible_device_list = str(hvd.local_rank())`, `K.set_session(…)` | (a) `if hvd.rank() == 0: model.save_weights(path)` |
# | `hooks = [hvd.BroadcastGlobalVariablesHook(0)]` | (b) `keras.optimizers.Adagrad(0.01 * hvd.size())` |
# | `checkpoint_dir = '/tmp/train_logs' if hvd.rank() == 0 else None` | (c) `tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")` |
# | `tf.train.AdagradOptimizer(0.01 * hvd.size())` | (d) `broadcast_variables(model.variables, root_rank=0)` |
# | | (e) `callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)]` |
#
# (`hvd.DistributedOptimizer(opt)` has stayed.) The hook of 2018 acted *before* the first step. Which
# line does so today? One letter.

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: set s4_impossible to two letters and hook_today to one
s4_impossible = "ad"
hook_today = "d"
### END SOLUTION
answers.note(s4_impossible=s4_impossible, hook_today=hook_today)
answers.note(passes_3_ranks=passes(4, 3), read_again=twice)

# %% [markdown]
# ## Keras 3: trains, and says nothing
#
# `train.py` asks for Keras 2 (`TF_USE_LEGACY_KERAS`). Here is why. `keras3.py` trains 20 steps on two
# ranks with Keras 3, once with `hvd.DistributedOptimizer`, once with four lines of our own.

# %%
[keras3] = read_files(submit_once("job_keras3.sbatch", options={"ntasks": "2"}))
for measure in keras3.measures:
    print(f"{measure['optimizer']}: parameters differ by up to {measure['value']:.4f}")

# %% [markdown]
# Horovod 0.28.1 of 2023 overrides a method that Keras 3 no longer calls. There is no error, and each
# loss falls; the ranks are N strangers. After a whole training the difference was 0.12 to 0.25.
# **Measure the spread of the parameters once, in every distributed program you write.**
#
# ## Launchers and back ends
#
# | you type | it is |
# |---|---|
# | `mpirun -np 2 python train.py` | MPI starts the ranks and carries the gradients |
# | `srun python train.py` | Slurm starts them; needs the right `--mpi` plug-in |
# | `horovodrun --gloo -np 2 python train.py` | Horovod starts them, Gloo carries; without `--gloo` it wants an MPI it knows |
#
# On GPUs NCCL carries the gradients (`HOROVOD_GPU_OPERATIONS=NCCL` when Horovod is built), over
# InfiniBand if it is there. On CPUs MPI waits by asking over and over, on the very core your rank
# computes with: Gloo can be faster there.
#
# ## A container instead of an installation
#
# `pip install horovod` compiles against the frameworks and the MPI it finds and often finds
# wrong ones; a cluster's own module or an image is advised. The MPI *inside* the image has to fit the
# one *outside*, which starts it. `job_container.sbatch` has one line more than the others, which
# names an image, and prints both versions. It is to be run where Apptainer is (or Singularity, its
# older name), and an image with this course in it, `course.sif`; your instructor has one, or
# `docs/containers.md` tells how it is made.
#
# **Exercise 7.7.** `mpi_match(host, container)` compares what `mpirun --version` prints: is it the same
# make, with the same first two numbers? `True` or `False`, whatever the text. Open MPI begins with
# `mpirun (Open MPI) 4.1.5`; MPICH's launcher with `HYDRA build details:`, and without any MPI the
# shell says `bash: mpirun: command not found`.
#
# `pull(uri, file)` returns the command that fetches an image, as one text or as a list of its words,
# and does not run it. A slide has its two arguments reversed: `apptainer pull` takes the file first.

# %% tags=["exercise"]
import re


def mpi_match(host, container):
    ### BEGIN SOLUTION Exercise 7.7: compare make, first and second number of both texts
    found = [re.match(r"mpirun \((.+)\) (\d+)\.(\d+)", text) for text in (host, container)]
    return all(found) and found[0].groups() == found[1].groups()
    ### END SOLUTION


def pull(uri, file):
    ### BEGIN SOLUTION Exercise 7.7: apptainer pull, the file, where it comes from
    return f"apptainer pull {file} {uri}"
    ### END SOLUTION


# %% tags=["check"]
check.check_7_7(mpi_match, pull)

# %% [markdown]
# ## Traps
#
# | you see | it was |
# |---|---|
# | every line of the record says rank 0 of 1 | the wrong launcher, or no `hvd.init()` |
# | loss falls, `param_spread` 0.1 or more | Keras 3 with `hvd.DistributedOptimizer`; or no wrapped optimizer at all |
# | a small spread that never goes away | no broadcast, or the callback that comes after batch 1 |
# | an epoch is as long on 4 ranks as on 1 | data not divided and epochs not cut: `samples` says so |
# | out of memory on GPU 0, the others idle | `rank` or nothing where `local_rank` belongs |
# | a checkpoint that cannot be read, or `unable to lock file` | every rank wrote it: `files_found` is the number of ranks |
# | `LearningRateWarmupCallback` stops with an error | SGD needs `momentum_correction=False` |
# | `horovodrun` finds no MPI | give it `--gloo` |
# | a run that goes on is worse than one that was not stopped | the optimizer's state was not in the file |
#
# ## Recap
#
# - Five steps: init, pin, wrap and scale, broadcast, rank 0 writes. Each prevents a silent mistake.
# - Equal parameters on all ranks are the proof that it is one training.
# - Dividing epochs saves time; who reads which image is a question of its own.
#
# **Hand in**: in a terminal, `lessons submit 07` packs this folder and says what is in it.
#
# Next: 08 divides the data. Further reading: A. Sergeev, M. Del Balso, *Horovod*, arXiv:1802.05799;
# the tutorial *Getting started with deep learning on supercomputers* of Jülich; Horovod's own pages.
