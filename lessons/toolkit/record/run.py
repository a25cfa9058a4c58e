"""The course's Run: a run_record.Run that also finds what the course knows.

It adds the data set that `data.load` returned, the parameters as they were built, before the first
step and after each epoch, which images entered a PyTorch network, the replicas of tf.distribute,
the program's files, and exact facts about the machine.
"""

import gc
import math
import os
from collections.abc import Iterator, Mapping
from typing import Any

from cluster.launchers import launched
from lessons.toolkit.record import devices, facts, launches, program, run_record
from lessons.toolkit.record.header import refuse_zeros
from lessons.toolkit.record.keras_callback import RunMethods, network_facts, replicas_spread
from lessons.toolkit.record.parameters import arrays, changed, moved, param_hash, worst
from lessons.toolkit.record.reading import labels_of, loaded_data, what_was_read
from lessons.toolkit.record.run_record import short, torch_device
from lessons.toolkit.record.shares import numbers, share
from lessons.toolkit.record.watch import TorchWatch

PIECE = 1_000_000  # numbers that are sent at once when ranks are compared
SOURCES = {"torch": "ddp", "mpi": "mpi", "horovod": "{}-horovod"}  # by the ranks' library


class Run(run_record.Run):
    """A run of a training program of the course (see run_record.Run).

    Make it on every rank, after the ranks have met and the model is built, and before anything
    wraps or changes the model. Its parameters' facts come from the model, or from a list or
    dictionary of NumPy arrays in its place. It takes two more facts. shard says which samples
    this rank reads: (start, stop, step) or indices (default with Keras: all samples). labels are
    the classes of these samples. The record counts the samples of each class.
    """

    def __init__(
        self, lesson: str, args: Any = None, model: Any = None, /, source: Any = None, **more: Any
    ) -> None:
        if not gc.get_freeze_count():
            # The objects of a framework stay until the end. Checking all of them once more
            # when the process ends takes most of a second.
            gc.freeze()
        self.start_hash: str | None = None
        self.before: list[Any] | None = None  # rank 0's parameters before the first step
        self.seen: dict[str, Any] = {}  # facts of the parameters after the last epoch
        self.shard, self.labels = more.pop("shard", None), more.pop("labels", None)
        self.share: dict[str, Any] = {}
        self.program, self.told = program.main_hash(), set[str]()
        self.images: int | None = None  # that Keras has counted in the epoch
        # Without images to look up, nothing disturbs the network, which may be compiled.
        watches = hasattr(model, "state_dict") and loaded_data() is not None
        self.watch = TorchWatch(model) if watches else None
        if more.get("size") is not None:  # no library connects the ranks
            more.setdefault("run", launches.run_id(os.environ, int(more["size"])))
        super().__init__(lesson, args, model, source, **more)

    # --- what it writes ---------------------------------------------------------------------

    def facts(self, lesson: str, asked: Any, source: Any, more: dict) -> dict[str, Any]:
        refuse_zeros(asked, self.rank)
        params, images = weights(self.model), loaded_data()
        shapes = [each for each in self.everyone([tuple(p.shape) for p in params]) if each]
        # Stages of a pipeline have different layers.
        self.parts = any(each != shapes[0] for each in shapes)
        held = shapes if self.parts else shapes[:1]
        known = super().facts(lesson, asked, source, more)
        kind = {"tensorflow": "keras"}.get(known["framework"], known["framework"])
        usual = SOURCES.get(self.ranks.library, "{}").format(kind)
        scaling = {"scaling": "serial" if self.size == 1 else "epoch"}
        found = {
            "source": source or usual,
            "params": sum(math.prod(map(int, shape)) for each in held for shape in each) or None,
            "precision": next(map(precision, params), known.get("precision")),
            "ranks_asked": facts.ranks_asked(os.environ),
            "dataset": images.facts if images else None,
            **network_facts(self.model, more),
        }
        if chosen := os.environ.get("COURSE_DEVICE"):
            found["device_asked"] = chosen
        return scaling | known | found | more

    def machine(self) -> dict[str, Any]:
        return facts.machine(self.header["framework"], os.environ) | {"device": self.device()[0]}

    def device(self) -> tuple[str, str]:
        """Return the name of the parameters' device, without and with a GPU's identity."""
        on = torch_device(weights(self.model))
        which = self.header["framework"]
        return devices.device(which, on), devices.device_and_number(which, os.environ, on)

    def presence(self) -> dict[str, Any]:
        params = trainable(self.model)
        me = launched()
        if self.shard is not None or hasattr(self.model, "trainable_variables"):
            self.share = share(self.shard, self.all_samples())
            self.share |= {} if self.labels is None else {"labels": labels_of(self.labels)}
        return super().presence() | {
            "local_rank": self.ranks.local_rank or (me.local_rank if me else 0),
            "device": self.device()[1],
            **({"built_hash": param_hash(params)} if params else {}),
            **self.share,
        }

    def tell_machine(self) -> None:
        if self.machine_waits:
            super().tell_machine()
            self.tell_program(program.first_values())

    def tell_program(self, values: Iterator[dict[str, Any]]) -> None:
        for value in values if self.rank == 0 else ():
            self.told.update(value["files"])
            self.tell("program", value)

    def last_facts(self) -> dict[str, Any]:
        seen = {"start_hash": self.start_hash, "param_hash": self.seen.get("param_hash")}
        read = {"samples": self.share.get("samples")}
        return super().last_facts() | seen | read | {"program": self.program}

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
        if self.size > 1 and not self.ranks.gather:  # the other ranks' images are not known
            return at_most
        counted = self.everyone(self.watch.numbers() if self.watch else self.images)
        known = all(each is not None for each in counted)
        if self.watch and known:
            read = what_was_read(counted) or {"distinct": 0}
            return {"unique_samples": read["distinct"], "read": read}
        most = [each for each in (at_most["unique_samples"], self.covered()) if each]
        if most and known:
            most.append(sum(counted))
        return {"unique_samples": min(most, default=None)}

    def covered(self) -> int | None:
        """Return how many different samples the ranks' shares have together, if all are known."""
        own = None if self.shard is None else numbers(self.shard, self.all_samples())
        shares = self.everyone(own)
        return None if None in shares else len(set().union(*shares))

    def look_at_parameters(self) -> None:
        """Compare the parameters with their start, and with those of the other ranks."""
        params = list(arrays(trainable(self.model)))
        if not params:
            return
        self.seen["param_hash"] = param_hash(params)
        if self.before is not None:
            self.seen["param_moved"] = short(moved(self.before, params))
            self.seen["params_changed"] = changed(self.before, params)
        if self.ranks.gather and not self.parts:
            equal = len(set(self.everyone(self.seen["param_hash"]))) == 1
            apart = 0.0 if equal else worst(self.spreads(params))
            self.seen["param_spread"] = worst([apart, self.seen.get("param_spread", 0.0)])
        if "replicas" in self.header and self.watch is None:  # of tf.distribute
            self.seen["param_spread"] = replicas_spread(self.model)

    def spreads(self, params: list[Any]) -> Iterator[float]:
        """Yield the largest differences between two ranks, one for each piece of the parameters."""
        import numpy as np

        for array in params:
            for first in range(0, array.size, PIECE):
                pieces = self.everyone(array.reshape(-1)[first : first + PIECE])
                yield float(np.ptp(np.stack(pieces), axis=0).max())

    def keras(self) -> Any:
        """Return the run as a Keras callback. Only callbacks that write files come after it."""
        return run_record.keras_callback(RunMethods, self)

    def end(self, **results: Any) -> None:
        """End the run, with its test_loss and test_accuracy. Call this last, on every rank."""
        if self.watch and self.epochs:
            for name, choose in (("step_images", min), ("pass_images", max)):
                images = self.everyone(getattr(self.watch, name)())
                if None not in images:
                    self.measure(name, choose(images), "images")
        self.tell_machine()
        self.tell_program(program.later_values(self.told))
        names = ("param_moved", "params_changed", "param_spread")
        super().end(**{name: self.seen.get(name) for name in names} | results)


def weights(model: Any) -> list[Any]:
    """Return all parameters of a model, trainable or not."""
    if hasattr(model, "state_dict"):
        return list(model.parameters())
    found = getattr(model, "weights", model)
    return list(found.values() if isinstance(found, Mapping) else found or ())


def trainable(model: Any) -> list[Any]:
    variables = getattr(model, "trainable_variables", None)
    params = weights(model) if variables is None else list(variables)
    return [] if any(map(is_freed, params)) else params


def is_freed(param: Any) -> bool:
    """Return whether a program has taken the parameter's memory away until it computes with it."""
    if hasattr(param, "full_tensor") or not hasattr(param, "untyped_storage"):
        return False
    return bool(param.untyped_storage().nbytes() == 0 < param.numel())


def precision(param: Any) -> str:
    return str(getattr(param.dtype, "name", param.dtype)).rpartition(".")[2]
