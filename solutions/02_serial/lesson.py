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
# # 02 · A serial program, and how fast it is
#
# **What does a framework do for me, and how do I state its speed?**
#
# In lesson 01 you wrote the forward pass, the backward pass and the update by hand. Here Keras and PyTorch
# write them for you. You train the same network with both on one device, submit the training as a job, and
# learn to state its speed with an uncertainty. Later lessons state the speed of other networks in this way.
#
# Allow 45 minutes. On two CPU cores, all the runs on this page together take about a minute.

# %% tags=["parameters"]
profile = "smoke"  # "smoke": two CPU cores. "full": the whole data set, a GPU
gpus = "gres=gpu:{n}"  # "full": how your site asks for n GPUs of a node

# %% tags=["setup", "hide-input"]
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # the Keras that Horovod can average: lesson 07 says why

from lessons import course
from lessons.toolkit import data, quiet

quiet.tensorflow()
sizes = {"smoke": ["--train-samples", "12800", "--epochs", "3"], "full": ["--epochs", "4"]}[profile]

# %% [markdown]
# Here are three recorded epochs of this lesson's second program, on a machine that other jobs used, too. How long does
# an epoch take? After this page you know which bars count, and how far you can trust the number.

# %%
recorded = {letter: course.runs(f"records/{letter}.rec")[0] for letter in "hceux"}
course.plots.epoch_bars({"PyTorch, recorded": recorded["h"]})

# %% [markdown]
# ## Predict
#
# What test accuracy, from 0 to 1, will a network with 407,050 parameters reach on handwritten digits?

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_accuracy to a number
predict_accuracy = 0.97
### END SOLUTION
course.answers.note(predict_accuracy=predict_accuracy)

# %% [markdown]
# ## The data
#
# MNIST has 60,000 handwritten digits to learn from and 10,000 for the test. Each has 28 × 28 pixels with values from
# 0 to 255. `data.load` finds the four IDX files, verifies their checksums and divides the pixels by 255. If you
# forget that division in a program of your own, the first layer gets inputs that are 255 times too large, and
# training begins badly.

# %%
mnist = data.load("mnist")
print("train", mnist.x_train.shape, "test", mnist.x_test.shape, "from", mnist.facts["name"])
print("pixels from", mnist.x_train.min(), "to", mnist.x_train.max())
course.plots.images(mnist.x_train[:16], mnist.y_train[:16])

# %% [markdown]
# ## The program, Keras
#
# Open this lesson's `train.py`, in the folder `02_serial`. (If a tab with another lesson's `train.py` is open,
# close it: the tabs look the same.) Three things have changed since lesson 01:
#
# - The forward pass, the backward pass and the update are now a **model** and **`fit`**.
# - SGD is now **Adam**, which keeps two numbers for each parameter.
# - Keras runs the loop over epochs and batches. So the **run record** (lesson 00) is now written by a
#   *callback*, which Keras calls at the start, after each epoch and at the end. Its clock never goes
#   backwards, and is read after the device has finished.
#
# This command lists all options:
#
#     python train.py --help
#
# **Exercise 2.1.** Fill the gap in `train.py` with a network of dense layers: one hidden layer with `relu`, and ten
# probabilities at the end. It has 407,050 parameters. (Each layer has a weight for each pair of input and unit, and a
# bias for each unit.) As in the network above the gap, the first layer says how large an image is. Save the file and
# run this cell.

# %% tags=["check"]
import train

course.check("2.1", train.build_model)

# %% [markdown]
# ## The program, PyTorch
#
# `train_torch.py` trains the same network, and you can see its loop. PyTorch's `CrossEntropyLoss` contains
# the softmax, so the network ends without one. With a second softmax the loss never falls below 1.46,
# because the largest probability that the network can then express is *e* / (*e* + 9).
#
# **Exercise 2.2.** A colleague wrote the training step like this. The program runs to its end, and learns nothing.
# Repair it, and put it into `train_torch.py`.
#
#     optimizer.zero_grad()
#     outputs = model(x)
#     loss = loss_function(outputs, y)
#     optimizer.step()
#     loss.backward()
#     return loss, outputs

# %% tags=["check"]
import train_torch

course.check("2.2", train_torch.train_step)

# %% [markdown]
# ## Submit it as a job
#
# `job.sbatch` requests one task on one core and starts `train.py`. In a terminal in this lesson's folder, with the site
# chosen in lesson 00, you would type
#
#     sbatch job.sbatch --train-samples 12800 --epochs 3
#     squeue --me
#     cluster logs -f JOB
#
# with the job's number in place of `JOB`. Words after the file's name go to the program, and options of `sbatch` come
# before it. (On a cluster, `sbatch` needs your site's settings first: `source
# ~/.dl-course/site.sh`, once in each terminal. On one with GPUs, type `cluster submit` in place of `sbatch`, in all
# lessons: it adds the cores and memory that a rank with a GPU needs.)
#
# From here on, `course.submit` does the same: it prints the real command, waits, and returns the runs in the output.
# While a job runs, its epochs appear below the cell. If you run the cell twice, each job still runs once,
# unless you changed its program or its job file in between. Which program needs longer for an epoch, Keras or PyTorch?
# Bet before you run the cell.

# %%
node = course.on_nodes(1, gpus if profile == "full" else "")
[keras_run] = course.submit("job.sbatch", *sizes, options=node)
torch_run, _ = course.submit("job_torch.sbatch", *sizes, options=node)

# %% [markdown]
# Look at the output, in the terminal or in JupyterLab's list of files:
#
#     grep -Ev 'MLLOG|^$' 02_keras_*.out
#
# These are the lines that Keras prints for people. `grep -v` leaves out the record and the empty lines. The plots below
# and your points come from the record, not from the variables in this notebook.

# %% tags=["hide-input"]
for run in (keras_run, torch_run):
    print(run.header["source"], run.outcome, "on", run.header["device"], "·", run.files[0])
    for epoch in run.epochs:
        print(f"  epoch {epoch.number}: {epoch.seconds.value:6.2f} s", end="")
        print(f"  loss {epoch.train_loss.value:.4f}  accuracy {epoch.train_accuracy.value:.4f}")
    print(f"  test accuracy {run.test_accuracy.value:.4f}")
course.predictions.compare("predict_accuracy", keras_run.test_accuracy.value)

# %% [markdown]
# ## The plots

# %%
course.plots.epoch_bars({"Keras": keras_run, "PyTorch": torch_run}, save="my_speed.png")

# %%
course.plots.accuracy_curves({"Keras": keras_run, "PyTorch": torch_run})

# %% [markdown]
# **What you should see.**
#
# - The first bar is hatched, because the first epoch does not count. It also includes tracing the program,
#   allocating memory and reading cold files. If a mean includes it, a program that compiles less looks
#   "faster".
# - The accuracies of both programs overlap. Accuracy hardly depends on the machine. Seconds do. With
#   12,800 images and three epochs, the accuracies of five seeds were 0.950 to 0.959 in Keras and 0.948 to 0.954 in
#   PyTorch (TensorFlow 2.21, PyTorch 2.13, one CPU core). A difference smaller than this says nothing about the
#   frameworks. With all 60,000 images, both programs pass 0.97.
# - A course at Jülich reported 8, 7, 7 and 7 s per epoch and a test accuracy of 0.9805 for this program, with
#   TensorFlow 1.13 on one GPU (60,000 images, 4 epochs). One core of a current server CPU, with TensorFlow 2.21,
#   needed about 2 s when nothing else ran. Do not divide the two times: versions, hardware and years differ.
# - You may divide times if only the hardware differs. The same program with ResNet50V2 on CIFAR-10 took 215 s per
#   epoch on 20 CPU cores and 14 s on one H100 (MareNostrum 5, Torres' textbook, chapters 10 to 12). That factor of 15
#   is **acceleration**, which compares one device with another, and says nothing about how a program scales.
#   **Speedup** compares N devices with one of the same kind.

# %% [markdown]
# ## State its speed
#
# - **Throughput**: training samples per second. Test samples do not count.
# - **Speedup**: time of the base ÷ time on N devices, for the same work on the same hardware.
# - **Efficiency**: speedup ÷ N.
#
# **Exercise 2.3.** `epoch_time` says how long an epoch typically takes. Leave out one-time costs at the start of a run.
# Of many epochs, one that another user's job disturbed should barely affect the result.


# %% tags=["exercise"]
import statistics


def epoch_time(seconds):
    """Seconds of an epoch, from the list of all epochs' seconds."""
    ### BEGIN SOLUTION Exercise 2.3: the time of a typical epoch
    return statistics.median(seconds[1:])
    ### END SOLUTION


# %% tags=["check"]
course.check("2.3", epoch_time)

# %% [markdown]
# Back to the run at the top of this page. Its last two epochs took 7.7 and 10.4 s: the same work, a third longer.
# "About 9 s" is all that you can say, and no rounding warns you of that: only repeats do.
#
# **Exercise 2.4.** A log that says `14s` means anything from 13.5 to 14.5 s. So 14 s on one GPU and 5 s on four do not
# mean a speedup of 2.80, but a speedup between two numbers. Which numbers?
#
# Return the smallest and the largest possible ratio of two times, *a* and *b*, given in whole seconds. Then do
# the same for a throughput.


# %% tags=["exercise"]
def interval(a, b):
    """(low, high) of a / b, both printed in whole seconds."""
    ### BEGIN SOLUTION Exercise 2.4: the smallest and the largest possible ratio
    return (a - 0.5) / (b + 0.5), (a + 0.5) / (b - 0.5)
    ### END SOLUTION


def throughput_interval(samples, seconds):
    """(low, high) samples per second, seconds printed in whole seconds."""
    ### BEGIN SOLUTION Exercise 2.4: the smallest and the largest possible throughput
    return samples / (seconds + 0.5), samples / (seconds - 0.5)
    ### END SOLUTION


# %% tags=["check"]
course.check("2.4", interval, throughput_interval)

# %% [markdown]
# Look for a finer unit first. The Jülich log contains more than whole seconds. `119us` is uncertain by 0.4 %, and `7s`
# by 7 %:
#
#     60000/60000 [======] - 8s 131us/sample - loss: 0.2006 - acc: 0.9404
#     60000/60000 [======] - 7s 120us/sample - loss: 0.0815 - acc: 0.9749
#     60000/60000 [======] - 7s 120us/sample - loss: 0.0548 - acc: 0.9831
#     60000/60000 [======] - 7s 119us/sample - loss: 0.0376 - acc: 0.9879
#
# %% [markdown]
# ## A timer of your own
#
# A step with 256 images takes how many times as long as one with 32? Guess. If you first time one kind of step and then
# the other, whatever else the machine does meanwhile changes the answer. So let them take turns.
#
# **Exercise 2.5.** `medians(works, rounds)` gets a dictionary of functions. It calls each of them once without timing
# it, because the first call is special. Then in each round, it times one call of each with `time.perf_counter()`. It
# returns a dictionary with each function's typical seconds, by the average of 2.3.

# %% tags=["exercise"]
import time


def medians(works, rounds):
    ### BEGIN SOLUTION Exercise 2.5: call each once; then in each round, time each; then the medians
    for work in works.values():
        work()
    seconds = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            start = time.perf_counter()
            work()
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(times) for name, times in seconds.items()}
    ### END SOLUTION


# %% tags=["check"]
course.check("2.5", medians)

# %%
import functools

import torch

images, labels = torch.tensor(mnist.x_train[:256]), torch.tensor(mnist.y_train[:256])
network, criterion = train_torch.build_model("mlp512"), torch.nn.CrossEntropyLoss()
learn = functools.partial(train_torch.train_step, network, torch.optim.Adam(network.parameters()))
steps = {n: functools.partial(learn, criterion, images[:n], labels[:n]) for n in (32, 256)}
for n, seconds in medians(steps, rounds=20).items():
    print(f"a step of {n:3} images: {1e3 * seconds:6.2f} ms, {n / seconds:9,.0f} images per second")

# %% [markdown]
# The larger step takes longer, but less than eight times as long, because some of a step's work does not grow with
# its images: Adam updates 407,050 parameters, and Python makes the same calls. Speed jobs work like your timer
# (`speed.py`, from lesson 07 on): one rank, silent ranks and ranks that communicate take turns, and the result is a
# median over the rounds. On a GPU a timer must also wait until the GPU has finished (`torch.cuda.synchronize()`): a
# call returns earlier.

# %% [markdown]
# ## A speedup needs one more word
#
# What stays the same when you add ranks? There are three answers. The field **scaling** in a run's record
# says which one applies:
#
# | scaling | images per epoch | batch per rank | global batch | steps per epoch | ideal time of an epoch on N ranks |
# |---|---|---|---|---|---|
# | `strong` | the same | 1/N | the same | the same | 1/N |
# | `epoch` | the same | the same | N times | 1/N | 1/N |
# | `weak` | N times: each rank brings its own | the same | N times | the same | the same |
#
# *Strong* scaling does not change the training (without batch normalisation, lesson 03), but each rank has less to do
# between two exchanges. *Epoch* scaling keeps the ranks busy, but the training takes fewer, larger steps. Lesson 09
# measures what that does to the accuracy. *Weak* scaling asks a different question: not "how much sooner?" but "how
# much more in the same time?" A speedup that does not name its kind of scaling says little.
#
# Lesson 07 trains this network on two ranks. It will be hardly faster than on one.

# %% [markdown]
# ## Which record is which fault?
#
# The next cell shows five recorded runs of `train_torch.py`, each with 12,800 images. `h` is intact. Each of the others
# has one fault:
#
# - **A** a softmax at the end of the network
# - **B** no `zero_grad`
# - **C** no `ReLU`
# - **D** the labels are shuffled, and the images are not
# - **E** no `step`
# - **F** pixels not divided by 255

# %%
for letter, run in recorded.items():
    print(letter, "losses", *(epoch.train_loss.value for epoch in run.epochs), end="")
    print(f"; test: accuracy {run.test_accuracy.value:.3f}, loss {run.test_loss.value:.3f}")

# %% [markdown]
# Write the letters of `c`, `e`, `u` and `x` in this order, as one word. And two numbers. The microseconds of the Jülich
# log are rounded, too: how many seconds did its second epoch take at most? And how many hidden units would a network
# like that of 2.1 have with 238,510 parameters? Then state your own job's throughput, in training images per second, from
# `samples` and *your* `epoch_time`. The grader compares it with the output.

# %% tags=["exercise"]
samples = keras_run.header["dataset"]["train_samples"]
seconds = [epoch.seconds.value for epoch in keras_run.epochs]
### BEGIN SOLUTION Answer: faults_serial, four letters; s4_epoch_s, hidden_units, keras_throughput
faults_serial = "DACB"
s4_epoch_s, hidden_units = 120.5e-6 * 60_000, (238_510 - 10) // (784 + 1 + 10)
keras_throughput = samples / epoch_time(seconds)
### END SOLUTION
low, high = interval(14, 5)
course.answers.note(
    keras_epoch_s=epoch_time(seconds),
    keras_throughput=keras_throughput,
    interval_14_5_low=low,
    interval_14_5_high=high,
    s4_epoch_s=s4_epoch_s,
    hidden_units=hidden_units,
    faults_serial=faults_serial,
)

# %% [markdown]
# **Open question**, without points: which batch size trains `train_torch.py` to an accuracy of 0.95 in the fewest
# seconds on your machine? Defend it with your timer.

# %% [markdown]
# ## Traps
#
# | you see | cause |
# |---|---|
# | a "speedup" that vanishes when you train longer | the first epoch is in the mean |
# | steps that take no time on a GPU | the clock was read before the device had finished |
# | a throughput that is a sixth too high | the 10,000 test images were counted as trained |
# | a loss of 1.8 in the first epoch (PyTorch; Keras 8.8), not 0.4, and an accuracy of 0.92 to 0.93, not 0.95 (12,800 images, three epochs, one seed) | pixels not divided by 255: Adam hides most of it |
# | an A100's seconds divided by a V100's | two kinds of hardware: `device` differs in the records |
#
# ## Recap
#
# - Accuracy hardly depends on the machine or framework. Seconds do.
# - A framework writes the backward pass and the update. Data, sizes, clock and honesty remain your job.
# - Epoch time: the typical time of the epochs after the first. Throughput: training samples ÷ that time.
# - Speedup: time of the base ÷ time on N devices, only for the same work on the same hardware, and with the
#   word that says what stayed the same: strong, epoch or weak. Times in whole seconds yield an interval, not
#   a number.
#
# **Submit** your work in a terminal:
#
#     lessons submit 02
#
# Next: lesson 03 trains a network that is worth a second device. Lesson 06 shows what travels between two
# workers. Further reading: F. Chollet, *Deep Learning with Python*; the Keras and PyTorch tutorials; J. Torres,
# *Supercomputing for Artificial Intelligence*.
