"""End a check whose student's function never returns, instead of waiting for the notebook."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any

CPU_SECONDS = 60  # no check's solution computes for longer than a few seconds


class NeverEnds(Exception):  # noqa: N818 - students read this name
    """A function has computed for longer than any right one."""


@contextlib.contextmanager
def limited_time() -> Iterator[None]:
    """Raise NeverEnds in the block after so much computing; waiting does not count."""

    def stop(*_: Any) -> None:
        raise NeverEnds(f"still computing after {CPU_SECONDS} seconds")

    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread gets signals
        return
    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before or signal.SIG_DFL)  # None: set outside Python
