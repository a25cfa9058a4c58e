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
# **How long does one device need for a real network, and what must you state along with that time?**
#
# Lesson 02's network was too small to justify a second device. This lesson's network, ResNet50V2, is large enough.
# Its depth is 50 convolutions and dense layers (shortcuts not counted), and it trains on small photographs. The
# pictures are resized batch by batch, so they never fill the memory. You build the network, count its parameters and
# its memory, train it on one device, and compare your numbers with published ones.
#
# The time that one device needs for an epoch is the **baseline**. Every speedup is measured against it (lesson 02).
# If the baseline is wrong, so is every speedup.
#
# Allow 60 minutes. On two CPU cores, the runs on this page together take one to two minutes.

# %% tags=["parameters"]
profile = "smoke"  # "smoke": two CPU cores, 256 images of 32 x 32. "full": a GPU, all of 128 x 128
gpus = "gres=gpu:{n}"  # "full": how your site asks for n GPUs of a node

# %% tags=["setup", "hide-input"]
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # as the programs do

from lessons import course
from lessons.toolkit import data, quiet

quiet.tensorflow()
few = ["--size", "32", "--train-samples", "256"]
train_words, compare_words = {
    "smoke": ([*few, "--test-samples", "128", "--batch-size", "32", "--epochs", "3"], few),
    "full": (["--size", "128", "--batch-size", "256", "--epochs", "5"], ["--size", "128"]),
}[profile]

# %% [markdown]
# These two runs of this lesson's program were recorded. Both have 1,000 photographs, but one program has a fault.
# Which one would you believe? (At the end of this page, you name the fault.)

# %%
recorded = {letter: course.runs(f"records/{letter}.rec")[0] for letter in "hkpsw"}
course.plots.accuracy_curves({letter: recorded[letter] for letter in "ph"})

# %% [markdown]
# ## Predict
#
# Predict before you run anything, with paper and pencil:
#
# 1. How many steps does an epoch of 50,000 images take at batch 256?
# 2. How many parameters does ResNet50V2 have for 10 classes? The order of magnitude is enough.
# 3. How many bytes do 50,000 pictures of 128 × 128 pixels and 3 colours take in float32?

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_steps, predict_params and predict_bytes to numbers
predict_steps = 196
predict_params = 2e7
predict_bytes = 50_000 * 128 * 128 * 3 * 4
### END SOLUTION
course.answers.note(predict_steps=predict_steps, predict_params=predict_params)
course.answers.note(predict_bytes=predict_bytes)

# %% [markdown]
# ## The data
#
# CIFAR-10 (A. Krizhevsky, V. Nair, G. Hinton, 2009) has 60,000 photographs of ten kinds of things, 32 × 32
# pixels each: 50,000 for training, in five files, and 10,000 for testing, in a sixth. The files are
# *pickles*, and unpickling a file runs whatever its author wrote into it. So `data.load` verifies their
# checksums first.
#
# In a file, a picture is a row of 3,072 bytes: 1,024 of red, 1,024 of green, 1,024 of blue. A colleague's `decode`
# turns such a row into an image: `return row.reshape(32, 32, 3)`. What is in these eight photographs?

# %%
import numpy as np

cifar = data.load("cifar10", as_float=False)  # bytes: 184 MB, not 737
print("train", cifar.x_train.shape, cifar.x_train.dtype, "test", cifar.x_test.shape)
print("images of each class:", np.bincount(cifar.y_train))

rows = cifar.x_train[:8].transpose(0, 3, 1, 2).reshape(8, 3072)  # as they stand in the file
course.plots.images(rows.reshape(8, 32, 32, 3), ["?"] * 8)

# %% [markdown]
# The shape is right, and nothing raises an error. A network trains on such pictures, too. **Look at your data once,
# exactly as it enters the network.**
#
# **Exercise 3.1.** Repair `decode`.


# %% tags=["exercise"]
def decode(row):
    ### BEGIN SOLUTION Exercise 3.1: the repaired line
    return row.reshape(3, 32, 32).transpose(1, 2, 0)
    ### END SOLUTION


# %% tags=["check"]
course.check("3.1", decode)

# %%
names = ["plane", "car", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
labels = [names[label] for label in cifar.y_train[:8]]
course.plots.images(np.array([decode(row) for row in rows]), labels)

# %% [markdown]
# ## The program
#
# The next cell shows how `train.py` differs from lesson 02's program. (Your copy has two open gaps.)

# %%
course.show_diff(
    "02_serial/train.py",
    "train.py",
    keep_bytes="as_float|from_tensor_slices",
    prepare_batches=r"prepare\(|def pixels|tf\.image|dataset\.batch",
    choose_the_network=r"applications|args.size\)$|size, size, 3",
)

# %% [markdown]
# The pictures are enlarged to 128 × 128 to make the work heavier. A course at the Barcelona Supercomputing
# Center does this, and we want to compare our numbers with theirs. How large would all 50,000 be in float32?
# That was your third prediction.

# %%
whole = 50_000 * np.prod((128, 128, 3)) * np.dtype("float32").itemsize
print(f"{whole / 1e9:.1f} GB at once; {256 * whole / 50_000 / 1e6:.0f} MB in a batch of 256")
course.predictions.compare("predict_bytes", int(whole), "bytes", how="computed")

# %% [markdown]
# A job with less memory than that is killed if it resizes all pictures at once (exit code 137, *out of memory*). So
# the program keeps bytes. Each batch is scaled and resized when it is needed, inside `tf.data`.
#
# **Exercise 3.2.** Complete `prepare` in `train.py`. It makes a new data set out of one of single images (bytes) and
# labels: batches of float32 pictures from 0 to 1, of the new size, made only when somebody asks for them. (Lesson 04
# makes them ahead of time.) First decide: `.batch` and then `.map`, or the other way round? Which one resizes 256
# pictures in one call of `tf.image.resize`?
#
# Pass the labels on unchanged. After the training, the job also runs `probe.py`. It calls your `prepare`
# with numbers in place of labels, so the numbers that come out show which images were read and in which
# order. It also compares the pixels.

# %% tags=["check"]
import train

course.check("3.2", train.prepare)

# %% [markdown]
# ## The network
#
# *Keras Applications* has some seventy well-known networks, ready to build. In ResNet50, VGG16 or DenseNet121, the
# number is the depth: convolutions and dense layers. ResNet (2015) made 50, 101 and 152 layers trainable by adding a
# block's input to its output.
#
# | argument | meaning |
# |---|---|
# | `include_top` | whether to include the last layers, which turn features into classes |
# | `weights` | `"imagenet"`: trained weights, **downloaded**; `None`: random ones |
# | `input_shape` | height, width, colours; at least 32 × 32, for some networks more |
# | `pooling` | without top: `None`, `"avg"` or `"max"` of each feature's picture |
# | `classes` | how many classes, with top and without trained weights |
#
# **Exercise 3.3.** Complete `build_model` in `train.py`. `getattr(keras.applications, name)` is the network.
# Build it untrained, for `size` by `size` images, with 10 classes.

# %% tags=["check"]
course.check("3.3", train)

# %% [markdown]
# ## What the constructor returns
#
# **Exercise 3.4.** Predict the output shapes, one tuple for each letter. The first entry is `None`, because
# the batch is not known yet.
#
# | | an untrained ResNet50V2 with |
# |---|---|
# | a | images of 128 × 128 in colour, 10 classes |
# | b | the same images, `include_top=False` |
# | c | the same images, `include_top=False, pooling="avg"` |
# | d | images of 32 × 32 in colour, `include_top=False` |


# %% tags=["exercise"]
def shapes():
    ### BEGIN SOLUTION Exercise 3.4: return a dictionary with a tuple for each letter
    return {
        "a": (None, 10),
        "b": (None, 4, 4, 2048),
        "c": (None, 2048),
        "d": (None, 1, 1, 2048),
    }
    ### END SOLUTION


# %% tags=["check"]
course.check("3.4", shapes)

# %% [markdown]
# `--model` accepts the networks that do not scale images themselves: `ResNet101V2`, `VGG16`, `DenseNet121`,
# `MobileNet`, … Make `--size` as large as the network requires.
#
# ## How much memory it needs
#
# You can compute how much memory a job needs before it runs out. For each parameter, training holds the
# parameter itself, its gradient, and what the optimizer keeps: nothing for SGD, one number with momentum,
# two for Adam. It also holds the outputs of the layers for every image of the batch, because the backward
# pass needs them again. The memory for the parameters does not depend on the batch. The memory for the
# outputs is proportional to it.

# %%
import math

network = train.build_model("ResNet50V2", 128)
outputs = [layer.output_shape for layer in network.layers[1:]]  # without the input
per_image = 4 * sum(math.prod(shape[1:]) for shape in outputs)  # float32: 4 bytes per number
fixed = 4 * 2 * network.count_params()  # parameters and gradients; SGD keeps nothing
print(f"{fixed / 1e9:.2f} GB for parameters and gradients, {per_image / 1e6:.0f} MB per image")
for batch in (32, 256, 1024, 2048):
    print(f"batch {batch:5}: about {(fixed + batch * per_image) / 1e9:6.1f} GB")
course.predictions.compare("predict_params", network.count_params(), how="counted")
course.predictions.compare("predict_steps", math.ceil(50_000 / 256), how="computed")

# %% [markdown]
# "About", because a framework frees early what the backward pass does not need. On a CPU, a training step's peak
# memory grew by 28 MB per image (TensorFlow 2.21, batches of 8, 24 and 40), not by 41 MB. If libraries and their
# working space take 2 GB (`nvidia-smi` does not show it: TensorFlow reserves nearly the whole GPU at its start), an
# A100 with 40 GB is full somewhere between a batch of 920 and one of 1,350, and 2,048 does not fit (computed, not
# measured; lesson 05 chooses its batch in this way). **The largest batch follows from the device's memory.**
#
# ## Fewer bits
#
# Halving the bytes per number halves what is saved in it. GPUs also multiply short numbers many times faster: an
# A100's data sheet promises 19.5 TFLOP/s in float32, 156 in TF32 and 312 in 16 bits. What you lose depends
# on where you save the bits:
#
# | format | bits | bits of the mantissa | largest | used as |
# |---|---|---|---|---|
# | float32 | 32 | 23 | 3 · 10³⁸ | the default of this course's programs |
# | TF32 | 19 of 32 | 10 | 3 · 10³⁸ | what matrix units turn float32 into, on NVIDIA GPUs since the A100 |
# | bfloat16 | 16 | 7 | 3 · 10³⁸ | *mixed precision by autocast*: the products in 16 bits, the parameters in float32 |
# | float16 | 16 | 10 | 65,504 | the same, with a scaled-up loss, because small gradients would become 0 |

# %%
import tensorflow as tf

for kind in (np.float32, np.float16, tf.bfloat16.as_numpy_dtype):
    weight, step, tiny = kind(1), kind(0.001), kind(1e-8)
    print(f"{kind.__name__:9} 1 + 0.001 = {float(weight + step):.6f}   1e-8 = {float(tiny):.2g}")
print("TF32 where the GPU has it:", tf.config.experimental.tensor_float_32_execution_enabled())

# %% [markdown]
# In bfloat16, a step of 0.001 does not change a weight of 1. In float16, a gradient of 10⁻⁸ is 0. That is why mixed
# precision keeps float32 numbers and applies the updates to them. With **autocast**, these numbers are the
# parameters. You must ask for autocast (`keras.mixed_precision.set_global_policy("mixed_bfloat16")`;
# `torch.autocast`). The other way, **bfloat16 parameters with float32 copies** in the optimizer, is part of lesson
# 13. TF32 is different: TensorFlow uses it by default, and PyTorch does so for convolutions but not for other
# products (versions 2.21 and 2.13). So the same "float32" program in TensorFlow multiplies with 10-bit mantissas
# (three decimal digits) and adds in float32 on an A100 or H100, and has 23 bits for both on a V100 or a CPU. When you
# quote a throughput, quote the precision with it.
#
# ## Run it
#
# The optimizer is SGD with a rate of 0.01, as in Barcelona's program. The first job trains ResNet50V2. The
# second job compares batch sizes and networks. In the `smoke` profile, it trains a light network at three
# batch sizes, and MobileNet. In the `full` profile, it trains ResNet50V2 at three batch sizes, and
# ResNet101V2.

# %%
one = course.on_nodes(1, gpus if profile == "full" else "")
baseline, probe = course.submit("job.sbatch", *train_words, options=one)
print(baseline.outcome, "on", baseline.header["device"])
for epoch in baseline.epochs:
    print(f"  epoch {epoch.number}: {epoch.seconds.value:6.2f} s, {epoch.steps} steps", end="")
    print(f"  loss {epoch.train_loss.value:.4f}  accuracy {epoch.train_accuracy.value:.4f}")
print(f"  test accuracy {baseline.test_accuracy.value:.4f}")
for found in probe.measures:
    print(f"  probe.py: {found['name']} {found['value']:g}")

# %% tags=["hide-input"]
published = {
    "loss": [2.0179, 1.7293, 1.5707, 1.4572, 1.3707],
    "accuracy": [0.2585, 0.3654, 0.4237, 0.4664, 0.5001],
}
for number, (loss, accuracy) in enumerate(zip(*published.values(), strict=True), start=1):
    print(f"epoch {number}, Barcelona: loss {loss:.2f}, accuracy {accuracy:.2f}", end="")
    epoch = baseline.epochs[number - 1] if number <= len(baseline.epochs) else None
    print(f"; you: {epoch.train_loss.value:.2f}, {epoch.train_accuracy.value:.2f}" if epoch else "")

# %% [markdown]
# **What you should see.**
#
# - In the `smoke` profile, you train on a two-hundredth of the data, with pictures a sixteenth as large, so you stay
#   far behind. In the `full` profile, Barcelona's numbers are a reference, not a target.
# - Barcelona's epoch took **42 s** on one GPU (V100) of CTE-POWER. The same program took 24 s in its first epoch and
#   14 s in the second on one H100, and 215 s on 20 CPU cores (MareNostrum 5, in J. Torres' textbook).
# - On two CPU cores, with 256 images of 32 × 32 in batches of 32, we saw 6 to 11 s for the first epoch, 2 to
#   5 s for the others, and losses of about 2.6, 2.4 and 2.3 (TensorFlow 2.21).
# - **The first epoch does not count.** In it, TensorFlow traces some 190 layers into a graph, optimizes it and
#   allocates memory. Here it takes two or three times as long as the second.
#
# **Does the training accuracy rise while the test accuracy stays at 0.10, like guessing?** With batch normalisation
# and so few steps, that is no bug. (In a network without it, look for one.) *Batch normalisation* trains with the
# mean and variance of each batch and tests with running averages of them. After 32 steps (four epochs) on two CPU
# cores we measured an accuracy of 0.097 on the test images and 0.22 in training. After a few hundred steps, the
# averages have settled. So the `smoke` profile does not grade test accuracy here.
#
# Before the second job: with pictures of 32 × 32, `cnn` has 1.6 million parameters, and MobileNet has 3.2 million.
# Which of them reads more images per second, and by what factor? Bet.

# %%
light = ["cnn:16", "cnn:64", "cnn:256", "MobileNet:64"]
heavy = ["ResNet50V2:32", "ResNet50V2:128", "ResNet50V2:512", "ResNet101V2:128"]
pairs = {"smoke": light, "full": heavy}[profile]
compared = course.submit("job_compare.sbatch", *pairs, *compare_words, options=one)
lines = {}
for run in compared:
    lines.setdefault(run.header["model"], []).append(run)
course.plots.throughput_by_batch(lines)

# %% tags=["hide-input"]
for run in sorted([baseline, *compared], key=lambda run: run.header["params"]):
    seconds, rate = course.measure.epoch_time(run), course.measure.throughput(run)
    print(f"{run.header['model']:12} {run.header['params']:12,} parameters", end="")
    print(f"  batch {run.header['global_batch']:4}  {seconds.value:7.2f} s  {rate.value:8.0f} /s")

# %% [markdown]
# - A larger batch gives the device more to do at a time, until it is full. (Where a GPU is full, the `full` profile
#   shows.) If the whiskers overlap, you have not seen a difference.
# - If you run out of memory (`OOM` in the error file), reduce the batch for *everything* that you compare.
# - The number of parameters is not the amount of work. The time depends on what is computed for each
#   pixel. Compare parameters and images per second in the rows of your table.

# %% [markdown]
# ## Which record is which fault?
#
# Five runs of `train.py --model cnn` with 1,000 photographs, batches of 64 and a rate of 0.01 were recorded. `h` is the
# intact program. Each of the others has one fault:
#
# - **A** a rate of 1, not 0.01
# - **B** the test images are divided by 255 twice
# - **C** the labels are shuffled, and the images are not
# - **D** every label becomes 0
# - **E** `drop_remainder=True`
# - **F** 1,000 classes

# %%
for letter, run in recorded.items():
    last = run.epochs[-1]
    print(letter, "losses", *(epoch.train_loss.value for epoch in run.epochs))
    print(
        f"  {last.steps} steps; the last epoch's accuracy {last.train_accuracy.value:.3f}", end=""
    )
    print(f"; test: accuracy {run.test_accuracy.value:.3f}, loss {run.test_loss.value:.3f}")

# %% [markdown]
# Write the letters of `k`, `p`, `s` and `w` in this order, as one word. And one number: a GPU has 8 GB, of which
# libraries take 2. How many photographs of 128 × 128 pixels fit into a batch of ResNet50V2 in float32, if **Adam**
# trains it and no output is freed early?

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: faults_baseline, four letters, and largest_batch, a number of photographs
faults_baseline = "BDCE"
largest_batch = int((6e9 - 4 * 4 * network.count_params()) / per_image)
### END SOLUTION
course.answers.note(faults_baseline=faults_baseline, largest_batch=largest_batch)
course.answers.note(baseline_epoch_s=course.measure.epoch_time(baseline).value)

# %% [markdown]
# A perfect accuracy is a reason to look at the data. Which of the five runs would you look at first?
#
# **Open question**, without points: the Barcelona course's article, the source of the numbers above, says that
# ResNet50V2 has 25,613,800 parameters and prints a program with `classes=10`. Which of the two trained the published
# network? Defend your answer with a run.
#
# ## Your own task (optional): ResNet152V2
#
# Lesson 05 asks whether this larger network scales better. To answer that for your own machine, you need its
# baseline, too. Everything else must stay as it was for ResNet50V2. In the `smoke` profile, that means `--size 32
# --train-samples 256 --test-samples 128 --batch-size 32`. With the sizes in `job.sbatch`, two cores would need hours.
# Type the first line for `smoke` and the second for `full` (with your `gpus`, if the site's file asks for none), in a
# terminal, after `source ~/.dl-course/site.sh`:
#
#     sbatch job.sbatch --model ResNet152V2 --size 32 --train-samples 256 --test-samples 128 --batch-size 32 --epochs 3
#     sbatch --cpus-per-task=8 job.sbatch --model ResNet152V2
#
# ## Traps
#
# | you see | cause |
# |---|---|
# | killed, exit code 137 | the whole array, 9.8 GB, was resized at once in a job with less memory |
# | training works, but badly; pictures are colour noise | reshape to (32, 32, 3) without transposing |
# | the job prints nothing and reaches its time limit | `weights="imagenet"` waits for the internet |
# | test accuracy 0.10 while the training accuracy rises | batch normalisation has not settled yet: train longer; or the test images are prepared differently |
# | fewer steps per epoch than ceil(n / batch) | the last batch was dropped, or you used another data set |
# | a "baseline" far slower than the published one | perhaps the device waits for its pictures: lesson 04 |
#
# ## Recap
#
# - You can compute steps, parameters and bytes with paper and pencil. If you do so first, you request the
#   right node and know why a job died.
# - Prepare large inputs batch by batch, inside the input pipeline.
# - Memory holds parameters, gradients and the optimizer's numbers, plus the layers' outputs times the batch. What is
#   kept in half the bits needs half the memory, but has fewer digits.
# - A baseline is one device's median epoch time without the first epoch, and everything that it depends on:
#   network, size, batch, device, precision, versions. Divide it by the time on N devices only if these
#   agree, and say whether the batch is that of a device or of all.
#
# **Submit** your work in a terminal:
#
#     lessons submit 03
#
# Next: lesson 04 asks whether the device waits for its data. Lesson 05 puts the network on several GPUs.
# Further reading: K. He and others, *Identity Mappings in Deep Residual Networks*, 2016; the pages of Keras
# Applications; J. Torres, *Supercomputing for Artificial Intelligence*.
