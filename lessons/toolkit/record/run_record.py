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
import json
import math
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

TAG = ":::MLLOG "
# Slurm sends output in messages of 1,024 bytes. Another rank's line can cut a longer line.
LINE_BYTES = 1000
RECORD_VERSION = 1
LOCAL_RANK = ("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID")
ASKED = {"batch_size": "local_batch", "epochs": "epochs_asked", "lr": "lr_base"}  # in the header
NOT_FACTS = ("rank", "size", "lesson", "program", "source", "optimizer", "params")
LIBRARIES = ("numpy", "tensorflow", "tf_keras", "keras", "torch", "lightning", "horovod", "mpi4py")
Ranks = tuple[int, int, int, str, Callable[[Any], list[Any]]]  # rank, size, local, library, gather
ALONE: Ranks = (0, 1, 0, "", lambda value: [value])


class KerasMethods:
    """The methods of a Keras callback. None is called per batch, which would slow Keras down."""

    run: Any
    model: Any
    params: Any
    is_training, steps_before = False, 0

    def on_train_begin(self, logs: Any = None) -> None:
        self.run.optimizer = type(self.model.optimizer).__name__.lower()
        self.run.rate = short(self.model.optimizer.learning_rate)

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self.run.epochs, self.is_training = max(epoch, self.run.epochs), True  # it may be resumed
        self.steps_before = keras_steps(self.model)
        self.run.start_epoch()

    def on_test_begin(self, logs: Any = None) -> None:
        if self.is_training:  # during validation inside fit
            self.run.pause()

    def on_test_end(self, logs: Any = None) -> None:
        if self.is_training:
            self.run.resume()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self.is_training, asked = False, (self.params or {}).get("steps", 0)
        steps = keras_steps(self.model) - self.steps_before
        rate = self.model.optimizer.learning_rate
        if not hasattr(self.model, "_train_counter"):  # the step that found no data is counted too
            steps = asked and (steps or asked)
        self.run.log(**keras_results(logs), steps=steps, lr=rate)
        self.run.stop_epoch()
        self.run.log(**keras_results(logs, "val_"))


class Run:
    """A run of a training program. Rank 0 writes most lines; every rank its start and its end.

    args: the program's settings, from argparse or as a dictionary. model: a network of PyTorch or
    Keras, or None. source: the program's variant. facts: more facts of the header, such as
    dataset=; also rank=, size= and run= (eight hex digits that the ranks share), for ranks that
    neither torch.distributed nor Horovod nor mpi4py connects.
    """

    methods: type = KerasMethods

    def __init__(
        self, lesson: str, args: Any = None, model: Any = None, /, source: Any = None, **facts: Any
    ) -> None:
        rank, size, local = (facts.pop(name, None) for name in ("rank", "size", "local_rank"))
        known = (int(rank), int(size), int(local or 0), *ALONE[3:]) if size else find_ranks()
        self.rank, self.size, self.local_rank, self.library, self.everyone = known
        self.model, self.started = model, time.monotonic()
        self.epochs, self.steps, self.seconds = 0, 0, 0.0
        self.began, self.logged = datetime.now(UTC).isoformat(timespec="seconds"), dict[str, Any]()
        self.run = self.chain = facts.pop("run", None) or self.everyone(os.urandom(4).hex())[0]
        asked = dict(args) if isinstance(args, Mapping) else dict(vars(args)) if args else {}
        self.header = self.facts(lesson, asked, source, facts)
        data = self.header.get("dataset") or {}
        self.samples = self.header.get("samples", data.get("train_samples"))
        self.rate, self.optimizer = short(asked.get("lr")), facts.get("optimizer")
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

    def machine(self) -> dict[str, Any]:
        """Return the facts about the machine and the job."""
        slurm, pbs = (os.environ.get(name) for name in ("SLURM_JOB_ID", "PBS_JOBID"))
        job = {"scheduler": "slurm" if slurm else "pbs" if pbs else "none", "job_id": slurm or pbs}
        return {"versions": versions(), **job, "device": device(self.header["framework"])}

    def presence(self) -> dict[str, Any]:
        """Return the facts that a rank reports when it starts."""
        place = {"rank": self.rank, "local_rank": self.local_rank, "host": socket.gethostname()}
        return place | {"device": device(self.header["framework"])}

    def tell(self, key: str, value: Any, kind: str = "POINT_IN_TIME", **about: Any) -> None:
        """Write a line, which ends in a hash of itself and of this rank's line before it."""
        if self.rank and key not in ("rank", "rank_end"):  # rank 0 writes all others
            return
        event = {"namespace": "course", "time_ms": time.time_ns() // 1_000_000, "event_type": kind}
        event["key"] = key
        said = {"value": plain(value), "metadata": {"run": self.run, "rank": self.rank, **about}}
        while len(body := encode(event | said)) > LINE_BYTES - len(TAG + ',"chain":"0123456789ab"'):
            said = {"value": None} | shortened(said)
        body = body[:-2]  # the two closing braces; the hash is inside them
        self.chain = hashlib.blake2b((self.chain + body).encode("ascii")).hexdigest()[:12]
        # A single write, after all other output. A newline ends the current line, perhaps a bar.
        line = f'\n{TAG}{body},"chain":"{self.chain}"}}}}\n'.encode()
        if id(sys.stdout) != id(sys.__stdout__):  # a notebook's
            sys.stdout.flush()
            print(line.decode(), end="", flush=True)
            return
        while line:
            try:
                sys.stdout.flush()
                line = line[os.write(1, line) :]
            except BlockingIOError:  # some launchers provide non-blocking pipes
                time.sleep(0.001)

    def tell_machine(self) -> None:
        """Write the record's second line, once."""
        if self.machine_waits:
            self.machine_waits = False
            found = {"optimizer": self.optimizer, "lr": self.rate, "started": self.began}
            self.tell("machine", self.machine() | found)

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
        """Store an epoch's loss, accuracy, steps or lr. After the block: val_accuracy, val_loss."""
        accuracy, loss = (values.pop(f"val_{name}", None) for name in ("accuracy", "loss"))
        self.logged |= values
        self.tell_epoch()
        if accuracy is not None:
            self.evaluated(accuracy, loss)

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
        self.seconds += time.monotonic()

    def resume(self) -> None:
        synchronise()
        self.seconds -= time.monotonic()

    def stop_epoch(self) -> None:
        self.pause()
        self.tell_machine()
        self.steps = self.logged.pop("steps", self.steps) or 0
        self.rate = short(self.logged.pop("lr", self.rate))
        facts = {"seconds": round(self.seconds, 6), "steps": self.steps or None, "lr": self.rate}
        self.epoch_facts = facts | self.samples_read()
        if self.logged:
            self.tell_epoch()

    def samples_read(self) -> dict[str, Any]:
        """Return the number of distinct samples in the epoch: at most what its steps can read."""
        can_read = self.steps * (self.header["global_batch"] or 0)
        return {"unique_samples": self.samples and min(self.samples, can_read or self.samples)}

    def tell_epoch(self) -> None:
        """Write the line of a finished epoch, once."""
        if self.epoch_facts is not None:
            facts = self.epoch_facts | {name: short(value) for name, value in self.logged.items()}
            self.tell("epoch_stop", facts, "INTERVAL_END", epoch_num=self.epochs)
            self.epoch_facts = None

    def keras(self) -> Any:
        """Return the run as a Keras callback. Only callbacks that write files come after it."""
        keras: Any = sys.modules.get("tf_keras") or sys.modules["keras"]  # the program's
        return type("RunCallback", (self.methods, keras.callbacks.Callback), {"run": self})()

    def evaluated(self, accuracy: Any, loss: Any = None) -> None:
        """Record the accuracy on samples that are not trained on, after the current epoch."""
        self.tell("eval_accuracy", short(accuracy), loss=short(loss), epoch_num=self.epochs)

    def measure(self, name: str, value: Any, unit: str = "", **point: Any) -> None:
        """Record any other number; keywords identify its point, as in measure(…, bytes=4096)."""
        self.tell("measure", {"name": name, "value": value, "unit": unit, **point})

    def end(self, *, test_accuracy: Any = None, test_loss: Any = None, **facts: Any) -> None:
        """End the run. Call this last, on every rank."""
        self.tell_machine()
        self.tell_epoch()
        atexit.unregister(self.abort)
        for hook in self.hooks:
            hook.remove()
        self.tell("rank_end", self.last_facts())
        facts |= {"test_accuracy": short(test_accuracy), "test_loss": short(test_loss)}
        self.stop("success", facts)

    def last_facts(self) -> dict[str, Any]:
        """Return the facts that a rank reports when it ends."""
        last = {"steps": self.steps or None, "loss": short(self.logged.get("loss"))}
        return {"rank": self.rank} | (last if self.epochs else {})

    def stop(self, status: str, facts: dict[str, Any]) -> None:
        seconds = round(time.monotonic() - self.started, 6)
        self.tell("run_stop", {"seconds": seconds} | facts, "INTERVAL_END", status=status)

    def abort(self) -> None:
        """If an exception ended the program, record that on rank 0."""
        if getattr(sys, "last_value", None) is not None:
            self.tell_machine()
            self.stop("aborted", {"reason": type(sys.last_value).__name__})


def keras_results(logs: Mapping[str, Any] | None, prefix: str = "") -> dict[str, Any]:
    """Return loss and accuracy from Keras's logs, which use the name of the requested metric."""
    known = {k: x for k, x in (logs or {}).items() if k.startswith("val_") == bool(prefix)}
    accuracy = next((x for k, x in known.items() if k.endswith(("acc", "accuracy"))), None)
    return {f"{prefix}loss": known.get(f"{prefix}loss"), f"{prefix}accuracy": accuracy}


def keras_steps(model: Any) -> int:
    """Return how many steps a network has finished. With Keras 3, only the optimizer counts."""
    count = getattr(model, "_train_counter", None)
    return int((model.optimizer.iterations if count is None else count).numpy())


def find_ranks() -> Ranks:
    """Return this process's rank, from the library that connects the ranks."""
    loaded: Any = sys.modules.get
    dist, mpi = getattr(loaded("torch"), "distributed", None), loaded("mpi4py.MPI")
    hvds = (loaded("horovod.tensorflow"), loaded("horovod.torch"))
    hvd = next((each for each in hvds if each and each.is_initialized()), None)
    local_rank = next((int(os.environ[name]) for name in LOCAL_RANK if name in os.environ), 0)
    if dist is not None and dist.is_available() and dist.is_initialized():
        return dist.get_rank(), dist.get_world_size(), local_rank, "torch", gather_with_gloo(dist)
    if hvd is not None:  # its ranks wait for each other with values of the same type
        place = hvd.rank(), hvd.size(), hvd.local_rank()
        return *place, "horovod", lambda value: [x for (x,) in hvd.allgather_object((value,))]
    if mpi is not None and mpi.Is_initialized():
        world = mpi.COMM_WORLD
        return world.rank, world.size, local_rank, "mpi", world.allgather
    return ALONE


def gather_with_gloo(dist: Any) -> Any:
    """Return a collective of the ranks that training does not use, beside NCCL too."""
    try:
        group = dist.new_group(backend="gloo", timeout=timedelta(minutes=15))  # one may evaluate
    except RuntimeError as error:
        sys.exit(
            "Run: Gloo cannot connect the ranks, so they cannot compare their records: "
            f"{str(error).partition(chr(10))[0]}. GLOO_SOCKET_IFNAME chooses the network interface."
        )

    def gather(value: Any) -> list[Any]:
        values: list[Any] = [None] * dist.get_world_size()
        dist.all_gather_object(values, value, group=group)
        return values

    return gather


def count_torch_steps(run: Run) -> Any:
    """Count the steps of the model's optimizer, with PyTorch's hooks for all optimizers."""
    optimizers: Any = sys.modules["torch.optim.optimizer"]
    begun: list[bool] = []  # Horovod's step calls PyTorch's, which is no second step

    def after_step(optimizer: Any, *_: Any) -> None:
        own = {id(param) for param in run.model.parameters()}  # fully_shard replaces them
        params = (param for group in optimizer.param_groups for param in group["params"])
        if begun and any(id(param) in own for param in params):
            begun.clear()
            run.stepped(optimizer)

    return (
        optimizers.register_optimizer_step_pre_hook(lambda *_: begun.append(True)),
        optimizers.register_optimizer_step_post_hook(after_step),
    )


def framework(model: Any) -> str:
    """Return the framework of the model; without a model, the one that is loaded."""
    marks = {"state_dict": "torch", "trainable_variables": "tensorflow"}
    kinds = [kind for mark, kind in marks.items() if hasattr(model, mark)]
    return [*kinds, *(k for k in ("tensorflow", "torch", "numpy") if k in sys.modules), "python"][0]


def versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that are loaded."""
    found = {name: getattr(sys.modules.get(name), "__version__", "") for name in LIBRARIES}
    return {"python": sys.version.split()[0]} | {k: str(v) for k, v in found.items() if v}


def synchronise() -> None:
    """Wait until the GPUs in use have finished their work. A CPU has no pending work."""
    torch, tensorflow = sys.modules.get("torch"), sys.modules.get("tensorflow")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.synchronize()
    if tensorflow is not None and tensorflow.config.get_visible_devices("GPU"):
        tensorflow.test.experimental.sync_devices()


def device(which: str) -> str:
    """Return the name of the GPU that the framework uses in this process, or "CPU"."""
    module: Any = sys.modules.get(which)
    # Asking for a GPU's name would start CUDA, so choose the GPU before the record begins.
    if which == "torch" and module and module.cuda.is_initialized():
        return str(module.cuda.get_device_name())
    if which == "tensorflow" and module and (gpus := module.config.get_visible_devices("GPU")):
        return str(module.config.experimental.get_device_details(gpus[0]).get("device_name", "GPU"))
    return "CPU"


def plain(value: Any) -> Any:
    """Return the value in JSON's types, with NaN and infinities as strings."""
    value = value.detach().cpu() if hasattr(value, "detach") else value  # PyTorch's
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
    return float(f"{value:.7g}") if isinstance(value := plain(value), float) else value


def encode(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    # Readers look for the last tag on a line, so a value must not contain one.
    return text.replace(TAG[:-1], "\\u003a" + TAG[1:-1])


def shortened(value: Any) -> Any:
    """Return half of a text, null for a list, or an object with its longest member shortened."""
    if isinstance(value, dict) and value:
        longest = max(value, key=lambda name: len(encode({name: value[name]})))
        member = value.pop(longest)
        return value if member is None else value | {longest: shortened(member)}
    return value[: len(value) // 2] if isinstance(value, str) and value else None
