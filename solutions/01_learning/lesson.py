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
# # 01 · Learning is curve fitting
#
# **What does a program do when it learns, in numbers?**
#
# You fit a curve to thirty points, then a network to thousands of handwritten digits. Both times you do
# the same: choose a form with free numbers, measure how wrong it is, change the numbers a little so
# that it is less wrong, repeat. No framework hides anything here. The whole program is little more than
# a hundred lines of NumPy, and lesson 06 distributes it over many workers.
#
# Allow 60 minutes. The runs of this page together take seconds.

# %% tags=["parameters"]
profile = "smoke"  # "smoke": 12,800 images, a few seconds. "full": all 60,000

# %% tags=["setup"]
import importlib

import numpy as np

from lessons.toolkit import answers, data, plots, predictions
from lessons.toolkit.checks import lesson_01 as check

sizes = {"smoke": ["--train-samples", "12800", "--epochs", "3"], "full": ["--epochs", "5"]}[profile]

# %% [markdown]
# ## Predict
#
# Before any run, commit yourself. Only that you predicted counts, not whether you were right.
#
# 1. You stand at *w* on the curve ½·a·w². Its slope there is *a·w*. You step against the slope, by a
#    number lr (the *rate*) times it, to *w* − lr·*a·w*. You do so again and again. For *a* = 4: above
#    which rate lr do you run away instead of coming to rest?
# 2. A trained network recognises 93 % of the digits. You shuffle its weights: the same numbers,
#    each at a random place. What accuracy is left? A fraction of 1.

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_divergence and predict_shuffled to a number each
predict_divergence = 0.5
predict_shuffled = 0.1
### END SOLUTION
answers.note(predict_divergence=predict_divergence, predict_shuffled=predict_shuffled)

# %% [markdown]
# ## A function that nobody can write down
#
# A robot in a garden photographs insects and has to tell ten kinds apart, to decide which ones may
# stay. The photograph is 224 × 224 pixels in 3 colours; the answer is one of 10. So the robot needs
# a *function* from many numbers to ten. Try to write it with `if` and loops: which pixel would you
# ask first? Pattern recognition, classification, clustering: tasks of this kind are easy to show by
# examples and impossible to spell out. So we choose a form that can be almost any function, and
# *fit* it to examples. The better the camera and the more insects, the larger the model, the longer
# the training, and the more often it is trained again. That is where supercomputers come in.
#
# The answer is given as **one-hot**: ten numbers, 1 at the right kind and 0 elsewhere. Kind 0 is
# `1000000000`.
#
# How many inputs has the robot's function? And how is kind 3 written, in quotes? (The first kind is 0.)

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: insect_inputs, a number; insect_one_hot, ten digits
insect_inputs = 224 * 224 * 3
insect_one_hot = "0001000000"
### END SOLUTION
answers.note(insect_inputs=insect_inputs, insect_one_hot=insect_one_hot)

# %% [markdown]
# ## Thirty points
#
# The form is a polynomial, w[0] + w[1]·x + w[2]·x² + w[3]·x³. Its four free numbers are its
# **parameters**. The **loss** (or cost) says how wrong it is: the mean of (polynomial − y)² over the
# points.

# %% tags=["setup"]
rng = np.random.default_rng(1)
x = np.linspace(-1, 1, 30)
y = np.sin(3 * x) + 0.1 * rng.normal(size=30)
fine = np.linspace(-1, 1, 200)  # to draw a curve


def polynomial(w, x):
    return sum(w[k] * x**k for k in range(len(w)))


def loss(w):
    return ((polynomial(w, x) - y) ** 2).mean()


# %% [markdown]
# Which way is better? Ask each parameter: move it up a little, down a little, and see what the loss
# does. The change of the loss divided by the change of the parameter is its **slope**:

# %%
e = 1e-6  # "a little"
for k in range(4):
    up, down = np.zeros(4), np.zeros(4)
    up[k], down[k] = e, -e
    print(f"w[{k}]: slope {(loss(up) - loss(down)) / (2 * e):+.3f}")

# %% [markdown]
# w[1] has a large negative slope: more of it, and the loss falls. All slopes together are the
# **gradient**. It points uphill; to go down, step against it. This way of finding it is called
# *central differences*. It is reliable and slow: two losses for each parameter, and networks have
# millions. A formula gives all slopes at once.
#
# For one point the loss is error², with error = polynomial − y. Move w[k] by a little d: the
# polynomial moves by d·x^k, and error² by 2·error·d·x^k. So the slope of one point is 2·error·x^k, and
# that of the mean over all points is the mean of these.
#
# **Exercise 1.1.** Write this gradient, as an array as long as `w`. It is checked against central
# differences. Use this check on every gradient that you ever write by hand. Use it in float64, NumPy's
# default with 16 digits. In float32, which has 7, the slopes of the cell above are off by 5 %, though
# nothing in it is wrong: the two losses differ only in digits that float32 does not have.


# %% tags=["exercise"]
def gradient(w, x, y):
    """d loss / d w[k], for every k."""
    ### BEGIN SOLUTION Exercise 1.1: for every k the mean of 2 · error · x**k
    error = polynomial(w, x) - y
    return np.array([np.mean(2 * error * x**k) for k in range(len(w))])
    ### END SOLUTION


# %% tags=["check"]
check.check_1_1(gradient)

# %% [markdown]
# **Exercise 1.2.** Gradient descent: start somewhere, take `steps` small steps
# *w ← w − lr · gradient(w)*, and keep every point that you visit. `lr` is the **learning rate**. Here
# `gradient` is whatever function you are given: it takes `w` alone, so that `descend` works for any
# loss. Write `w = w - …`, for `w -= …` would change the points that you have kept.


# %% tags=["exercise"]
def descend(gradient, w, lr, steps):
    """The list of all points of the way down: the start, then one for each step."""
    ### BEGIN SOLUTION Exercise 1.2: repeat w = w - lr * gradient(w), collect the points
    path = [w]
    for _ in range(steps):
        w = w - lr * gradient(w)
        path.append(w)
    return path
    ### END SOLUTION


# %% tags=["check"]
check.check_1_2(descend)

# %% [markdown]
# Now fit, and look at the curve after 0, 10, 100 and 1,000 steps.

# %%
path = descend(lambda w: gradient(w, x, y), np.zeros(4), 0.5, 1000)
plots.fitted_curves(
    x, y, {f"{n} steps": (fine, polynomial(path[n], fine)) for n in (0, 10, 100, 1000)}
)

# %% [markdown]
# Now three rates. On the curve of your prediction a step takes *w* to (1 − lr·*a*)·*w*. You come to
# rest if that factor is between −1 and 1, so for lr below 2 / *a*. The loss of this polynomial is a
# bowl, steeper in some directions than in others. In the steepest direction *a* is 2.28 (an eigenvalue,
# by computer), so the largest rate is 2 / 2.28 = 0.88. No faster computer moves that bound.

# %%
rates = {f"lr {lr}": descend(lambda w: gradient(w, x, y), np.zeros(4), lr, 100)
         for lr in (0.02, 0.5, 0.92)}  # fmt: skip
plots.losses({name: [loss(w) for w in path] for name, path in rates.items()}, highest=10)

# %% [markdown]
# **What you should see.** With 0.02 the loss falls, and is still on its way after 100 steps. With 0.5 it
# comes down to 0.016; the best that any polynomial of this form can do is 0.0113. With 0.92 it first
# falls, then rises without end. So: start somewhere, measure the error, get the gradient, take a small
# step, and stop when it is good enough.
#
# ## A network is a form, too
#
# A **neuron** multiplies each input by a weight, adds the products and a bias, and bends the sum with an
# **activation** (or transfer) function, here tanh. A **hidden layer** of such neurons feeds an output
# layer that adds them up. With enough hidden neurons this form comes as close as you like to *any*
# continuous function on an interval: that is what function approximation means. Here is a network for
# the thirty points of a wilder curve: forward, then backward, then the step. Read a name like `d_out` as
# "how much the loss grows when `out` grows": a slope, as above.


# %%
wild = np.sin(6 * x) + 0.1 * rng.normal(size=30)


def fit_network(units, steps=3000, lr=0.1):
    random = np.random.default_rng(1)
    w1, b1 = random.normal(0, 3, units), random.normal(0, 1, units)
    w2, b2 = np.zeros(units), 0.0
    for _ in range(steps):
        hidden = np.tanh(np.outer(x, w1) + b1)
        d_out = 2 * (hidden @ w2 + b2 - wild) / len(x)  # the chain rule, from the output …
        d_hidden = np.outer(d_out, w2) * (1 - hidden**2)  # … back through tanh
        w2, b2 = w2 - lr * d_out @ hidden, b2 - lr * d_out.sum()
        w1, b1 = w1 - lr * x @ d_hidden, b1 - lr * d_hidden.sum(axis=0)
    return lambda x: np.tanh(np.outer(x, w1) + b1) @ w2 + b2


# %%
networks = {units: fit_network(units) for units in (1, 4, 16)}
for units, network in networks.items():
    print(f"{units:2} hidden units: error {((network(x) - wild) ** 2).mean():.4f}")
plots.fitted_curves(
    x, wild, {f"hidden units: {n}": (fine, network(fine)) for n, network in networks.items()}
)

# %% [markdown]
# **What you should see.** The error falls with the number of hidden units, from about 0.4 with one
# to about 0.02 with sixteen: one neuron gives one bend. More units and layers can fit more. They also
# need more data and more computing.
#
# ## Sixty thousand digits
#
# MNIST: 28 × 28 pixels, a label from 0 to 9; 60,000 to learn from, 10,000 kept aside for the test.
# The files are in the IDX format: a few bytes that say how many numbers follow, then the pixels as
# plain bytes. Reading one by hand takes two lines:

# %%
file = bytes([0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 10, 20, 30, 40, 50, 60])  # 2 rows, 3 columns
rows, columns = np.frombuffer(file, ">u4", count=2, offset=4)
print(np.frombuffer(file, np.uint8, offset=12).reshape(rows, columns))

mnist = data.load("mnist")  # reads the four files so, after verifying their checksums
assert mnist.x_train.shape == (60000, 28, 28)
assert mnist.x_test.shape == (10000, 28, 28)
plots.images(mnist.x_train[:16], mnist.y_train[:16])

# %% [markdown]
# ## The program
#
# Open `train.py` beside this notebook and read it from the top. The network has 784 inputs (the
# pixels), 64 hidden units with **relu** (max(0, ·)), and 10 outputs, one for each digit. **Softmax**
# turns the ten scores into probabilities. The loss is the **cross-entropy**, −log of the probability
# that the right digit was given. A training step is always these five things: the forward pass, its
# result, the loss, **back-propagation**, the update. Once through all the images is an **epoch**.
#
# The next three gaps are in `train.py`: fill one, save the file (Ctrl+S), then run its check here.
#
# **Exercise 1.3.** Back-propagation is the chain rule. How fast the loss changes with a weight is how
# fast it changes with what the weight feeds, times how fast that changes with the weight. Fill
# `backward`, from the end to the beginning:
#
# - the slopes of the scores, `d_scores`: (probabilities − one-hot) / n. Softmax and log cancel to
#   this; the / n is there because the loss is a mean over n images. Minus one-hot means: minus 1 at
#   `[np.arange(n), labels]`, in a copy;
# - w2 gets `hidden.T @ d_scores`, b2 the sum of `d_scores` over the images (`axis=0`);
# - on to the hidden layer: `d_scores @ w2.T`, but only where relu let something through. A
#   comparison such as `hidden > 0` counts as 1 where it is true and as 0 elsewhere;
# - w1 and b1 as w2 and b2, with `x` in the place of `hidden`. Return w1, b1, w2, b2 in this order.
#
# (`@` is the product of matrices, `.T` swaps rows and columns. If you are lost, look at shapes: a
# gradient has the shape of its parameter, and from `x` (n × 784) and `d_hidden` (n × 64) only
# `x.T @ d_hidden` makes 784 × 64.)

# %% tags=["check"]
import train

importlib.reload(train)  # so that the cell sees what you just saved
check.check_1_3(train.forward, train.backward)

# %% [markdown]
# **Exercise 1.4.** The gradient of all 60,000 images would be exact, and give one step per epoch. 32
# images give a rougher gradient and 1,875 steps. So: shuffle, cut into batches, one step for each.
# This is **stochastic gradient descent**. Fill `minibatches`: a list of index arrays, together a
# permutation; the last one may be shorter.

# %% tags=["check"]
importlib.reload(train)
check.check_1_4(train.minibatches)

# %% [markdown]
# **Exercise 1.5.** Fill `update`. It is one line in a loop. Papers write it *w ← w − η · ∇Q(w)*: η is
# the learning rate, Q the loss and ∇Q its gradient. This time work *in place*, `param -= …`, for the
# network must see the new numbers.

# %% tags=["check"]
importlib.reload(train)
check.check_1_5(train.update)

# %% [markdown]
# A course's slide explained back-propagation like this. One line updates the wrong thing. Which one?
#
# - **A** Inputs X and Y are fed to the network, which predicts Z.
# - **B** A loss function says how large the error of Z is.
# - **C** Compute the derivatives of the loss with respect to X and Y, dL/dX and dL/dY.
# - **D** Subtract dL/dX and dL/dY from X and Y.
#
# Then count, before the program does: how many parameters (weights and biases) has the hidden layer,
# and how many has the output layer? And what is the loss of a network that gives every digit the
# probability 1/10?

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: wrong_line, params_hidden, params_output, loss_of_guessing
wrong_line = "D"
params_hidden = 784 * 64 + 64
params_output = 64 * 10 + 10
loss_of_guessing = float(np.log(10))
### END SOLUTION
answers.note(wrong_line=wrong_line, loss_of_guessing=loss_of_guessing)
answers.note(params_hidden=params_hidden, params_output=params_output)

# %% [markdown]
# ## Give it to the batch system
#
# `job.sbatch` asks for one task on one core. In a terminal (lesson 00 set it up) you would type
#
#     cluster submit job.sbatch --train-samples 12800 --epochs 3
#
# `submit_once` does the same from here: it prints the real command, waits, and returns the output
# files. Run the cell twice and the job still runs once, unless you changed a program or the job file in
# between.

# %%
from autograder.reading.files import read_files
from cluster.jobs.notebook import submit_once

[run] = read_files(submit_once("job.sbatch", *sizes))
print(run.header["params"], "parameters,", run.epochs[0].steps, "steps per epoch")
for epoch in run.epochs:
    print(f"epoch {epoch.number}: {epoch.seconds.value:.2f} s, loss {epoch.train_loss.value:.3f}")
print("test accuracy", run.test_accuracy.value)

# %%
plots.accuracy_curves({"NumPy": run})

# %% [markdown]
# **What you should see.** The first epoch does most: its mean loss is about 0.52, that of guessing is
# 2.3. Afterwards it creeps. With 12,800 images and 3 epochs five seeds ended at test
# accuracies from 0.927 to 0.934, with all 60,000 and 5 epochs from 0.968 to 0.972 (2 cores, NumPy
# 2.4). One core of that machine needed 0.07 s per epoch for 12,800 images and 0.29 s for 60,000. Your
# seconds will differ; your accuracy should not. The seed alone moves the accuracy by up to 0.7
# percentage points, so do not praise a change that gains less.
#
# ## Where is the knowledge?
#
# In the weights and nowhere else. `train.py` wrote them into `weights.npy`. Each hidden unit has
# 784 weights, one per pixel. They are a picture of what the unit looks for: a **feature**.

# %%
weights = np.load("weights.npy")
w1, b1, w2, b2 = np.split(weights, np.cumsum([784 * 64, 64, 640]))
plots.weight_images(w1.reshape(784, 64))

# %% [markdown]
# Where a picture is blue, ink makes its unit larger; where it is red, smaller. Strokes and arcs appear
# where digits are. At the rim, where all images are empty, there was nothing to learn, and the random
# start is still there. Now shuffle the weights:


# %%
def test_accuracy(w1, w2):
    params = [w1.reshape(784, 64), b1, w2.reshape(64, 10), b2]
    probabilities, _ = train.forward(params, mnist.x_test.reshape(-1, 784))
    return float((probabilities.argmax(axis=1) == mnist.y_test).mean())


shuffle = np.random.default_rng(2).permutation
shuffled_accuracy = np.mean([test_accuracy(shuffle(w1), shuffle(w2)) for _ in range(10)])
print(f"trained {test_accuracy(w1, w2):.4f}, shuffled {shuffled_accuracy:.4f}")
answers.note(shuffled_accuracy=float(shuffled_accuracy))
predictions.compare("predict_shuffled", float(shuffled_accuracy))

# %% [markdown]
# **What you should see.** The trained accuracy is the job's. Shuffled, about one digit in ten is
# right: that is guessing. The numbers are the same, and nothing is known any more.
#
# Last, your other prediction. Above which rate does descent on ½·a·w² diverge, for *a* = 4? By now you
# can compute it. Write it down, then let your `descend` try it.

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: set divergence_rate to a number
divergence_rate = 2 / 4
### END SOLUTION
answers.note(divergence_rate=divergence_rate)

# %%
ends = {lr: descend(lambda w: 4 * w, 1.0, lr, 100)[-1] for lr in (0.40, 0.49, 0.50, 0.51, 0.60)}
for lr, end in ends.items():
    print(f"lr {lr:.2f}: from w = 1, after 100 steps w = {end:.2g}")
predictions.compare("predict_divergence", min(lr for lr, end in ends.items() if abs(end) >= 1))

# %% [markdown]
# ## Traps
#
# | you see | it was |
# |---|---|
# | loss explodes, or sticks near 2.3 with accuracy 0.10 | gradient not divided by the batch, so a rate 32 times too large |
# | `RuntimeWarning: overflow encountered in exp`, then `nan` | softmax without subtracting the maximum |
# | a gradient check off by a few per cent, though the program is right | done in float32 |
# | accuracy jumps up and down from batch to batch, and the test accuracy is 0.16 | images sorted by digit, and not shuffled. (MNIST's own order is mixed: never shuffled, it still gave 0.92 to 0.93, where shuffled gave 0.93; 12,800 images, three seeds) |
# | an array of n × n losses, memory gone | shapes (n,) and (n, 1) were broadcast against each other |
# | the loss does not move at all | `param = param - …` instead of `param -= …` |
#
# ## Recap
#
# - Your predictions came back. The rate's bound follows from the curvature, 2 / *a*, and you can know it
#   before you run. Shuffled weights know nothing: knowledge is in which number stands where.
# - Learning = a form with free numbers, a loss, its gradient, many small steps.
# - Back-propagation is the chain rule from the loss to every weight; central differences check it.
# - The rate has an upper bound that the curvature of the loss sets.
# - An epoch is ceil(samples / batch) steps, the last one smaller if need be.
#
# **Hand in**: this packs the folder and says what is in it.
#
#     lessons submit 01
#
# Next: 02 lets a framework write the backward pass; 06 runs this very program on several workers.
# Further reading: 3Blue1Brown's chapters on neural networks; M. Nielsen, *Neural Networks and Deep
# Learning*; T. Ben-Nun and T. Hoefler, *Demystifying Parallel and Distributed Deep Learning*
# (arXiv 1802.09941). Pictures of this page are drawn with matplotlib; images of your own are opened
# with pillow.
