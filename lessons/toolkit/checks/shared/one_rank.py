"""A process group of this process alone, for checks that need no second rank."""

import contextlib
import os
from collections.abc import Iterator
from unittest import mock


@contextlib.contextmanager
def one_rank() -> Iterator[None]:
    """Provide a process group that has only this process, and end it."""
    import torch.distributed as dist

    if dist.is_initialized():
        yield
        return
    # A site file may name a compute node's interface.
    with mock.patch.dict(os.environ, GLOO_SOCKET_IFNAME="lo"):
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        yield
    finally:
        dist.destroy_process_group()
