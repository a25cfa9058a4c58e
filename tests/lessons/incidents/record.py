"""Run the program of an incident on real ranks, and write down what its owner would have seen."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from tests.lessons.incidents.kinds import KINDS
from tests.lessons.incidents.programs import Program, program

HERE = Path(__file__).parent
IMAGES = 240  # of a rank: 30 steps
CARETS = re.compile(r"[\s^~]*")
SHORTER = re.compile(r"^\[rank\d+\]: |(?<=\")/\S*/(?=site-packages/)|/__w/\S*/third_party/")
LIMIT = 120  # seconds for a run, on a busy machine


@dataclass(frozen=True)
class Incident:
    name: str
    kind: str
    ranks: int
    culprit: int
    step: int  # at which it happens
    program: Program


@dataclass
class Seen:
    """Hold what a run leaves behind."""

    lines: list[str]  # of all ranks, in the order in which they came
    account: list[str]
    stacks: dict[int, str]
    calls: dict[int, list[dict[str, Any]]]


def draw(seed: int, of_each: int = 3) -> list[Incident]:
    """Return three incidents of each kind, with names that do not tell the kind."""
    random = Random(seed)
    kinds = [(kind, variant) for kind in KINDS for variant in range(of_each)]
    random.shuffle(kinds)
    found = []
    for number, (kind, variant) in enumerate(kinds, 1):
        if kind == "twice":  # the first rank of the second node reads what the first one reads
            culprit = random.choice([2, 3])
            ranks = 2 * culprit
        else:
            ranks = random.choice([4, 5, 6])
            culprit = random.randrange(ranks)
        step, text = random.randrange(8, 22), program(kind, variant, random)
        found.append(Incident(f"a{number:02}", kind, ranks, culprit, step, text))
    return found


def make_files(incident: Incident, folder: Path, random: np.random.Generator) -> None:
    """Write the program, and the files that make one rank differ from the others."""
    (folder / "train.py").write_text(incident.program.text)
    shutil.copy(HERE / "watch.py", folder)
    every = [images(random, IMAGES) for _ in range(incident.ranks)]
    x, y = every[incident.culprit]
    first = 8 * incident.step  # image of that step
    if incident.kind in ("skipped", "infinite"):
        x[first + 3, 5] = np.inf
    shuffled = "order_{" in incident.program.text
    if incident.kind == "raised" and not shuffled:
        y[first + 2] = 5
    if incident.kind == "short":
        every[incident.culprit] = x[: first + 5], y[: first + 5]
    if "has_rare" in incident.program.text:
        for _, labels in every:
            labels[::4] = 4  # each batch has the rare label
    if incident.kind == "unused":
        rows = slice(first, first + 8)
        y[rows] = np.where(y[rows] == 4, 0, y[rows])
    for rank, (own_x, own_y) in enumerate(every):
        np.savez(folder / f"share_{rank}.npz", x=own_x, y=own_y)
        order = random.permutation(len(own_y))
        if incident.kind == "raised" and shuffled and rank == incident.culprit:
            order[first] = len(own_y)
        np.save(folder / f"order_{rank}.npy", order)
        measured = {"0.bias": 2.1, "0.weight": 9.5, "2.bias": 1.4, "2.weight": 6.2}
        if incident.kind == "order" and rank == incident.culprit:
            measured["2.weight"] = 9.9
        (folder / f"milliseconds_{rank}.json").write_text(json.dumps(measured))
        packed = np.resize(own_x, (200000, 12))
        if incident.kind == "late" and rank == incident.culprit:
            np.savez_compressed(folder / f"packed_{rank}.npz", x=packed)
        else:
            np.save(folder / f"ready_{rank}.npy", packed)
    together = [np.concatenate(parts) for parts in zip(*every, strict=True)]
    np.savez(folder / "all.npz", x=together[0], y=together[1])
    make_checkpoints(incident, folder)


def images(random: np.random.Generator, number: int) -> tuple[np.ndarray, np.ndarray]:
    x = random.random((number, 12), dtype=np.float32)
    return x, (x.sum(1) * 0.8).astype(int) % 5


def make_checkpoints(incident: Incident, folder: Path) -> None:
    """Write the checkpoints of steps 40 and 60; of copies apart, one disk has only the first."""
    if "scratch_" not in incident.program.text:
        return
    import torch
    from torch import nn

    torch.manual_seed(3)
    for step in (40, 60):
        model = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 5))
        for rank in range(incident.ranks):
            scratch = folder / f"scratch_{rank}"
            scratch.mkdir(exist_ok=True)
            if step == 40 or incident.kind != "apart" or rank != incident.culprit:
                torch.save(model.state_dict(), scratch / f"step_{step}.pt")


def run(incident: Incident, seed: int) -> Seen:
    """Run the incident's ranks in a folder of their own."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        make_files(incident, folder, np.random.default_rng([seed, int(incident.name[1:])]))
        ranks = [start(incident, rank, folder) for rank in range(incident.ranks)]
        lines, readers = list[str](), []
        for rank, process in enumerate(ranks):
            reader = threading.Thread(target=read, args=(rank, process, lines, ranks, incident))
            reader.start()
            readers.append(reader)
        account = [wait_for(rank, process) for rank, process in enumerate(ranks)]
        for reader in readers:
            reader.join()
        stacks = {
            r: p.read_text()
            for r in range(incident.ranks)
            if (p := folder / f"stack_{r}.txt").exists()
        }
        calls = {
            r: json.loads(p.read_text())
            for r in range(incident.ranks)
            if (p := folder / f"calls_{r}.json").exists()
        }
        return Seen([line.replace(place, "…") for line in lines], account, stacks, calls)


def start(incident: Incident, rank: int, folder: Path) -> "subprocess.Popen[str]":
    nodes = 2 if incident.kind == "twice" else 1
    own = {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank % (incident.ranks // nodes)),
        "WORLD_SIZE": str(incident.ranks),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(20000 + os.getpid() % 12000),
        "OMP_NUM_THREADS": "1",
        "TORCH_FR_BUFFER_SIZE": "2000",
        "GLOO_SOCKET_IFNAME": "lo",
    }
    return subprocess.Popen(
        [sys.executable, "train.py"],
        cwd=folder,
        env=os.environ | own,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def read(rank: int, process: Any, lines: list[str], ranks: list[Any], incident: Incident) -> None:
    """Collect a rank's lines. A rank that is to be killed dies when its step is printed."""
    steps = 0
    for line in process.stdout:
        reports = rank == 0 and ": step " in line
        steps += reports
        if not CARETS.fullmatch(line):
            lines.append(f"[rank {rank}] {SHORTER.sub('', line.rstrip())}")
        if incident.kind == "killed" and reports and steps == 1 + incident.step // 5:
            os.kill(ranks[incident.culprit].pid, signal.SIGKILL)


def wait_for(rank: int, process: Any) -> str:
    """Return a row of the accounting: how the rank ended, and what it used."""
    watch = threading.Timer(LIMIT, process.kill)
    watch.start()
    _, status, used = os.wait4(process.pid, 0)
    watch.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    code = process.returncode
    state = "COMPLETED" if code == 0 else "FAILED"
    ended = f"{max(code, 0)}:{max(-code, 0)}"
    cpu = used.ru_utime + used.ru_stime
    return f"{rank:>4} {state:<10} {ended:>8} {cpu:>9.1f} {used.ru_maxrss // 1024:>9}"
