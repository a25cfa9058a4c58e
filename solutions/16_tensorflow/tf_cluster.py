"""TF_CONFIG, which tells TensorFlow where each of the job's tasks is.

Every task runs this with the same cluster and an index of its own. No messages are needed: nodes
come from the scheduler, the rank from the launcher, the ports from the number of the job.
"""

import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

from autograder.slurm_notation import node_names
from cluster.launchers import launched

FIRST, PORTS, JOBS = 10000, 64, 300  # jobs with close numbers share no port


def this_rank():
    """Return rank, local rank and number of tasks from the launcher, or else (0, 0, 1)."""
    told = launched(os.environ)
    return (told.rank, told.local_rank, told.size) if told else (0, 0, 1)


def nodes():
    """Return the names by which nodes reach each other; of a single node the loopback address."""
    names = node_names(os.environ.get("SLURM_JOB_NODELIST", ""))
    if len(names) < 2:
        return ["127.0.0.1"]
    # Some sites add a suffix for the fast network: JUWELS an i.
    suffix = os.environ.get("MASTER_ADDR", names[0]).removeprefix(names[0])
    return [name + suffix for name in names]


def tasks_on_nodes(count, size):
    """Return each node's number of tasks. Slurm reports it for a step; otherwise all are equal."""
    told = os.environ.get("SLURM_STEP_TASKS_PER_NODE", "")  # such as 3,1 or 2(x2)
    parts = re.findall(r"(\d+)(?:\(x(\d+)\))?", told)
    tasks = [int(number) for number, times in parts for _ in range(int(times or 1))]
    if "SLURM_STEP_ID" in os.environ and len(tasks) == count and sum(tasks) == size:
        return tasks
    if size % count:
        sys.exit(f"{size} tasks on {count} nodes: give every node as many")
    return [size // count] * count


def places(size):
    """Return host and port of each rank. Ranks fill one node after the other. Neighbours have
    different ports even on different nodes, because nodes in containers may share a network."""
    names = nodes()
    tasks = tasks_on_nodes(len(names), size)
    if max(tasks) > PORTS:
        sys.exit(f"{max(tasks)} tasks on a node: at most {PORTS} have a port")
    hosts = [name for name, number in zip(names, tasks, strict=True) for _ in range(number)]
    rank = this_rank()[0]
    here = hosts[rank]
    if "SLURM_STEP_ID" in os.environ and len(names) > 1:  # elsewhere this name is not reported
        found = os.environ.get("SLURMD_NODENAME", here)
        if not here.startswith(found):
            sys.exit(f"rank {rank} is on {found} and not on {here}: take srun -m block")
    # Without a job, all ranks are children of one mpirun.
    job = os.environ.get("SLURM_JOB_ID") or os.environ.get("PBS_JOBID") or str(os.getppid())
    first = FIRST + PORTS * (int(re.match(r"\d*", job)[0] or 0) % JOBS)
    return [(host, first + rank % PORTS) for rank, host in enumerate(hosts)]


def join_cluster(kinds):
    """Set TF_CONFIG: the addresses of all tasks by kind, and which of them this one is.

    kinds: what each rank is, such as ["chief", "worker", "worker", "ps"].
    """
    cluster = {}
    for kind, (host, port) in zip(kinds, places(len(kinds)), strict=True):
        cluster.setdefault(kind, []).append(f"{host}:{port}")
    rank = this_rank()[0]
    task = {"type": kinds[rank], "index": kinds[:rank].count(kinds[rank])}
    config = {"cluster": cluster, "task": task}
    os.environ["TF_CONFIG"] = json.dumps(config)
    return config


def own_gpu(kinds, hosts, rank):
    """Return the number of this worker's GPU on its node; chief and server need none."""
    if kinds[rank] != "worker":
        return None
    before = zip(kinds[:rank], hosts[:rank], strict=True)
    return sum(kind == "worker" and host == hosts[rank] for kind, host in before)


def take_gpu(kinds):
    """Hide all GPUs but this worker's own, and return its number or None. Otherwise each task,
    also chief and server, takes nearly all the memory of all GPUs."""
    import tensorflow as tf  # imported here, because the watcher does not need it

    from lessons.toolkit.ranks import enough_gpus

    hosts, rank = [host for host, _ in places(len(kinds))], this_rank()[0]
    number, gpus = own_gpu(kinds, hosts, rank), tf.config.list_physical_devices("GPU")
    if number is not None:
        enough_gpus(len(gpus), number)
    if number is None or not gpus:
        tf.config.set_visible_devices([], "GPU")
        return None
    tf.config.set_visible_devices(gpus[number], "GPU")
    tf.config.experimental.set_memory_growth(gpus[number], True)
    return number


def listens(address):
    """Return whether a task answers at this address."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=1).close()
    except OSError:
        return False
    return True


@contextmanager
def in_time(config, seconds):
    """Watch for missing tasks from another process. After so many seconds it names them and ends
    this process. TensorFlow itself waits for them silently, for an hour, and runs no other line of
    this program meanwhile."""
    words = [sys.executable, __file__, json.dumps(config), str(seconds)]
    watcher = subprocess.Popen(words, stdin=subprocess.PIPE)
    yield
    watcher.stdin.close()
    watcher.wait()


def watch(config, seconds):
    """Watch for missing tasks in the other process, until its standard input ends."""
    if select.select([sys.stdin], [], [], seconds)[0]:
        return
    me = "{type} {index}".format(**config["task"])
    missing = [
        f"{kind} {number} at {address}"
        for kind, addresses in config["cluster"].items()
        for number, address in enumerate(addresses)
        if kind != "chief" and not listens(address)
    ]
    what = "nobody answers as " + ", ".join(missing)
    if not missing:
        what = "all ports answer: is everybody told the same cluster, and each index once?"
    print(f"{me} has waited {seconds:g} s for the others in vain; {what}", file=sys.stderr)
    os.kill(os.getppid(), signal.SIGKILL)  # TensorFlow catches SIGTERM and continues to wait


def serve(config, seconds, gpu):
    """Serve as a worker or parameter server, until the chief has gone. The Server does not know
    what take_gpu chose, so it gets the GPU's number again."""
    import tensorflow as tf  # imported here, because the watcher above does not need it

    task = config["task"]
    # A server waits for others in its threads: with one or two threads, all wait forever.
    options = tf.compat.v1.ConfigProto(
        inter_op_parallelism_threads=4,
        intra_op_parallelism_threads=int(os.environ.get("TF_NUM_INTRAOP_THREADS", 0)),
        device_count={"GPU": 0 if gpu is None else 1},
    )
    options.gpu_options.visible_device_list = "" if gpu is None else str(gpu)
    options.gpu_options.allow_growth = True
    _server = tf.distribute.Server(config["cluster"], task["type"], task["index"], config=options)
    try:
        serve_until_gone(config["cluster"]["chief"][0], seconds)
    except SystemExit as nobody:
        os.write(2, f"{nobody}\n".encode())
        os._exit(1)  # a server that was never called does not end by itself


def serve_until_gone(address, seconds):
    """Wait until a task has come, and then until it has gone."""
    until = time.monotonic() + seconds
    while not listens(address):
        if time.monotonic() > until:
            sys.exit(f"nobody came to {address} within {seconds:g} s")
        time.sleep(0.2)
    while listens(address):
        time.sleep(0.5)


if __name__ == "__main__":
    watch(json.loads(sys.argv[1]), float(sys.argv[2]))
