"""Write tagged, chained JSON lines to standard output, and so to a job's output file.

docs/run-record.md describes the format. This module does not know what the lines mean.
"""

import contextlib
import hashlib
import io
import json
import math
import os
import select
import stat
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

TAG = ":::MLLOG "
# Slurm sends output in messages of 1,024 bytes. A longer line can be cut by another rank's line,
# and `srun --label` puts a newline into the cut.
LINE_BYTES = 1000
TOOLKIT = str(Path(__file__).parents[1])


def plain(value: Any) -> Any:
    """Return the value in JSON's types.

    NaN and infinities become strings; JSON has no such numbers.
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return int(value) if abs(value) < 2**63 else str(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy and PyTorch: numbers, arrays, tensors
        return plain(value.tolist())
    if hasattr(value, "numpy"):  # TensorFlow
        return plain(value.numpy())
    return str(value)


def short(value: Any) -> Any:
    """Return a number without the digits that float32 does not have."""
    value = plain(value)
    return float(f"{value:.7g}") if isinstance(value, float) else value


def encode(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    # Readers look for the last tag on a line, so a value must not contain one.
    return text.replace(TAG[:-1], "\\u003a" + TAG[1:-1])


def shortened(value: Any, size: int) -> Any:
    """Return the value with strings and lists cut to `size`, and objects to four times `size`."""
    if isinstance(value, str):
        return value if len(value) <= size else value[: max(size - 3, 0)] + "..."[:size]
    if isinstance(value, list):
        return [shortened(item, size) for item in value[:size]]
    if isinstance(value, dict):
        items = list(value.items())[: 4 * size]
        return {shortened(key, size): shortened(item, size) for key, item in items}
    return value


class Chain:
    """The lines of one rank. Each contains a hash of itself and the line before it."""

    def __init__(self, run: str, rank: int) -> None:
        self.run = run
        self.rank = rank
        self.last = run

    def line(self, event_type: str, key: str, value: Any, **metadata: Any) -> str:
        """Return the line for an event, without its newline.

        Values that are too long are cut, never split.
        """
        event = {
            "namespace": "course",
            "time_ms": time.time_ns() // 1_000_000,
            "event_type": event_type,
            "key": key,
            "value": plain(value),
            "metadata": {**caller(), "run": self.run, "rank": self.rank, **plain(metadata)},
        }
        room = LINE_BYTES - len(TAG) - len(',"chain":"0123456789ab"')
        sizes = iter((256, 128, 64, 32, 16, 8, 4, 2, 1, 0))
        while len(body := encode(event)) > room:
            size = next(sizes)
            event["value"] = shortened(event["value"], size)
            event["metadata"] |= shortened(plain(metadata), size)
        body = body[:-2]  # the two closing braces; the chain's hash is inside them
        self.last = hashlib.blake2b((self.last + body).encode("ascii")).hexdigest()[:12]
        return f'{TAG}{body},"chain":"{self.last}"}}}}'


def caller() -> dict[str, Any]:
    """Return the file and line of the program that logs.

    It is the innermost frame of the main file, or else the innermost one outside libraries.
    """
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    ours = (TOOLKIT, contextlib.__file__)
    outside = None
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if name == main:
            outside = frame
            break
        if outside is None and not name.startswith(ours):
            outside = frame
        frame = frame.f_back  # type: ignore[assignment]
    if outside is None:
        return {"file": "unknown", "lineno": 0}
    file = os.path.basename(outside.f_code.co_filename).encode("ascii", "replace").decode()
    return {"file": file[-60:], "lineno": outside.f_lineno}


def write(lines: list[str]) -> None:
    """Print each line in a single write, after everything that the program has printed so far.

    If the rest of a progress bar is on the current line, a newline comes first. If this cannot be
    known (in a pipe), the newline is written anyway.
    """
    out = sys.stdout
    out.flush()
    try:
        if not isinstance(out, io.TextIOWrapper):  # a notebook's output has no file underneath
            raise io.UnsupportedOperation
        fd = out.fileno()
    except (io.UnsupportedOperation, ValueError):
        out.write("\n" + "".join(line + "\n" for line in lines))
        out.flush()
        return
    newline = "" if at_line_start(fd) else "\n"
    for line in lines:
        write_all(fd, f"{newline}{line}\n".encode("ascii"))
        newline = ""


def at_line_start(fd: int) -> bool:
    """Return True if the output is a file that is empty or ends in a newline."""
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return False
        # Opened again, because the shell's `>` gives a descriptor that cannot be read from.
        again = os.open(f"/proc/self/fd/{fd}", os.O_RDONLY)
        try:
            end = os.fstat(again).st_size
            return end == 0 or os.pread(again, 1, end - 1) == b"\n"
        finally:
            os.close(again)
    except OSError:
        return False


def write_all(fd: int, data: bytes) -> None:
    while data:
        try:
            data = data[os.write(fd, data) :]
        except BlockingIOError:  # some launchers provide non-blocking pipes
            select.select([], [fd], [])
