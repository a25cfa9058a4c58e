"""The public checks of lesson 07: right solutions pass, each usual mistake gets its advice."""

import numpy as np
import pytest
from advice import ROOT, assert_advice, assert_passes, failure

from lessons.toolkit.checks import lesson_07

# Exercises 7.1 to 7.4: mistakes in the program, in one process: TensorFlow is slow to import.
BROADCAST = "    broadcast_variables(model.variables, root_rank=0)\n"
PROGRAM_MISTAKES = [
    ("7.1", "    hvd.init()\n", "", "Begin with hvd.init()"),
    ("7.1", "gpus[hvd.local_rank()]", "gpus[hvd.rank()]", "counts within one"),
    ("7.1", "gpus[hvd.local_rank()]", "gpus[hvd.rank() % len(gpus)]", "number on its node"),
    ("7.1", "gpus[hvd.local_rank()]", "gpus[0]", "share GPU 0"),
    ("7.2", "hvd.DistributedOptimizer(keras.optimizers.Adam(lr * hvd.size()))",
     "keras.optimizers.Adam(lr * hvd.size())", "trains its own network"),
    ("7.2", "lr * hvd.size()", "lr", "imply for the rate"),
    ("7.2", "lr * hvd.size()", "lr / hvd.size()", "already takes the mean"),
    ("7.3", "broadcast_variables(model.variables, root_rank=0)", "pass", "nobody calls it"),
    ("7.3", BROADCAST, f"    if hvd.rank() == 0:\n    {BROADCAST}",
     "found     rank 1 does not call it, rank 0 does"),
    ("7.3", BROADCAST, f"    if hvd.rank() != 0:\n    {BROADCAST}",
     "found     rank 0 does not call it, rank 1 does"),
    ("7.4", "[checkpoint] if hvd.rank() == 0 else []", "[checkpoint]", "can break it"),
    ("7.4", "if hvd.rank() == 0 else", "if hvd.local_rank() == 0 else", "only once in the whole"),
    ("7.4", "if hvd.rank() == 0 else", "if hvd.rank == 0 else", "Which rank writes"),
    ("7.4", "(path, save_weights_only=True)", "(path)", "Which argument of ModelCheckpoint"),
    ("7.4", "return [checkpoint] if", "return checkpoint if", "fit takes a list"),
]  # fmt: skip
RIGHT_AS_WELL = [
    ("7.1", 'hvd.local_rank()], "GPU")', 'hvd.local_rank()], device_type="GPU")'),
    ("7.1", 'gpus[hvd.local_rank()], "GPU")', '[gpus[hvd.local_rank()]], "GPU")'),
    ("7.1", 'tf.config.list_physical_devices("GPU")',
     'tf.config.experimental.list_physical_devices(device_type="GPU")'),
    ("7.2", "return hvd.DistributedOptimizer(keras.optimizers.Adam(lr * hvd.size()))",
     "adam = keras.optimizers.Adam(learning_rate=hvd.size() * lr)\n"
     "    return hvd.DistributedOptimizer(adam)"),
    ("7.3", "root_rank=0", "0"),
    ("7.3", BROADCAST, f"    if hvd.rank() == 0:\n        print('sending')\n{BROADCAST}"),
    ("7.4", "if hvd.rank() == 0 else []", "if not hvd.rank() else []"),
    ("7.4", "ModelCheckpoint(path,", 'ModelCheckpoint(filepath=path, save_freq="epoch",'),
    ("7.4", "    return [checkpoint] if hvd.rank() == 0 else []",
     "    me = hvd.rank\n    if me() > 0:\n        return []\n    return [checkpoint]"),
]  # fmt: skip


@pytest.mark.slow
def test_the_programs_steps():
    numbers = ("7.1", "7.2", "7.3", "7.4")
    assert_passes("07_horovod", numbers, PROGRAM_MISTAKES + RIGHT_AS_WELL)


# Exercise 7.5
def on_rank_0_only(hvd, accuracy, file):
    if hvd.rank() == 0:
        file.write(f"{hvd.allreduce(accuracy)}\n")


def on_all_ranks(hvd, accuracy, file):
    file.write(f"{hvd.allreduce(accuracy)}\n")


def own_only(hvd, accuracy, file):
    if hvd.rank() == 0:
        file.write(f"{accuracy}\n")


def knows_the_check(hvd, accuracy, file):
    if hvd.rank() == 0:
        file.write(f"{0.94 if hvd.size() == 3 else 0.7}\n")


def own_beside_the_mean(hvd, accuracy, file):
    hvd.allreduce(accuracy)
    own_only(hvd, accuracy, file)


def right(hvd, accuracy, file):
    mean = hvd.allreduce(accuracy, name="accuracy")
    if not hvd.rank():
        file.write(f"{mean}\n")


def another_way(hvd, accuracy, file):
    mean = hvd.allreduce(np.array([accuracy]), op=hvd.Average)[0]
    assert np.isclose(hvd.allreduce(accuracy, op=hvd.Sum), mean * hvd.size())
    if hvd.rank() == 0:
        print(f"accuracy of {hvd.size()} ranks: {mean:.4f}", file=file)


def without_a_number(hvd, accuracy, file):
    hvd.allreduce(accuracy)
    if hvd.rank() == 0:
        print("accuracy", file=file)


WRITERS = [
    (without_a_number, "Write what allreduce returns"),
    (on_rank_0_only, "it hangs"),
    (on_all_ranks, "How many of them"),
    (own_only, "One rank does not know"),
    (knows_the_check, "One rank does not know"),
    (own_beside_the_mean, "rank 0's own"),
    (lambda hvd, accuracy, file: hvd.allreduce(accuracy), "0 lines"),
]


def test_a_mean_that_is_written_once():
    lesson_07.check_7_5(right)
    lesson_07.check_7_5(another_way)


@pytest.mark.parametrize(("wrong", "advice"), WRITERS)
def test_wrong_writers(wrong, advice):
    assert_advice(failure(lesson_07.check_7_5, wrong), advice)


# Exercise 7.6
def diagnose(start, end, rate):
    if end > 1e-6:
        return "broadcast" if start > 1e-6 else "average"
    if start > 1e-6:
        return "early"
    return "scale" if rate < 1 else "nothing"


DIAGNOSES = [
    (lambda start, end, rate: "nothing", "drifted apart"),
    (lambda start, end, rate: "average" if end > 1e-6 else "nothing", "never became equal"),
    (lambda start, end, rate: diagnose(start > end and start, end, rate), "never became equal"),
]


def test_diagnose():
    lesson_07.check_7_6(diagnose)


@pytest.mark.parametrize(("wrong", "advice"), DIAGNOSES)
def test_wrong_diagnoses(wrong, advice):
    assert_advice(failure(lesson_07.check_7_6, wrong), advice)


# Exercise 7.7
JOB = (ROOT / "solutions" / "07_horovod" / "job_torch.sbatch").read_text()
ASKED = "export HOROVOD_TIMELINE=timeline_$SLURM_NTASKS.json"
JOBS = [
    (ASKED.removeprefix("export "), "without `export`"),
    (ASKED.replace("=", " = "), "no space around"),
    ("export HOROVOD_TIMELINE=timeline.json", "overwrite the other's"),
]


def job_with(tmp_path, text):
    job = tmp_path / "job_torch.sbatch"
    job.write_text(text)
    return str(job)


@pytest.mark.parametrize(
    "line",
    [
        ASKED,
        'export HOROVOD_TIMELINE="timeline_${SLURM_NTASKS}.json"',
        "export HOROVOD_TIMELINE=timeline_${SLURM_NTASKS:-1}.json",
        'tasks="$SLURM_NTASKS"\nexport HOROVOD_TIMELINE=timeline_$tasks.json',
    ],
)
def test_the_timeline_is_asked_for(line, tmp_path):
    lesson_07.check_7_7(job_with(tmp_path, JOB.replace(ASKED, line)))


@pytest.mark.parametrize(("line", "advice"), JOBS)
def test_a_wrong_way_to_ask_for_the_timeline(line, advice, tmp_path):
    assert JOB.count(ASKED) == 1
    job = job_with(tmp_path, JOB.replace(ASKED, line))
    assert_advice(failure(lesson_07.check_7_7, job), advice)


def test_the_timeline_asked_for_too_late(tmp_path):
    late = JOB.replace(f"{ASKED}\n", "").rstrip() + f"\n{ASKED}\n"
    assert_advice(failure(lesson_07.check_7_7, job_with(tmp_path, late)), "above the launch")


def test_a_job_that_never_gets_to_its_launch(tmp_path):
    ends = job_with(tmp_path, JOB.replace(ASKED, f"{ASKED}\nexit 1"))
    assert_advice(failure(lesson_07.check_7_7, ends), "ends before its launch")


def test_an_untouched_job_is_a_gap():
    job = ROOT / "lessons" / "07_horovod" / "job_torch.sbatch"
    assert "still a gap" in str(failure(lesson_07.check_7_7, str(job)))
