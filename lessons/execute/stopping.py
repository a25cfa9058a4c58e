"""Convert Ctrl-C and a scheduler's signals into an exception that leaves time to clean up."""

import logging
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


class StopRequested(BaseException):
    """A request to stop the runner."""

    def __init__(self, signum: int) -> None:
        self.signum = signum


@contextmanager
def stoppable() -> Iterator[None]:
    """Convert SIGINT, SIGTERM and SIGHUP into StopRequested. A second signal is ignored."""

    def stop(signum: int, _frame: object) -> None:
        for number in signals:
            signal.signal(number, lambda *_: None)
        # The interrupted cell's task fails when its kernel ends, and nobody asks for its result.
        logging.getLogger("asyncio").disabled = True
        # A signal between two cells drops the next one before it has started.
        warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
        raise StopRequested(signum)

    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, stop) for number in signals}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
