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
# In lesson 06 you averaged gradients by hand. Horovod (Uber, 2017) does it inside the optimizer, for Keras and
# PyTorch. Your program needs five steps for it. You write them, then remove them one at a time.
#
# Horovod's last release, 0.28.1, is from June 2023. Many clusters offer it. Start a new project with PyTorch's
# DistributedDataParallel (lesson 10), which has the same steps under other names.
#
# Allow 80 minutes for the first half; the second, 20 minutes, can wait for another day. On two CPU cores all runs on
# this page take about a minute and a half.

# %% tags=["parameters"]
profile = "smoke"  # "smoke": two CPU cores. "full": the whole data set, GPUs
ranks = (
    0  # the larger number of ranks; 0: 2 in "smoke", in "full" the GPUs of two nodes of this site
)
gpus = "gres=gpu:{n}"  # "full": how your site asks for n GPUs of a node

# %% tags=["setup", "hide-input"]
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # see "Keras 3" below

from lessons import course
from lessons.toolkit import quiet

course.provide_horovod()  # compiles it if it is missing
quiet.tensorflow()
device = gpus if profile == "full" else ""
few, cnn = [], ["--model", "cnn", "--batch-size", "64"]
if profile == "smoke":
    few = ["--train-samples", "3200"]
    cnn += ["--train-samples", "512", "--test-samples", "500", "--epochs", "2"]

# %% [markdown]
# ## Six runs, and no error
#
# Six trainings on four ranks have the same network and images. One is intact, and in each of the others one step is
# wrong. None printed an error, and every loss falls (D hides A). Which one do you trust? After this page you can
# name each fault.

# %%
recorded = {
    "A": [0.9649, 0.2517, 0.1244, 0.0444, 0.0222, 0.0107, 0.0058, 0.0038],
    "B": [0.6395, 0.0874, 0.0161, 0.0067, 0.0039, 0.0028, 0.0020, 0.0016],
    "C": [0.9225, 0.2376, 0.1158, 0.0663, 0.0394, 0.0255, 0.0183, 0.0137],
    "D": [0.9649, 0.2517, 0.1244, 0.0444, 0.0222, 0.0107, 0.0058, 0.0038],
    "E": [0.5446, 0.0733, 0.0132, 0.0056, 0.0033, 0.0024, 0.0018, 0.0014],
    "F": [0.9244, 0.1956, 0.0518, 0.0166, 0.0070, 0.0043, 0.0031, 0.0024],
}
course.plots.losses(recorded, per="epoch")

# %% [markdown]
# ## Predict
#
# You start lesson 02's program on 4 ranks. Gradients are averaged, and every rank still reads **all** the images.
#
# 1. How long does an epoch take, compared with one rank? `"quarter"`, `"same"` or `"longer"`.
# 2. Four epochs on one rank reached a test accuracy of 0.9805 (Jülich, all 60,000 images). What accuracy does one
#    epoch on each of four ranks reach?
# 3. Now two ranks read half of the images each. By what factor is an epoch faster? (2 means half the time.)

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_epoch to one of the three words, the other two to a number each
predict_epoch = "same"
predict_accuracy = 0.975
predict_two_ranks = 1.2
### END SOLUTION
course.answers.note(
    predict_epoch=predict_epoch,
    predict_accuracy=predict_accuracy,
    predict_two_ranks=predict_two_ranks,
)

# %% [markdown]
# ## Five steps
#
# `train.py` is lesson 02's program plus five steps, in four functions.
#
# | step | what happens without it |
# |---|---|
# | 1 initialise | `ValueError: Horovod has not been initialized`, at once |
# | 2 pin a GPU | all ranks of a node use GPU 0: `Duplicate GPU detected` ([What NCCL says](../../docs/nccl.md); not run here) |
# | 3 wrap the optimizer | no error: each loss falls |
# | 3 scale the rate | no error: each loss falls |
# | 4 broadcast | no error: each loss falls |
# | 5 rank 0 only | N ranks write one file at the same time |
#
# What goes wrong in the silent ones? Make a guess for each now; *Break it* below shows it. `dir(train.hvd)` lists what
# Horovod offers, and `help` explains an entry.
#
# **Exercise 7.1.** Complete `start_horovod` in `train.py`: steps 1 and 2. The job may run on two nodes with four GPUs
# each, and on a computer without any. Which of a rank's numbers selects its GPU? TensorFlow must see no other one.

# %% tags=["check"]
import train

course.check("7.1", train)

# %% [markdown]
# **Exercise 7.2.** Complete `make_optimizer`: lesson 02's Adam, in step 3. A step now uses one batch per rank, so the
# same data gives fewer steps. What does this imply for the rate? (The rule was made for SGD; lesson 09 shows how far it
# holds for Adam.)

# %% tags=["check"]
course.check("7.2", train)

# %% [markdown]
# **Exercise 7.3.** Complete `start_alike`: step 4. The program seeds each rank differently, so each rank shuffles in
# its own order. But different seeds also mean different start parameters. `train.py` has already imported the function
# that you need. Which ranks call it?
#
# **Exercise 7.4.** Complete `checkpoints`: step 5. It returns the list of Keras callbacks that write the weights, and
# nothing else, into the file. On two nodes, too, there must be one writer.

# %% tags=["check"]
course.check("7.3", train)
course.check("7.4", train)

# %%
# The differences from lesson 02's program
course.show_diff(
    "02_serial/train.py",
    "train.py",
    meet=r"hvd.init|start_horovod\(\)|import horovod",
    pin="visible_devices",
    average="DistributedOptimizer|make_optimizer",
    start_alike="broadcast_variables|start_alike",
    write_on_rank_0=r"heckpoint|rank\(\) == 0|args.resume|load_weights",
)

# %% [markdown]
# ## A job that does not end
#
# Somebody added this function to `train.py`, to write the mean of all ranks' test accuracies once. Since then the job
# trains as before, and then waits until its time limit ends it:
#
#     def write_accuracy(hvd, accuracy, file):
#         if hvd.rank() == 0:
#             mean = hvd.allreduce(accuracy)  # the mean over all ranks
#             file.write(f"{mean}\n")
#
# **Exercise 7.5.** One line is in the wrong place. Repair the function.


# %% tags=["exercise"]
def write_accuracy(hvd, accuracy, file):
    ### BEGIN SOLUTION Exercise 7.5: the three lines from above, repaired
    mean = hvd.allreduce(accuracy)
    if hvd.rank() == 0:
        file.write(f"{mean}\n")
    ### END SOLUTION


# %% tags=["check"]
course.check("7.5", write_accuracy)

# %% [markdown]
# ## Run it
#
# As in a course at Jülich, every rank reads all the data, and trains for the requested epochs divided by the number of
# ranks, rounded up. The network has one hidden dense layer, in Keras. Each rank needs its own GPU, so the cell asks
# for as many nodes as that takes.

# %%
ranks = ranks or (course.two_nodes() if profile == "full" else 2)
one, several = course.on_nodes(1, device), course.on_nodes(ranks, device)
more = ["--epochs", max(4, 2 * ranks)]  # two on each rank, because times leave out the first
alone, _ = course.submit("job.sbatch", *few, *more, options=one)
together, probe = course.submit("job.sbatch", *few, *more, options=several)
for run in (alone, together):
    print(f"{course.counted(run.workers, 'rank')}: lr {run.header['lr']:g}, test accuracy", end=" ")
    print(f"{run.test_accuracy.value:.4f}, {run.total_seconds.value:.1f} s in all")
    print(f"   largest difference of a parameter between ranks: {run.end['param_spread']:g}")
    for rank in run.ranks:
        where = f"rank {rank.rank} on {rank.host}, local number {rank.local_rank}"
        print(f"   {where}: {rank.samples} images")
for found in probe.measures:
    print(f"probe.py: {found['name']} {found['value']:g}")

# %% tags=["hide-input"]
ratio = course.measure.epoch_time(together).value / course.measure.epoch_time(alone).value
print(f"An epoch on {ranks} ranks takes {ratio:.2f} times as long as on one.")
word = "quarter" if ratio < 0.4 else "same" if ratio < 1.25 else "longer"
course.predictions.compare("predict_epoch", word)
if profile == "smoke":
    cores, times = "Are there more ranks than cores?", course.measure.speedup(together, alone)
    course.expectations.compare("Seconds, several ranks over one", times, (0.9, 3), above=cores)
course.predictions.compare("predict_accuracy", 0.9773, how="read")  # published, four ranks
lost = alone.test_accuracy.value - together.test_accuracy.value
print(f"Your {ranks} ranks, with fewer images, lost {lost:+.4f} of one rank's accuracy.")

# %% [markdown]
# **What you should see.**
#
# - The parameters of all ranks are equal to the last bit.
# - The job also ran `probe.py`: four steps of your functions on real ranks, then the same steps on one process, with
#   the batches of all ranks. Up to rounding, `update_error`, the difference, is 0. Test any distributed program in
#   this way.
# - **An epoch is no shorter on several ranks**, because each still reads every image. Here it is longer: 407,050
#   gradients are sent in each step. On two cores of a shared AMD EPYC (two threads per rank), 3,200 images took 0.4
#   s per epoch on one rank and 0.9 to 1.0 s on two.
# - Accuracy stays about the same. Jülich printed .9805 on one GPU and .9773 on four, with all 60,000 images.
#
# ## Break it
#
# `break_it.py` is the same training with one line removed.
#
# - `--without nothing`: intact, with your functions;
# - `--without average`: Adam is not wrapped;
# - `--without scale`: the rate is that of one rank;
# - `--without broadcast`: nobody sends the initial parameters;
# - `--without early`: Horovod's `BroadcastGlobalVariablesCallback` sends them, after the first batch;
# - `--without seeds`: all ranks shuffle in the same order;
# - `--without guard`: every rank saves, under the same name.
#
# (`--without init` ends with the table's error message.)
#
# Which of the six faults leave the ranks with *different* parameters at the end? Write their first letters in
# alphabetical order as one word, such as `"bs"`. Two names begin with s: write `c` for `scale`.

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_unlike to a word of letters
predict_unlike = "ab"
### END SOLUTION
course.answers.note(predict_unlike=predict_unlike)

# %%
small = ["--train-samples", 800, "--test-samples", 500]
found = course.submit("job_break.sbatch", *small, options=several)
broken = {run.header["without"]: run for run in found}
letters = {"average": "a", "broadcast": "b", "early": "e", "guard": "g", "scale": "c", "seeds": "s"}
unlike = [letters[name] for name, run in broken.items() if run.end["param_spread"] > 1e-6]
course.predictions.compare("predict_unlike", "".join(sorted(unlike)))
for name, run in broken.items():
    said = {m["name"]: m["value"] for m in run.measures}
    print(f"without {name:9}: ranks that could not save {said['ranks_that_could_not_save']}, file",
          "as it should be" if said["checkpoint_good"] else "no good")  # fmt: skip
course.plots.faults(broken)

# %% [markdown]
# **What you should see.** Measured on two ranks of one machine, 3,200 images, 2 epochs, batch 32 per rank (`smoke`:
# 800 images, so 50 steps):
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
# - Without the broadcast the ranks take the *same* steps from different starts, so the distance never changes.
# - On rank 0, `seeds` ends exactly like `average`: the mean of two equal gradients is that same gradient.
# - `guard`: in each of six saves one rank wrote and the other failed with `unable to lock file`. Without file locks,
#   one save in five failed with `bad object header version number`.
#
# **Exercise 7.6.** `diagnose(start, end, rate)` names the fault. It gets the spread before the first step, the
# spread at the end, and the rate divided by (rate of one rank × ranks). It returns `"average"`, `"broadcast"`,
# `"early"`, `"scale"`, or `"nothing"` if these three numbers show no fault. A spread up to 1e-6 is rounding.


# %% tags=["exercise"]
def diagnose(start, end, rate):
    ### BEGIN SOLUTION Exercise 7.6: the name of the fault
    if end > 1e-6:
        return "broadcast" if start > 1e-6 else "average"
    if start > 1e-6:
        return "early"
    return "scale" if rate < 0.99 else "nothing"
    ### END SOLUTION


# %% tags=["check"]
course.check("7.6", diagnose)

# %% tags=["hide-input"]
for name, run in broken.items():
    [start, *_] = [m["value"] for m in run.measures if m["name"] == "spread"]
    rate = run.header["lr"] / run.header["lr_base"] / run.workers
    print(f"without {name:9} you say: {diagnose(start, run.end['param_spread'], rate)}")

# %% [markdown]
# Neither spread nor rate shows the other two faults. For `guard`, read the file back. For `seeds`, what do you compare?
#
# ## How much faster?
#
# `speed.py` runs several rounds of three phases each, with **your** functions. Its network computes a lot per
# gradient: a ResNet with 273,658 parameters for 32 × 32 images of noise.
#
# - *alone*: rank 0 computes, and the others sleep;
# - *silent*: all ranks compute and exchange nothing;
# - *together*: all ranks compute, and the gradients travel through your optimizer.
#
# All make the same number of steps. So on N ranks
#
# - **speedup** = N × alone / together;
# - **ceiling** = N × alone / silent, the speedup of copies that never communicate;
# - **share** = silent / together: how much of the ceiling is left after your exchange. Above 1 it is noise.
#
# Each ratio is computed within a round, so other load on the machine affects all phases about equally.
#
# In the `full` profile the network is ten times as wide. Otherwise an A100 would compute a step with 256 images
# in 0.4 ms (63 GFLOP at 156 TFLOP/s, its data sheet's rate in TF32), less time than it takes to start the several
# hundred operations.
#
# What share of the ceiling will your ranks reach in `speed.py`, from 0 to 1?

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_share to a number
predict_share = 0.9
### END SOLUTION
course.answers.note(predict_share=predict_share)

# %%
from IPython.display import display

words = {"smoke": "--rounds 12 --steps 2 --batch-size 48"}
words["full"] = "--width 10 --steps 6 --batch-size 256"
rounds = words[profile].split()
[speed] = course.submit("job_speed.sbatch", *rounds, options=several)
share = course.rounds.share(speed)
course.predictions.compare("predict_share", share)
print(course.rounds.in_words(speed))
display(course.plots.speed_rounds(speed, save="my_speedup.png"))
if profile == "smoke":  # nobody has run it on GPUs yet, so nobody knows their range
    course.expectations.compare("Share of the ceiling", share, between=(0.75, 1.1))

# %% [markdown]
# **What you should see.** On two cores of an AMD EPYC the ceiling was 1.9 to 2.0 and the share was 0.93 to 1.00.
# While other programs ran on them the ceiling fell to 1.2, but the share was still 0.95.
#
# ## Out of one node
#
# A node has four or eight GPUs. `nodes.py` trains lesson 03's network, ResNet50V2 on CIFAR-10 at 128 × 128 pixels, on
# several nodes with your functions. On N ranks, each rank reads every N-th image.
#
# - The rate is 0.0003 per rank (a guess). Horovod's `LearningRateWarmupCallback` raises it to 0.0003 × ranks during
#   the first epoch (lesson 09).
# - Batch normalisation is not averaged: each rank keeps running means of its own images, and rank 0's are tested.
#
# What does it cost to leave the node (drawn below)? The 23.5 million gradients take 94 MB. In a ring of 8 ranks each
# sends 2 · 7/8 · 94 = 165 MB. Through one 25 GB/s network card that takes 7 ms, and through 300 GB/s of NVLink it
# takes 0.6 ms (computed from data sheets: 200 Gb/s InfiniBand, A100). A step of 256 images computes for 72 ms if an
# H100 needs 14 s for 50,000 images (lesson 05), so on this mix one card per node makes it 9 % longer. With four
# cards per node, as in JUWELS Booster and MareNostrum 5 (user guides), it is 2 to 3 %, or less where the exchange
# overlaps with the backward pass.
#
# In the `full` profile, the next cell submits one job per size. **Nobody has run it on GPUs for this course yet.**

# %%
if profile == "full":
    both = course.submit_sizes("job_nodes.sbatch", ranks=ranks, gpus=gpus)
    nodes = [run for run in both if run.epochs]  # without those of probe.py
    for run in nodes:
        hosts = course.counted(len({rank.host for rank in run.ranks}), "node")
        accuracy, loss = run.test_accuracy.value, run.epochs[-1].train_loss.value
        print(f"{run.workers} ranks on {hosts}: last loss {loss:.3f}", end=", ")
        print(f"test accuracy {accuracy:.3f}, spread {run.end['param_spread']:g}")
    display(course.plots.speedups({"your runs": course.plots.epoch_times(nodes)}))
course.plots.nodes()

# %% [markdown]
# **What you should see.** On several nodes the *spread* must be 0 for every size, and the *speedup* curve may bend
# where a second node begins. The last *loss* is higher on many ranks: 8 ranks make 25 steps per epoch instead of 195
# (lesson 09).
#
# ## Who read what?

# %%
samples = together.header["dataset"]["train_samples"]
[shared] = course.submit("job_shares.sbatch", *few, options=course.on_nodes(2, device))
programs = {"train.py": together, "train_shares.py": shared}
reads = {name: course.plots.shares_of(run) for name, run in programs.items()}
twice = sum(len(share) for share in reads["train.py"]) - samples
print(f"train.py reads {samples + twice:,} images per epoch, to see {samples:,} different ones")
display(course.plots.sample_map(reads, samples))
seconds = [course.measure.epoch_time(run).value for run in (alone, shared)]
print(f"An epoch takes {seconds[0]:.2f} s on one rank, {seconds[1]:.2f} s on two that share")
gain = seconds[0] / seconds[1]
course.predictions.compare("predict_two_ranks", gain)
if profile == "smoke":
    idle = "Did other programs slow your run on one rank? Then submit both again."
    course.expectations.compare("Two ranks that share over one", gain, (0.7, 1.8), above=idle)

# %% [markdown]
# Dividing the **data** is better. `train_shares.py` gives each rank its own share (lesson 08). Each of two ranks then
# does half of the work, but an epoch usually takes well over half of the time: 407,050 gradients are sent for each
# batch of 32 images. **There is too little work per exchange.**
#
# **Question.** The Jülich slides show this output of `mpirun -np 4` for a program with
# `epochs = ceil(4 / hvd.size())`, `batch_size=32`, and no rank guard:
#
#     Epoch 1/4
#     60000/60000 [======] - 8s 125us/sample - loss: 0.2004 - acc: 0.9410
#     Epoch 2/4
#     60000/60000 [======] - 7s 121us/sample - loss: 0.0786 - acc: 0.9763
#
# Which two of these can that program *not* print? (a) `1/4` for the epoch; (b) `60000` for the samples of one rank;
# (c) an accuracy above 0.9; (d) each line only once. Write two letters, such as `"bc"`.
#
# **Question.** Here is more about the six runs from the top of the page, which are runs of `break_it.py` on **four**
# ranks. Which is `average`, which `broadcast`, which `early`, which `nothing`, which `scale`, which `seeds`? Write the
# letters in this order, as one word.
#
# | run | spread before the first step | last losses of the four ranks |
# |---|---|---|
# | A | 0 | 0.00384 on all |
# | B | 0.21 | 0.00161 to 0.00165 |
# | C | 0 | 0.01356 to 0.01373 |
# | D | 0 | 0.00384 to 0.00599 |
# | E | 0 | 0.00138 to 0.00142 |
# | F | 0.21 | 0.00238 to 0.00249 |
#
# **Open, for no points.** The best share on two cores so far is 1.00, with 48 images per step. Who comes nearest to it
# with 16, and how? Defend it with the timeline of the second half.

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: set s4_impossible to two letters, six_runs to six
s4_impossible = "ad"
six_runs = "DFBECA"
### END SOLUTION
course.answers.note(s4_impossible=s4_impossible, six_runs=six_runs)

# %% [markdown]
# # The second half
#
# Everything that is graded is above.
#
# ## PyTorch, and a diary of every step
#
# `train_torch.py` is the complete program in PyTorch. If `HOROVOD_TIMELINE` is a file's name in the environment of all
# ranks, Horovod writes a *timeline* there: when it handles each tensor.
#
# **Exercise 7.7.** Ask for a timeline in `job_torch.sbatch`. The job will run on one rank and on several, so put
# the number of ranks into the file name, such as `timeline_2.json`. Slurm's `SLURM_NTASKS` has this number.

# %% tags=["check"]
course.check("7.7", "job_torch.sbatch")

# %%
from lessons.toolkit.ranks import timeline

pair = [course.submit("job_torch.sbatch", *cnn, options=options) for options in (one, several)]
names = {"Keras, 407,050 parameters": [alone, together]}
names["PyTorch, two convolutions"] = [run for found in pair for run in found]
for name, found in names.items():
    for run in found:
        seconds, accuracy = run.total_seconds.value, run.test_accuracy.value
        print(f"{name}, {run.workers} ranks: {seconds:.1f} s, test accuracy {accuracy:.4f}")

steps = timeline.steps(timeline.read_timeline(f"timeline_{ranks}.json"))
seconds, travels, negotiated = timeline.typical(steps)
print(f"median of {len(steps)} steps: {1e3 * seconds:.0f} ms, in which gradients travel", end=" ")
print(f"{travels:.0%} of the time; {negotiated:.0%} go into negotiating, while none travels")
course.plots.tensor_timeline(steps[-4:-1])

# %% [markdown]
# **What you should see.** A tensor is *negotiated* from the moment one rank has its gradient until all have it. Then
# it *travels*, often together with others. Long negotiation means unequal work among the ranks, and long travel little
# computation per gradient.
#
# ## On your cluster
#
# **Keras 3 trains and reports no error.** `train.py` asks for Keras 2 (`TF_USE_LEGACY_KERAS`), because Horovod 0.28.1
# overrides a method that Keras 3 no longer calls. Each loss falls, but nothing is averaged: the ranks ended 0.12 to
# 0.25 apart. [Three lines](../../docs/horovod.md#use-keras-2) correct it.
#
# **Resume after a time limit.** After each epoch both programs save the parameters, Adam's moments and the number of
# steps. The next command continues your `smoke` run from 4 epochs to 8, with the images in another order (lesson 15
# does it exactly):
#
#     sbatch job.sbatch --train-samples 3200 --epochs 8 --resume
#
# **Launchers, networks, containers**: see [Run Horovod on a cluster](../../docs/horovod.md).
#
# ## Traps
#
# Measured with `train.py` on two ranks (two cores of an AMD EPYC, 28 November 2026), with 3,200 images and 2 epochs.
# The intact run reached an accuracy of 0.902.
#
# | you see | cause |
# |---|---|
# | every line of the record says rank 0 of 1, `0.90` on each | a launcher that Horovod does not know: N runs of size 1 |
# | loss falls, accuracy 0.863, `param_spread` 0.18, and 0 before the first step | no wrapped optimizer; Keras 3 with `hvd.DistributedOptimizer` is alike: 0.874 and 0.19 |
# | accuracy 0.866 with `param_spread` 0; all ranks print one loss | one order of the images for all ranks |
# | four epochs instead of two, each as long; accuracy 0.913 | epochs not divided, data not divided: `samples` shows it |
# | an error while a checkpoint is written, or the probe's `checkpoint_files` above 1 | every rank wrote it |
#
# ## Recap
#
# - Five steps: init, pin, wrap and scale, broadcast, rank 0 writes. Most prevent faults that raise no error.
# - The two spreads and the rate name four of the six faults; accuracy names none.
#
# **Submit** your work in a terminal:
#
#     lessons submit 07
#
# Next: lesson 08 divides the data. Further reading: A. Sergeev, M. Del Balso, *Horovod*, arXiv:1802.05799; Jülich's
# tutorial *Getting started with deep learning on supercomputers*.
