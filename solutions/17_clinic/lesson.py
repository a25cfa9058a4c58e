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
# # 17 · The clinic
#
# **Why does my job hang, why is its accuracy wrong, and which rank did it?**
#
# In part A you mend four things that go wrong when one GPU becomes many, and write a program that finds a culprit. In
# part B you get recordings of six real jobs in which something went wrong, and name the rank, the line and the fault.
# Your neighbour has other ones, but for one or two.
#
# Allow 120 minutes in two sittings: 75 for part A, and 45 for part B. You need lesson 10. On two CPU cores, the jobs
# of this page take about a minute.

# %% tags=["parameters"]
profile = "smoke"  # "smoke": two CPU cores. "full": GPUs
ranks = 2  # in "full" as many as you have GPUs
gpus = "gres=gpu:{n}"  # "full": how your site asks for n GPUs of a node
my_id = "my-login"  # your login on the cluster, or the part of your e-mail address before the @

# %% tags=["setup"]
from pathlib import Path

import yaml

from lessons import course

device = gpus if profile == "full" else ""

# %% [markdown]
# ## The rank that died is innocent
#
# This is the end of a real job on four ranks. Which rank did it? Guess while you read what the ranks printed, then the
# collectives that PyTorch's *flight recorder* wrote down.

# %%
course.incidents.contents("example")
course.incidents.show("example", *course.incidents.part("example", "printed", lines=8))
course.incidents.show("example", *course.incidents.part("example", "collectives", lines=24))

# %% [markdown]
# Rank 3 was the first to end: a message had 96 bytes instead of 40. (Gloo sends arrays in pieces.) Its message says
# what went wrong, but not who did it; the others' are about a connection. It left no list of collectives: here a rank
# writes its list when it raises an error or hangs, and a kill or an abort leaves no time for that. Compare the fourth
# collective of the others: two send an array of 5 × 16 numbers, but rank 0 sends one of 16 × 12. Rank 3 died because
# it listened.
#
# This is the rule of the whole lesson: **the rank with the first message is seldom the culprit**. Ask what each rank
# did *last*, and which rank did something else.
#
# ## Predict
#
# A DistributedSampler on 8 ranks shares out 1,601 test images. How many are tested twice?

# %% tags=["exercise"]
### BEGIN SOLUTION Predict: set predict_twice to a number of images
predict_twice = 7
### END SOLUTION
course.answers.note(predict_twice=predict_twice)

# %% [markdown]
# ## Part A: mend it
#
# Exercises 17.1, 17.2, 17.6 and 17.7 are for everybody. Of 17.3, 17.4 and 17.5 choose one: 17.5
# is the most useful today.
#
# ### Unused parameters
#
# `unused.py` has a network with two heads. The second one is used in every second step only. With plain DDP, the step
# after one that left it out raises `Expected to have finished reduction in the prior iteration`: DDP waits for a
# gradient that no backward pass computes.
#
# Three mends are in use. One option of DDP (*search*) lets it walk through the graph of each step and mark what is
# missing. Another (*static*) remembers which parameters the *first* step used. And a term of *zero* times the sum of
# the head's outputs gives every parameter a gradient, which is zero.
#
# **Exercise 17.1.** Complete `distribute` in `unused.py` (`help(unused.DistributedDataParallel)` has the options). For
# *zero*, change `forward` and `loss_of`, too. One of the three is wrong here. If you begin with it, read its message.

# %% tags=["check"]
import unused

course.check("17.1", unused)

# %% [markdown]
# Two agree with one process here. With momentum, one of these would not agree with one process that has the given loss.
# It moves the second head even in steps that do not use this head. What is `parameter.grad` in each case, `None` or
# zero, and what does SGD do with it? `moves_unused`: which one is it? `moves_twice`: suppose that two steps in a row
# leave the head out, with a momentum of 0.9. How far do they move it together, as a multiple of its move in the step
# before?

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: set moves_unused to "search", "zero" or "static", and moves_twice to a number
moves_unused, moves_twice = "zero", 0.9 + 0.9**2
### END SOLUTION
course.answers.note(moves_unused=moves_unused, moves_twice=f"{moves_twice:.3f}")

# %% [markdown]
# **What you should see.** The set of used parameters changes from step to step, so *static* promises the wrong
# thing. The first words of its message are those of plain DDP. The second sentence names the fault: the graph has
# changed.

# %% [markdown]
# ### An exact test
#
# A sampler that pads its shares counts some images twice. Without padding, the ranks may have different numbers of
# batches, and hang if they reduce after each. And a mean of batch means is wrong if the last batch is smaller.
#
# Where classes are rare, an accuracy hides them. So `exact.py` takes the mean of the *classes'* accuracies.
#
# **Exercise 17.2.** Complete `exact.py`: no padding, shares that differ by one image at most, and one reduction of
# whole numbers.

# %% tags=["check"]
import exact

course.check("17.2", exact)

# %%
from torch.utils.data import DistributedSampler

padded = sum(len(DistributedSampler(range(1601), 8, rank)) for rank in range(8))
course.predictions.compare("predict_twice", padded - 1601, "images", how="counted")

# %% [markdown]
# ### Choose one
#
# **Exercise 17.3, BatchNorm over all ranks.** With 4 images on a GPU, mean and variance are noisy. SyncBatchNorm takes
# them over all ranks' images. Write it in `batchnorm.py` with one collective in the forward pass. The ranks may have
# unequal numbers of images, so means of means are wrong. `SumOverRanks` shows how a gradient passes through one.

# %% tags=["check"]
import batchnorm

course.check("17.3", batchnorm)

# %% [markdown]
# **Exercise 17.4, seeds.** Every worker process of a loader gets a copy of the data set, and with it a copy of its
# random numbers. Then all workers cut their images in the same places, in every epoch. In `seeds.py`, give each
# worker numbers of its own: for each seed, epoch, rank and worker. A second run must draw the same ones.

# %% tags=["check"]
import seeds

course.check("17.4", seeds)

# %% [markdown]
# **Exercise 17.5, weights by tokens.** Texts have different lengths. A mean over each part's tokens, and then over
# parts and ranks, gives a token in a short part more weight. Several frameworks had this wrong, some for years:
# Transformers (pull request 34191, issue 34242), torchtune (pull request 1875). Complete `accumulate` in `tokens.py`.
# DDP divides by the number of ranks. What do you divide by?

# %% tags=["check"]
import tokens

course.check("17.5", tokens)

# %% [markdown]
# Now the same tests on all your ranks. `probe.py` also measures what your mend of 17.1 costs.

# %%
probe = course.submit("job.sbatch", options=course.on_nodes(ranks, device))[-1]
for measure in probe.measures:
    value = measure["value"] if measure["failed"] is None else measure["failed"]
    print(f"{measure['name']}: {value}")

# %% [markdown]
# **What you should see.** `culprits_wrong` fails until exercise 17.7 is done. The errors are about 1e-15 or less. A
# search for unused parameters costs a walk through the graph and a second, small all-reduce in each step (which
# parameters did *any* rank use?). So 1.2 ms became 3.9 ms for this small network, on two idle cores of an AMD EPYC.
# On a busy machine both are longer, and nobody grades them.
#
# ### The job file
#
# `torchrun` is an *agent*: one on each node starts that node's ranks, and the agents meet at one address. Four
# mistakes are common. One agent per rank starts more agents than `--nnodes` names: some meet, and the others wait. A
# constant port collides with another job. A rank with one core starves the workers of its loader. And `localhost` is
# another machine on each node.
#
# **Exercise 17.6.** Complete `job_nodes.sbatch`: two nodes with two ranks each, and cores for each rank and its
# loader's two workers. (A rank is a task for Slurm.) Fill the bash array `agent=(…)`, which the last line starts once
# on each node, as `srun --ntasks=2 --ntasks-per-node=1` does. The agent is torchrun, with `--nnodes`,
# `--nproc-per-node`, `--rdzv-backend=c10d`, an `--rdzv-id` and an `--rdzv-endpoint`; `hosts` prints the nodes' names.

# %% tags=["check"]
course.check("17.6", "job_nodes.sbatch")

# %%
nodes = course.submit("job_nodes.sbatch")
course.show_output(nodes)

# %% [markdown]
# On a laptop, both agents run on one machine, and the record says that the second node is simulated.
#
# ### Who is missing?
#
# The flight recorder keeps each rank's last collectives: number, operation, sizes, state. PyTorch 2.13 keeps 2,000
# (`TORCH_FR_BUFFER_SIZE`; 0 switches it off). With NCCL, PyTorch writes the dumps when a collective times
# out (`TORCH_NCCL_DUMP_ON_TIMEOUT`; needs GPUs, not run here), and PyTorch's `torchfrtrace` compares them. The recorder
# also works with Gloo: that is how the recordings below were made.
#
# **Exercise 17.7.** Write your own comparison: complete `find_culprit` in `culprit.py`.

# %% tags=["check"]
import culprit

course.check("17.7", culprit)

# %%
probe = course.submit("job.sbatch", options=course.on_nodes(ranks, device), again=True)[-1]
print(
    [(each["name"], each["value"]) for each in probe.measures if each["name"] == "culprits_wrong"]
)

# %% [markdown]
# A rank that died without a list has no line to compare: on the example above, your program accuses rank 3, the
# innocent. It also takes an entry that a list no longer has for a call that was never made: begin at the largest first
# number. And where all ranks made the same calls, it finds nothing.
#
# ## Part B: name it
#
# These jobs really ran, on four to six ranks, and something went wrong in each. A hash of your id chooses six of
# thirty, so write your own id into the first cell. You get the program, all that the ranks printed, stacks (from jobs
# that hung), collectives and the accounting (`ExitCode` is code:signal: 9 is a kill, 6 an abort). Much in a program is
# harmless.

# %%
mine = course.incidents.draw(my_id)
course.incidents.contents(mine[0])

# %%
course.incidents.show(mine[0])

# %% [markdown]
# For each incident (an engineer with practice needs five minutes), say:
#
# - `rank`: who is at fault; of several, the lowest. If two ranks read the same images, it is the one whose share they
#   are not.
# - `line`: a line of `train.py` (the right one of the two numbers that `show` prints) in which that rank does something
#   else than the others. For `killed`, `raised` and `late`, a line in which the others wait for it counts, too. One is
#   enough.
# - `proof`: the number of a line of the recording (the left one) in which this rank differs from the others.
# - `kind`, one of ten:
#
# | kind | what happened to the rank |
# |---|---|
# | `skipped` | it left out a collective that the others made |
# | `short` | it had fewer batches than the others |
# | `order` | it made its collectives in another order |
# | `killed` | it was killed from outside |
# | `raised` | its program raised an error |
# | `late` | it needed far more time than the others |
# | `twice` | it read images that belong to another rank |
# | `apart` | its network was not that of the others |
# | `infinite` | its loss was no finite number, and it spread |
# | `unused` | it left parameters unused that DDP waited for |
#
# The example is of the kind `order`: rank 0, line 19, 21 or 22, and line 137 proves it. Answer your six with one line
# of code for each, like `course.incidents.note("example", rank=0, line=22, kind="order", proof=137)`. Nobody tells you
# whether an answer is right until your work is graded. Who learns without a class can practise with the answers:
# `lessons clinic --practice`.

# %% tags=["exercise"]
### BEGIN SOLUTION Answer: note rank, line, kind and proof for each of your six incidents
for name in mine:
    right = yaml.safe_load(Path("incidents", name, "expected.yaml").read_text())
    course.incidents.note(name, **{part: values[0] for part, values in right.items()})
### END SOLUTION

# %% [markdown]
# ## Traps
#
# | you see | cause |
# |---|---|
# | `Expected to have finished reduction in the prior iteration` | a parameter had no part in the loss: plain DDP waits for its gradient. With `static_graph=True` it begins alike, and goes on: the graph has changed |
# | an accuracy that changes with the number of ranks | padded shares, or means of means |
# | an innocent rank ends with `op.preamble.length <= op.nbytes` (Gloo) | another rank made a collective of another size |
# | `Connection closed by peer` or `reset by peer` on all ranks but one | the one that is silent has ended, and the accounting says how |
#
# ## Recap
#
# - The rank with the first message is seldom the culprit. Compare what each rank did last.
# - Silent jobs fail, too: print once per rank what it reads, what it starts from, and how long it waits.
# - Exact sums are cheap: one collective of numerators and denominators.
# - A step that one rank may leave out has to be left out by all ranks.
#
# **Submit** your work in a terminal. It repeats the id by which your incidents were drawn.
#
#     lessons submit 17
#
# Further reading: PyTorch's tutorial on the flight recorder; Stas Bekman's *Machine Learning Engineering*, on
# debugging; lesson 10 on hangs, lesson 15 on jobs that die.
