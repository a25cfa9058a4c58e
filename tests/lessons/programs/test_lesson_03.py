"""Tests of lesson 03's program: one sentence for each mistake."""

import os
import subprocess
import sys

import pytest
from real_runs import ROOT

LESSON = ROOT / "solutions" / "03_baseline"


@pytest.mark.parametrize("typed", ["3.2", "03.2", "3.4b"])
@pytest.mark.parametrize("where", [[], ["--in", "."]])
def test_an_exercise_instead_of_a_lesson_is_told_what_to_type(typed, where, lessons_command):
    done = lessons_command("check", typed, *where)
    assert done.exit_code == 2
    assert f"{typed} is an exercise" in done.output
    assert " ".join(["Type: lessons check 03", *where]) in done.output


def train(program, *arguments, out, **env):
    """Start a program as a job does; its output goes to a file of the folder `out`."""
    environ = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"} | env
    with (out / "03_baseline_1.out").open("w") as sink:
        return subprocess.run(
            [sys.executable, "-u", str(program), *arguments],
            cwd=out, env=environ, stdout=sink, stderr=subprocess.PIPE, text=True, timeout=300,
        )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "env", "sentence"),
    [
        (["--model", "ResNet49V2"], {}, "Keras Applications has no network ResNet49V2"),
        (["--size", "16"], {}, "--model ResNet50V2 --size 16: Input size must be at least 32x32"),
        (
            [],
            # SLURM_JOB_ID: a download is not tried within a job
            {"COURSE_DATA": "nowhere", "COURSE_DATA_CACHE": "nowhere", "SLURM_JOB_ID": "1",
             "COURSE_DATA_STRICT": "1"},
            "CIFAR-10 is not on this machine",
        ),
    ],
)  # fmt: skip
def test_mistakes_end_with_one_sentence(arguments, env, sentence, tmp_path):
    done = train(LESSON / "train.py", "--train-samples", "64", *arguments, out=tmp_path, **env)
    assert done.returncode in (1, 2)
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
