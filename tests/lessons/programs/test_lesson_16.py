"""Tests of lesson 16's programs with real workers: their promises, and their refusals."""

import json
import sys

import numpy as np
import pytest
from forked_runs import run_forked
from real_runs import ROOT, environment, run_group
from solution_programs import program

LESSON = ROOT / "solutions" / "16_tensorflow"
FLOAT64 = ROOT / "tests" / "lessons" / "ranks" / "in_float64.py"
GLOBAL = 96  # images of an update: for 1, 2 or 3 workers
# Each way's program, its workers, and the other tasks.
WAYS = {
    "alone": ("train_multiworker.py", 1, 0),
    "multiworker": ("train_multiworker.py", 3, 0),
    "ps-synchronous": ("train_ps.py", 2, 2),
}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Return way -> parameters and record, after ten updates."""
    root = tmp_path_factory.mktemp("ways")
    jobs = []
    for way, (name, workers, others) in WAYS.items():
        words = ("--train-samples", "960", "--epochs", "1", "--batch-size", str(GLOBAL // workers))
        start = (root / way, FLOAT64, "out.npy", str(LESSON / name), *words)
        jobs.append((workers + others, [start]))
    records = run_forked(*jobs, loaded=("tensorflow", "tf_keras"), TF_USE_LEGACY_KERAS="1")
    return {
        folder.name: (np.load(folder / "out.npy"), record) for folder, [record] in records.items()
    }


@pytest.mark.slow
@pytest.mark.ranks
@pytest.mark.parametrize("way", ["multiworker", "ps-synchronous"])
def test_workers_give_the_parameters_of_one_on_the_whole_batch(way, trained):
    params, record = trained[way]
    _, workers, others = WAYS[way]
    assert record.outcome == "completed"
    assert len(record.ranks) == record.workers == workers + others
    assert [epoch.steps for epoch in record.epochs] == [10]
    np.testing.assert_allclose(params, trained["alone"][0], rtol=0, atol=1e-9)
    told = {each["name"]: each["value"] for each in record.measures}
    if way == "multiworker":
        assert len({rank.start_hash for rank in record.ranks}) == 1
        assert len({rank.param_hash for rank in record.ranks}) == 1
    else:
        assert told["staleness_mean"] == 0.0


CLUSTER = program("16_tensorflow", "tf_cluster")
RANK_2 = {"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "2", "SLURM_LOCALID": "0"}
ON_NODES = {**RANK_2, "SLURM_STEP_ID": "0", "SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n[1-2]"}
PLACES = [
    # one node: the loopback, a port for each
    ({"SLURM_JOB_ID": "7"}, ["127.0.0.1:10448", "127.0.0.1:10449", "127.0.0.1:10450"]),
    ({"PBS_JOBID": "7.pbs-server"}, ["127.0.0.1:10448"]),
    # two nodes, filled one after the other; ports differ there too
    ({**ON_NODES, "SLURMD_NODENAME": "n2"}, ["n1:10448", "n1:10449", "n2:10450", "n2:10451"]),
    # as Slurm left alone spreads four tasks, and three nodes with five
    (
        {**ON_NODES, "SLURMD_NODENAME": "n1", "SLURM_STEP_TASKS_PER_NODE": "3,1"},
        ["n1:10448", "n1:10449", "n1:10450", "n2:10451"],
    ),
    (
        {**ON_NODES, "SLURM_JOB_NODELIST": "n[1-3]", "SLURM_STEP_TASKS_PER_NODE": "2(x2),1"},
        ["n1:10448", "n1:10449", "n2:10450", "n2:10451", "n3:10452"],
    ),
    # what the site puts behind the names of its fast network
    ({**ON_NODES, "MASTER_ADDR": "n1i"}, ["n1i:10448", "n2i:10449"]),
]


@pytest.fixture
def job(monkeypatch):
    for name in list(CLUSTER.os.environ):
        if name.startswith(("SLURM", "PBS", "OMPI", "PMI", "MASTER", "WORLD", "RANK")):
            monkeypatch.delenv(name)

    def set_to(environ):
        for name, value in environ.items():
            monkeypatch.setenv(name, value)

    return set_to


@pytest.mark.parametrize(("environ", "right"), PLACES)
def test_every_rank_of_a_job_has_a_place(job, environ, right):
    job({**environ, "SLURM_PROCID": "0"} if len(right) < 4 else environ)
    assert [f"{host}:{port}" for host, port in CLUSTER.places(len(right))] == right


@pytest.mark.parametrize(
    ("environ", "size", "words"),
    [
        ({**ON_NODES, "SLURMD_NODENAME": "n1"}, 4, "rank 2 is on n1 and not on n2"),
        ({"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n[1-2]"}, 3, "every node as many"),
    ],
)
def test_ranks_in_another_order_are_refused(job, environ, size, words):
    job(environ)
    with pytest.raises(SystemExit, match=words):
        CLUSTER.places(size)


def test_the_index_counts_within_its_kind(job):
    job({**RANK_2, "SLURM_JOB_ID": "7"})
    config = CLUSTER.join_cluster(["chief", "worker", "worker", "ps"])
    assert config["task"] == {"type": "worker", "index": 1}
    assert config["cluster"]["worker"] == ["127.0.0.1:10449", "127.0.0.1:10450"]


# Chief, four workers, server on one node; and the same with eight workers on two nodes.
KINDS = ["chief", *["worker"] * 4, "ps"]
TWO_NODES = ["chief", *["worker"] * 8, "ps"]


@pytest.mark.parametrize(
    ("kinds", "hosts", "gpus"),
    [
        (["worker"] * 2, ["n1"] * 2, [0, 1]),
        (["worker"] * 4, ["n1", "n1", "n2", "n2"], [0, 1, 0, 1]),
        (KINDS, ["n1"] * 6, [None, 0, 1, 2, 3, None]),
        (TWO_NODES, ["n1"] * 5 + ["n2"] * 5, [None, 0, 1, 2, 3, 0, 1, 2, 3, None]),
    ],
)
def test_only_workers_have_a_gpu_and_each_its_own(kinds, hosts, gpus):
    assert [CLUSTER.own_gpu(kinds, hosts, rank) for rank in range(len(kinds))] == gpus


class StandInGpus:
    """A replacement for TensorFlow on a node with GPUs: which it may see, and which may grow."""

    def __init__(self, monkeypatch, count):
        import tensorflow as tf

        self.all = [f"GPU:{number}" for number in range(count)]
        self.seen, self.grown, self.server = None, [], None
        monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: self.all)
        monkeypatch.setattr(tf.config, "set_visible_devices", self.see)
        monkeypatch.setattr(
            tf.config.experimental, "set_memory_growth", lambda gpu, grows: self.grown.append(gpu)
        )
        monkeypatch.setattr(tf.distribute, "Server", self.start)
        monkeypatch.setattr(CLUSTER, "serve_until_gone", lambda *_: None)

    def see(self, gpus, kind):
        self.seen = gpus if isinstance(gpus, list) else [gpus]

    def start(self, cluster, kind, index, config):
        self.server = config


@pytest.mark.slow
@pytest.mark.parametrize(("rank", "gpu", "devices"), [(0, None, 0), (4, 3, 1)])
def test_each_task_is_shown_its_gpu_alone(rank, gpu, devices, job, monkeypatch):
    job({"SLURM_STEP_NUM_TASKS": "6", "SLURM_PROCID": str(rank), "SLURM_JOB_ID": "7"})
    node = StandInGpus(monkeypatch, 4)
    assert CLUSTER.take_gpu(KINDS) == gpu
    own = [] if gpu is None else [f"GPU:{gpu}"]
    assert (node.seen, node.grown) == (own, own)
    CLUSTER.serve({"cluster": {"chief": ["n1:1"]}, "task": {"type": "ps", "index": 0}}, 1, gpu)
    assert node.server.device_count["GPU"] == devices
    assert node.server.gpu_options.visible_device_list == ("" if gpu is None else str(gpu))
    assert node.server.gpu_options.allow_growth


LONELY = ROOT / "tests" / "lessons" / "ranks" / "lonely.py"
# A task that is there, and what it says of the others.
MISSING = {
    ("train_multiworker.py", 0, 2): "worker 0 has waited 3 s for the others in vain; nobody",
    ("train_multiworker.py", 1, 2): "nobody answers as worker 0 at 127.0.0.1:",
    ("train_ps.py", 0, 3): "chief 0 has waited 3 s for the others in vain; nobody answers as",
    ("train_ps.py", 2, 3): "nobody came to 127.0.0.1:",
}


@pytest.fixture(scope="module")
def lonely(tmp_path_factory):
    """Return the exit status and the errors of each task that is there without the others."""
    tasks = [(str(LESSON / name), rank, size) for name, rank, size in MISSING]
    status, printed, errors = run_group(
        [sys.executable, LONELY, json.dumps(tasks), "--train-samples", "320", "--wait", "3"],
        120, cwd=tmp_path_factory.mktemp("lonely"), env=environment(TF_USE_LEGACY_KERAS="1"),
    )  # fmt: skip
    assert status == 0, errors[-2000:]
    return dict(zip(MISSING, json.loads(printed.splitlines()[-1]), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("task", MISSING)
def test_who_does_not_come_is_named(task, lonely):
    status, said = lonely[task]
    assert status != 0
    assert MISSING[task] in said
    assert "Traceback" not in said
