"""Tests of lessons' texts: required topics and parts, and the form of job files."""

import re
from pathlib import Path

import pytest

SOLUTIONS = Path(__file__).parents[3] / "solutions"

LESSONS = sorted(folder for folder in SOLUTIONS.glob("[0-9]*") if (folder / "lesson.py").exists())

# Items of the course's sources that are told and not exercised.
MENTIONS = {
    "00": [
        "Open OnDemand",
        "BisQue",
        "DIGITS",
        "RStudio",
        "salloc",
        "scancel",
        "squeue",
        "tail -f",
        "module load",
        "conda create",
        "ipython kernel install",
        "mpi4py",
        "MPI tutorial",
        "support pages",
    ],
    "01": [
        "Pattern recognition",
        "classification",
        "clustering",
        "trained again",
        "any* continuous",
        "activation",
        "one-hot",
        "stochastic gradient descent",
        "feature",
        "pillow",
        "matplotlib",
        "1802.09941",
    ],
    "02": ["CNTK", "Theano", "orders of magnitude", "acceleration", "0.9805", "TensorFlow 1.13"],
    "03": [
        "Krizhevsky",
        "pickle",
        "AlexNet",
        "GoogLeNet",
        "15 times fewer",
        "VGG",
        "top-1 and top-5",
        "salloc",
        "sbatch",
        "exit code 137",
        "42 s",
        "0.097",
        "0.22",
        "25,613,800",
    ],
    "05": [
        "divisible",
        "Sutton",
        "tf.distribute",
        "strategy.scope()",
        "batch normalisation",
        "87.5 %",
        "82.5 %",
        "the second one idles",
        "1802.09941",
    ],
    "04": [
        "arithmetic, memory, a network",
        "many readers",
        "single files",
        "cuDNN",
        "MKL-DNN",
        "3,871",
        "tf.data",
        "DataLoader",
        "1.6 million",
        "cold",
    ],
    "07": [
        "Uber",
        "MXNet",
        "*master*",
        "pip install horovod",
        "BroadcastGlobalVariablesCallback",
        "DistributedGradientTape",
        "NCCL",
        "InfiniBand",
        "HOROVOD_TIMELINE",
        "horovodrun --gloo",
        "momentum_correction=False",
        ".9773",
        ".9911",
        "arXiv:1802.05799",
    ],
    "08": ["hpc4neuro", "Dataset.shard", "Train on 60000 samples", "mpi4py", "arXiv:1802.09941"],
    "06": [
        "Algorithm 1",
        "parameter server",
        "CNTK",
        "Caffe",
        "point-to-point",
        "mpi4py",
        "MPI tutorial",
        "Theta",
        "rankN",
        "thread teams",
        "Gloo",
        "NCCL",
        "1802.05799",
        "1705.09056",
    ],
    "10": [
        "set_epoch",
        "shuffle=True",
        "no_sync",
        "16 processes on 4 GPUs",
        "py-spy",
        "Watchdog caught collective operation timeout",
        "TORCH_FR_BUFFER_SIZE",
        "FSDP",
        "6,914",
        "arXiv:2006.15704",
    ],
    "09": [
        "Keskar",
        "Hoffer",
        "Goyal",
        "Akiba",
        "15 minutes",
        "saddle points",
        "Adadelta 1.0",
        "Exponential decay",
        "drop-out",
        "job array",
        "Account for changed convergence",
        "largest useful batch",
    ],
    "11": [
        "network parallelism",
        "fast bus",
        "GPipe",
        "PipeDream",
        "Megatron",
        "interleaved",
        "hybrid",
        "batch normalisation",
        "late dense layer",
        "batch_isend_irecv",
        "torch.distributed.pipelining",
        "1811.06965",
        "1806.03377",
        "2104.04473",
        "2401.10241",
    ],
    "13": [
        "wrap policy",
        "Prefetch",
        "MixedPrecisionPolicy",
        "DTensor",
        "autocast",
        "use_reentrant=False",
        ".metadata",
        "clip_grad_norm_",
        "arXiv:1910.02054",
        "arXiv:2304.11277",
        "arXiv:1604.06174",
    ],
    "14": [
        "FlopCounterMode",
        "MFU",
        "roofline",
        "torch.profiler",
        "cudaStreamSynchronize",
        "GradScaler",
        "InvalidCxxCompiler",
        "channels_last",
        "no_sync()",
        "prefetch_factor",
        "arXiv:1710.03740",
        "arXiv:2204.02311",
    ],
    "15": [
        "SLURM_RESTART_COUNT",
        "--requeue",
        "--open-mode=append",
        "afterany",
        "B:USR1@120",
        "os.fsync",
        "dropout",
        "gradient accumulation",
        "rendezvous",
        "--max-restarts",
        "arXiv:2407.21783",
    ],
    "16": [
        "ClusterSpec",
        "gRPC",
        "CommunicationImplementation.RING",
        "NCCL",
        "tricky",
        "Keras 3",
        "TF_NUM_INTEROP_THREADS",
        "32–50 nodes",
        "1,024 nodes",
    ],
    "12": [
        "*not distinguishable*",
        "α–β model",
        "Cray XC40",
        "XC50",
        "Cori",
        "Piz Daint",
        "Aries",
        "Mathuriya et al. 2017",
        "CTE-POWER",
        "BioHPC",
        "V100S",
        "time to accuracy",
        "ConsumedEnergy",
        "Hoefler, R. Belli",
        "arXiv:0808.1431",
        "1802.09941",
    ],
}


@pytest.mark.parametrize(
    ("lesson", "term"), [(lesson, term) for lesson, terms in MENTIONS.items() for term in terms]
)
def test_the_lesson_mentions(lesson, term):
    [folder] = SOLUTIONS.glob(f"{lesson}_*")
    text = (folder / "lesson.py").read_text(encoding="utf-8").replace("\n# ", " ")
    assert term in text


# A page has about 2,700 words. This way of counting finds up to 20 more than a notebook has.
MOST = {"words": 2750, "cells": 40, "rows of tables": 25}
STILL_OVER = {("05", "rows of tables")}


@pytest.mark.parametrize("folder", LESSONS, ids=lambda folder: folder.name)
def test_a_page_can_be_finished(folder):
    cells = re.split(r"(?m)^# %%", (folder / "lesson.py").read_text(encoding="utf-8"))[1:]
    texts = [re.sub(r"(?m)^# ?", "", cell) for cell in cells if cell.startswith(" [markdown]")]
    lines = [line for text in texts for line in text.splitlines()]
    tables = [line for line in lines if line.startswith("|")]
    rules = [line for line in tables if set(line) <= set("| -")]
    found = {
        "words": sum(len(text.split()) for text in texts),
        "cells": len(cells),
        "rows of tables": len(tables) - 2 * len(rules),
    }
    over = {(folder.name[:2], what) for what, number in found.items() if number > MOST[what]}
    assert over == {each for each in STILL_OVER if each[0] == folder.name[:2]}, found


@pytest.mark.parametrize("folder", LESSONS, ids=lambda folder: folder.name)
def test_the_lesson_has_its_parts(folder):
    text = (folder / "lesson.py").read_text(encoding="utf-8")
    submit = f"lessons submit {folder.name[:2]}"
    for part in ("## Predict", "What you should see", "## Traps", "## Recap", submit):
        assert part in text, f"{folder.name}/lesson.py lacks “{part}”"


NUMBERED = [*(f"{number:02}" for number in range(12)), "13", "14", "15", "16"]


@pytest.mark.parametrize("lesson", NUMBERED)
def test_exercises_are_numbered_in_their_order(lesson):
    [folder] = SOLUTIONS.glob(f"{lesson}_*")
    text = (folder / "lesson.py").read_text(encoding="utf-8")
    found = re.findall(r"\*\*Exercise \d+\.(\d+)(b?)", text)
    assert found == sorted(found, key=lambda exercise: (int(exercise[0]), exercise[1]))
    numbers = [int(number) for number, part in found if not part]
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("lesson", [*NUMBERED, "12"])
def test_every_prediction_comes_back(lesson):
    [folder] = SOLUTIONS.glob(f"{lesson}_*")
    text = (folder / "lesson.py").read_text(encoding="utf-8")
    noted = set(re.findall(r"\b(predict_\w+)=", text))
    compared = re.findall(r'predictions\.compare\(\s*f?"([\w{}]+)"', text)
    names = [re.sub(r"{\w+}", r"\\w+", name) for name in compared]  # of f"predict_{rule}"
    assert [name for name in noted if not any(re.fullmatch(n, name) for n in names)] == []
    assert [n for n in names if not any(re.fullmatch(n, name) for name in noted)] == []


# Jobs that come back, or that start two agents, do something after the launch.
LAST = ("launch ", 'exit "$status"', 'wait "$first"')


@pytest.mark.parametrize(
    "job", [job for f in LESSONS for job in sorted(f.glob("*.sbatch"))], ids=lambda job: job.name
)
def test_a_job_is_plain(job):
    lines = job.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 30
    assert "set -euo pipefail" in lines
    assert lines[-1].startswith(LAST), "the last line's exit code is the job's"
    for line in lines:
        if line.startswith("#SBATCH"):
            assert line.split()[1].startswith("--"), "long options only"
        assert "/home/" not in line
