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
# N workers with 32 images each make a batch of 32 N, and an epoch has N times fewer updates. The epoch is faster. Is
# the training? Only the size of the whole batch matters here, not which worker computes which part. So one process
# can stand in for 64 workers.
#
# Allow 100 minutes. On two CPU cores all runs on this page take about a minute. Without the real MNIST (then each run
# says so) the linear rule fails from N = 8 on: read the tables instead.

# %% tags=["parameters"]
profile = "smoke"  # "smoke": 12,800 images, two seeds. "full": all 60,000, three seeds, and GPUs
ranks = 0  # in "full" the largest number of ranks; 0: the GPUs of two nodes of this site
gpus = "gres=gpu:{n}"  # "full": how your site asks for n GPUs of a node

# %% tags=["setup", "hide-input"]
import math
import statistics

from lessons import course

few = {"smoke": ["--train-samples", "12800"], "full": []}[profile]
sizes = few + {"smoke": [], "full": ["--seeds", "1", "2", "3"]}[profile]

# %% [markdown]
# ## Five runs, and no error
#
# Four workers train one network on the same images, with the linear rule, a warm-up and decay. One of these five runs
# is intact, and in each of the others one line is wrong. Is the lowest loss the right one? After this page you can
# tell them apart.

# %%
recorded = {
    "A": [0.9062, 0.4057, 0.3410, 0.3147, 0.3048],
    "B": [0.5836, 0.3190, 0.1913, 0.0979, 0.0602],
    "C": [0.8079, 0.3317, 0.2340, 0.1947, 0.1777],
    "D": [0.9135, 1.4549, 0.7455, 0.3083, 0.2534],
    "E": [0.5271, 0.2348, 0.1356, 0.0847, 0.0621],
}
course.plots.losses(recorded, per="epoch")

# %% [markdown]
# ## Predict
#
# One worker with a batch of 32 and a rate of 0.1 reaches a test accuracy of about 0.94 in five epochs of 12,800
# images. Now 16 workers with a batch of 512 train for five epochs, with 16 times fewer updates. What accuracy will
# you get with
#
# 1. the same rate, 0.1?
# 2. 0.1 · √16 = 0.4?
# 3. 0.1 · 16 = 1.6?
# 4. Now one worker and 16 workers, by the rule √N, each train to an accuracy of 0.93, and communication is free. By
#    what factor are the 16 workers faster?
# 5. Eight workers train by the linear rule. Then one line is wrong: the gradients are (s)ummed, the (r)ate is not
#    scaled, the (b)atch is not larger, or (m)omentum is left on. Which of these four faults *raise* the test
#    accuracy? Write letters in alphabetical order, such as `"rs"`, or `"none"`.

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: predict_same, _sqrt, _linear: accuracies; predict_race: a number; predict_better
predict_same, predict_sqrt, predict_linear = 0.88, 0.92, 0.93
predict_race = 10
predict_better = "bm"
### END SOLUTION
course.answers.note(
    predict_same=predict_same, predict_sqrt=predict_sqrt, predict_linear=predict_linear
)
course.answers.note(predict_race=predict_race, predict_better=predict_better)

# %% [markdown]
# ## Two rules
#
# A batch N times as large means a better gradient and N times fewer steps. Two rules say what to do with the rate:
#
# - **linear**: N times the rate. N small steps in about the same direction are one step N times as long.
# - **square root**: √N times the rate. The error of a mean over N times the samples falls as 1/√N.
#
# **Exercise 9.1.** Complete `scaled` in `rates.py`.
#
# ## A schedule
#
# The scaled rate can be too large for the first steps, when gradients are large and vary in direction. **Warm-up**
# raises the rate linearly from the base rate to the scaled one in the first epochs. **Decay** lowers it again,
# because near the end smaller steps come closer to the minimum. From the end of the warm-up to the end of the run,
# `done` goes from 0 to 1. Half a cosine, peak · (1 + cos(π · done)) / 2, stays high for a long time and ends at 0.
# Exponential decay, here peak · 0.01^done, divides by the same number in every step.
#
# **Exercise 9.2.** Complete `lr_at` in `rates.py`. `warmup` and `total` are numbers of steps.

# %% tags=["check"]
import rates

course.check("9.1", rates.scaled)
course.check("9.2", rates.lr_at)

# %% [markdown]
# ## Momentum and LARS
#
# **Momentum** keeps a running sum of gradients, in which older ones fade, and steps along it. **LARS** (You and
# others, 2017) makes each array's gradient proportional to the norm of its weights w, whatever its own norm was:
# gradient · trust · |w| / |gradient|. Otherwise, with very large batches, one array's gradient can be too large for
# its weights.
#
# **Exercise 9.3.** Complete `update` and `lars` in `rates.py`. Their docstrings have the formulas.

# %% tags=["check"]
course.check("9.3", rates.update, rates.lars)

# %% [markdown]
# Keras writes momentum in another way, with the rate *inside* the sum:
#
#     velocity = momentum * velocity - rate * gradient
#     return w + velocity, velocity
#
# **Exercise 9.3b.** With one rate for all steps, this is your `update`. With a schedule it is not: while the rate
# rises, the steps are too short. Repair one line. `rate_before` is the rate of the step before.


# %% tags=["exercise"]
def keras_update(w, gradient, velocity, rate, rate_before, momentum):
    ### BEGIN SOLUTION Exercise 9.3b: the two lines from above, one of them repaired
    velocity = momentum * velocity * rate / rate_before - rate * gradient
    return w + velocity, velocity
    ### END SOLUTION


# %% tags=["check"]
course.check("9.3b", keras_update)

# %% [markdown]
# ## The sweep
#
# `train.py` is lesson 06's program with a loop over N, rule and seed, and a rate for every step. The first job runs
# all combinations, then `probe.py`, which compares your functions with their formulas. The second job runs the linear
# rule with warm-up and decay. The third job does so for N = 64, with LARS and momentum.

# %%
*sweep, _ = course.submit("job.sbatch", *sizes)  # the last one is the record of probe.py
warm = course.submit("job_warm.sbatch", *sizes)
layers = ["--workers", "64", "--lr", "0.05", "--lars", "0.02", "--momentum", "0.9"]
warm += course.submit("job_warm.sbatch", *sizes, *layers)
results = {}
for run in sweep + warm:
    rule = "LARS" if run.header["optimizer"] == "lars" else run.header["rule"]
    rule += ", warm-up, decay" if run.header["warmup"] else ""
    seeds = results.setdefault(rule, {}).setdefault(run.header["workers"], [])
    seeds.append(run.test_accuracy.value)
for rule, seeds in results.items():
    print(f"{rule}\n   ", *(f"{n}: {min(a):.3f}–{max(a):.3f}" for n, a in seeds.items()))
for rule in ("same", "sqrt", "linear"):
    course.predictions.compare(f"predict_{rule}", statistics.mean(results[rule][16]))
course.plots.accuracy_by_workers(results)

# %% [markdown]
# **What you should see.** Measured on 12,800 images, with five epochs, five seeds (you run two) and NumPy 2.4 on one
# of 2 cores:
#
# | N | same | √N | linear | linear, one epoch of warm-up, decay |
# |---|---|---|---|---|
# | 1 | 0.938–0.943 | | | |
# | 4 | 0.912–0.919 | 0.926–0.932 | **0.941–0.945** | |
# | 8 | 0.899–0.905 | 0.919–0.924 | **0.934–0.941** | |
# | 16 | 0.884–0.890 | 0.910–0.917 | 0.11–0.56 | 0.60–0.89 |
# | 64 | 0.81–0.82 | 0.71–0.87 | 0.10–0.11 | 0.11–0.28 |
#
# Up to N = 8 the linear rule matches one worker's accuracy, with an eighth of the updates. Beyond that it fails: at
# N = 16, *two* epochs of warm-up gave 0.48 to 0.91, with decay 0.87 to 0.92, √N without either 0.910 to 0.917. Where
# accuracy varies widely between seeds, the rule is at its limit. Never judge by one seed.
#
# At N = 64 an epoch has seven updates, and warm-up alone does not help. LARS with momentum, warm-up and decay reached
# 0.905 to 0.921, without LARS 0.864 to 0.892. In five epochs neither reaches one worker's accuracy: for a fixed number
# of epochs there is a **largest useful batch**.
#
# The rules were made for SGD. **With Adam**, the size of a step is about the rate, whatever the norm of the gradient.
# For lesson 07's network, multiplying the rate by N was best up to N = 16 (0.938 to 0.941; one worker 0.932 to
# 0.938). At N = 64 it did harm: 0.733 to 0.837, against 0.889 to 0.897 with √N.
#
# **Exercise 9.4.** Up to what N does the best rule stay within 0.01 of one worker's accuracy?


# %% tags=["exercise"]
def largest(accuracies, within):
    """Largest N whose best accuracy is at most `within` below the best of N = 1.

    accuracies: {N: [accuracy, ...]}
    """
    ### BEGIN SOLUTION Exercise 9.4: a number of workers
    needed = max(accuracies[1]) - within
    return max(n for n, found in accuracies.items() if max(found) >= needed)
    ### END SOLUTION


# %% tags=["check"]
course.check("9.4", largest)

# %%
# The same sweep with 16 hidden units instead of 64. `largest` gets one number per rule, the mean
# over its seeds, so that one lucky seed does not decide. The grader computes both, and compares.
nets = {"mlp64": sweep, "mlp16": course.submit("job_nets.sbatch", *sizes)}
useful = {}
for net, found in nets.items():
    seeds, means = {}, {}
    for run in found:
        key = (run.header["workers"], run.header["rule"])
        seeds.setdefault(key, []).append(run.test_accuracy.value)
    for (n, _rule), accuracies in seeds.items():
        means.setdefault(n, []).append(statistics.mean(accuracies))
    useful[net] = largest(means, 0.01)
    print(f"{net}: best of each N", {n: round(max(a), 4) for n, a in means.items()}, end=" ")
    print("→ largest useful N:", useful[net])
course.answers.note(useful_64=useful["mlp64"], useful_16=useful["mlp16"])

# %% [markdown]
# **What you should see.** The largest batch that is useful *in five epochs* depends on the model.
#
# ## The generalisation gap
#
# Some large batches ended with *equal training* loss and *worse test* accuracy (Keskar and others). With longer
# training the gap may disappear (Hoffer and others).
#
# To claim a gap you need runs with the same training loss. So now all batch sizes train until it is 0.15, for at most
# twenty epochs.
#
# **Exercise 9.4b.** `gap(small, large, level)` gets two lists of (training loss, test accuracy), one pair per epoch.
# It returns the test accuracy of the small batch minus that of the large one, each in the first epoch whose training
# loss is at most `level`. If either never gets there, it returns `None`.


# %% tags=["exercise"]
def gap(small, large, level):
    """Test accuracy of small minus that of large at equal training loss; None: no claim."""
    ### BEGIN SOLUTION Exercise 9.4b: a difference, or None
    reached = [[test for loss, test in run if loss <= level] for run in (small, large)]
    return reached[0][0] - reached[1][0] if all(reached) else None
    ### END SOLUTION


# %% tags=["check"]
course.check("9.4b", gap)

# %%
longest = {"smoke": [], "full": ["--epochs", "12"]}[profile]
paths = {}
for run in course.submit("job_gap.sbatch", *few, *longest):
    losses = [m["value"] for m in run.measures if m["name"] == "train_loss"]
    epochs = list(zip(losses, (e.val_accuracy.value for e in run.epochs), strict=True))
    paths.setdefault(f"N = {run.header['workers']}", []).append(epochs)
for name in ("N = 16", "N = 64"):
    pairs = zip(paths["N = 1"], paths[name], strict=True)
    gaps = [gap(small, large, 0.15) for small, large in pairs]
    shown = ", ".join("none to tell" if each is None else f"{each:+.4f}" for each in gaps)
    print(f"{name}: gap at training loss 0.15, for each seed: {shown}")
course.plots.at_equal_loss(paths, 0.15)

# %% [markdown]
# **What you should see.** None of five seeds shows a gap. N = 16 reaches 0.15 after 14 to 16 epochs instead of 4 or
# 5, and then its test accuracy is that of N = 1 (0.938–0.940 against 0.937–0.943). N = 64 has *not* reached 0.15 in
# twenty epochs. Its test accuracy of 0.919 to 0.934 is lower, but that is no generalisation gap: it has learnt less.
#
# ## Parallel without communication
#
# Searching for the best rate or momentum is the simplest kind of parallelism: each setting is a separate job. Slurm
# calls this a **job array**: `sbatch --array=0-7 job.sbatch` starts eight jobs, which differ in
# `SLURM_ARRAY_TASK_ID`.
#
# **Exercise 9.5.** Complete `setting` in `rates.py`: it turns a task's number, 0 to 7, into one of 4 rates and one of
# 2 momenta, so that all eight pairs occur. Then read `job_array.sbatch`. All eight train with N = 8 and a fixed rate:
# which pair will win?

# %% tags=["check"]
course.check("9.5", rates.setting)

# %%
array = course.submit("job_array.sbatch", *few)
for run in sorted(array, key=lambda run: -run.test_accuracy.value):
    rate, momentum = run.header["lr"], run.header["momentum"]
    last = run.epochs[-1].train_loss.value
    print(
        f"rate {rate:4}, momentum {momentum}: test {run.test_accuracy.value:.4f}, loss {last:.3f}"
    )

# %% [markdown]
# **What you should see.** For N = 8, the best setting is a rate of 0.3 with momentum 0.9. It reaches an accuracy of
# 0.95 after five epochs. Momentum 0.9 adds up about ten gradients. Where they agree, a rate of 0.3 works like 3. Where
# they alternate, as in steep directions, about half of one remains. The winner beats the base's 0.94, but nobody has
# searched for the base's best rate. Choosing by test accuracy flatters the winner, too: set some training images aside
# for it.
#
# ## The question of the title
#
# N workers finish an epoch up to N times as fast, but from some N on they need more epochs. The time to a result
# counts. So let N workers and one worker race to the same test accuracy.
#
# **Exercise 9.6.** `epochs_to(accuracies, target)` returns the first epoch, counted from 1, whose accuracy is at
# least `target`, or `None`. `race(one, several, n, share)` returns how many times as fast n workers get there if one
# worker needs `one` epochs and n workers need `several`. As in lesson 07, `share` is the fraction of the n-fold speed
# that remains after the exchange; 1 means that communication costs nothing.


# %% tags=["exercise"]
def epochs_to(accuracies, target):
    ### BEGIN SOLUTION Exercise 9.6: the number of an epoch, or None
    return next((n for n, found in enumerate(accuracies, start=1) if found >= target), None)
    ### END SOLUTION


def race(one, several, n, share=1.0):
    ### BEGIN SOLUTION Exercise 9.6: how many times as fast
    return n * share * one / several
    ### END SOLUTION


# %% tags=["check"]
course.check("9.6", epochs_to, race)

# %%
target = {"smoke": 0.93, "full": 0.95}[profile]
needed = {}
for name, seeds in paths.items():
    found = [epochs_to([accuracy for _loss, accuracy in run], target) for run in seeds]
    needed[int(name.removeprefix("N = "))] = found
    print(f"{name}: epochs until {target}: {', '.join(str(n or 'not reached') for n in found)}")
alone = [each for each in needed[1] if each]
if not alone:
    print(f"No seed of one worker reached {target}, so there is nothing to compare with.")
one = statistics.mean(alone) if alone else math.nan
gains = {n: [race(one, each, n) for each in found if each and alone] for n, found in needed.items()}
if gains[16]:
    course.answers.note(**{f"race_{100 * target:.0f}": statistics.mean(gains[16])})
    course.predictions.compare("predict_race", statistics.mean(gains[16]), "times", how="computed")
course.plots.race(needed, gains, target)

# %%
# The same race by the linear rule
words = ["--workers", 8, "--rules", "linear", "--epochs", 8]
for run in course.submit("job_gap.sbatch", *few, *words):
    each = epochs_to([epoch.val_accuracy.value for epoch in run.epochs], target)
    gain = f"{race(one, each, 8):.1f} times as fast" if each else "not reached"
    print(f"N = 8, linear, seed {run.header['seed']}: {gain}")

# %% [markdown]
# **What you should see.** Five seeds were trained on 12,800 images with the square-root rule, until the accuracy was
# 0.93:
#
# | N | epochs | times as fast, if communication costs nothing |
# |---|---|---|
# | 1 | 3, 3, 4, 4, 5 | 1 |
# | 4 | 5, 6, 6, 6, 7 | 2.6 |
# | 16 | 9, 9, 10, 11, 11 | 6.1 |
# | 64 | 18, 18, 19, and two not in twenty | 13 for those that arrive |
#
# **This is why N times the batch does not train N times faster**: a large batch needs more epochs. With this rule they
# are 2.6 times as many at N = 16, so 16 workers get there 6 times as fast at best, and with a share of 0.5 only 3
# times. Another rule moves the limit. By the linear rule, *eight* workers took 3, 4, 5, 5 and 5 epochs: 7.2 times as
# fast, which beats the 16. With √N of 0.03 and momentum 0.9, 16 workers took 5, 6, 6, 7 and 7: 10 times. (Nobody has
# searched one worker's best setting.)
#
# **Open, for no points.** Nothing on this page gives 64 for 64. Beat its 18 epochs to 0.93 with 64 workers, by rate,
# warm-up, momentum or LARS, and defend it with three seeds.
#
# ## The schedule in Horovod
#
# `train_horovod.py` is lesson 07's program with your `rates.py`, and divides the data as in lesson 08. Before every
# step the optimizer gets the rate from `lr_at`. `lars_keras.py` turns your LARS into a Keras optimizer. PyTorch's
# momentum is your `update`. Keras' is used as it is here; your repair of it is the *momentum correction* of Goyal and
# others (section 3).
#
# In the `full` profile, the next cell also submits `nodes.py`, with lesson 03's network, on 1, 2, 4 … ranks. It is the
# race above, with real workers.

# %%
layers = ["--lars", "0.02", "--momentum", "0.9", "--lr", "1"]
small = {"smoke": ["--train-samples", "3200"], "full": []}[profile]
two = course.on_nodes(2, gpus if profile == "full" else "")
horovod = course.submit("job_horovod.sbatch", *small, options=two)
horovod += course.submit("job_horovod.sbatch", *small, *layers, options=two)
for run in horovod:
    lrs = [epoch.lr for epoch in run.epochs]  # of each epoch's last step
    print(f"{run.header['optimizer']:4} rate {lrs[0]:.3g} → {max(lrs):.3g} → {lrs[-1]:.2g}, spread",
          f"{run.end['param_spread']}, test accuracy {run.test_accuracy.value:.4f}")  # fmt: skip
if profile == "full":
    ranks = ranks or course.two_nodes()
    for run in course.submit_sizes("job_nodes.sbatch", ranks=ranks, gpus=gpus):
        reached = course.interval.measured_or_none(course.measure.time_to_accuracy, run, 0.5)
        print(f"{run.workers} ranks: {run.epochs[-1].seconds.value:.1f} s in the last epoch,",
              f"{reached.value:.1f} s to 0.5" if reached else "0.5 is not reached")  # fmt: skip

# %% [markdown]
# **What you should see.** With both optimizers the rate is nearly twice the base at the end of the first epoch and
# falls to almost nothing in the last one, and the spread of the parameters is 0.
#
# In the `full` profile, compare two speedups: that of an *epoch*, and that to a test accuracy of 0.5. The distance
# between them is the cost of the large batch. (Nobody has run it on GPUs yet: rate, epochs and the 0.5 are guesses.
# For its errors, see [What NCCL says](../../docs/nccl.md).)
#
# ## Break it
#
# `break_it.py` trains eight workers by the linear rule, with a warm-up of one epoch and decay. Then it repeats this
# with one line changed:
#
# - `--without nothing`: intact, with your `rates.py`;
# - `--without summed`: gradients are added up, and the rate is scaled as well;
# - `--without rate`: the rate is that of one worker;
# - `--without batch`: all workers together have the batch of one;
# - `--without momentum`: momentum 0.9 is left on from another run.

# %%
found = course.submit("job_break.sbatch")
broken = {run.header["source"].removeprefix("without "): run for run in found}
intact = broken["nothing"].test_accuracy.value
better = sorted(name[0] for name, run in broken.items() if run.test_accuracy.value > intact)
course.predictions.compare("predict_better", "".join(better) or "none")
for name, run in broken.items():
    print(f"without {name:8}: {run.epochs[0].steps:3} updates per epoch")
course.plots.faults(broken, path="lr", more=["momentum"])

# %% [markdown]
# **What you should see.** Measured on one core of a 2-core machine, 12,800 images, five epochs, seeds 1 to 3:
#
# | without | updates per epoch | peak of the rate | test accuracy |
# |---|---|---|---|
# | `nothing` | 50 | 0.8 | 0.935–0.937 |
# | `summed` | 50 | 0.8 | 0.114 |
# | `rate` | 50 | 0.1 | 0.890–0.891 |
# | `batch` | 400 | 0.8 | 0.958–0.962 |
# | `momentum` | 50 | 0.8 | 0.947–0.948 |
#
# - Two faults look *better* than the intact run. `batch` makes eight times as many updates: as many as one worker, so
#   eight workers gain nothing. `momentum` makes steps up to ten times as long, where gradients agree, and decay shortens
#   them in time.
# - Only `summed` looks broken at first sight (on eight workers; on four it recovers); `rate` looks merely slow. In
#   `summed` the recorded rate is correct, but each step is eight times as long.
#
# ## Write down your answers
#
# - `steps_64`: how many updates does an epoch of 60,000 images have with 64 workers of 32 images each?
# - `curves`: what is wrong in the four pictures below, which are drawn from formulas? **A** rate too low · **B** rate
#   too high · **C** generalisation gap · **D** nothing. Write the letters of the first to the fourth picture as one
#   word.
# - `five_runs`: the five runs at the top of the page are runs of `break_it.py` with *four* workers. One took 400
#   updates per epoch, the others 100. Which is `batch`, which `momentum`, which `nothing`, which `rate`, which
#   `summed`? Write the letters in this order, as one word.

# %%
course.plots.four_curves()

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: steps_64, a number; curves and five_runs, a word each
steps_64 = math.ceil(60000 / (64 * 32))
curves = "BDAC"
five_runs = "EBCAD"
### END SOLUTION
course.answers.note(steps_64=steps_64, curves=curves, five_runs=five_runs)

# %% [markdown]
# ## Traps
#
# Each row was run on one core of a 2-core machine: 12,800 images, five epochs, one seed. The intact runs reached
# accuracies of 0.94 (N = 8, linear) and 0.88 (N = 16, linear, warm-up, decay).
#
# | you see | cause |
# |---|---|
# | loss 9, then always 2.31, accuracy 0.10, at N = 8 where the rule should hold; the record has the right rate | rate scaled *and* gradients summed: N² |
# | 0.803 at N = 8 | the rate was divided by N |
# | 0.912 at N = 8 by the linear rule, and 0.941 by `same` | momentum 0.9 left on: where gradients agree, steps are ten times as long |
# | 0.34 at N = 16, the loss rises again | the decay was forgotten |
# | a rule that is better, until you repeat it: N = 16, linear, ten seeds 0.11 to 0.56 | one seed |
#
# ## Recap
#
# - With N workers an epoch has N times fewer updates. The rate has to make up for that, by the linear rule while it
#   holds.
# - For a fixed number of epochs there is a largest useful batch.
# - Judge a large batch by time to accuracy, not by images per second.
#
# **Submit** your work in a terminal:
#
#     lessons submit 09
#
# Next: lesson 10 does all this without Horovod, with PyTorch's own DistributedDataParallel. Further reading: P. Goyal
# and others on ImageNet in one hour (warm-up); Y. You and others (LARS); N. Keskar and others, E. Hoffer and others
# (the gap).
