"""The public checks of lesson 16: TF_CONFIG and workers without a barrier."""

import heapq
from pathlib import Path

import pytest
from advice import assert_advice, failure
from solution_programs import program

from lessons.toolkit.checks.lesson_16 import check_16_1, check_16_2

CLUSTER = program("16_tensorflow", "tf_cluster")
RIGHT = 'f"{host}:{port}" for host, port in zip(hosts[kind], ports[kind], strict=True)'
TASK = '"task": {"type": task, "index": index}'


class Changed:
    """A program with a mistake in tf_config."""

    def __init__(self, old, new):
        text = Path(CLUSTER.__file__).read_text(encoding="utf-8")
        assert text.count(old) == 1, old
        names = {"__file__": CLUSTER.__file__, "__name__": "changed"}
        exec(compile(text.replace(old, new), "tf_cluster.py", "exec"), names)
        self.tf_config = names["tf_config"]


def test_more_that_tensorflow_reads_does_no_harm():
    check_16_1(Changed('return {"cluster"', 'return {"rpc_layer": "grpc", "cluster"'))


def test_the_solution_passes(capsys):
    check_16_1(CLUSTER)
    assert "16.1: right" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('return {"cluster"', 'config = {"cluster"', "and the dictionary"),
        ('return {"cluster": cluster, ' + TASK + "}", "return json.dumps(cluster)", "into text"),
        ('"task": {', '"tasks": {', "exactly these two names"),
        ("for kind in hosts\n", "for kind in [task]\n", "one list for each kind"),
        (RIGHT, 'f"{host}:{ports[kind][0]}" for host in hosts[kind]', "Could not start gRPC"),
        (RIGHT, "host for host in hosts[kind]", "port is missing"),
        (f"[{RIGHT}]", f"sorted({RIGHT})", "are sorted"),
        ('f"{host}:{port}"', 'f"{host}: {port}"', "an extra space"),
        ('f"{host}:{port}"', 'f"localhost:{port}"', "unchanged"),
        (RIGHT, 'f"{host}:{port}" for host in hosts[kind] for port in ports[kind]',
         "host number i"),
        ('"index": index', '"index": 0', "would be number 0"),
        ('"index": index', '"index": index + 1', "begin with 0"),
        ('"index": index', '"index": str(index)', "not text"),
        ('"index": index', '"index": sum(len(hosts[k]) for k in list(hosts)'
         '[: list(hosts).index(task)]) + index', "tasks of one kind"),
        ('"type": task', '"type": "worker"', "last two arguments"),
    ],
)  # fmt: skip
def test_mistakes_in_tf_config(old, new, words):
    assert_advice(failure(check_16_1, Changed(old, new)), words)


def simulated(p, delays, updates=400, *, own=1, barrier=False, again=True, equal=False):
    ready = [(delays[worker], worker) for worker in range(p)]
    heapq.heapify(ready)
    read = [0] * p
    reads = []
    for update in range(updates):
        now, worker = heapq.heappop(ready)
        reads.append(update // p * p if barrier else read[worker])
        if again:
            read[worker] = update + own
        heapq.heappush(ready, (now + (1.0 if equal else delays[worker]), worker))
    return reads


def test_a_right_simulation_passes(capsys):
    check_16_2(simulated)
    assert "16.2: right" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        (lambda p, delays, updates=400: simulated(p, delays, updates)[p:], "one number for each"),
        (lambda p, delays, updates=400: simulated(p, delays, updates, own=0), "update + 1"),
        (lambda p, delays, updates=400: simulated(p, delays, updates, barrier=True), "barrier"),
        (lambda p, delays, updates=400: simulated(p, delays, updates, again=False), "reads again"),
        (lambda p, delays, updates=400: simulated(p, [1.0] * p, updates), "add that worker's"),
        (lambda p, delays, updates=400: list(range(updates)), "by hand"),
        (lambda p, delays, updates=400: [
            n - read for n, read in enumerate(simulated(p, delays, updates))], "staleness"),
    ],
)  # fmt: skip
def test_mistakes_in_the_simulation(mistake, words):
    assert_advice(failure(check_16_2, mistake), words)
