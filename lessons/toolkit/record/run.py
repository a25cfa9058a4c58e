"""The course's Run: a run_record.Run that also finds what the course knows.

It adds the data set that `data.load` returned, the parameters as they were built, before the first
step and after each epoch, which images entered a PyTorch network, the replicas of tf.distribute,
the program's files, and exact facts about the machine.
"""

import gc
import math
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cluster.launchers import launched, number as in_environ
from lessons.toolkit.record import devices, launches, parameters, program, run_record, samples
from lessons.toolkit.record.keras_callback import RunMethods, copies, network_facts
from lessons.toolkit.record.parameters import arrays, param_hash, spread, trainable, weights
from lessons.toolkit.record.run_record import short
from lessons.toolkit.record.started_by import started_by
from lessons.toolkit.record.watch import TorchWatch

# Settings that are at least 1 in every program.
COUNTS = ("epochs", "batch_size", "global_batch", "micro_batches", "accumulate", "length")
TASKS = ("SLURM_NTASKS", "SLURM_NPROCS")
SOURCES = {"torch": "ddp", "mpi": "mpi", "horovod": "{}-horovod"}  # by the ranks' library


class Run(run_record.Run):
    """A run of a training program of the course (see run_record.Run).

    The model may also be a list or dictionary of NumPy arrays. It takes two more facts. shard says
    which samples this rank reads: (start, stop, step) or numbers (default with Keras: all samples).
    labels are the classes of these samples. The record counts the samples of each class.
    """

    methods = RunMethods
    beside: Mapping[str, Path] = {}  # files that other processes of the program imported

    def __init__(
        self, lesson: str, args: Any = None, model: Any = None, /, source: Any = None, **more: Any
    ) -> None:
        if not gc.get_freeze_count():
            # The objects of a framework stay until the end. Checking all of them once more
            # when the process ends takes most of a second.
            gc.freeze()
        self.launch = launched()
        self.start_hash: str | None = None
        self.before: list[Any] | None = None  # rank 0's parameters before the first step
        self.seen: dict[str, Any] = {}  # facts of the parameters after the last epoch
        self.shard, self.labels = more.pop("shard", None), more.pop("labels", None)
        self.files = set[str]()  # names in the record
        self.images: int | None = None  # that Keras has counted in the epoch
        module = sys.modules.get("lessons.toolkit.data")
        self.data: Any = module.LOADED[0] if module and module.LOADED else None
        # Without images to look up, nothing disturbs the network, which may be compiled.
        data = self.data if hasattr(model, "state_dict") else None
        self.watch = None if data is None else TorchWatch(model, data.x_train)
        if more.get("size") is not None and "run" not in more:  # no library connects the ranks
            number = next(launches.RECORDS)
            more["run"] = launches.launch_id(os.environ, int(more["size"]), number)
        super().__init__(lesson, args, model, source, **more)
        self.tell_program()

    # --- what it writes ---------------------------------------------------------------------

    def facts(self, lesson: str, asked: Any, source: Any, more: dict) -> dict[str, Any]:
        refuse_zeros(asked, self.rank)
        params = weights(self.model)
        shapes = [each for each in self.everyone([tuple(p.shape) for p in params]) if each]
        # Stages of a pipeline have different layers.
        self.parts = any(each != shapes[0] for each in shapes)
        held = shapes if self.parts else shapes[:1]
        known = super().facts(lesson, asked, source, more)
        precision = next((param.dtype for param in params), known.get("precision"))
        kind = {"tensorflow": "keras"}.get(known["framework"], known["framework"])
        scaling = {"scaling": "serial" if self.size == 1 else "epoch"}
        found = {
            "source": source or SOURCES.get(self.library, "{}").format(kind),
            "params": sum(math.prod(map(int, shape)) for each in held for shape in each) or None,
            "precision": precision and str(getattr(precision, "name", precision)).split(".")[-1],
            "ranks_asked": self.launch.size if self.launch else in_environ(os.environ, TASKS),
            "dataset": self.data.facts if self.data else None,
            **network_facts(self.model, more),
        }
        return scaling | known | found | more

    def device(self) -> tuple[str, str]:
        """Return the name of the parameters' device, without and with a GPU's identity."""
        on = getattr(next(iter(weights(self.model)), None), "device", None)
        return devices.device(self.header["framework"], on if hasattr(on, "type") else None)

    def machine(self) -> dict[str, Any]:
        found = super().machine()
        return found | {
            "launcher": self.launch.launcher if self.launch else "none",
            "scheduler": os.environ.get("COURSE_SCHEDULER") or found["scheduler"],
            "site": os.environ.get("COURSE_SITE_NAME"),
            "started_by": started_by(os.getpid()),
            "device": self.device()[0],
            "threads": devices.threads(self.header["framework"]),
            "arguments": sys.argv[1:],
        }

    def presence(self) -> dict[str, Any]:
        found = super().presence() | {"device": self.device()[1]}
        found["local_rank"] = self.local_rank or (self.launch.local_rank if self.launch else 0)
        if params := trainable(self.model):
            found["built_hash"] = param_hash(params)
        numbers = None if self.shard is None else samples.numbers_of(self.shard, self.samples)
        shares = self.everyone(numbers)
        # How many different samples the ranks' shares have together, if all are known.
        self.covered = None if None in shares else len(set().union(*shares))
        if numbers is None and hasattr(self.model, "trainable_variables") and self.samples:
            numbers = range(self.samples)
        if numbers is not None:
            found |= {"samples": len(numbers), "slices": samples.slices(numbers)}
        if self.labels is not None:
            import numpy as np

            counts = np.bincount(np.ravel(self.labels).astype(int), minlength=10)
            found["labels"] = counts[:20].tolist()
        return found

    def tell_program(self) -> None:
        for value in program.values(self.files, self.beside) if self.rank == 0 else ():
            self.tell("program", value)

    def last_facts(self) -> dict[str, Any]:
        hashes = {"start_hash": self.start_hash, "param_hash": self.seen.get("param_hash")}
        return super().last_facts() | hashes

    # --- what it looks at -------------------------------------------------------------------

    def begin(self) -> None:
        """Look at the parameters, right before the first step."""
        if self.start_hash is None and (params := trainable(self.model)):
            copies = [array.copy() for array in arrays(params)]
            self.start_hash = param_hash(copies)
            self.before = copies if self.rank == 0 else None

    def stepped(self, optimizer: Any) -> None:
        super().stepped(optimizer)
        if self.watch:
            self.watch.stepped()

    def start_epoch(self) -> None:
        self.begin()
        if self.watch:
            self.watch.start()
        super().start_epoch()

    def stop_epoch(self) -> None:
        if self.watch:
            self.watch.stop()
        super().stop_epoch()
        self.look_at_parameters()

    def samples_read(self) -> dict[str, Any]:
        """Return which images entered the networks, or at most how many."""
        at_most = super().samples_read()
        if self.size > 1 and not self.library:  # the other ranks' images are not known
            return at_most
        counted = self.everyone(self.watch.numbers() if self.watch else self.images)
        known = all(each is not None for each in counted)
        if self.watch and known:
            read = samples.what_was_read(counted)
            return {"unique_samples": read.pop("distinct"), "read": read}
        most = [each for each in (at_most["unique_samples"], self.covered) if each]
        if most and known:
            most.append(sum(counted))
        return {"unique_samples": min(most, default=None)}

    def look_at_parameters(self) -> None:
        """Compare the parameters with their start, and with those of the other ranks."""
        params = list(arrays(trainable(self.model)))
        if not params:
            return
        self.seen["param_hash"] = param_hash(params)
        if self.before is not None:
            largest, self.seen["params_changed"] = parameters.moved(self.before, params)
            self.seen["param_moved"] = short(largest)
        if self.library and not self.parts:
            equal = len(set(self.everyone(self.seen["param_hash"]))) == 1
            apart = 0.0 if equal else spread(map(self.everyone, parameters.pieces(params)))
            self.seen["param_spread"] = parameters.worst(
                [apart, self.seen.get("param_spread", 0.0)]
            )
        if "replicas" in self.header and self.watch is None:  # of tf.distribute
            replicas = map(copies, self.model.trainable_variables)
            self.seen["param_spread"] = spread([copy.numpy() for copy in each] for each in replicas)

    def end(self, **results: Any) -> None:
        """End the run, with its test_loss and test_accuracy. Call this last, on every rank."""
        if self.watch and self.epochs:
            step_images, pass_images = zip(*self.everyone(self.watch.counts()), strict=True)
            if all(step_images):
                self.measure("step_images", min(step_images), "images")
                self.measure("pass_images", max(pass_images), "images")
        self.tell_machine()
        self.tell_program()
        names = ("param_moved", "params_changed", "param_spread")
        super().end(**{name: self.seen.get(name) for name in names} | results)


def refuse_zeros(asked: Mapping[str, Any], rank: int) -> None:
    """End all ranks if a count is below 1. Only rank 0 fails and says why (ranks/leaving.py)."""
    for name in COUNTS:
        count = asked.get(name)
        if isinstance(count, int) and count < 1:
            option, where = name.replace("_", "-"), os.path.basename(sys.argv[0])
            sys.exit(0 if rank else f"{where}: --{option} {count}: ask for 1 or more.")
