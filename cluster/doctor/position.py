"""Describe one process of the doctor: its rank, its node, and the other processes of the launch."""

import json
import os
import socket
from collections.abc import Mapping
from dataclasses import asdict, dataclass

Environ = Mapping[str, str]

# Variables that are the same for all ranks of a launch, and different in every other launch.
LAUNCH_NAMES = (
    *("PMIX_NAMESPACE", "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_RESTART_COUNT", "PALS_APID"),
    *("PBS_JOBID", "TORCHELASTIC_RUN_ID", "MASTER_PORT", "HOROVOD_GLOO_RENDEZVOUS_PORT"),
)


@dataclass(frozen=True)
class Position:
    rank: int = 0
    size: int = 1
    launcher: str = ""  # empty: no launcher
    host: str = ""
    folder: str = ""  # where the ranks exchange what they found
    hosts: tuple[str, ...] = ()  # host of each rank
    affinities: tuple[tuple[int, ...], ...] = ()  # CPUs of each rank on this node

    @property
    def nodes(self) -> list[str]:
        return list(dict.fromkeys(self.hosts or (self.host,)))

    @property
    def leaders(self) -> list[int]:
        """Return the lowest rank of each node."""
        return [self.hosts.index(node) for node in self.nodes] if self.hosts else [0]

    @property
    def leads(self) -> bool:
        return self.rank in self.leaders

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Position":
        given = json.loads(text)
        given["hosts"] = tuple(given["hosts"])
        given["affinities"] = tuple(map(tuple, given["affinities"]))
        return cls(**given)


def host_name() -> str:
    return socket.gethostname().partition(".")[0]


def launch_name() -> str:
    """Return a name for this launch. The ranks exchange files in a folder with this name."""
    parts = [os.environ[name] for name in LAUNCH_NAMES if os.environ.get(name)]
    return "".join(char if char.isalnum() else "-" for char in "_".join(parts or ["alone"]))
