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
# asks for five steps. You fill them in and run on one and on two ranks. Then you take them away again, one
# at a time, and look for the trace that each leaves.
#
# Horovod's last release, 0.28.1, is of June 2023. It still builds and is still right, and you will meet it
# among the modules of many clusters and in course notes. A new project would rather begin with what the
# frameworks bring themselves, such as PyTorch's DistributedDataParallel: lesson 10. The five steps are the
# same there under other names, and so are the mistakes.
#
# Allow 60 minutes for the first half; the second, marked below, can wait for another day. On two CPU
# cores all the runs of this page together take about a minute and a half.

# %% tags=["parameters"]
profile = "smoke"  # "smoke": two CPU cores. "full": the whole data set, GPUs
ranks = (
    0  # the larger number of ranks; 0: 2 in "smoke", in "full" the GPUs of two nodes of this site
)
gpus = "gres=gpu:{n}"  # "full": how your site asks for n GPUs of a node

# %% tags=["setup"]
import importlib
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # see "Keras 3" below

from autograder.wording import counted
from lessons.toolkit import answers, plots, predictions, quiet
from lessons.toolkit.checks import lesson_07 as check  # compiles Horovod if it is missing

quiet.tensorflow()
few, cnn = [], ["--model", "cnn", "--batch-size", "64"]
if profile == "smoke":
    few = ["--train-samples", "3200"]
    cnn += ["--train-samples", "512", "--test-samples", "500", "--epochs", "2"]

# %% [markdown]
# ## Predict
#
# The program of lesson 02 is started on 4 ranks. Gradients are averaged, and every rank still reads
# **all** the images.
#
# 1. How long does an epoch take, compared with one rank? `"quarter"`, `"same"` or `"longer"`.
# 2. Four epochs on one rank reached a test accuracy of 0.9805 (Jülich, all 60,000 images). Which accuracy does
#    one epoch on each of four ranks reach?
# 3. Now two ranks, and each reads only half of the images. How many times as fast is an epoch? A number:
#    2 if it takes half the time, 1 if it takes as long as before.

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_epoch to one of the three words, the other two to a number each
predict_epoch = "same"
predict_accuracy = 0.975
predict_two_ranks = 1.2
### END SOLUTION
answers.note(
    predict_epoch=predict_epoch,
    predict_accuracy=predict_accuracy,
    predict_two_ranks=predict_two_ranks,
)

# %% [markdown]
# ## Five steps
#
# `train.py` is lesson 02's program plus five steps, in four functions. Here they are as they stand in
# your copy: at first the gaps, later what you wrote. Run the cell again whenever you like.

# %%
import inspect

from IPython.display import Code, display

import train

importlib.reload(train)  # so that the cell sees what you just saved
places = (train.start_horovod, train.make_optimizer, train.start_alike, train.save_checkpoint)
Code("\n\n".join(inspect.getsource(place).rstrip() for place in places), language="python")

# %% [markdown]
# | step | line | what happens without it |
# |---|---|---|
# | 1 initialise | `hvd.init()` | `ValueError: Horovod has not been initialized`, at once |
# | 2 pin | GPU number `hvd.local_rank()` | all ranks of a node on GPU 0: out of memory, or slow (needs GPUs; not run here) |
# | 3 wrap | `DistributedOptimizer` | N networks, each trained on its own; each loss falls |
# | 3 scale | rate × size | the ranks agree, and learn less: fewer steps, each no longer than before |
# | 4 broadcast | parameters of rank 0 | equal steps from unlike starts: the ranks never agree; each loss falls |
# | 5 rank 0 only | checkpoint and prints | N ranks write one file at the same time: one is refused, or worse; chance decides |
#
# Only the first fault stops your program at once. You will run the others, too, under *Break it*.
#
# One slide calls rank 0 the *master* that sends variables to the *workers*. It sends them once; then
# it trains like all others. There is no master while training. Horovod also had a front end for
# MXNet, which has been retired.
#
# **Exercise 7.1.** Fill `start_horovod` in `train.py`. `hvd.rank()` counts over all nodes,
# `hvd.local_rank()` within one.

# %% tags=["check"]
import train

importlib.reload(train)
check.check_7_1(train)

# %% [markdown]
# **Exercise 7.2.** Fill `make_optimizer`. One step now uses `size` batches, so there are fewer steps
# for the same data, and the rate grows with the batch: rate × size. That rule was made for SGD. Whether it
# holds for Adam has to be measured, and for this network it does. On 6,400 images, four epochs, three seeds,
# one worker reached 0.932 to 0.938. Eight workers reached 0.940 to 0.943 with the rate times 8, and 0.910 to
# 0.912 with the rate as it was. From 32 workers on no rate that was tried keeps up, and at 64 the rate times
# 64 does harm. (PyTorch 2.13 on a CPU; lesson 09 has the table.)

# %% tags=["check"]
importlib.reload(train)
check.check_7_2(train)

# %% [markdown]
# **Exercise 7.3.** Fill `start_alike`. The program seeds each rank differently, so that each shuffles
# in an order of its own. With one seed all ranks would read the same batch at the same time, and the
# mean of N equal gradients is the gradient you had. But with unlike seeds the parameters start unlike, too,
# until they are broadcast: every rank calls `broadcast_variables`, rank 0 to send and the others to receive.
#
# Horovod's callback `BroadcastGlobalVariablesCallback` acts *after* the first batch: each rank takes that
# one step from parameters of its own, then all go on from rank 0's. The program broadcasts before it.
#
# What you fill in is measured from outside. `ranks_heard` takes one step on a network with one weight for
# each rank, which only that rank's gradient can move. If all gradients are averaged, all weights move. And
# the record compares the ranks' parameters when training begins and at the end of each epoch.

# %% tags=["check"]
importlib.reload(train)
check.check_7_3(train)

# %% [markdown]
# **Exercise 7.4.** Fill `save_checkpoint`: rank 0 alone writes, and only the weights, because `--resume`
# reads them with `model.load_weights`. It returns the number of files that this rank wrote: 1 or 0.
# The program does not take its word for it. Each rank is given a file name of its own, the last rank counts
# the new files on the disk, and at the end rank 0 reads its file back.

# %% tags=["check"]
importlib.reload(train)
check.check_7_4(train)

# %% [markdown]
# Now that the gaps are filled, here is everything that differs from lesson 02's program. `+` lines are new.
# What does not belong to the five steps goes on from a checkpoint, or measures something for the record.

# %%
import difflib
from pathlib import Path

from lessons.folders import course_root

old = course_root() / "lessons" / "02_serial" / "train.py"
texts = [path.read_text().splitlines() for path in (old, Path("train.py"))]
lines = difflib.unified_diff(*texts, "02_serial/train.py", "train.py", n=0, lineterm="")
lines = [line for line in lines if "NotImplementedError" not in line]  # gaps
print(sum(line[0] == "+" for line in lines), "new lines, among them your five steps:")
Code("\n".join(lines), language="diff")

# %% [markdown]
# ## How many epochs?
#
# A course at Jülich divides the epochs: every rank reads all the data and makes
# ceil(asked / size) epochs.
#
# **Exercise 7.5.** `epochs(asked, size)`: how many each rank makes. `passes(asked, size)`: how often all
# ranks together go through the data.

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

# %% [markdown]
# Three ranks make 6 passes where 4 were asked for: half as much work again. Eight ranks make 8. (Rounding
# down instead gives 0 epochs on 8 ranks, as in the Cray demo of lesson 06.)
#
# ## Run it
#
# One dense layer in Keras, on one rank and on several. `--ntasks` before the file overrides the job's
# own line. On GPUs each rank wants one of its own, so more ranks than a node has GPUs go on more nodes.

# %%
from autograder.reading.files import read_files
from cluster.jobs.notebook import on_nodes, submit_once, submit_sizes, two_nodes

ranks = ranks or (two_nodes() if profile == "full" else 2)
device = gpus if profile == "full" else ""
one, several = on_nodes(1, device), on_nodes(ranks, device)
[alone] = read_files(submit_once("job.sbatch", *few, options=one))
[together] = read_files(submit_once("job.sbatch", *few, options=several))
for run in (alone, together):
    print(f"{counted(run.workers, 'rank')}: lr {run.header['lr']:g}, test accuracy", end=" ")
    print(f"{run.test_accuracy.value:.4f}, {run.total_seconds.value:.1f} s in all")
    print(f"   largest difference of a parameter between ranks: {run.end['param_spread']:g}")
    for rank in run.ranks:
        where = f"rank {rank.rank} on {rank.host}, local number {rank.local_rank}"
        print(f"   {where}: {rank.samples} images, {counted(rank.files_written, 'file')}")

# %%
from autograder.measuring import measure

ratio = measure.epoch_time(together).value / measure.epoch_time(alone).value
print(f"An epoch on {ranks} ranks takes {ratio:.2f} times as long as on one.")
word = "quarter" if ratio < 0.4 else "same" if ratio < 1.25 else "longer"
predictions.compare("predict_epoch", word)
predictions.compare("predict_accuracy", 0.9773, how="read")  # published, four ranks
lost = alone.test_accuracy.value - together.test_accuracy.value
print(f"Your {ranks} ranks, with fewer images, lost {lost:+.4f} of one rank's accuracy.")

# %% [markdown]
# **What you should see.**
#
# - The parameters of all ranks are equal to the last bit, and one rank wrote a file.
# - **An epoch is no shorter on several ranks**, because each still reads every image; there are only fewer
#   epochs. Here it is even longer: the network is light, and 407,050 gradients travel after each step.
#   Measured on two cores of one machine with nothing else running, 6,400 images: 0.67 s per epoch on one
#   rank, 0.89 on two.
# - Accuracy stays about the same. Jülich printed .9805 on one GPU and .9773 on four, with all 60,000
#   images; `smoke` has 3,200, so its numbers are lower. Jülich's larger network on 8 tasks reached
#   .9911 after 12 epochs.
#
# ## Break it
#
# `break_it.py` is the same training with one line taken away, on as many ranks as you give it. It looks
# at the spread of the parameters before the first step and after some of the others.
#
# | `--without` | what is different |
# |---|---|
# | `nothing` | intact: your functions |
# | `average` | Adam is not wrapped |
# | `scale` | the rate stays that of one rank |
# | `broadcast` | nobody sends the start parameters |
# | `early` | Horovod's callback sends them, after the first batch |
# | `seeds` | all ranks shuffle alike, so they read the same batch at the same time |
# | `guard` | every rank saves, under the same name |
#
# (`--without init` gives the error message of the table above. Pinning needs a node with GPUs: take the line
# out of your `start_horovod` there and watch `nvidia-smi`.)
#
# Which of the six faults leave the ranks with *unlike* parameters at the end? Their first letters in
# alphabetical order, as one word such as `"bs"` (there are two s: write `c` for `scale`).

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_unlike to a word of letters
predict_unlike = "ab"
### END SOLUTION
answers.note(predict_unlike=predict_unlike)

# %%
small = ["--train-samples", 800, "--test-samples", 500]
found = read_files(submit_once("job_break.sbatch", *small, options=several))
broken = {run.header["without"]: run for run in found}
letters = {"average": "a", "broadcast": "b", "early": "e", "guard": "g", "scale": "c", "seeds": "s"}
unlike = [letters[name] for name, run in broken.items() if run.end["param_spread"] > 1e-6]
predictions.compare("predict_unlike", "".join(sorted(unlike)))
for name, run in broken.items():
    said = {m["name"]: m["value"] for m in run.measures}
    print(f"without {name:9}: ranks that could not save {said['ranks_that_could_not_save']}, file",
          "as it should be" if said["checkpoint_good"] else "no good")  # fmt: skip
plots.faults(broken)

# %% [markdown]
# **What you should see.** Measured on two ranks of one machine, 3,200 images, 2 epochs, batch 32 per rank
# (in `smoke` you have 800 images, so 50 steps):
#
# | without | spread before the first step → after 1 → 10 → 100 steps | last loss | test accuracy |
# |---|---|---|---|
# | `nothing` | 0 → 0 → 0 → 0 | 0.124 | 0.902 |
# | `average` | 0 → 0.004 → 0.03 → 0.16 | 0.214 | 0.863 |
# | `scale` | 0 → 0 → 0 → 0 | 0.184 | 0.891 |
# | `broadcast` | 0.21 → 0.21 → 0.21 → 0.21 | 0.195 | 0.875 |
# | `early` | 0.21 → 0 → 0 → 0 | 0.130 | 0.900 |
# | `seeds` | 0 → 0 → 0 → 0 | 0.214 | 0.863 |
# | `guard` | 0 → 0 → 0 → 0 | 0.124 | 0.902 |
#
# - No accuracy looks broken. Whoever looks at the loss alone sees seven good trainings.
# - Without the average the ranks drift apart, step by step. Without the broadcast both take the *same* steps
#   from unlike starts: the distance is there from the beginning and stays, to the last digit.
# - `seeds` ends like `average`, digit for digit: the mean of two equal gradients is the gradient you had.
#   Two ranks do the work of one, and the spread is 0.
# - `guard`: in six saves out of six one rank was told `unable to lock file` and the other one wrote; which
#   one is chance. Without file locks, as on many parallel file systems (`HDF5_USE_FILE_LOCKING=FALSE`), four
#   saves out of five went well and in the fifth a rank was told `bad object header version number`.
#   `break_it.py` prints this and goes on. In a program that does not expect it, the job ends there, at the
#   end of some epoch.
#
# **Exercise 7.6.** `diagnose(start, end, rate)` names the fault from its traces: the spread before the first
# step, the spread at the end, and the rate divided by (rate of one rank × ranks). It returns `"average"`,
# `"broadcast"`, `"early"`, `"scale"`, or `"nothing"` if these three numbers show none. A spread up to 1e-6
# is rounding.


# %% tags=["exercise"]
def diagnose(start, end, rate):
    ### BEGIN SOLUTION Exercise 7.6: compare start and end with 1e-6, and rate with 1
    if end > 1e-6:
        return "broadcast" if start > 1e-6 else "average"
    if start > 1e-6:
        return "early"
    return "scale" if rate < 0.99 else "nothing"
    ### END SOLUTION


# %% tags=["check"]
check.check_7_6(diagnose)

# %%
for name, run in broken.items():
    [start, *_] = [m["value"] for m in run.measures if m["name"] == "spread"]
    rate = run.header["lr"] / run.header["lr_base"] / run.workers
    print(f"without {name:9} you say: {diagnose(start, run.end['param_spread'], rate)}")

# %% [markdown]
# Two remain that no spread and no rate shows. What would? For `guard`, reading the file back. For `seeds`,
# the losses of the ranks: they are equal to the last digit, and so was every batch. `train.py`'s record
# keeps both.
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
# In every phase each rank that computes makes the same number of steps. So on N ranks
#
# - **speedup** = N × alone / together: the work that all do in a given time, over that of one;
# - **ceiling** = N × alone / silent: what this machine can give at most. Two cores share memory, caches
#   and clock, so it may be less than N, and no program is to blame;
# - **share** = silent / together: what is left of the ceiling. The rest is what your exchange costs.
#
# Each is computed within a round, because whoever else uses the machine slows all three phases down. The
# median of the rounds counts. Before the rounds, three of your steps are compared with steps whose gradients
# plain MPI has averaged. After each round the parameters of all ranks are compared with each other. Ranks that
# skip the exchange would be quick, but they would not be one training.
#
# ## Out of one node
#
# A node ends at its four or eight GPUs; the five steps do not. `nodes.py` trains lesson 03's network, ResNet50V2
# on CIFAR-10 at 128 × 128 pixels, with your functions. On N ranks each reads every N-th image, so an epoch
# is one pass of all ranks together and gets shorter with every rank. (Who reads what is lesson 08's question.)
#
# One job file serves every size. `job_nodes.sbatch` asks for one task; what stands before it on the
# command line asks for more:
#
#     cluster scale --ranks 1,2,4,8 job_nodes.sbatch
#
# This submits it four times. The site's file says how many GPUs a node has, and from that follow the nodes: with
# four per node, 8 ranks are `--nodes=2 --ntasks=8 --ntasks-per-node=4`. Without the last option Slurm may fill
# the *cores* of the first node, and five ranks meet at four GPUs. Ranks usually lie in blocks: 0 to 3 on the
# first node, 4 to 7 on the second, each with local numbers 0 to 3. Your record says where each one was.
#
# What does it cost to leave the node? Compute it before you measure. 23.6 million gradients are 94 MB. In a ring of 8
# ranks each sends 2 · 7/8 · 94 = 165 MB: 7 ms through a network card of 25 GB/s, 0.6 ms through 300 GB/s
# of NVLink (data sheets: 200 Gb/s InfiniBand, A100). A step of 256 images computes for 72 ms, if an H100 needs 14 s for
# 50,000 images (lesson 05). So the network alone costs a tenth, or less where it is hidden behind the backward pass.
# If your second node costs much more, the gradients took another way: see *Launchers and back ends*.
#
# In `full` the cell behind your prediction submits all sizes. The course's tests run this job file on two virtual nodes with two
# ranks each, with a small network and few images. That shows that it is right, and nothing about its speed:
# **nobody has run it on GPUs for this course yet.**
#
# Which share of the ceiling will your ranks reach in `speed.py`, from 0 to 1?

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_share to a number
predict_share = 0.9
### END SOLUTION
answers.note(predict_share=predict_share)

# %%
from autograder.measuring import rounds as measured

words = {"smoke": "--rounds 10 --steps 2 --batch-size 48", "full": "--steps 30 --batch-size 256"}
rounds = words[profile].split()
[speed] = read_files(submit_once("job_speed.sbatch", *rounds, options=several))
predictions.compare("predict_share", measured.share(speed))
display(plots.speed_rounds(speed))
if profile == "full":
    nodes = read_files(submit_sizes("job_nodes.sbatch", ranks=ranks, gpus=gpus, cores=8))
    for run in nodes:
        hosts = counted(len({rank.host for rank in run.ranks}), "node")
        print(f"{run.workers} ranks on {hosts}: last loss {run.epochs[-1].train_loss.value:.3f}",
              f"test accuracy {run.test_accuracy.value:.3f}, spread {run.end['param_spread']:g}")  # fmt: skip
    display(plots.speedup(nodes))

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
# On several nodes look at three things. The *spread* has to be 0 on every size, or it was not one training. The
# *speedup* may have a kink where the ranks no longer fit on one node; you have just computed how deep. And the
# *loss* of the last epoch is higher on many ranks: 8 ranks make 24 steps per epoch instead of 195, at a rate 8
# times as high. Lesson 09 says what to do about it. (Published for the same network: 0.88 of the ideal on 2 and
# 0.70 on 4 H100 of one node, with 2,048 images per GPU. The rubric asks for half of the ideal on your largest
# size. That threshold is a guess.)
#
# ## Who read what?

# %%
samples = together.header["dataset"]["train_samples"]
[shared] = read_files(submit_once("job_shares.sbatch", *few, options=on_nodes(2, device)))
reads = {"train.py": plots.shares_of(together), "train_shares.py": plots.shares_of(shared)}
twice = sum(len(share) for share in reads["train.py"]) - samples
print(f"train.py reads {samples + twice:,} images per epoch, to see {samples:,} different ones")
display(plots.sample_map(reads, samples))
seconds = [measure.epoch_time(run).value for run in (alone, shared)]
print(f"An epoch takes {seconds[0]:.2f} s on one rank, {seconds[1]:.2f} s on two that share")
predictions.compare("predict_two_ranks", seconds[0] / seconds[1])

# %% [markdown]
# In `train.py` every rank reads every image: each row is blue from end to end, and the row *together* is all
# orange. Published course material trains like this with the epochs *not* divided. Then N GPUs do N times the
# work in the same time, which looks good in every plot of accuracy. The record shows it at once: `samples` of
# each rank is the whole set. Dividing the epochs saves the time.
#
# Dividing the **data** is better. `train_shares.py` calls your four functions and gives each rank a share of
# its own; how to divide data is the subject of the next lesson. Each of two ranks then does half of the work,
# and on two idle cores an epoch is still hardly shorter. After each batch of 32 images the ranks exchange
# 407,050 gradients, and computing one batch takes about a millisecond on a CPU core. **There is too little
# work per exchange.** (Twice as fast? Then other programs slowed your run on one rank; submit both again with
# `submit_once(…, again=True)`.)
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
# of one rank; (c) a loss below 0.1; (d) each line only once. Two letters, such as `"bc"`.
#
# **Question.** Without `average` and without `broadcast` the ranks end equally far apart, and both losses
# fall. Which trace tells the two faults apart? (a) the test accuracy; (b) the spread before the first
# step; (c) the seconds of an epoch; (d) the images that are read.
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
### BEGIN SOLUTION Answer: set s4_impossible to two letters, told_apart and hook_today to one each
s4_impossible = "ad"
told_apart = "b"
hook_today = "d"
### END SOLUTION
answers.note(s4_impossible=s4_impossible, told_apart=told_apart, hook_today=hook_today)
answers.note(passes_3_ranks=passes(4, 3), read_again=twice)

# %% [markdown]
# # The second half
#
# All that is graded stands above. What follows can wait: PyTorch and the timeline, going on after the time
# limit, Keras 3, launchers, containers. *Traps* and *Recap* at the very end belong to both halves.
#
# ## PyTorch, and a diary of every step
#
# `train_torch.py` is the same in PyTorch, complete, for you to read: `hvd.DistributedOptimizer`
# with `named_parameters`, `broadcast_parameters`, `broadcast_optimizer_state`. In a TensorFlow loop
# of your own the pair is `DistributedGradientTape` and `broadcast_variables`.
#
# Horovod can note what it does for each tensor and when: its *timeline*. The program needs no change.
# The variable `HOROVOD_TIMELINE`, the name of a file, has to be in the environment of all ranks.
# (`horovodrun` has an option for it, `--timeline-filename`.)
#
# **Exercise 7.7.** Ask for it in `job_torch.sbatch`, which will run on one rank and on several. The name
# of the file says on how many, so that no run writes over another's: `timeline_2.json` on two ranks,
# `timeline_1.json` on one. Slurm tells the job its number of tasks in the variable `SLURM_NTASKS`.

# %% tags=["check"]
check.check_7_7("job_torch.sbatch")

# %%
from lessons.toolkit.ranks import timeline

pair = [submit_once("job_torch.sbatch", *cnn, options=options) for options in (one, several)]
names = {"Keras, 407,050 parameters": [alone, together]}
names["PyTorch, two convolutions"] = [read_files(found)[0] for found in pair]
display(plots.time_and_accuracy(names, published={1: 0.9805, 4: 0.9773}))

steps = timeline.steps(timeline.read_timeline(f"timeline_{ranks}.json"))
seconds, travels, negotiated = timeline.typical(steps)
print(f"median of {len(steps)} steps: {1e3 * seconds:.0f} ms, in which gradients travel", end=" ")
print(f"{travels:.0%} of the time; {negotiated:.0%} go into negotiating, while none travels")
plots.tensor_timeline(steps[-4:-1])

# %% [markdown]
# **What you should see** in the upper picture. These times are from start to end, with half the epochs on two
# ranks. The convolutions compute much for each gradient. Their gain was measured with *sharded* data, as in
# lesson 08, where an epoch is 60,000 images whoever reads them: batch 128 per rank, 30 s on one core, 23 s on
# two ranks over MPI, 20 s over Gloo. Two *independent* programs side by side were only 1.9 times as productive
# as one on that machine; that is the most that two ranks can reach there. In `smoke` you train on 512
# images, and starting and testing take most of your seconds, whatever trains.
#
# In the lower picture: what a step is made of. A tensor is *negotiated* from the moment one rank has its
# gradient until all have it. Then it *travels*, often together with others. What is left of a step is
# computing alone.
#
# Gradients become ready from the last layer to the first, so negotiating begins while the first
# layers are still being computed; not all of that time is lost. Where negotiating takes long, the ranks do not
# have equal work. Where travelling takes long, the network computes little for its gradients, and this part
# bounds what more ranks can give. `chrome://tracing` shows the whole file.
#
# ## When the time limit ends your job
#
# Both programs write the checkpoint after each epoch, and `--resume` goes on from it. *Run it* left one that
# was asked for 4 epochs. This makes 8 of them, with the same images:
#
#     cluster submit job.sbatch --train-samples 3200 --epochs 8 --resume
#
# (As many ranks as wrote it have to read it. The job file asks for 2; if you ran on 8, put `--ntasks=8` before
# its name, and in `full` leave `--train-samples` out.)
#
# The run then ends with the very parameters of a run that was never stopped. For this a checkpoint
# holds more than parameters: Adam's moments, the number of epochs done, and the seed from which every
# epoch's order is drawn. `checkpoint.py` writes it and reads it back. The new file replaces the old one in one
# move, so a job that is ended while it writes loses nothing. And rank 0 alone reads, then tells the others
# what it found, *or that it found nothing*. If it just ended with an error, they would wait for ever.

# %% [markdown]
# ## Keras 3: trains, and says nothing
#
# `train.py` asks for Keras 2 (`TF_USE_LEGACY_KERAS`). Here is why. `keras3.py` trains 20 steps on two
# ranks with Keras 3, once with `hvd.DistributedOptimizer`, once with four lines of our own.

# %%
[keras3] = read_files(submit_once("job_keras3.sbatch", options={"ntasks": "2"}))
for each in keras3.measures:
    print(f"{each['optimizer']}: parameters differ by up to {each['value']:.4f}")

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
# Which of them does your Horovod have?
#
#     horovodrun --check-build
#
# On GPUs it has to tick NCCL. But did NCCL find the fast way? Write `export NCCL_DEBUG=INFO` above the last line of
# `job_nodes.sbatch`, submit it with `--epochs 1` on two nodes, and search the output. (NVIDIA's documentation has
# more. The wording differs between versions, and there is no GPU on the machine that this page was written on.)
#
# | line | what it says |
# |---|---|
# | `Using network IB`, `NET/IB : Using …` | the network card that was found. `Using network Socket`, `NET/Socket : Using …eth0` instead: the slow network, often ten times slower. `NCCL_SOCKET_IFNAME` and `NCCL_IB_HCA` choose |
# | `Channel … via P2P/…` | two GPUs of a node talk directly, by NVLink or PCIe; `nvidia-smi topo -m` shows which of them (`NV12` is NVLink, `PIX` or `SYS` is not). `via SHM/…`: through the memory of the node |
# | `Channel … via NET/IB/…/GDRDMA` | between nodes, straight from GPU memory to the card. Without `GDRDMA` each message is copied through the node's memory |
#
# In a `Channel` line stand the two ranks: `3[3] -> 4[0]` is rank 3, GPU 3 of its node, to rank 4, GPU 0 of the next.
# There, and only there, you want to see `NET`; between ranks of one node it means that they do not see each
# other's GPUs.
#
# ## A container instead of an installation
#
# `pip install horovod` compiles against the frameworks and the MPI it finds and often finds
# wrong ones; a cluster's own module or an image is advised. The MPI *inside* the image has to fit the
# one *outside*, which starts it. `job_container.sbatch` has one line more than the others, which
# names an image, and prints both versions. Run it where there is Apptainer (or Singularity, its older name)
# and an image with this course in it, `course.sif`. Your instructor has one, or `docs/containers.md` tells how
# to make it.
#
# Compare the two versions that it prints: they have to be of the same make, with the same first two numbers.
# `4.1.5` outside and `4.1.8` inside fit; `4.1` and `4.10`, or Open MPI and MPICH, do not. If they do not fit,
# N programs of size 1 start. To fetch an image, `apptainer pull course.sif docker://…` names the file first
# and then where it comes from; a published slide has them the other way round.
#
# ## Traps
#
# Measured on two ranks of one 2-core machine, 3,200 images, 2 epochs, with `train.py`; the intact run reached
# 0.899.
#
# | you see | it was |
# |---|---|
# | `ValueError: Horovod has not been initialized` | no `hvd.init()` |
# | every line of the record says rank 0 of 1, `0.90` on each | a launcher that Horovod does not know: N runs of size 1 |
# | loss falls, accuracy 0.890, `param_spread` 0.17, and 0 before the first step | no wrapped optimizer; or Keras 3 with `hvd.DistributedOptimizer`, to the digit |
# | loss falls, accuracy 0.879, `param_spread` 0.21, and as large before the first step | no broadcast |
# | `param_spread` 0 at the end, not before the first step | the callback that comes after batch 1 |
# | accuracy 0.864 with `param_spread` 0; all ranks print one loss | one order of the images for all ranks |
# | accuracy 0.891, `param_spread` 0, the rate of one rank | the rate was not scaled |
# | four epochs where two were to be, each as long; accuracy 0.916 | epochs not cut, data not divided: `samples` says so |
# | `files_found` is the number of ranks | every rank wrote a checkpoint; the run completes all the same |
# | out of memory on GPU 0, the others idle | `rank` or nothing where `local_rank` belongs (not run here: needs GPUs) |
# | a run that goes on has loss 0.072 after its first epoch, not 0.051; accuracy 0.936 as it would have been | the optimizer's state was not in the file (8 epochs asked for, stopped after half) |
#
# Two more are told by Horovod's documentation: `LearningRateWarmupCallback` wants
# `momentum_correction=False` with today's SGD, and where `horovodrun` finds no MPI that it knows, `--gloo`
# does without.
#
# ## Recap
#
# - Five steps: init, pin, wrap and scale, broadcast, rank 0 writes. Most of them prevent mistakes that no
#   error message tells of.
# - Equal parameters on all ranks are the proof that it is one training. The spread *before the first step*
#   and *at the end* name the fault.
# - Accuracy is a poor witness: it hardly fell, whatever was broken.
# - Dividing epochs saves time; who reads which image is a question of its own.
#
# **Hand in**: in a terminal, this packs the folder and says what is in it.
#
#     lessons submit 07
#
# Next: 08 divides the data. Further reading: A. Sergeev, M. Del Balso, *Horovod*, arXiv:1802.05799;
# the tutorial *Getting started with deep learning on supercomputers* of Jülich; Horovod's own pages.
