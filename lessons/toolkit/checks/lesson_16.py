"""Public checks of lesson 16: TensorFlow's own methods and parameter servers."""

import heapq
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, exercise, shown

Lists = dict[str, list[Any]]

CLUSTERS: tuple[tuple[Lists, Lists], ...] = (  # hosts, then ports, by kind of task
    ({"worker": ["127.0.0.1", "127.0.0.1"]}, {"worker": [10064, 10065]}),
    ({"worker": ["n2", "n2", "n10", "n10"]}, {"worker": [10128, 10129, 10128, 10129]}),
    (
        {"chief": ["n1"], "worker": ["n1", "n2"], "ps": ["n2"]},
        {"chief": [10192], "worker": [10193, 10192], "ps": [10193]},
    ),
)


@exercise("16.1")
def check_16_1(program: Any) -> str:
    """TF_CONFIG has the same "cluster" for every task, and a separate "task" for each."""
    for hosts, ports in CLUSTERS:
        whole = [(kind, index) for kind in hosts for index in range(len(hosts[kind]))]
        for kind, index in whole:
            given = [{name: list(each) for name, each in lists.items()} for lists in (hosts, ports)]
            config = program.tf_config(*given, kind, index)
            if not isinstance(config, Mapping) or not {"cluster", "task"} <= set(config):
                advice = (
                    "TensorFlow looks for exactly these two names. Write `return` and the "
                    "dictionary; join_cluster turns it into text."
                )
                what = 'a dictionary with "cluster" and "task"'
                raise CheckFailed(what, shown(config), advice)
            for name in hosts:
                check_addresses(config["cluster"], name, hosts[name], ports[name])
            check_task(config["task"], whole, kind, index)
    return (
        "TF_CONFIG is right for two workers on one host, for four on two nodes, and for a "
        "chief with workers and a server."
    )


def check_addresses(cluster: Any, name: str, hosts: list[str], ports: list[int]) -> None:
    right = [f"{host}:{port}" for host, port in zip(hosts, ports, strict=True)]
    found = cluster.get(name) if isinstance(cluster, Mapping) else None
    if found == right:
        return
    advice = "Make one list for each kind in hosts, with all its tasks: host number i and port "
    advice += "number i, unchanged and in the given order."
    usual = {
        str(hosts): 'The port is missing: f"{host}:{port}".',
        str([f"{host}:{ports[0]}" for host in hosts]): "All addresses have the first port. Only "
        'one task on a host can use it: the second one ends with "Could not start gRPC server", '
        "and the first waits for it.",
        str(sorted(right)): "The addresses are sorted. An index refers to the original order.",
        str([address.replace(":", ": ") for address in right]): "There is an extra space, so no "
        "host with this name is found.",
    }
    what = f'"cluster" has {name}: {right}'
    raise CheckFailed(what, shown(cluster), usual.get(str(found), advice))


def check_task(task: Any, whole: list[tuple[str, int]], kind: str, index: int) -> None:
    right = {"type": kind, "index": index}
    if task == right:
        return
    advice = 'Use a dictionary with "type" and "index": the last two arguments, unchanged.'
    if isinstance(task, Mapping) and task.get("type") == kind:
        usual = {
            index + 1: "Indices begin with 0: the last worker would not be in the list.",
            0: "Every task would be number 0: two servers would use the same port.",
            str(index): "The index is a number, not text.",
            whole.index((kind, index)): "The index counts tasks of one kind, not all tasks: worker "
            "0 follows chief 0.",
        }
        advice = usual.get(task.get("index"), advice)
    raise CheckFailed(f'"task" is {right}', shown(task), advice)


UPDATES = 120
# Seconds without two equal sums, so that there is only one right order.
UNEQUAL = [1.0, 1.37, 5.11]


@exercise("16.2")
def check_16_2(simulate_async: Callable[..., Any]) -> str:
    """Check, for each update, the number of updates since its worker read the parameters."""
    for p in (2, 4, 16, 1):
        late = staleness(simulate_async, [1.0] * p)
        warm = late[p : p + (UPDATES - p) // p * p]
        mean = sum(warm) / len(warm)
        if abs(mean - (p - 1)) > 1e-9:
            expected = f"{p} workers of equal speed: staleness {p - 1} on average, after the start"
            raise CheckFailed(expected, f"{mean:.4g}", why_wrong(mean, late, p))
    right = [n - read for n, read in enumerate(simulated(UNEQUAL))]
    late = staleness(simulate_async, UNEQUAL)
    if late != right:
        first = next(n for n in range(UPDATES) if late[n] != right[n])
        advice = (
            "The worker that is ready first makes the next update. Store in a copy of `delays` "
            "when each worker will be ready, take the earliest, and add that worker's delay."
        )
        expected = f"delays {UNEQUAL}: update {first} is {right[first]} late"
        raise CheckFailed(expected, f"{late[first]} late", advice)
    return f"p - 1 for equal speeds; with delays {UNEQUAL} the slow one is up to {max(right)} late."


def staleness(simulate_async: Callable[..., Any], delays: list[float]) -> list[int]:
    reads = list(simulate_async(len(delays), list(delays), UPDATES))
    if len(reads) != UPDATES:
        advice = "Return one number for each update, in the order in which the updates are made."
        raise CheckFailed(f"a list of {UPDATES} numbers", f"{len(reads)}", advice)
    return [n - int(read) for n, read in enumerate(reads)]


def why_wrong(mean: float, late: list[int], p: int) -> str:
    reads = [n - each for n, each in enumerate(late)]
    if len(set(reads[p:])) == 1:
        return (
            "After the first p updates, your numbers are constant. Return which state each update "
            "read, not its staleness. After its update, a worker reads again."
        )
    if abs(mean - p) < 1e-9:
        return "A worker reads after its own update, so that update is included: update + 1."
    if abs(mean - (p - 1) / 2) < 1e-9:
        return (
            "All workers read the same state and wait for each other. That is a barrier: the "
            "updates are synchronous."
        )
    return (
        "While one worker computes, each of the p - 1 others makes an update. Work through p = 2 "
        "by hand."
    )


def simulated(delays: Sequence[float]) -> list[int]:
    ready = [(delay, worker) for worker, delay in enumerate(delays)]
    heapq.heapify(ready)
    read, reads = [0] * len(delays), []
    for update in range(UPDATES):
        now, worker = heapq.heappop(ready)
        reads.append(read[worker])
        read[worker] = update + 1
        heapq.heappush(ready, (now + delays[worker], worker))
    return reads
