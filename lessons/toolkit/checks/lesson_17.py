"""Public checks of lesson 17, the clinic. They run the lesson's own probe on three real ranks."""

import contextlib
import importlib
import random
import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, exercise, refuse_gap, shown
from lessons.toolkit.checks.shared.real_ranks import in_new_python, on_ranks

RANKS = 3
FAIR = 1.05  # a rank's share of the images, divided by an equal one
HANGS = "A rank makes a collective that the others do not make. Which line is not run by all?"
ONCE = ("exchanges_per_step", "reductions")  # measures that have to be 1; all others have to be 0
ADVICE = {  # for each measure of the probe: what to try if it is wrong
    "unused_error": "All ranks' gradients have to be averaged, in every step.",
    "exchanges_per_step": "Only DDP may exchange gradients, and only once per step.",
    "images_off": "Count for each class, and divide at the end. Which two numbers has a class?",
    "images_tested_twice": "A DistributedSampler pads the shares. Which numbers has a rank without "
    "it?",
    "reductions": "Put all counts into one tensor, and reduce it after the last batch.",
    "norm_error": "Mean and variance are those of all ranks' images: sums over their number.",
    "norm_collectives": "Mean and variance follow from three sums. How many messages do they need?",
    "places_repeated": "seed + rank + worker is the same sum for two workers, two epochs or two "
    "seeds.",
    "places_changed": "Take the numbers from the seed alone, not from the clock.",
    "tokens_error": "Which tokens does the batch's mean count? And what does DDP do with a sum?",
    "tokens_exchanges": "DDP exchanges in each backward pass. Which parts can wait for the last "
    "one?",
}


def measured(test: str, check: Callable[..., Any]) -> dict[str, float]:
    """Return the worst values that a test of the lesson's probe.py yields on three ranks."""
    probe = importlib.import_module("probe")

    def work(_: int) -> dict[str, float]:
        import torch

        return {name: float(value) for name, value in getattr(probe, test)(torch.device("cpu"))}

    everyone = on_ranks(RANKS, work, check, HANGS)
    return {name: max(abs(values[name]) for values in everyone) for name in everyone[0]}


def compare_all(found: Mapping[str, float]) -> None:
    for name, value in found.items():
        right = 1 if name in ONCE else 0
        if not abs(value - right) <= 1e-6:
            what = f"{name.replace('_', ' ')} = {right} on {RANKS} ranks"
            raise CheckFailed(what, f"{value:.3g}", ADVICE[name])


@exercise("17.1")
@in_new_python
def check_17_1(unused: ModuleType) -> str:
    """Three ranks train the network with two heads as one process does."""
    compare_all(measured("second_head", check_17_1))
    return "Three ranks end with the parameters of one process, and exchange gradients once a step."


@exercise("17.2")
@in_new_python
def check_17_2(exact: ModuleType) -> str:
    """Three ranks find the accuracy by classes of 1,601 images that one rank finds."""
    found = measured("exact_test", check_17_2)
    largest = found.pop("largest_share")
    compare_all(found)
    if largest > FAIR:
        advice = "Who waits if one rank has more images than the others?"
        expected = f"nearly equal shares on {RANKS} ranks"
        raise CheckFailed(expected, f"a share that is {largest:.2f} times as large", advice)
    return "The accuracy is exact, each image is tested once, and one reduction is enough."


@exercise("17.3")
@in_new_python
def check_17_3(batchnorm: ModuleType) -> str:
    """Three ranks with 5, 8 and 11 images normalise them as one batch of 24."""
    compare_all(measured("batch_norm", check_17_3))
    return "Outputs and gradients are those of one batch with all images."


@exercise("17.4")
@in_new_python
def check_17_4(seeds: ModuleType) -> str:
    """No workers of any seeds, ranks and epochs draw the same, and a second run draws it again."""
    drawn = [
        [
            seeds.places(seeds.Crops(8, seed, rank), epoch)
            for seed, epochs in ((7, (0, 1)), (8, (0,)))
            for epoch in epochs
            for rank in range(RANKS)
        ]
        for _ in range(2)
    ]
    places = [place for worker in drawn[0] for place in worker]
    repeated = len(places) - len(set(places))
    compare_all({"places_repeated": repeated, "places_changed": drawn[0] != drawn[1]})
    return "All workers draw numbers of their own, and a second run draws the same ones."


@exercise("17.5")
@in_new_python
def check_17_5(tokens: ModuleType) -> str:
    """Texts of different lengths in three parts on three ranks give one batch's gradients."""
    compare_all(measured("weighted_tokens", check_17_5))
    return "Each token weighs the same, on every rank and in every part."


SITE = """
facts() { :; }
hosts() { printf 'first\\nsecond\\n'; }
launch() { echo "launch $*"; }
launch_nodes() { echo "launch_nodes $*"; }
"""


AGENTS = {"torchrun", "torch.distributed.run"}
OPTIONS = (
    ("nnodes", "2", "Each agent has to know how many nodes take part."),
    ("nproc-per-node", "2", "Each agent starts the ranks of its own node."),
    ("rdzv-backend", "c10d", "Without it, the agents of two nodes do not meet."),
)


@exercise("17.6")
def check_17_6(job_file: str) -> str:
    """The job starts one torchrun on each of two nodes, with a port from its number."""
    from cluster.job_file import jobfile

    refuse_gap(job_file, "17.6")
    try:
        asked = jobfile.read(Path(job_file)).options
    except jobfile.JobFileError as error:
        raise CheckFailed("a job file that sbatch can read", error, "Correct this line.") from None
    for name, value in (("nodes", 2), ("ntasks", 4)):
        if asked.get(name) != str(value):
            advice = "How many nodes and ranks does the exercise ask for? A rank is a task."
            expected = f"--{name}: a number of {name} that fits the exercise"
            raise CheckFailed(expected, asked.get(name) or "none", advice)
    cores = asked.get("cpus-per-task") or "1"
    if not cores.isdigit() or int(cores) < 3:
        advice = "A rank needs a core for itself and one for each of its loader's two workers."
        raise CheckFailed("--cpus-per-task: enough cores for a rank", cores, advice)
    calls = [started(job_file, number) for number in (4711, 4712)]
    for call in calls:
        words = set(call.split())
        if not call.startswith("launch_nodes 2 ") or not words & AGENTS:
            advice = "`launch_nodes` runs a program once on each node: let it run torchrun."
            raise CheckFailed("launch_nodes 2 torchrun …", shown(call or "nothing"), advice)
        for option, wanted, advice in OPTIONS:
            if not re.search(rf"--{option}[= ]{wanted}\b", call.replace("_", "-")):
                raise CheckFailed(f"torchrun with the right --{option}", shown(call), advice)
        if "first:" not in call:
            advice = "The agents meet on the job's first node. What prints the nodes' names?"
            raise CheckFailed("--rdzv-endpoint with a node and a port", shown(call), advice)
    ports = [call.partition("first:")[2].split()[0] for call in calls]
    if ports[0] == ports[1]:
        advice = "Two jobs on one node would meet at the same port. What differs between jobs?"
        raise CheckFailed("another port for another job", f"{ports[0]} for both", advice)
    return "One agent on each node starts two ranks; two jobs use two ports."


def started(job_file: str, number: int) -> str:
    """Return what the job file starts, as job of this number."""
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder, "site.sh")
        site.write_text(SITE)
        values = {"COURSE_SITE": str(site), "SLURM_JOB_ID": str(number), "PATH": "/usr/bin:/bin"}
        values |= {"SLURM_NNODES": "2", "SLURM_NTASKS": "4", "MASTER_ADDR": "first"}
        values |= {"MASTER_PORT": str(20000 + number)}
        done = subprocess.run(
            ["bash", job_file], env=values, capture_output=True, text=True, timeout=20
        )
    lines = [line for line in done.stdout.splitlines() if line.startswith("launch")]
    if done.returncode or not lines:
        why = (done.stderr.strip().splitlines() or ["nothing was started"])[-1]
        raise CheckFailed("the job starts its ranks", why, "Read the lines below `facts`.")
    return lines[-1]


@exercise("17.7")
def check_17_7(culprit: ModuleType) -> str:
    """The rank that left the others is found in dumps of every kind."""
    dumps: Any = importlib.import_module("dumps")
    for case in dumps.CASES:
        for seed in range(12):
            recorded, right = dumps.recorded(case, random.Random(seed))
            found = culprit.find_culprit(recorded)
            if found is None or not isinstance(found, tuple | list) or len(found) != 3:
                advice = "Return three values: `return rank, number, name`."
                raise CheckFailed("(rank, number, name)", shown(found), advice)
            if tuple(found) != right:
                advice = "Go through the numbers from the first on. What did most ranks call there?"
                if found[0] == right[0] and found[1] == right[1]:
                    advice = "The name is the culprit's own call there, or None if it made none."
                with contextlib.suppress(TypeError):
                    if found[1] > right[1]:
                        advice = "There is an earlier collective in which a rank differs."
                what = f"{right} for {len(recorded)} ranks, of which one {case}"
                raise CheckFailed(what, shown(tuple(found)), advice)
    return "A skipped, a swapped, a wrong and a missing call are found, and a barrier."
