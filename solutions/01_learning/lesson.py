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
# **In numbers, what does a program do when it learns?**
#
# You fit a curve to thirty points, then a network to thousands of handwritten digits. In both cases, the
# method is the same: choose a form with free numbers, measure how wrong it is, change the numbers a little so
# that it is less wrong, and repeat. No framework hides anything here. The whole program is little more than a
# hundred lines of NumPy, and lesson 06 distributes it over many workers.
#
# Allow 60 minutes. The runs on this page take seconds.
#
# First, look at five programs that learnt to recognise the same 12,800 digits. One is intact, and in each of the others
# one line is wrong. Two have a lower loss than the intact one, and recognise fewer new digits. Which are they? After
# this page you can tell all five apart.

# %% tags=["parameters"]
profile = "smoke"  # "smoke": 12,800 images, a few seconds. "full": all 60,000

# %% tags=["setup", "hide-input"]
import numpy as np

from lessons import course
from lessons.toolkit import data

sizes = {"smoke": ["--train-samples", "12800", "--epochs", "3"], "full": ["--epochs", "5"]}[profile]

# %%
recorded = {
    "A": [0.5532, 0.3191, 0.2873, 0.2707, 0.2573, 0.2501],
    "B": [0.4544, 0.1150, 0.0486, 0.0257, 0.0165, 0.0119],
    "C": [0.5238, 0.2742, 0.2156, 0.1788, 0.1503, 0.1294],
    "D": [1.8083, 1.2800, 1.0897, 0.9890, 0.9250, 0.8800],
    "E": [0.2198, 0.1750, 0.1158, 0.0968, 0.0803, 0.0756],
}
course.plots.losses(recorded, highest=2, per="epoch")

# %% [markdown]
# ## Predict
#
# 1. You stand at *w* on the curve ½·a·w². Its slope there is *a·w*. You take a step against the slope: the
#    new place is *w* − lr·*a·w*, where lr is a number that you choose, the *rate*. You repeat this many
#    times. For *a* = 4: above which rate does the descent never settle?
# 2. A trained network recognises 93 % of the digits. You shuffle the weights of each layer (its biases stay), so that
#    each number is in a random position. What accuracy, from 0 to 1, is left?

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_divergence and predict_shuffled to a number each
predict_divergence = 0.5
predict_shuffled = 0.1
### END SOLUTION
course.answers.note(predict_divergence=predict_divergence, predict_shuffled=predict_shuffled)

# %% [markdown]
# ## A function that nobody can write down
#
# A robot in a garden photographs insects and has to tell ten kinds apart, to decide which ones may stay. A
# photograph has 224 × 224 pixels in 3 colours. The answer is one of 10 kinds. So the robot needs a
# *function* from many numbers to ten. Try to write it with `if` and loops: which pixel do you look at first?
#
# Such tasks are easy to show with examples and hard to spell out. So we choose a form that can become almost any
# function, and *fit* it to examples. A better camera and more insects need a larger model, which trains longer: that is
# where supercomputers come in.
#
# The answer is **one-hot encoded**: ten numbers, 1 for the right kind and 0 for all others. Kind 0, the first one, is
# `1000000000`.
#
# ## Thirty points
#
# Our first form is a polynomial, w[0] + w[1]·x + w[2]·x² + w[3]·x³. Its four free numbers are its
# **parameters**. The **loss** (or cost) says how wrong it is. It is the mean of (polynomial − y)² over the
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
# Which way is better? Try each parameter: move it up a little, then down a little, and see what the loss
# does. The change in the loss divided by the change in the parameter is the **slope** of the loss:

# %%
e = 1e-6  # "a little"
for k in range(4):
    up, down = np.zeros(4), np.zeros(4)
    up[k], down[k] = e, -e
    print(f"w[{k}]: slope {(loss(up) - loss(down)) / (2 * e):+.3f}")

# %% [markdown]
# w[1] has a large negative slope: if it grows, the loss falls. All slopes together are the **gradient**. It
# points uphill, so to go down, you step against it. This method of finding the gradient is called *central
# differences*. It is reliable but slow: it computes two losses per parameter, and networks have millions of
# parameters. A formula computes all slopes at once.
#
# For one point, the loss is error², where error = polynomial − y. Change w[k] by a small d. Then the polynomial
# changes by d·x^k, and error² by nearly 2·error·d·x^k. What is the slope for one point, then, and what is it for the
# loss, which is a mean over all points?
#
# **Exercise 1.1.** Write this gradient, as an array of the same length as `w`. The check compares it with central
# differences. Do that with every gradient that you ever write by hand, and do it in float64, NumPy's default with 16
# digits. In float32, which has 7 digits, the four slopes in the cell above are off by 238, 1, 100 and 3 %, although
# nothing is wrong: the two losses differ only in digits that float32 does not have.


# %% tags=["exercise"]
def gradient(w, x, y):
    """d loss / d w[k], for every k."""
    ### BEGIN SOLUTION Exercise 1.1: an array with one slope for every k
    error = polynomial(w, x) - y
    return np.array([np.mean(2 * error * x**k) for k in range(len(w))])
    ### END SOLUTION


# %% tags=["check"]
course.check("1.1", gradient)

# %% [markdown]
# **Exercise 1.2.** Gradient descent: start somewhere, take `steps` small steps against the slope, as in your first
# prediction, and keep every point that you visit. `lr` is the **learning rate**. Here `gradient` is any function that
# takes `w` alone, so that `descend` works for every loss. Write `w = w - …`, because `w -= …` would change
# the points that you have kept.


# %% tags=["exercise"]
def descend(gradient, w, lr, steps):
    """The list of all points of the way down: the start, then one for each step."""
    ### BEGIN SOLUTION Exercise 1.2: a list of the start and of `steps` points
    path = [w]
    for _ in range(steps):
        w = w - lr * gradient(w)
        path.append(w)
    return path
    ### END SOLUTION


# %% tags=["check"]
course.check("1.2", descend)

# %% [markdown]
# Now fit the curve, and look at it after 0, 10, 100 and 1,000 steps.

# %%
path = descend(lambda w: gradient(w, x, y), np.zeros(4), 0.5, 1000)
course.plots.fitted_curves(
    x, y, {f"{n} steps": (fine, polynomial(path[n], fine)) for n in (0, 10, 100, 1000)}
)

# %% [markdown]
# Now try three rates. On the curve from your prediction, a step changes *w* to (1 − lr·*a*)·*w*. The descent
# settles if that factor is between −1 and 1, so lr must be below 2 / *a*. The loss of the polynomial is a
# bowl that is steeper in some directions than in others. In the steepest direction *a* is 2.28 (an
# eigenvalue, computed), so the largest rate is 2 / 2.28 = 0.88. A faster computer does not move that bound.

# %%
rates = {f"lr {lr}": descend(lambda w: gradient(w, x, y), np.zeros(4), lr, 100)
         for lr in (0.02, 0.5, 0.92)}  # fmt: skip
course.plots.losses({name: [loss(w) for w in path] for name, path in rates.items()}, highest=10)

# %% [markdown]
# **What you should see.** At a rate of 0.02, the loss falls and is still falling after 100 steps. At 0.5 it reaches
# 0.016. The smallest loss that any polynomial of this form can reach is 0.0113. At 0.92 the loss first falls, then
# rises without limit.
#
# ## A network is a form, too
#
# A **neuron** multiplies each input by a weight, adds up the products and a bias, and bends the sum with an
# **activation** (or transfer) function, here tanh. A **hidden layer** of such neurons feeds an output layer
# that adds them up. With enough hidden neurons, this form comes as close as you like to *any* continuous
# function on an interval. That is what *function approximation* means.
#
# Here is a network for thirty points on a wilder curve. Read a name like `d_out` as "how much the loss grows when
# `out` grows". It is a slope, as above.


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
course.plots.fitted_curves(
    x, wild, {f"hidden units: {n}": (fine, network(fine)) for n, network in networks.items()}
)

# %% [markdown]
# **What you should see.** The error falls from about 0.4 with one hidden unit to about 0.03 with sixteen. One neuron
# makes one step up or down.
#
# ## Sixty thousand digits
#
# MNIST has 70,000 handwritten digits of 28 × 28 pixels, each with a label from 0 to 9: 60,000 to learn
# from, and 10,000 for the test. The files are in the IDX format: a few bytes say how many numbers follow,
# then come the pixels as plain bytes. Two lines read such a file:

# %%
file = bytes([0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 10, 20, 30, 40, 50, 60])  # 2 rows, 3 columns
rows, columns = np.frombuffer(file, ">u4", count=2, offset=4)
print(np.frombuffer(file, np.uint8, offset=12).reshape(rows, columns))

mnist = data.load("mnist")  # reads the four files so, after verifying their checksums
assert mnist.x_train.shape == (60000, 28, 28)
assert mnist.x_test.shape == (10000, 28, 28)
course.plots.images(mnist.x_train[:16], mnist.y_train[:16])

# %% [markdown]
# ## The program
#
# Open `train.py` beside this notebook and read it from the top. The network has 784 inputs (the pixels), 64
# hidden units with **relu** (max(0, ·)), and 10 outputs, one for each digit. **Softmax** turns the ten
# scores into probabilities. The loss is the **cross-entropy**: −log of the probability that the network
# gave to the right digit. A training step always has five parts: the forward pass, its result, the loss,
# **back-propagation** (the backward pass), and the update. One pass through all images is an **epoch**.
#
# The next three gaps are in `train.py`. Fill in one, save the file (Ctrl+S), then run its check here.
#
# **Exercise 1.3.** Back-propagation is the chain rule. A weight feeds a sum, and the sum changes the loss.
# So the slope for the weight is the slope for that sum, times how fast the sum changes with the weight. Fill
# in `backward`, from the end to the beginning:
#
# - `d_scores`, the slopes of the scores, are (probabilities − one-hot) / n. This remains after softmax and
#   log cancel. The / n is there because the loss is a mean over n images. To subtract one-hot, subtract 1 at
#   each image's own label, in a copy.
# - w2 gets the product of `hidden` and `d_scores` that has w2's shape. b2 gets the sum of `d_scores` over the images
#   (`axis=0`).
# - The slopes of the hidden layer come back through w2, but only where relu let something through. A comparison
#   counts as 1 where it is true and as 0 elsewhere.
# - w1 and b1 are like w2 and b2, with `x` in place of `hidden`. Return w1, b1, w2, b2 in this order.
#
# (`@` is the product of matrices, `.T` swaps rows and columns. If you are lost, look at shapes: `x` is n × 784,
# `d_hidden` is n × 64, and a gradient has the shape of its parameter.)

# %% tags=["check"]
import train

course.check("1.3", train.forward, train.backward)

# %% [markdown]
# **Exercise 1.4.** The gradient of all 60,000 images is exact, but allows only one step per epoch. The gradient of 32
# images is noisier, but allows 1,875 steps. So shuffle the images, cut them into batches, and take one step for each
# batch. This is **stochastic gradient descent**. A colleague wrote `minibatches` like this. All batches have the right
# size, and yet an epoch misses 37 % of the images. Repair it.
#
#     return [rng.permutation(n)[first : first + batch] for first in range(0, n, batch)]

# %% tags=["check"]
course.check("1.4", train.minibatches)

# %% [markdown]
# **Exercise 1.5.** Complete `update`, one line in a loop. Papers write it *w ← w − η · ∇Q(w)*: η is the
# learning rate, Q the loss and ∇Q its gradient. In 1.2 each step made a new array. Here the network keeps its
# arrays, so the new numbers must go into these.

# %% tags=["check"]
course.check("1.5", train.update)

# %% [markdown]
# ## Questions
#
# - `insect_inputs`: how many inputs does the robot's function have? `insect_one_hot`: how is kind 3
#   written, in quotes?
# - `params_hidden`, `params_output`: how many parameters (weights and biases) does each of the two layers
#   have? Count before the program does.
# - `wrong_line`: a slide from a course explained back-propagation as follows. What is the first line that is wrong?
#
# **A** Inputs X and Y are fed to the network, which predicts Z. **B** A loss function says how large the
# error of Z is. **C** Compute the derivatives of the loss with respect to X and Y, dL/dX and dL/dY. **D**
# Subtract dL/dX and dL/dY from X and Y.
#
# - `five_runs`: in the runs at the top of the page, `few` reads the first 1,280 images ten times per epoch, `nothing`
#   is intact, `output` updates only w2 and b2, `relu` lets all slopes through relu, and `sorted` reads all zeros first,
#   then all ones, and so on. Write their letters in this order, as one word.
#
# | run | accuracy on the training images, last epoch | test accuracy |
# |---|---|---|
# | A | 0.929 | 0.917 |
# | B | 1.000 | 0.888 |
# | C | 0.964 | 0.944 |
# | D | 0.753 | 0.757 |
# | E | 0.979 | 0.240 |
#
# **Open, for no points.** Make one of the five: in a copy of `train.py`, `wrong.py`, take relu's mask out of
# `backward`, and run `python wrong.py --train-samples 12800 --epochs 6` in a terminal. Then reach a test accuracy of
# 0.95 with 12,800 images and three epochs. Change one thing at a time, try three seeds for each, and say which change
# you would defend.

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: set each name of the list above to a number, letters or digits in quotes
insect_inputs, insect_one_hot = 224 * 224 * 3, "0001000000"
wrong_line = "C"
params_hidden, params_output = 784 * 64 + 64, 64 * 10 + 10
five_runs = "BCDAE"
### END SOLUTION
course.answers.note(
    insect_inputs=insect_inputs, insect_one_hot=insect_one_hot, wrong_line=wrong_line
)
course.answers.note(params_hidden=params_hidden, params_output=params_output)
course.answers.note(five_runs=five_runs)

# %% [markdown]
# A program that knows its training images by heart, and fails on new ones, has **overfitted** them. No loss on the
# training images shows that: only images that it never read do.
#
# ## Submit it as a job
#
# `job.sbatch` requests one task on one core. In a terminal (set up in lesson 00), you would type
#
#     sbatch job.sbatch --train-samples 12800 --epochs 3
#
# `course.submit` does the same from here. It prints the real command, waits, and returns the runs in the output. The
# second run is `probe.py`, which compares your functions with known results.

# %%
run, probe = course.submit("job.sbatch", *sizes)
print(run.header["params"], "parameters,", run.epochs[0].steps, "steps per epoch")
for epoch in run.epochs:
    print(f"epoch {epoch.number}: {epoch.seconds.value:.2f} s, loss {epoch.train_loss.value:.3f}")
print("test accuracy", run.test_accuracy.value)
course.plots.accuracy_curves({"NumPy": run})

# %% [markdown]
# **What you should see.** The first epoch does most of the work: the mean loss during it is about 0.52, against 2.3
# for guessing. After that, progress is slow. With 12,800 images and 3 epochs, the test accuracies of seven seeds
# ranged from 0.923 to 0.934: the seed alone changes the accuracy by a percentage point. With all 60,000 images and 5
# epochs they were 0.968 to 0.972 (2 cores, NumPy 2.4). Your accuracy should be in or near
# these ranges.
#
# ## Where is the knowledge?
#
# The knowledge is in the weights and nowhere else. `train.py` wrote them to `weights.npy`. Each hidden unit
# has 784 weights, one per pixel. Together they form a picture of what the unit looks for: a **feature**. What does a
# unit look for at the edge of an image? Guess before you run the cell.

# %%
weights = np.load("weights.npy")
counts = [array.size for array in train.start(np.random.default_rng())]
w1, b1, w2, b2 = np.split(weights, np.cumsum(counts[:-1]))
course.plots.weight_images(w1.reshape(784, 64))

# %% [markdown]
# Ink raises a unit's output where its picture is blue, and lowers it where it is red. Strokes and arcs
# appear where digits are. At the edge, where all images are empty, there was nothing to learn, and the
# random start is still visible.
#
# Now compare your predictions. The next cell shuffles the weights. Then it lets your `descend` try five
# rates on ½·a·w².


# %%
def test_accuracy(w1, w2):
    params = [w1.reshape(784, 64), b1, w2.reshape(64, 10), b2]
    probabilities, _ = train.forward(params, mnist.x_test.reshape(-1, 784))
    return float((probabilities.argmax(axis=1) == mnist.y_test).mean())


shuffle = np.random.default_rng(2).permutation
shuffled_accuracy = np.mean([test_accuracy(shuffle(w1), shuffle(w2)) for _ in range(10)])
print(f"trained {test_accuracy(w1, w2):.4f}, shuffled {shuffled_accuracy:.4f}")
course.predictions.compare("predict_shuffled", float(shuffled_accuracy))
ends = {lr: descend(lambda w: 4 * w, 1.0, lr, 100)[-1] for lr in (0.40, 0.49, 0.50, 0.51, 0.60)}
print("from w = 1, after 100 steps:", *(f"lr {lr:.2f} w = {w:.2g}" for lr, w in ends.items()))
diverges = min(lr for lr, end in ends.items() if abs(end) >= 1)
course.predictions.compare("predict_divergence", diverges)

# %% [markdown]
# **What you should see.** With the trained weights, the accuracy is the same as in the job. With shuffled
# weights, about one digit in ten is right, which is no better than guessing. The numbers are the same, but
# all knowledge is gone. Up to a rate of 0.49 the descent approaches 0. From 0.51 on it runs away.
#
# ## Traps
#
# | you see | cause |
# |---|---|
# | loss explodes, or stays near 2.3 with accuracy 0.10 | the rate is too large: perhaps the gradient was not divided by the batch size (32 times) |
# | `RuntimeWarning: overflow encountered in exp`, then `nan` | softmax without subtracting the maximum |
# | a gradient check is off by 1 % or more, though the program is right | the check was done in float32 |
# | an array of n × n losses, and no memory left | shapes (n,) and (n, 1) were broadcast against each other |
# | the loss does not change at all | the step makes new arrays, and the network keeps the old ones |
#
# ## Recap
#
# - The bound on the rate, 2 / *a*, follows from the curvature, and you can compute it before you run.
#   Weights in random positions know nothing: what counts is the place of each weight.
# - Learning is a form with free numbers, a loss, its gradient, and many small steps.
# - Back-propagation is the chain rule from the loss to every weight. Check it with central differences.
# - An epoch has ceil(samples / batch) steps. The last one may be smaller.
#
# **Submit** your work in a terminal:
#
#     lessons submit 01
#
# Next: in lesson 02, a framework writes the backward pass. In lesson 06, this very program runs on several
# workers. Further reading: 3Blue1Brown's chapters on neural networks; M. Nielsen, *Neural Networks and Deep
# Learning*.
