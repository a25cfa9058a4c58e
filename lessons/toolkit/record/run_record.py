"""Write a run record, which `autograder` reads exactly. Copy this file beside your program.

    record = RunRecord("01", source="torch", rank=rank, size=size, local_batch=64)
    for _ in range(epochs):
        with record.epoch(steps=steps) as epoch:
            …  # training only; evaluation and checkpoints come after the block
            epoch.log(loss=loss)
    record.end(test_accuracy=accuracy)

With Keras, `callbacks=[record.keras_callback()]` replaces the loop. With several ranks, every rank
makes a record and ends it. docs/run-record.md describes the lines and the facts.

Needs Python 3.11 and nothing else. From "Deep learning on supercomputers", Apache License 2.0.
"""

import atexit
import contextlib
import hashlib
import io
import itertools
import json
import math
import multiprocessing
import os
import platform
import re
import select
import socket
import stat
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

TAG = ":::MLLOG "
# Slurm sends output in messages of 1,024 bytes. A longer line can be cut by another rank's line,
# and `srun --label` puts a newline into the cut.
LINE_BYTES = 1000
RECORD_VERSION = 1
RECORDS = itertools.count()  # counts the records of this process
# Launchers, the innermost first, with variables that are the same in all processes of a launch and
# differ between launches. A launcher is identified by its first variable.
LAUNCHERS = {
    "torchrun": (
        *("TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "MASTER_ADDR", "MASTER_PORT"),
        "SLURM_STEP_ID",
    ),
    "horovodrun": ("HOROVOD_GLOO_RENDEZVOUS_PORT", "HOROVOD_GLOO_RENDEZVOUS_ADDR"),
    "mpirun": ("OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"),
    "mpiexec": ("PALS_APID",),
    "srun": ("SLURM_STEP_NUM_TASKS", "SLURM_STEP_ID", "SLURM_RESTART_COUNT"),
}
NO_LAUNCH = (
    "No known launcher started these ranks, so each counts as a separate run. Pass the same run= "
    "to all ranks: eight hex digits, new for each launch."
)


class RunRecord:
    """A writer of a run's events. Rank 0 writes most of them; every rank writes its start and end.

    source: which of your programs or variants this is. samples: distinct training samples per
    epoch. run: eight hex digits that the ranks share, if no launcher in LAUNCHERS started them.
    facts: other header facts, such as local_batch, epochs_asked, lr, seed, params and dataset.
    """

    loggers: tuple[str, ...] = (__file__, contextlib.__file__)  # never the program's own code

    def __init__(
        self,
        lesson: str,
        *,
        source: str,
        rank: int = 0,
        size: int = 1,
        local_rank: int = 0,
        samples: int | None = None,
        run: str | None = None,
        **facts: Any,
    ) -> None:
        self.rank, self.size, self.local_rank = int(rank), int(size), int(local_rank)
        self.started, self.epochs, self.ended = time.monotonic(), 0, False
        self.clock: EpochClock | None = None  # clock of the last epoch
        data, batch = facts.get("dataset") or {}, facts.get("local_batch")
        self.samples = data.get("train_samples") if samples is None else samples
        self.test_samples = data.get("test_samples")
        self.header = {
            "lesson": lesson,
            "program": os.path.basename(sys.argv[0]),
            "source": source,
            "record_version": RECORD_VERSION,
            "framework": framework(source),
            "world_size": self.size,
            "global_batch": batch and batch * self.size,
            **facts,
        }
        self.chain = Chain(run or run_id(os.environ, self.size), self.rank, self.loggers)
        write(self.first_lines())
        atexit.register(self.abort)

    def first_lines(self) -> list[str]:
        lines = [] if self.rank else [self.point("header", self.header)]
        if self.rank == 0:
            machine = self.machine() | {"started": datetime.now(UTC).isoformat(timespec="seconds")}
            lines += [self.point("machine", machine), *self.program_lines()]
        return [*lines, self.point("rank", self.presence())]

    def machine(self) -> dict[str, Any]:
        job = os.environ.get("SLURM_JOB_ID") or os.environ.get("PBS_JOBID")
        return {
            "versions": {"python": platform.python_version()},
            "launcher": launcher(os.environ) if self.size > 1 else "none",
            "scheduler": scheduler(os.environ),
            "job_id": job,
            "hosts": [socket.gethostname()] if self.size == 1 else None,  # each rank has its own
            "device": device(self.header["framework"]),
        }

    def presence(self) -> dict[str, Any]:
        """Return the facts that a rank reports when it starts."""
        here = {"rank": self.rank, "local_rank": self.local_rank, "host": socket.gethostname()}
        used = {"device": device(self.header["framework"]), "samples": self.samples}
        return here | used | {"shard_ids_hash": None}

    def program_lines(self) -> list[str]:
        """Return the record lines that describe the program's files.

        Only the course's record has such lines.
        """
        return []

    def point(self, key: str, value: Any, **metadata: Any) -> str:
        return self.chain.line("POINT_IN_TIME", key, value, **metadata)

    @contextlib.contextmanager
    def epoch(self, steps: int | None = None, samples: int | None = None) -> Iterator[Any]:
        """Time the training of one epoch.

        Keep evaluation and checkpoints outside the `with` block.
        """
        clock = self.start_epoch(steps, samples)
        yield clock
        clock.stop()

    def start_epoch(self, steps: int | None = None, samples: int | None = None) -> Any:
        """Start an epoch without `with`. The caller stops the returned clock."""
        self.epochs += 1
        self.clock = self.new_clock(steps, self.samples if samples is None else samples)
        return self.clock

    def new_clock(self, steps: int | None, samples: int | None) -> Any:
        return EpochClock(self, steps, samples)

    def keras_callback(self) -> Any:
        """Return the record as a Keras callback."""
        return keras_callback(KerasMethods, self)

    def evaluated(
        self,
        accuracy: float,
        *,
        loss: float | None = None,
        split: str = "validation",
        samples: int | None = None,
        epoch: int | None = None,
    ) -> None:
        """Record the accuracy on samples that are not trained on."""
        if self.rank == 0:
            metadata: dict[str, Any] = {} if epoch is None else {"epoch_num": epoch}
            metadata |= {"split": split, "loss": short(loss), "samples": samples}
            write([self.point("eval_accuracy", short(accuracy), **metadata)])

    def measure(self, name: str, value: Any, unit: str, **point: Any) -> None:
        """Record any other number; keywords identify its point, as in measure(…, bytes=4096)."""
        if self.rank == 0:
            write([self.point("measure", {"name": name, "value": value, "unit": unit, **point})])

    def end(self, *, test_accuracy: Any = None, test_loss: Any = None, **summary: Any) -> None:
        """End the record. Call this last, on every rank."""
        if self.ended:
            return
        self.ended = True
        atexit.unregister(self.abort)
        if test_accuracy is not None:
            self.evaluated(test_accuracy, loss=test_loss, split="test", samples=self.test_samples)
        lines = [] if self.rank else self.program_lines()
        lines.append(self.point("rank_end", self.last_facts()))
        if self.rank == 0:
            found = {"test_accuracy": short(test_accuracy), "test_loss": short(test_loss)}
            lines.append(self.stop_line("success", found | summary))
        write(lines)

    def last_facts(self) -> dict[str, Any]:
        """Return the facts that a rank reports when it ends."""
        facts = {"rank": self.rank, "samples": self.samples}
        facts |= {"param_hash": None, "files_written": None}
        if self.clock is not None:  # facts of this rank's last epoch
            facts |= {"steps": self.clock.steps, "loss": short(self.clock.logged.get("loss"))}
        return facts

    def stop_line(self, status: str, summary: Mapping[str, Any]) -> str:
        value = {"seconds": round(time.monotonic() - self.started, 6), **summary}
        return self.chain.line("INTERVAL_END", "run_stop", value, status=status)

    def abort(self) -> None:
        """If an exception ended the program, record that on rank 0."""
        if self.rank == 0 and not self.ended and getattr(sys, "last_value", None) is not None:
            write([self.stop_line("aborted", {"reason": type(sys.last_value).__name__})])


class EpochClock:
    """The clock of one epoch, which stops while the program does something other than training."""

    def __init__(self, record: RunRecord, steps: int | None, samples: int | None) -> None:
        self.record, self.number = record, record.epochs
        self.steps, self.samples = steps, samples
        self.logged: dict[str, Any] = {}
        self.write("INTERVAL_START", "epoch_start", None)
        self.seconds = 0.0
        self.running_since: float | None = None
        self.resume()

    def write(self, event_type: str, key: str, value: Any) -> None:
        if self.record.rank == 0:
            write([self.record.chain.line(event_type, key, value, epoch_num=self.number)])

    def log(self, **values: Any) -> None:
        """Store this epoch's loss, accuracy, lr, steps or samples."""
        self.steps = values.pop("steps", self.steps)
        self.samples = values.pop("samples", self.samples)
        self.logged |= values

    def pause(self) -> None:
        if self.running_since is not None:
            synchronise()
            self.seconds += time.monotonic() - self.running_since
            self.running_since = None

    def resume(self) -> None:
        synchronise()
        self.running_since = time.monotonic()

    def stop(self, **more: Any) -> None:
        self.pause()
        batch, unique = self.record.header["global_batch"], self.samples
        if unique is not None and self.steps is not None and batch:
            unique = min(unique, self.steps * batch)
        value = {"seconds": round(self.seconds, 6), "steps": self.steps, "unique_samples": unique}
        value |= {"loss": None, "accuracy": None, "lr": self.record.header.get("lr"), **more}
        value |= {name: short(number) for name, number in self.logged.items()}
        self.write("INTERVAL_END", "epoch_stop", value)


class KerasMethods:
    """A Keras callback's methods.

    No method is called for every batch, because that would slow Keras down.
    """

    params: Any

    def __init__(self, record: Any) -> None:
        super().__init__()
        self.record = record
        self.epoch: Any = None

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self.epoch = self.record.start_epoch()

    def on_test_begin(self, logs: Any = None) -> None:
        if self.epoch:  # during validation inside fit
            self.epoch.pause()

    def on_test_end(self, logs: Any = None) -> None:
        if self.epoch:
            self.epoch.resume()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        logs = dict(logs or {})
        self.epoch.log(steps=self.steps(), loss=logs.get("loss"), accuracy=keras_accuracy(logs))
        self.epoch.stop()
        if (value := keras_accuracy(logs, "val_")) is not None:
            self.record.evaluated(value, loss=logs.get("val_loss"), epoch=self.epoch.number)
        self.epoch = None

    def steps(self) -> int | None:
        return (self.params or {}).get("steps")


def keras_callback(methods: type, *values: Any) -> Any:
    # The class can be derived only after Keras is loaded, from the Keras that the program uses.
    keras: Any = sys.modules.get("tf_keras") or sys.modules.get("keras")
    if keras is None:
        raise RuntimeError("record.keras_callback() needs Keras: import Keras before.")
    return type("RecordCallback", (methods, keras.callbacks.Callback), {})(*values)


def keras_accuracy(logs: Mapping[str, Any], prefix: str = "") -> Any:
    """Return the accuracy from Keras's logs, which use the name of the requested metric."""
    names = ("accuracy", "acc", "sparse_categorical_accuracy", "categorical_accuracy")
    return next((logs[prefix + name] for name in names if prefix + name in logs), None)


def synchronise() -> None:
    """Wait until the GPUs in use have finished their work. A CPU has no pending work."""
    torch, tensorflow = sys.modules.get("torch"), sys.modules.get("tensorflow")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.synchronize()
    if tensorflow is not None and tensorflow.config.get_visible_devices("GPU"):
        tensorflow.test.experimental.sync_devices()


def framework(source: str) -> str:
    """Return the framework in use, if it is loaded. If both are loaded, `source` decides."""
    loaded = [name for name in ("tensorflow", "torch") if name in sys.modules]
    if len(loaded) == 2:
        return "torch" if "torch" in source else "tensorflow"
    return loaded[0] if loaded else "numpy" if "numpy" in sys.modules else "python"


def device(which: str) -> str:
    """Return the name of the GPU that the framework uses in this process, or "CPU".

    Asking for a GPU's name would start CUDA, so choose the GPU before the record begins.
    """
    module: Any = sys.modules.get(which)
    if module is None:
        return "CPU"
    if which == "torch" and module.cuda.is_initialized():  # it is available to others, too
        return str(module.cuda.get_device_name(module.cuda.current_device()))
    if which == "tensorflow" and (gpus := module.config.get_visible_devices("GPU")):
        return str(module.config.experimental.get_device_details(gpus[0]).get("device_name", "GPU"))
    return "CPU"


def scheduler(environ: Mapping[str, str]) -> str:
    if "SLURM_JOB_ID" in environ:
        return "slurm"
    return "pbs" if "PBS_JOBID" in environ else "none"


def launcher(environ: Mapping[str, str]) -> str:
    """Return the innermost launcher that the environment shows, or "none"."""
    kind = next((name for name, names in LAUNCHERS.items() if names[0] in environ), "none")
    # In a batch script, the id of the step has ten digits, and no ranks have been started yet.
    return "none" if kind == "srun" and len(environ.get("SLURM_STEP_ID", "")) > 9 else kind


def run_id(environ: Mapping[str, str], size: int) -> str:
    """Return the id of the launch. A second record of the same process gets another id."""
    launch, number = launch_id(environ, size), next(RECORDS)
    return hashlib.blake2b(f"{launch} {number}".encode()).hexdigest()[:8] if number else launch


def launch_id(environ: Mapping[str, str], size: int) -> str:
    """Return eight hex digits that identify a launch. They are the same on all of its ranks.

    The ranks agree on it without exchanging messages. A program that considers itself the only rank
    is a run of its own, even if a launcher started it N times.
    """
    kind = launcher(environ) if size > 1 else "none"
    names = ("SLURM_JOB_ID", "PBS_JOBID", *LAUNCHERS.get(kind, ()))
    values = {name: environ.get(name, "") for name in names}
    parts = [kind, *values.values()]
    parent = multiprocessing.parent_process() if size > 1 else None
    if kind == "torchrun" and environ.get("GROUP_WORLD_SIZE") == "1":
        parts.append(birth(os.getppid()))  # on one node, torchrun is the parent of all ranks
    elif kind == "mpirun" and environ.get("OMPI_COMM_WORLD_LOCAL_SIZE") == values[names[2]]:
        # The name holds mpirun's process id, which may recur; its start time does not.
        parts += [birth(int(pid)) for pid in re.findall(r"-(\d+)@", values["PMIX_NAMESPACE"])]
    elif kind == "none" and parent and parent.pid:
        parts.append(birth(parent.pid))
    elif kind == "none":  # any value that no other process has
        parts.append(os.urandom(8).hex())
        if size > 1:
            warnings.warn(NO_LAUNCH, stacklevel=4)
    return hashlib.blake2b("\0".join(parts).encode()).hexdigest()[:8]


def birth(pid: int) -> str:
    """Return the process id, its start in clock ticks since boot, and the boot's id.

    No two processes share all three.
    """
    try:
        ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{pid} {ticks} {boot}"
    except (OSError, IndexError):
        return str(pid)


class Chain:
    """The lines of one rank. Each line contains a hash of itself and of the line before it."""

    def __init__(self, run: str, rank: int, loggers: tuple[str, ...] = RunRecord.loggers) -> None:
        self.run, self.rank, self.loggers = run, rank, loggers
        self.last = run

    def line(self, event_type: str, key: str, value: Any, **metadata: Any) -> str:
        """Return the line for an event, without its newline.

        Values that are too long are truncated.
        """
        where = caller(self.loggers)
        event = {
            "namespace": "course",
            "time_ms": time.time_ns() // 1_000_000,
            "event_type": event_type,
            "key": key,
            "value": plain(value),
            "metadata": {**where, "run": self.run, "rank": self.rank, **plain(metadata)},
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


def caller(loggers: tuple[str, ...]) -> dict[str, Any]:
    """Return the file and line of the code that writes to the log.

    They come from the innermost frame of the main file or, if there is none, from the innermost
    frame outside `loggers`.
    """
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    frame: Any = sys._getframe(1)
    outside = None
    while frame is not None and frame.f_code.co_filename != main:
        if outside is None and not frame.f_code.co_filename.startswith(loggers):
            outside = frame
        frame = frame.f_back
    outside = frame or outside
    if outside is None:
        return {"file": "unknown", "lineno": 0}
    file = os.path.basename(outside.f_code.co_filename).encode("ascii", "replace").decode()
    return {"file": file[-60:], "lineno": outside.f_lineno}


def plain(value: Any) -> Any:
    """Return the value in JSON's types, with NaN and infinities as strings."""
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
    return plain(value.numpy()) if hasattr(value, "numpy") else str(value)  # TensorFlow


def short(value: Any) -> Any:
    """Round a number to the digits that float32 can represent."""
    value = plain(value)
    return float(f"{value:.7g}") if isinstance(value, float) else value


def encode(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    # Readers look for the last tag on a line, so a value must not contain one.
    return text.replace(TAG[:-1], "\\u003a" + TAG[1:-1])


def shortened(value: Any, size: int) -> Any:
    """Shorten strings and lists in a value to length `size`, and objects to `4 * size` members."""
    if isinstance(value, str):
        return value if len(value) <= size else value[: max(size - 3, 0)] + "..."[:size]
    if isinstance(value, list):
        return [shortened(item, size) for item in value[:size]]
    if isinstance(value, dict):
        items = list(value.items())[: 4 * size]
        return {shortened(key, size): shortened(item, size) for key, item in items}
    return value


def write(lines: list[str]) -> None:
    """Print each line in a single write, after everything that the program has printed so far.

    If the rest of a progress bar is on the current line, a newline comes first. If this cannot be
    known (in a pipe), the newline is written anyway.
    """
    out = sys.stdout
    out.flush()
    try:
        if not isinstance(out, io.TextIOWrapper):  # a notebook's output is not a file
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
