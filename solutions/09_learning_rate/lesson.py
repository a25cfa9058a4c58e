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
# # 09 · The learning rate at scale
#
# **Why does N times the batch not train N times faster?**
#
# N workers with 32 images each make a batch of 32 N, and an epoch of N times fewer updates. The
# epoch is quicker; is the training? For this network only the size of the whole batch matters, not
# who computes which part of it. So one process can do what 64 workers would do, and a whole sweep of
# settings takes seconds.
#
# Allow 60 minutes. On one CPU core the runs of this page take less than half a minute.

# %% tags=["parameters"]
profile = "smoke"  # "smoke": 12,800 images, two seeds. "full": all 60,000, three seeds

# %% tags=["setup"]
import importlib
import math
import statistics

from lessons.toolkit import answers, plots_learning
from lessons.toolkit.checks import lesson_09 as check

sizes = {"smoke": ["--train-samples", "12800"], "full": ["--seeds", "1", "2", "3"]}[profile]

# %% [markdown]
# ## Predict
#
# One worker, batch 32, rate 0.1, five epochs: test accuracy about 0.94 on 12,800 images. Now 16
# workers, batch 512, five epochs, so 16 times fewer updates. Which accuracy will remain with
#
# 1. the same rate, 0.1? · 2. 0.1 · √16 = 0.4? · 3. 0.1 · 16 = 1.6?

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_same, predict_sqrt and predict_linear to an accuracy each
predict_same, predict_sqrt, predict_linear = 0.88, 0.92, 0.93
### END SOLUTION
answers.note(predict_same=predict_same, predict_sqrt=predict_sqrt, predict_linear=predict_linear)

# %% [markdown]
# ## Two rules
#
# A batch N times as large gives a better gradient and N times fewer steps. Two rules say what to do
# with the rate:
#
# - **linear**: N times the rate. N small steps in about the same direction are one step N times as
#   long.
# - **square root**: √N times. The error of a mean over N times the samples falls with 1/√N.
#
# Both start from a rate that suits the small batch. Such start rates depend on the optimizer: a
# table of 2018 gives Adam 0.001, RMSProp 0.001, SGD 0.01, Adagrad 0.01, Adadelta 1.0; in Keras 3.15
# the defaults of Adagrad and Adadelta are both 0.001. Look a default up before you scale it.
#
# **Exercise 9.1.** Fill `scaled` in `rates.py`.

# %% tags=["check"]
import rates

importlib.reload(rates)  # so that the cell sees what you just saved
check.check_9_1(rates.scaled)

# %% [markdown]
# ## A schedule
#
# A rate that is right later can be too large for the first steps, when gradients are long and
# point everywhere. **Warm-up**: go from the base rate to the scaled one in the first epochs. And near
# the end smaller steps settle deeper: **decay**, here half a cosine. (Exponential decay and steps
# do the same.)
#
# **Exercise 9.2.** Fill `lr_at`.

# %% tags=["check"]
importlib.reload(rates)
check.check_9_2(rates.lr_at)

# %% [markdown]
# ## Momentum and LARS
#
# **Momentum** keeps a running sum of gradients, the speed. **LARS** gives each layer a step in
# proportion to the length of its weights, whatever the length of its gradient: with very large
# batches one layer's gradient would otherwise tear it apart. With such means ResNet-50 was trained
# in 15 minutes on 1,024 GPUs (Akiba and others, 2017).
#
# **Exercise 9.3.** Fill `update` and `lars`.

# %% tags=["check"]
importlib.reload(rates)
check.check_9_3(rates.update, rates.lars)

# %% [markdown]
# ## The sweep
#
# `train.py` differs from lesson 06's by the loop over N, rule and seed, and by a rate for every
# step. One job runs them all, another the linear rule with warm-up and decay.

# %%
from autograder.read import read_files
from cluster.submit import submit_once

sweep = read_files(submit_once("job.sbatch", *sizes))
warm = read_files(submit_once("job_warm.sbatch", *sizes))
print(len(sweep) + len(warm), "trainings")

# %%
results = {}
for run in sweep + warm:
    rule = run.header["rule"] + (", warm-up, decay" if run.header["warmup"] else "")
    by_workers = results.setdefault(rule, {})
    by_workers.setdefault(run.header["workers"], []).append(run.test_accuracy.value)
for rule, by_workers in results.items():
    told = {n: f"{min(a):.3f} to {max(a):.3f}" for n, a in by_workers.items()}
    print(f"{rule:24}", told)

# %%
plots_learning.accuracy_by_workers(results)

# %% [markdown]
# **What you should see.** Measured on 12,800 images, five epochs, two seeds (base 0.938 to 0.943):
#
# | N | same | √N | linear | linear, warm-up, decay |
# |---|---|---|---|---|
# | 8 | 0.899–0.905 | 0.919–0.924 | **0.935** | |
# | 16 | 0.884–0.885 | 0.916–0.917 | 0.28–0.35 | 0.86–0.88 |
# | 64 | 0.81 | 0.87 | 0.10–0.18 | 0.28 |
#
# On all 60,000 images (base 0.968 to 0.973): N = 16 linear 0.18 to 0.54, with two epochs of warm-up
# and cosine 0.968. Up to N = 8 the linear rule keeps the accuracy of one worker, in an eighth of the
# updates. Beyond, it needs a warm-up; beyond that nothing helps: there is a **largest useful batch**, and
# it depends on model, data and optimizer. Never judge by one seed, and never call runs of equal
# epochs runs of equal updates: at N = 16 there are 16 times fewer.
#
# **Exercise 9.4.** Up to which N is the best rule within 0.01 of one worker?


# %% tags=["exercise"]
def largest(accuracies, within):
    """Largest N whose best accuracy is at most `within` below the best of N = 1.

    accuracies: {N: [accuracy, ...]}
    """
    ### BEGIN SOLUTION Exercise 9.4: compare the best of each N with the best of N = 1
    needed = max(accuracies[1]) - within
    return max(n for n, found in accuracies.items() if max(found) >= needed)
    ### END SOLUTION


# %% tags=["check"]
check.check_9_4(largest)

# %%
means = {}
for by_workers in results.values():
    for n, found in by_workers.items():
        means.setdefault(n, []).append(statistics.mean(found))
print("largest useful N here:", largest(means, 0.01))

# %% [markdown]
# ## The generalisation gap
#
# Large batches were also seen to end with *equal training* loss and a *worse test* (Keskar and
# others; Hoffer and others). Three reasons were suggested: overfitting; attraction to saddle points;
# lost exploration, because there is less noise. To claim a gap you need runs that have reached the
# same training loss: look at both columns.

# %%
for run in sweep:
    if run.header["seed"] == 1 and run.header["workers"] in (1, 8):
        last = run.epochs[-1]
        print(f"N {run.header['workers']}, {run.header['rule']:6}: training loss", end=" ")
        print(f"{last.train_loss.value:.3f}, test accuracy {run.test_accuracy.value:.4f}")

# %% [markdown]
# ## Parallel without communication
#
# Finding a rate, a momentum, a depth or a drop-out is parallel in the simplest way: every setting
# is a job of its own, and none has to talk to another. Slurm calls that a **job array**:
# `sbatch --array=0-7 job.sbatch` starts eight, which differ in `SLURM_ARRAY_TASK_ID`.
#
# **Exercise 9.5.** Turn the number of a task, 0 to 7, into one of 4 rates and one of 2 momenta.

# %% tags=["exercise"]
RATES, MOMENTA = (0.03, 0.1, 0.3, 1.0), (0.0, 0.9)


def setting(task):
    """(rate, momentum) of a task of the array."""
    ### BEGIN SOLUTION Exercise 9.5: task // 2 chooses the rate, task % 2 the momentum
    return RATES[task // 2], MOMENTA[task % 2]
    ### END SOLUTION


# %% tags=["check"]
check.check_9_5(setting)

# %% [markdown]
# ## Write down your answers
#
# - `steps_64`: updates an epoch of 60,000 images for 64 workers of 32 images each?
# - `summed_and_scaled`: someone scales the rate by N = 8 *and* sums the gradients instead of taking
#   their mean. How many times one worker's rate is that, in effect?
# - Name what is wrong: **A** rate too low · **B** rate too high · **C** generalisation gap · **D** nothing.
#   `curve_1`: the loss falls steadily and is still falling fast in the last epoch, test as training.
#   `curve_2`: the loss jumps to 2.3 in the first steps and stays there.
#   `curve_3`: training loss as with the small batch, test accuracy 2 % lower on every seed.
# - `can_tell`: can accuracies and losses alone tell which of the three suggested reasons it was?
#   `"yes"` or `"no"`.

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: steps_64, summed_and_scaled, curve_1, curve_2, curve_3, can_tell
steps_64 = math.ceil(60000 / (64 * 32))
summed_and_scaled = 8 * 8
curve_1, curve_2, curve_3 = "A", "B", "C"
can_tell = "no"
### END SOLUTION
answers.note(steps_64=steps_64, summed_and_scaled=summed_and_scaled, can_tell=can_tell)
answers.note(curve_1=curve_1, curve_2=curve_2, curve_3=curve_3)

# %% [markdown]
# ## Traps
#
# | you see | it was |
# |---|---|
# | diverges at N = 8, where the rule should hold | rate scaled *and* gradients summed: N² |
# | "the large batch learns less" | equal epochs taken for equal updates |
# | a rule that is better, until you repeat it | one seed |
# | a warm-up that is over after two images | its length taken from the small batch's epochs |
# | Adam diverges with N times the rate | the linear rule was made for SGD |
# | a "gap" that closes when you train on | the training losses were not equal |
# | the rate never reaches its peak | a warm-up longer than the run |
#
# ## Recap
#
# - N workers make N times fewer updates. The rate has to make up for it: linear, as far as it goes.
# - Warm-up for the first steps, decay for the last, momentum and LARS for very large batches.
# - There is a largest useful batch. Account for changed convergence, and experiment: run it, then
#   adjust up or down.
#
# **Hand in**: in a terminal, `lessons submit 09` packs this folder and says what is in it.
#
# Next: 10, the frameworks' own ways. Further reading: P. Goyal and others on ImageNet in one hour
# (warm-up); Y. You and others (LARS); N. Keskar and others and E. Hoffer and others (the gap).
