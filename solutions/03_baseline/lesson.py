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
# # 03 · A baseline worth distributing
#
# **How long does one device need for a real network, and what has to be said with that number?**
#
# Lesson 02's network was too small for a second device to pay. Here is one that is not: ResNet50V2,
# 50 layers with weights, on small photographs. The pictures are resized batch by batch, so that they
# never fill the memory. You build the network, count its parameters and its memory, train it on one
# device, and lay your numbers beside published ones.
#
# The time that one device needs for an epoch is the **baseline**. It is what a speedup is measured
# against: speedup on N devices = baseline ÷ time on N devices (lesson 02). If the baseline is wrong, or
# of something else, so is every speedup that is stated with it.
#
# Allow 60 minutes. On two CPU cores the runs of this page take one to two minutes together. Your own
# task near its end takes another three to six, twice.

# %% tags=["parameters"]
profile = "smoke"  # "smoke": two CPU cores, 512 images of 32 x 32. "full": a GPU, all of 128 x 128

# %% tags=["setup"]
import importlib
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # as the programs do

from lessons.toolkit import answers, data, plots, predictions, quiet
from lessons.toolkit.checks import lesson_03 as check

quiet.tensorflow()
few = ["--size", "32", "--train-samples", "512"]
train_words, compare_words = {
    "smoke": ([*few, "--test-samples", "512", "--batch-size", "64", "--epochs", "3"], few),
    "full": (["--size", "128", "--batch-size", "256", "--epochs", "5"], ["--size", "128"]),
}[profile]
cores = {"smoke": {}, "full": {"cpus-per-task": "8"}}[profile]

# %% [markdown]
# ## Predict
#
# Before any run, with paper and pencil:
#
# 1. How many steps does an epoch of 50,000 images take at batch 256?
# 2. How many parameters does ResNet50V2 have for 10 classes? The order of magnitude will do.
# 3. How many bytes are 50,000 pictures of 128 × 128 pixels and 3 colours in float32?

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_steps, predict_params and predict_bytes to numbers
predict_steps = 196
predict_params = 2e7
predict_bytes = 50_000 * 128 * 128 * 3 * 4
### END SOLUTION
answers.note(predict_steps=predict_steps, predict_params=predict_params)
answers.note(predict_bytes=predict_bytes)

# %% [markdown]
# ## The data
#
# CIFAR-10 (A. Krizhevsky, V. Nair, G. Hinton, 2009) has 60,000 photographs of ten kinds of things, 32 ×
# 32 pixels each: 50,000 to learn from, in five files, and 10,000 to be tested on, in a sixth. The files
# are *pickles*, and unpickling a file runs whatever its author wrote into it. So `data.load` uses a
# reader that knows only the few operations that these six files need, and verifies their checksums.
#
# In a file, a picture is a row of 3,072 bytes: 1,024 of red, 1,024 of green, 1,024 of blue.
#
# **Exercise 3.1.** `decode` turns a row into an image of shape (32, 32, 3). Two calls do it.


# %% tags=["exercise"]
def decode(row):
    ### BEGIN SOLUTION Exercise 3.1: reshape to three planes, then move the colours last
    return row.reshape(3, 32, 32).transpose(1, 2, 0)
    ### END SOLUTION


# %% tags=["check"]
check.check_3_1(decode)

# %%
import numpy as np

cifar = data.load("cifar10", as_float=False)  # bytes: 154 MB instead of 614
print("train", cifar.x_train.shape, cifar.x_train.dtype, "test", cifar.x_test.shape)
print("images of each class:", np.bincount(cifar.y_train))

rows = cifar.x_train[:8].transpose(0, 3, 1, 2).reshape(8, 3072)  # as they stand in the file
names = ["plane", "car", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
labels = [names[label] for label in cifar.y_train[:8]]
right = [decode(row) for row in rows]
noise = [row.reshape(32, 32, 3) for row in rows]
plots.images(np.array(right + noise), labels + ["noise"] * 8)

# %% [markdown]
# The second row of pictures is what the obvious `reshape(32, 32, 3)` makes of the same bytes. No error
# tells you, and a network trains on such pictures without complaint. **Look at your data once, as it goes
# into the network.**
#
# ## The program
#
# The next cell shows how `train.py` differs from lesson 02's. (In your copy two gaps are open.)

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
# The pictures are enlarged to 128 × 128 to make the work heavier. A course at the Barcelona
# Supercomputing Center does so, and we want to compare with its numbers. How large would all 50,000 be in
# float32? That was your third prediction.

# %%
whole = 50_000 * np.prod((128, 128, 3)) * np.dtype("float32").itemsize
print(f"{whole / 1e9:.1f} GB at once; {256 * whole / 50_000 / 1e6:.0f} MB in a batch of 256")
predictions.compare("predict_bytes", int(whole), "bytes", how="computed")

# %% [markdown]
# A process that makes them all at once is killed for its memory (exit code 137, *out of memory*). So
# the program keeps bytes, and each batch is scaled and resized when its turn comes, inside `tf.data`.
#
# **Exercise 3.2.** Fill `prepare` in `train.py`: `.batch(batch)`, then `.map` with a function of a
# batch's images and labels that casts to float32, divides by 255 and resizes.
#
# In training, what comes through `prepare` beside an image is not its label but its number in the data
# set. Pass it on unchanged. The record puts the label in its place afterwards. So it can count which
# images were really read, and compare some of them with the data set's own.

# %% tags=["check"]
import train

importlib.reload(train)  # so that the cell sees what you just saved
check.check_3_2(train.prepare)

# %% [markdown]
# ## The network
#
# *Keras Applications* holds some forty well-known networks, ready to build. The number in a name is its
# depth: the layers with weights. AlexNet won the ImageNet competition in 2012. GoogLeNet needed
# 15 times fewer parameters (as BSC's article counts). VGG showed that depth matters. ResNet (2015) made
# 50, 101 and 152 layers trainable by adding a block's input to its output. V2 (2016) put the
# normalisation first. Such networks are compared by top-1 and top-5 accuracy: how often the right one of
# ImageNet's 1,000 classes is the network's first guess, or among its first five.
#
# | argument | meaning |
# |---|---|
# | `include_top` | with the last layers, which turn features into classes? |
# | `weights` | `"imagenet"`: trained ones, **downloaded**; `None`: random ones |
# | `input_tensor` | a tensor to build upon, instead of a new input |
# | `input_shape` | height, width, colours; at least 32 × 32 |
# | `pooling` | without top: `None`, `"avg"` or `"max"` of each feature's picture |
# | `classes` | how many, with top and without trained weights |
# | `classifier_activation` | of the top; `None` gives raw scores |
#
# **Exercise 3.3.** Fill `build_model` in `train.py`: `getattr(keras.applications, name)` is the
# network; untrained, for images of `size` by `size`, with 10 classes.

# %% tags=["check"]
importlib.reload(train)
check.check_3_3(train)

# %% [markdown]
# `--model` takes every network of that family: `ResNet101V2`, `VGG16`, `DenseNet121`, `MobileNet`, …
# with `--size` as large as the network demands.
#
# ## What it needs of a GPU's memory
#
# Memory can be computed before a job fails for it. Training holds, for each parameter, the parameter
# itself, its gradient, and what the optimizer keeps: nothing for SGD, one number with momentum, two for
# Adam. And it holds the outputs of the layers, for every image of the batch, because the backward pass
# needs them again. The first part does not depend on the batch; the second is proportional to it.

# %%
import math

network = train.build_model("ResNet50V2", 128)
outputs = [layer.output_shape for layer in network.layers[1:]]  # without the input
per_image = 4 * sum(math.prod(shape[1:]) for shape in outputs)  # float32: 4 bytes per number
fixed = 4 * 2 * network.count_params()  # parameters and gradients; SGD keeps nothing
print(f"{fixed / 1e9:.2f} GB for parameters and gradients, {per_image / 1e6:.0f} MB per image")
for batch in (32, 256, 1024, 2048):
    print(f"batch {batch:5}: about {(fixed + batch * per_image) / 1e9:6.1f} GB")
predictions.compare("predict_params", network.count_params(), how="counted")

# %% [markdown]
# "About", because a framework gives back early what the backward pass does not need, and its libraries
# want working space. On a CPU the peak of a training step grew by 28 MB per image (TensorFlow 2.21,
# batches of 8, 24 and 40), not by 41. So an A100 with 40 GB is full somewhere between a batch of 970
# and one of 1,400, and 2,048 does not fit.
# **The largest batch follows from the device's memory**; divide, before you ask for it.
#
# ## Fewer bits
#
# Half the bytes per number mean half that memory. And GPUs multiply short numbers many times as fast: an
# A100's data sheet promises 19.5 TFLOP/s in float32, 156 in TF32 and 312 in 16 bits. What gets lost
# depends on where the bits are taken from:
#
# | format | bits | of them for digits | largest | used as |
# |---|---|---|---|---|
# | float32 | 32 | 23 | 3 · 10³⁸ | this course's programs ask for it |
# | TF32 | 19 of 32 | 10 | 3 · 10³⁸ | what matrix units make of float32, on NVIDIA GPUs from the A100 on |
# | bfloat16 | 16 | 7 | 3 · 10³⁸ | *mixed precision by autocast*: the products in 16 bits, the parameters in float32 |
# | float16 | 16 | 10 | 65,504 | the same, with the loss scaled up, for small gradients would become 0 |

# %%
import tensorflow as tf

for kind in (np.float32, np.float16, tf.bfloat16.as_numpy_dtype):
    weight, step, tiny = kind(1), kind(0.001), kind(1e-8)
    print(f"{kind.__name__:9} 1 + 0.001 = {float(weight + step):.6f}   1e-8 = {float(tiny):.2g}")
print("TF32 where the GPU has it:", tf.config.experimental.tensor_float_32_execution_enabled())

# %% [markdown]
# In bfloat16 a weight of 1 does not notice a step of 0.001. In float16 a gradient of 10⁻⁸ is 0. That is why
# mixed precision keeps float32 numbers to add the steps to. With **autocast** these are the parameters. It must be
# asked for (`keras.mixed_precision.set_global_policy("mixed_bfloat16")`; `torch.autocast`). The other way, **bfloat16
# parameters with float32 copies** in the optimizer, is part of lesson 11. TF32 is different: TensorFlow uses it by itself, and PyTorch does for convolutions but not for other products
# (versions 2.21 and 2.13). So the same "float32" program computes with 10 bits of digits on an A100 or H100,
# and with 23 on a V100 or a CPU. Ten bits are three decimal digits. That is one more reason never to
# divide their seconds. With a throughput, say in which precision it was.
#
# **Exercise 3.4.** `steps`: how many steps does an epoch of *n* images take? The last batch may be smaller.


# %% tags=["exercise"]
import math


def steps(n, batch):
    ### BEGIN SOLUTION Exercise 3.4: batches of an epoch; the last one may be smaller
    return math.ceil(n / batch)
    ### END SOLUTION


# %% tags=["check"]
check.check_3_4(steps)
predictions.compare("predict_steps", steps(50_000, 256), how="computed")

# %% [markdown]
# ## Run it
#
# The optimizer is SGD with a rate of 0.01, as in Barcelona. The first job trains ResNet50V2. The second one
# compares batches and networks: in `smoke` a light network at three batch sizes and MobileNet, in `full`
# ResNet50V2 at three batch sizes and ResNet101V2.

# %%
from autograder.reading.files import read_files
from cluster.jobs.notebook import submit_once

[baseline] = read_files(submit_once("job.sbatch", *train_words, options=cores))
print(baseline.outcome, "on", baseline.header["device"])
for epoch in baseline.epochs:
    print(f"  epoch {epoch.number}: {epoch.seconds.value:6.2f} s, {epoch.steps} steps", end="")
    print(f"  loss {epoch.train_loss.value:.4f}  accuracy {epoch.train_accuracy.value:.4f}")
print(f"  test accuracy {baseline.test_accuracy.value:.4f}")

# %%
published = {
    "loss": [2.0179, 1.7293, 1.5707, 1.4572, 1.3707],
    "accuracy": [0.2585, 0.3654, 0.4237, 0.4664, 0.5001],
}
plots.beside_published(
    baseline, published, "Barcelona: 50,000 images, 128 × 128, batch 256, one GPU of CTE-POWER"
)

# %% [markdown]
# **What you should see.**
#
# - In `smoke` you train on a hundredth of the data, in pictures a sixteenth as large: the curves stay
#   far behind the rings. In `full` network, data, batch and rate are Barcelona's. Its random numbers,
#   its TensorFlow and its GPU are not, and nobody has measured yet how near your points come. Either way
#   the rings are a reference, not a target.
# - Barcelona's epoch took **42 s** on one GPU (V100) of CTE-POWER. The same program took 24 s in
#   its first epoch and 14 s in the second on one H100, 215 s on 20 CPU cores (MareNostrum 5, in
#   J. Torres' textbook). Never divide numbers of different hardware to tell how a program scales.
# - On two CPU cores, 512 images of 32 × 32 in batches of 64: 7 to 13 s for the first epoch, 2 to 6 s
#   for the others; loss about 2.6, 2.4 and 2.3 (TensorFlow 2.21).
# - **The first epoch does not count**: in it, TensorFlow traces and compiles some 190 layers, allocates
#   memory and reads cold files. Here it is two or three times as long as the second. A mean over 5
#   epochs would hide a good part of your throughput, a mean over 50 hardly any. So the "speedup" of
#   means depends on how long you trained. That of medians without epoch 1 does not.
#
# **Training accuracy climbs, and the test accuracy is 0.10, like guessing?** That is no bug in
# your program. *Batch normalisation* trains with the mean of each batch and tests with a running average
# of those means. After 24 steps that average still remembers its start values. Measured for this lesson,
# after 32 steps on two CPU cores: 0.097 on the test images against 0.22 in training. After some
# hundred steps it has settled. So in `smoke` no test accuracy is graded here: with few steps, judge by
# the training accuracy.

# %%
light = ["cnn:16", "cnn:64", "cnn:256", "MobileNet:64"]
heavy = ["ResNet50V2:32", "ResNet50V2:128", "ResNet50V2:512", "ResNet101V2:128"]
pairs = {"smoke": light, "full": heavy}[profile]
compared = read_files(submit_once("job_compare.sbatch", *pairs, *compare_words, options=cores))
lines = {}
for run in compared:
    lines.setdefault(run.header["model"], []).append(run)
plots.throughput_by_batch(lines)

# %%
from autograder.measuring import measure

for run in sorted([baseline, *compared], key=lambda run: run.header["params"]):
    seconds, rate = measure.epoch_time(run), measure.throughput(run)
    print(f"{run.header['model']:12} {run.header['params']:12,} parameters", end="")
    print(f"  batch {run.header['global_batch']:4}  {seconds.value:7.2f} s  {rate.value:8.0f} /s")

# %% [markdown]
# - A larger batch gives the device more to do at a time, until it is full. That is why the batch is
#   the knob of data parallelism, and why a batch that is too small makes every comparison look bad.
#   CPU cores are full early, a GPU late. Whiskers that overlap say that you saw no difference.
# - If the memory does not suffice (`ResourceExhaustedError`, or `OOM` in the error file), lower the
#   batch, and then run *all* that you compare with the same one.
# - Parameters are not work. What each pixel goes through decides the seconds. Compare the rows of
#   your table: parameters and images per second.
#
# ## Your own task: ResNet152V2
#
# The same program with another network. Lesson 05 asks, with published seconds, whether the larger
# network scales better. To ask that of your own machine you need its baseline, too, and all else has
# to stay as it was for ResNet50V2. In `smoke` that is `--size 32 --train-samples 512
# --test-samples 512 --batch-size 64`; with the sizes in `job.sbatch` two cores would need hours.
# `train_words`, at the top of this page, holds what your profile takes.
#
# **Exercise 3.5.** `job_words` returns the words after `job.sbatch`: ResNet152V2, at your profile's
# sizes. The check then counts its parameters, which takes some seconds.


# %% tags=["exercise"]
def job_words():
    ### BEGIN SOLUTION Exercise 3.5: return a list: --model, its value, and all of train_words
    return ["--model", "ResNet152V2", *train_words]
    ### END SOLUTION


# %% tags=["check"]
importlib.reload(train)
check.check_3_5(job_words, train.build_model, profile)

# %% [markdown]
# Now run it. First **interactively**, where you see errors at once, then as a **job**, which needs
# nobody to wait. In a terminal, in this folder:
#
#     source ~/.dl-course/site.sh
#
# This sets what your site wants of a job: account, partition and GPUs, say. On a cluster, ask for a node
# next (`--cpus-per-task=2` for `smoke`), and read the file once more inside, where it loads the software:
#
#     salloc --nodes=1 --ntasks=1 --cpus-per-task=8 --time=00:30:00
#     source ~/.dl-course/site.sh
#
# Then, for `full`:
#
#     launch python -u train.py --model ResNet152V2 --epochs 2 | tee 03_interactive.out
#     exit
#
# `launch` is the site's way to start a program with all the cores that you asked for. A bare
# `srun python` may get one core of the eight: since Slurm 22.05 `srun` no longer takes over the
# `--cpus-per-task` of the allocation.
#
# A laptop has nothing to allocate. There, for `smoke`, you type (in an allocation with `launch python` in
# place of `python`):
#
#     export small="--size 32 --train-samples 512 --test-samples 512 --batch-size 64"
#     python -u train.py --model ResNet152V2 $small --epochs 2 | tee 03_interactive.out
#
# Then submit, for `smoke`:
#
#     cluster submit job.sbatch --model ResNet152V2 $small --epochs 3
#
# and for `full`:
#
#     cluster submit --cpus-per-task=8 job.sbatch --model ResNet152V2
#
# Both runs print the same record. `tee` shows it and keeps it in a file, as a job's output is kept.
# (Behind a pipe `$?` is the exit code of `tee`; the program's is `${PIPESTATUS[0]}`.) At first you see
# little but `Epoch 1/2`, for a minute or so: the first epoch is the slow one. On two CPU cores that had
# other work, too, the three epochs of `smoke` took 64, 37 and 24 s, and the whole program 194 s. On one
# H100 a batch of 1,024 took 63 s in the first epoch and 33 s in the second (Torres).
#
# ## What the constructor gives
#
# **Exercise 3.6.** Predict the output shapes, one tuple for each letter. The first entry is `None`: the
# batch is not known yet.
#
# | | `ResNet50V2(weights=None, …)` |
# |---|---|
# | a | `input_shape=(128, 128, 3), classes=10` |
# | b | `input_shape=(128, 128, 3), include_top=False` |
# | c | `input_shape=(128, 128, 3), include_top=False, pooling="avg"` |
# | d | `input_shape=(32, 32, 3), include_top=False` |


# %% tags=["exercise"]
def shapes():
    ### BEGIN SOLUTION Exercise 3.6: return a dictionary with a tuple for each letter
    return {
        "a": (None, 10),
        "b": (None, 4, 4, 2048),
        "c": (None, 2048),
        "d": (None, 1, 1, 2048),
    }
    ### END SOLUTION


# %% tags=["check"]
check.check_3_6(shapes)

# %% [markdown]
# ## Find it
#
# The article that your rings come from says two things that its own program contradicts.
#
# 1. It gives ResNet50V2 "25,613,800 parameters" and prints a program with `classes=10`. You counted
#    23,585,290. The last layer has 2,048 weights and a bias for each class. **For how many classes is
#    25,613,800?**
# 2. It says `input_shape` is "only to be specified if `include_top` is False, otherwise it has to be
#    (224, 224, 3)". **Does a network with top and `weights=None` have to be 224 × 224?** `"yes"` or `"no"`.
#
# And three more:
#
# 3. 42 s for an epoch of 50,000 images: how many images per second?
# 4. Why does `weights="imagenet"` hang on many compute nodes? (a) the weights do not fit into the
#    GPU; (b) they are downloaded, and there is no internet; (c) 10 classes need fewer. One letter.
# 5. After 24 steps training accuracy is 0.2, test accuracy 0.10. What has not settled? (a) the shuffle;
#    (b) the learning rate; (c) the running averages of batch normalisation. One letter.

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: classes_published, top_needs_224, barcelona_throughput, why_none, not_settled
classes_published = 1000
top_needs_224 = "no"
barcelona_throughput = 50_000 / 42
why_none = "b"
not_settled = "c"
### END SOLUTION
answers.note(classes_published=classes_published, top_needs_224=top_needs_224)
answers.note(barcelona_throughput=barcelona_throughput, why_none=why_none)
answers.note(not_settled=not_settled, baseline_epoch_s=measure.epoch_time(baseline).value)

# %% [markdown]
# ## Traps
#
# | you see | it was |
# |---|---|
# | killed, exit code 137 | the whole array resized at once: 9.8 GB |
# | training, but badly; pictures are colour noise | reshape to (32, 32, 3) without transposing |
# | the job prints nothing and runs out of time | `weights="imagenet"` waits for the internet |
# | 25,613,800 parameters | 1,000 classes, the default |
# | test accuracy 0.10 while training accuracy climbs | batch normalisation has not settled yet; train on |
# | out of memory at batch 2,048 | the layers' outputs, times the batch: compute it; lower the batch and run everything again |
# | an epoch of fewer steps than ceil(n / batch) | the last batch dropped, or another data set |
# | "baseline" far slower than the published one | perhaps the device waits for its pictures: lesson 04 |
#
# ## Recap
#
# - Your predictions came back, and all three could be computed with paper and pencil. Steps, parameters,
#   bytes: whoever computes them first asks for the right node, and knows why a job died.
# - Large inputs are made batch by batch, inside the input pipeline.
# - A network of Keras Applications is one call. Count its parameters before you quote them.
# - Memory: parameters, gradients and optimizer, plus the layers' outputs times the batch. Fewer bits
#   halve it, and change the digits.
# - A baseline is one device's median epoch without the first, with everything that it depends on: network,
#   size, batch, device, precision, versions. Divided by the time on N devices it is their speedup, if all
#   of these agree. Lessons 05 and 07 measure bases of their own, with their own program and batch.
#
# **Hand in**: this packs the folder and says what is in it.
#
#     lessons submit 03
#
# Next: 04 asks whether the device waits for its data; 05 puts the network on several GPUs. Further
# reading: K. He and others, *Identity Mappings in Deep Residual Networks*, 2016; the pages of Keras
# Applications; J. Torres, *Supercomputing for Artificial Intelligence*.
