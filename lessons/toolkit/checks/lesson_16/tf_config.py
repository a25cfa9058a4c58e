"""Check TF_CONFIG (16.1) without starting TensorFlow."""

from collections.abc import Callable, Mapping
from typing import Any

from lessons.toolkit.checks.shared.check import CheckFailed, exercise, shown

Function = Callable[..., Any]
Lists = Mapping[str, list[Any]]

# hosts, then ports, by kind of task
ONE_HOST: tuple[Lists, Lists] = (
    {"worker": ["127.0.0.1", "127.0.0.1"]},
    {"worker": [10064, 10065]},
)
TWO_NODES: tuple[Lists, Lists] = (
    {"worker": ["n2", "n2", "n10", "n10"]},  # not in alphabetical order
    {"worker": [10128, 10129, 10128, 10129]},
)
SERVER: tuple[Lists, Lists] = (
    {"chief": ["n1"], "worker": ["n1", "n2"], "ps": ["n2"]},
    {"chief": [10192], "worker": [10193, 10192], "ps": [10193]},
)


@exercise("16.1")
def check_16_1(program: Any) -> str:
    """TF_CONFIG has the same "cluster" for every task, and a separate "task" for each."""
    for hosts, ports in (ONE_HOST, TWO_NODES, SERVER):
        whole = [(kind, index) for kind in hosts for index in range(len(hosts[kind]))]
        told = [(task, told_to(program.tf_config, hosts, ports, *task)) for task in whole]
        for (kind, index), config in told:
            check_cluster(config["cluster"], hosts, ports, kind, index)
            check_task(config["task"], whole, kind, index)
    return (
        "TF_CONFIG is right for two workers on one host, for four on two nodes, and for a "
        "chief with workers and a server."
    )


def told_to(tf_config: Function, hosts: Lists, ports: Lists, kind: str, index: int) -> Any:
    given = [{name: list(values) for name, values in each.items()} for each in (hosts, ports)]
    config = tf_config(*given, kind, index)
    if config is None:
        raise CheckFailed("a dictionary", "None", "Is there a `return` in front of it?")
    if isinstance(config, str):
        raise CheckFailed(
            "a dictionary", shown(config), "Return the dictionary; join_cluster turns it into text."
        )
    if not isinstance(config, Mapping) or not {"cluster", "task"} <= set(config):
        found = sorted(map(str, config)) if isinstance(config, Mapping) else shown(config)
        raise CheckFailed(
            'a dictionary with "cluster" and "task"',
            found,
            "TensorFlow looks for exactly these two names. Without `cluster`, each process "
            "runs alone. Without `task`, it ends at once.",
        )
    return config


def check_cluster(cluster: Any, hosts: Lists, ports: Lists, kind: str, index: int) -> None:
    right = {
        name: [f"{host}:{port}" for host, port in zip(hosts[name], ports[name], strict=True)]
        for name in hosts
    }
    if not isinstance(cluster, Mapping):
        advice = (
            'Use a dictionary: the kind of task, such as "worker", and the list of its addresses.'
        )
        raise CheckFailed(f'"cluster" is {right}', shown(cluster), advice)
    if missing := set(right) - set(cluster):
        advice = "Make one list for each kind in hosts, not for a single kind or a fixed name."
        raise CheckFailed(f'"cluster" has {", ".join(right)}', f"no {sorted(missing)[0]}", advice)
    for name, addresses in right.items():
        found = cluster[name]
        if isinstance(found, str) or not hasattr(found, "__iter__"):
            advice = 'Each kind has a list of addresses, even if there is one: ["n1:10192"].'
            raise CheckFailed(f"{name}: {addresses}", shown(found), advice)
        if list(found) != addresses:
            advice = why_wrong(list(found), addresses, hosts[name], ports[name], kind, index)
            where = f"{name} in the cluster of {kind} {index}: {addresses}"
            raise CheckFailed(where, shown(list(found)), advice)


def why_wrong(
    found: list[Any], right: list[str], hosts: list[str], ports: list[int], kind: str, index: int
) -> str:
    if len(found) < len(right):
        return (
            "A task is missing. The cluster lists all tasks, including this one: TensorFlow "
            "takes the number of tasks from this list."
        )
    if len(found) == len(right) ** 2 > 1 and set(right) <= set(found):
        return "Host number i has port number i: zip(hosts, ports), not every pair of them."
    if not all(isinstance(address, str) for address in found):
        return 'An address is one text, "host:port".'
    if not all(":" in address for address in found):
        return 'The port is missing: f"{host}:{port}".'
    if found == [f"{host}:{ports[0]}" for host in hosts]:
        return (
            "All addresses have the first port. Only one task on a host can use it: the second one "
            'ends with "Could not start gRPC server", and the first waits for it.'
        )
    if [address.replace(" ", "") for address in found] == right:
        return "There is an extra space, so no host with this name is found."
    if sorted(found) == sorted(right):
        return "The addresses are sorted. An index refers to the original order of the lists."
    if [a.rpartition(":")[0] for a in found] == hosts:
        return (
            f"The ports differ from those in `ports` for {kind} {index}. All tasks need the same "
            "list: a task that listens at a port that nobody calls waits forever."
        )
    return "Join host number i and port number i for all i, unchanged and in the given order."


def check_task(task: Any, whole: list[tuple[str, int]], kind: str, index: int) -> None:
    right = {"type": kind, "index": index}
    if isinstance(task, Mapping) and dict(task) == right and type(task["index"]) is int:
        return
    advice = 'Use a dictionary with "type" and "index": the last two arguments, unchanged.'
    if isinstance(task, Mapping) and set(task) == set(right):
        found = task["index"]
        if task["type"] != kind:
            advice = f"The type is the argument `task`, here {kind!r}; it is not always the same."
        elif isinstance(found, str):
            advice = "The index is a number, not text."
        elif found == 0:
            advice = (
                "Every task would be number 0: two servers would use the same port, and "
                "task 1 would be missing."
            )
        elif found == whole.index((kind, index)):
            advice = "The index counts tasks of one kind, not all tasks: worker 0 follows chief 0."
        elif found == index + 1:
            advice = "Indices begin with 0: the last worker would not be in the list."
    raise CheckFailed(f'"task" is {right}', shown(task), advice)
