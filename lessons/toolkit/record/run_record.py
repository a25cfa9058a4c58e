"""Record what a training program does, for `autograder`. Copy this file beside your program.

    run = Run("01", args, model)  # on every rank, before anything wraps or changes the model
    for _ in range(args.epochs):
        with run.epoch() as log:
            …  # training only; evaluation and checkpoints come after the block
            log(loss=loss, accuracy=accuracy)
    run.end(test_accuracy=accuracy)

With Keras, `fit(callbacks=[run.keras()])` replaces the loop. docs/run-record.md has the facts.
Needs Python 3.11 and nothing else. From "Deep learning on supercomputers", Apache License 2.0.
"""

import atexit
import contextlib
import hashlib
import io
import json
import math
import os
import platform
import select
import socket
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

TAG = ":::MLLOG "
# Slurm sends output in messages of 1,024 bytes. A longer line can be cut by another rank's line,
# and `srun --label` puts a newline into the cut.
LINE_BYTES = 1000
RECORD_VERSION = 1
# Ranks may be apart by this much, for example if only one of them evaluates.
GLOO_TIMEOUT = timedelta(minutes=15)
LOCAL_RANK = ("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID")
ASKED = {"batch_size": "local_batch", "epochs": "epochs_asked", "lr": "lr_base"}  # in the header
NOT_FACTS = ("rank", "size", "lesson", "program", "source", "optimizer", "params")
EVERY_RANK = ("rank", "rank_end")  # keys of the lines that all ranks write, and not only rank 0
ACCURACY = ("accuracy", "acc", "sparse_categorical_accuracy", "categorical_accuracy")  # of Keras


class Run:
    """A run of a training program. Rank 0 writes most lines; every rank its start and its end.

    args: the program's settings, from argparse or as a dictionary. model: a network of PyTorch or
    Keras, or None. source: the program's variant. facts: more facts of the header, such as
    dataset=; also rank=, size= and run= (eight hex digits that the ranks share), for ranks that
    neither torch.distributed nor Horovod nor mpi4py connects.
    """

    def __init__(
        self, lesson: str, args: Any = None, model: Any = None, /, source: Any = None, **facts: Any
    ) -> None:
        rank, size, local = (facts.pop(name, None) for name in ("rank", "size", "local_rank"))
        self.ranks = find_ranks() if size is None else Ranks(int(rank), int(size), int(local or 0))
        self.rank, self.size = self.ranks.rank, self.ranks.size
        self.model, self.started, self.ended = model, time.monotonic(), False
        self.epochs, self.steps, self.seconds, self.running_since = 0, 0, 0.0, 0.0
        self.began, self.logged = datetime.now(UTC).isoformat(timespec="seconds"), dict[str, Any]()
        run = facts.pop("run", None) or self.everyone(os.urandom(4).hex())[0]
        self.chain = Chain(run, self.rank)
        self.header = self.facts(lesson, settings(args), source, facts)
        self.rate, self.optimizer = short(settings(args).get("lr")), facts.get("optimizer")
        self.machine_waits = True  # the second line waits for the first step's optimizer
        self.epoch_facts: dict[str, Any] | None = None  # of an epoch whose loss is not known yet
        self.hooks = count_torch_steps(self) if hasattr(model, "state_dict") else ()
        self.tell("header", self.header)
        self.tell("rank", self.presence())
        atexit.register(self.abort)

    def facts(self, lesson: str, asked: Any, source: Any, more: dict) -> dict[str, Any]:
        """Return the header's facts: those of the run, the program's settings, and more facts."""
        kind = framework(self.model)
        local = more.get("local_batch", asked.get("batch_size"))
        plain = {k: v for k, v in asked.items() if isinstance(v, int | float | str)}
        return {
            "lesson": lesson,
            "program": os.path.basename(sys.argv[0]),
            "source": source or kind,
            "record_version": RECORD_VERSION,
            "framework": kind,
            "world_size": self.size,
            "global_batch": local and local * self.size,
            **{ASKED.get(k, k): v for k, v in plain.items() if k not in NOT_FACTS},
            **more,
        }

    def everyone(self, value: Any) -> list[Any]:
        """Return the values of all ranks, on every rank."""
        return self.ranks.gather(value) if self.ranks.gather else [value]

    def tell(self, key: str, value: Any, kind: str = "POINT_IN_TIME", **metadata: Any) -> None:
        if self.rank == 0 or key in EVERY_RANK:
            write(self.chain.line(kind, key, value, **metadata))

    def machine(self) -> dict[str, Any]:
        slurm, pbs = (os.environ.get(name) for name in ("SLURM_JOB_ID", "PBS_JOBID"))
        return {
            "versions": {"python": platform.python_version()},
            "launcher": "none",
            "scheduler": scheduler(os.environ),
            "job_id": slurm or pbs,
            "hosts": [socket.gethostname()] if self.size == 1 else None,  # each rank has its own
            "device": self.device()[0],
        }

    def device(self) -> tuple[str, str]:
        """Return the name of the parameters' device, without and with a GPU's identity."""
        params = self.model.parameters() if hasattr(self.model, "state_dict") else ()
        return (device(self.header["framework"], torch_device(params)),) * 2

    def presence(self) -> dict[str, Any]:
        """Return the facts that a rank reports when it starts."""
        used = {"host": socket.gethostname(), "device": self.device()[1]}
        here = {"rank": self.rank, "local_rank": self.ranks.local_rank}
        return here | used | {"samples": None, "shard_ids_hash": None}

    def tell_machine(self) -> None:
        """Write the record's second line, once."""
        if not self.machine_waits:
            return
        self.machine_waits = False
        found = {"optimizer": self.optimizer, "lr": self.rate, "started": self.began}
        new = {name: value for name, value in found.items() if name not in self.header}
        self.tell("machine", self.machine() | new)

    @contextlib.contextmanager
    def epoch(self) -> Iterator[Callable[..., None]]:
        """Time the training of one epoch. The block gets a function for its loss and accuracy."""
        self.start_epoch()
        yield self.log
        self.stop_epoch()
        if self.rank == 0:
            values = [f"{name} {float(value):.4g}" for name, value in self.logged.items()]
            of = f"/{self.header['epochs_asked']}" if "epochs_asked" in self.header else ""
            print(f"Epoch {self.epochs}{of}: {self.seconds:.2f} s", *values, sep=", ", flush=True)

    def log(self, **values: Any) -> None:
        """Store this rank's loss and accuracy in the epoch. A program may also log steps and lr.

        Call it after the block for val_accuracy and val_loss, because evaluation is not training.
        """
        tested = {name: values.pop(f"val_{name}", None) for name in ("accuracy", "loss")}
        self.logged |= values
        self.tell_epoch()
        if tested["accuracy"] is not None:
            self.evaluated(**tested)

    def start_epoch(self) -> None:
        self.tell_epoch()
        self.epochs += 1
        self.steps, self.seconds, self.logged = 0, 0.0, {}
        self.tell("epoch_start", None, "INTERVAL_START", epoch_num=self.epochs)
        self.resume()

    def stepped(self, optimizer: Any) -> None:
        """Count a step of PyTorch."""
        self.steps, self.rate = self.steps + 1, short(optimizer.param_groups[0]["lr"])
        self.optimizer = type(optimizer).__name__.lower()

    def pause(self) -> None:
        """Stop the clock, because the program does something other than training."""
        synchronise()
        self.seconds += time.monotonic() - self.running_since

    def resume(self) -> None:
        synchronise()
        self.running_since = time.monotonic()

    def stop_epoch(self) -> None:
        self.pause()
        self.tell_machine()
        self.steps, self.rate = (
            short(self.logged.pop(name, value))
            for name, value in (("steps", self.steps), ("lr", self.rate))
        )
        facts = {"seconds": round(self.seconds, 6), "steps": self.steps or None}
        facts |= {"unique_samples": None, "loss": None, "accuracy": None, "lr": self.rate}
        self.epoch_facts = facts | self.samples_read()
        if self.logged:
            self.tell_epoch()

    def tell_epoch(self) -> None:
        """Write the line of a finished epoch, once."""
        if self.epoch_facts is not None:
            facts = self.epoch_facts | {name: short(value) for name, value in self.logged.items()}
            self.tell("epoch_stop", facts, "INTERVAL_END", epoch_num=self.epochs)
            self.epoch_facts = None

    def samples_read(self) -> dict[str, Any]:
        """Return the number of distinct samples in the epoch: at most what its steps can read."""
        samples = self.all_samples()
        can_read = (self.steps or 0) * (self.header["global_batch"] or 0)
        return {"unique_samples": min(samples, can_read or samples) if samples else None}

    def all_samples(self) -> int | None:
        data = self.header.get("dataset") or {}
        return self.header.get("samples", data.get("train_samples"))

    def keras(self) -> Any:
        """Return the run as a Keras callback. Only callbacks that write files come after it."""
        return keras_callback(KerasMethods, self)

    def evaluated(self, accuracy: Any, loss: Any = None, split: str = "validation") -> None:
        """Record the accuracy on samples that are not trained on, after the current epoch."""
        number = {} if split == "test" else {"epoch_num": self.epochs}
        about = {"split": split, "loss": short(loss), "samples": None, **number}
        self.tell("eval_accuracy", short(accuracy), **about)

    def measure(self, name: str, value: Any, unit: str = "", **point: Any) -> None:
        """Record any other number; keywords identify its point, as in measure(…, bytes=4096)."""
        self.tell("measure", {"name": name, "value": value, "unit": unit, **point})

    def end(self, *, test_accuracy: Any = None, test_loss: Any = None, **summary: Any) -> None:
        """End the run. Call this last, on every rank."""
        self.tell_machine()
        self.tell_epoch()
        self.ended = True
        atexit.unregister(self.abort)
        for hook in self.hooks:
            hook.remove()
        if test_accuracy is not None:
            self.evaluated(test_accuracy, test_loss, "test")
        self.tell("rank_end", self.last_facts())
        tested = {"test_accuracy": short(test_accuracy), "test_loss": short(test_loss)}
        self.stop("success", tested | summary)

    def last_facts(self) -> dict[str, Any]:
        """Return the facts that a rank reports when it ends."""
        facts = {"rank": self.rank, "param_hash": None, "samples": None}
        last = {"steps": self.steps or None, "loss": short(self.logged.get("loss"))}
        return facts | (last if self.epochs else {})

    def stop(self, status: str, summary: Mapping[str, Any]) -> None:
        value = {"seconds": round(time.monotonic() - self.started, 6), **summary}
        self.tell("run_stop", value, "INTERVAL_END", status=status)

    def abort(self) -> None:
        """If an exception ended the program, record that on rank 0."""
        if not self.ended and getattr(sys, "last_value", None) is not None:
            self.tell_machine()
            self.stop("aborted", {"reason": type(sys.last_value).__name__})


class KerasMethods:
    """The methods of a Keras callback. None is called per batch, which would slow Keras down."""

    model: Any
    params: Any

    def __init__(self, run: Any) -> None:
        super().__init__()
        self.run, self.is_training = run, False

    def on_train_begin(self, logs: Any = None) -> None:
        optimizer = self.model.optimizer
        self.run.optimizer = type(optimizer).__name__.lower()
        self.run.rate = learning_rate(optimizer)

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self.run.epochs, self.is_training = max(epoch, self.run.epochs), True  # it may be resumed
        self.run.start_epoch()

    def on_test_begin(self, logs: Any = None) -> None:
        if self.is_training:  # during validation inside fit
            self.run.pause()

    def on_test_end(self, logs: Any = None) -> None:
        if self.is_training:
            self.run.resume()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        logs, self.is_training = logs or {}, False
        facts = {"steps": self.steps(), "lr": learning_rate(self.model.optimizer)}
        self.run.log(loss=logs.get("loss"), accuracy=keras_accuracy(logs), **facts)
        self.run.stop_epoch()
        if (value := keras_accuracy(logs, "val_")) is not None:
            self.run.evaluated(value, logs.get("val_loss"))

    def steps(self) -> int | None:
        return (self.params or {}).get("steps")


def keras_callback(methods: type, run: Any) -> Any:
    # The class can be derived only after Keras is loaded, from the Keras that the program uses.
    keras: Any = sys.modules.get("tf_keras") or sys.modules.get("keras")
    if keras is None:
        raise RuntimeError("run.keras() needs Keras: import Keras before.")
    return type("RunCallback", (methods, keras.callbacks.Callback), {})(run)


def keras_accuracy(logs: Mapping[str, Any], prefix: str = "") -> Any:
    """Return the accuracy from Keras's logs, which use the name of the requested metric."""
    return next((logs[prefix + name] for name in ACCURACY if prefix + name in logs), None)


def learning_rate(optimizer: Any) -> float | None:
    rate: Any = getattr(optimizer, "learning_rate", None)
    is_schedule = callable(rate) and not hasattr(rate, "numpy")
    return short(rate(optimizer.iterations) if is_schedule else rate)


class Ranks(NamedTuple):
    """Store this process's rank, and a collective that training does not use."""

    rank: int = 0
    size: int = 1
    local_rank: int = 0
    library: str = ""
    gather: Callable[[Any], list[Any]] | None = None


def find_ranks() -> Ranks:
    """Return this process's rank, from the library that connects the ranks."""
    loaded: Any = sys.modules.get
    dist, mpi = getattr(loaded("torch"), "distributed", None), loaded("mpi4py.MPI")
    hvds = (loaded("horovod.tensorflow"), loaded("horovod.torch"))
    hvd = next((each for each in hvds if each and each.is_initialized()), None)
    local_rank = next((int(os.environ[name]) for name in LOCAL_RANK if name in os.environ), 0)
    if dist is not None and dist.is_available() and dist.is_initialized():
        size = dist.get_world_size()
        try:
            group = dist.new_group(backend="gloo", timeout=GLOO_TIMEOUT)
        except RuntimeError as error:
            reason = (str(error).splitlines() or [""])[0]
            sys.exit(
                f"Run: Gloo cannot connect the ranks, so they cannot compare their records: "
                f"{reason}. GLOO_SOCKET_IFNAME chooses the network interface."
            )

        def gather(value: Any) -> list[Any]:
            values: list[Any] = [None] * size
            dist.all_gather_object(values, value, group=group)
            return values

        return Ranks(dist.get_rank(), size, local_rank, "torch", gather)
    if hvd is not None:

        def gather_tuple(value: Any) -> list[Any]:  # Horovod waits for ranks with the same type
            return [each for (each,) in hvd.allgather_object((value,))]

        return Ranks(hvd.rank(), hvd.size(), hvd.local_rank(), "horovod", gather_tuple)
    if mpi is not None and mpi.Is_initialized():
        world = mpi.COMM_WORLD
        return Ranks(world.rank, world.size, local_rank, "mpi", world.allgather)
    return Ranks()


def count_torch_steps(run: Run) -> Any:
    """Count the steps of the model's optimizer, with PyTorch's hooks for all optimizers."""
    from torch.optim.optimizer import (
        register_optimizer_step_post_hook as after,
        register_optimizer_step_pre_hook as before,
    )

    begun = False  # Horovod's step calls PyTorch's, which is no second step

    def before_step(*_: Any) -> None:
        nonlocal begun
        begun = True

    def after_step(optimizer: Any, *_: Any) -> None:
        nonlocal begun
        own = {id(param) for param in run.model.parameters()}  # fully_shard replaces them
        params = (param for group in optimizer.param_groups for param in group["params"])
        if begun and any(id(param) in own for param in params):
            begun = False
            run.stepped(optimizer)

    return before(before_step), after(after_step)


def settings(args: Any) -> dict[str, Any]:
    """Return the settings from an argparse namespace or a dictionary."""
    return dict(args) if isinstance(args, Mapping) else dict(vars(args)) if args else {}


def framework(model: Any) -> str:
    """Return the framework of the model; without a model, the one that is loaded."""
    if hasattr(model, "state_dict") or hasattr(model, "trainable_variables"):
        return "torch" if hasattr(model, "state_dict") else "tensorflow"
    return next(
        (name for name in ("tensorflow", "torch", "numpy") if name in sys.modules), "python"
    )


def synchronise() -> None:
    """Wait until the GPUs in use have finished their work. A CPU has no pending work."""
    torch, tensorflow = sys.modules.get("torch"), sys.modules.get("tensorflow")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.synchronize()
    if tensorflow is not None and tensorflow.config.get_visible_devices("GPU"):
        tensorflow.test.experimental.sync_devices()


def torch_device(params: Iterable[Any]) -> Any:
    """Return PyTorch's device of the first parameter, or None."""
    on = getattr(next(iter(params), None), "device", None)
    return on if hasattr(on, "type") else None


def device(which: str, on: Any = None) -> str:
    """Return the name of the GPU that the framework uses in this process, or "CPU".

    on: PyTorch's device of the parameters. They may be elsewhere than on the current GPU.
    """
    module: Any = sys.modules.get(which)
    # Asking for a GPU's name would start CUDA, so choose the GPU before the record begins.
    if which == "torch" and module and module.cuda.is_initialized():
        return "CPU" if on and on.type == "cpu" else str(module.cuda.get_device_name(on))
    if which == "tensorflow" and module and (gpus := module.config.get_visible_devices("GPU")):
        return str(module.config.experimental.get_device_details(gpus[0]).get("device_name", "GPU"))
    return "CPU"


def scheduler(environ: Mapping[str, str]) -> str:
    return "slurm" if "SLURM_JOB_ID" in environ else "pbs" if "PBS_JOBID" in environ else "none"


class Chain:
    """The lines of one rank. Each line contains a hash of itself and of the line before it."""

    def __init__(self, run: str, rank: int) -> None:
        self.run, self.rank, self.last = run, rank, run

    def line(self, event_type: str, key: str, value: Any, **metadata: Any) -> str:
        """Return an event's line without its newline. Values that are too long are truncated."""
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
    """Return the line of the program's main file that is running now."""
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != main:
        frame = frame.f_back
    if frame is None:  # in a notebook, or at the exit
        return {"file": "unknown", "lineno": 0}
    file = os.path.basename(main or "").encode("ascii", "replace").decode()
    return {"file": file[-60:], "lineno": frame.f_lineno}


def plain(value: Any) -> Any:
    """Return the value in JSON's types, with NaN and infinities as strings."""
    if hasattr(value, "detach"):  # PyTorch
        value = value.detach().cpu()
    value = value.numpy() if hasattr(value, "numpy") else value  # TensorFlow's and PyTorch's
    value = value.tolist() if hasattr(value, "tolist") else value  # NumPy's
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return value if value is None or isinstance(value, bool | int | str) else str(value)


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


def write(line: str) -> None:
    """Print a line in a single write, after everything that the program has printed so far.

    A newline comes first, because the current line may hold a progress bar. A file that ends in a
    newline needs none.
    """
    out = sys.stdout
    out.flush()
    try:
        if not isinstance(out, io.TextIOWrapper):  # a notebook's output is not a file
            raise io.UnsupportedOperation
        fd = out.fileno()
    except (io.UnsupportedOperation, ValueError):
        print(f"\n{line}", flush=True)
        return
    data = f"{'' if at_line_start(fd) else chr(10)}{line}\n".encode("ascii")
    while data:
        try:
            data = data[os.write(fd, data) :]
        except BlockingIOError:  # some launchers provide non-blocking pipes
            select.select([], [fd], [])


def at_line_start(fd: int) -> bool:
    """Return True if the output is a file that is empty or ends in a newline."""
    with contextlib.suppress(OSError):
        if stat.S_ISREG(os.fstat(fd).st_mode):
            # Opened again, because the shell's `>` gives a descriptor that cannot be read from.
            with open(f"/proc/self/fd/{fd}", "rb") as again:
                again.seek(max(again.seek(0, os.SEEK_END) - 1, 0))
                return again.read(1) in (b"", b"\n")
    return False
