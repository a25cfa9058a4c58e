"""Checks for the Horovod exercises (7.1 to 7.5).

They start no ranks. The student's functions are called with a replacement for Horovod that claims
to be one rank of several and records its calls. To see the effect on real ranks, look at the jobs'
records.
"""

from collections.abc import Callable, Sequence
from typing import Any
from unittest import mock

from lessons.toolkit.checks.lesson_07.pretended_horovod import (
    BEGIN_WITH_INIT,
    pretended_gpus,
    pretending,
)
from lessons.toolkit.checks.shared.check import CheckFailed, compare, exercise, number, shown

Function = Callable[..., Any]


@exercise("7.1")
def check_7_1(program: Any) -> str:
    """Each rank makes one GPU visible: the one whose number is the rank's local number."""
    # Rank 6 of 8 on two nodes of four GPUs: rank 6 is number 2 of the second node.
    for gpus, rank, local in ((4, 6, 2), (4, 1, 1), (4, 4, 0), (0, 1, 1)):
        devices = [f"GPU {n}" for n in range(gpus)]
        with (
            pretending(program, rank, 8, local) as horovod,
            pretended_gpus(program, devices) as (asked, visible),
        ):
            try:
                program.start_horovod()
            except IndexError:
                raise one_gpu(rank, local, gpus, "IndexError: no such GPU on this node") from None
        if "init" not in horovod.calls:
            raise CheckFailed("hvd.init() is called", "it is not", BEGIN_WITH_INIT)
        chosen, of_type = visible[-1] if visible else (None, "GPU")
        chosen = chosen[0] if isinstance(chosen, list) and len(chosen) == 1 else chosen
        if gpus and chosen != devices[local]:
            found = "all GPUs stay visible" if chosen is None else f"{shown(chosen)} is visible"
            if None in asked and chosen is not None:
                found += ", from a list that begins with the CPU"
            raise one_gpu(rank, local, gpus, found)
        if of_type != "GPU":
            advice = (
                'Without "GPU" TensorFlow takes this as the list of all devices: the CPU is gone, '
                'and the program ends with "No CPU devices are available in this process".'
            )
            found = "set_visible_devices(…) gets no type"
            if of_type:
                found = f"set_visible_devices(…) gets the type {shown(of_type)}"
                advice = 'TensorFlow refuses a GPU as a device of another type: pass "GPU".'
            expected = f"GPU {local} is the one visible device of type GPU; the CPU stays visible"
            raise CheckFailed(expected, found, advice)
    return "Rank 6 of 8 on two nodes takes GPU 2 of its node; without GPUs nothing is pinned."


def one_gpu(rank: int, local: int, gpus: int, found: str) -> CheckFailed:
    if not gpus:
        advice = "On a machine without GPUs the list is empty: pin only `if gpus:`."
    elif "the CPU" in found:
        advice = 'list_physical_devices() returns every device: pass "GPU" to get only GPUs.'
    elif "IndexError" in found or (f"GPU {rank}" in found and rank != local):
        advice = "hvd.rank() counts over all nodes; use hvd.local_rank()."
    elif "all GPUs" in found:
        advice = 'tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")'
    elif "GPU 0" in found:
        advice = "All ranks of the node would share GPU 0: take gpus[hvd.local_rank()]."
    else:
        advice = "Use one GPU per rank: gpus[hvd.local_rank()]."
    return CheckFailed(f"rank {rank} with local number {local} sees GPU {local}", found, advice)


@exercise("7.2")
def check_7_2(program: Any) -> str:
    """Adam averages gradients over all ranks; its learning rate is multiplied by their number."""
    for rank, size in ((0, 1), (2, 4), (5, 8)):
        with pretending(program, rank, size, 0) as horovod:
            horovod.calls.append("init")
            optimizer = program.make_optimizer(0.001)
        if "DistributedOptimizer" not in horovod.calls:
            raise CheckFailed(
                "hvd.DistributedOptimizer(…)",
                f"{type(optimizer).__name__} alone",
                "Without the wrapper, every rank trains its own network: return "
                "hvd.DistributedOptimizer(keras.optimizers.Adam(…)).",
            )
        rate = getattr(optimizer, "learning_rate", None)
        if rate is None:
            raise CheckFailed(
                "make_optimizer returns an optimizer",
                shown(optimizer),
                "Is there a `return` in front of it?",
            )
        if "Adam" not in type(optimizer).__name__:
            raise CheckFailed(
                "Adam", type(optimizer).__name__, "Lesson 02 trains with keras.optimizers.Adam."
            )
        compare(
            number(float(rate), "the learning rate"),
            0.001 * size,
            f"rate from 0.001 where hvd.size() is {size}",
            {
                0.001: "A step now averages over hvd.size() batches: use lr * hvd.size().",
                0.001 / size: "Multiply instead of dividing: Horovod already takes the mean.",
                0.001 * rank: (
                    "That is the rate times the rank. All ranks need the same rate: lr * "
                    "hvd.size()."
                ),
                0.001
                * (
                    rank + 1
                ): "That depends on the rank. All ranks need the same rate: lr * hvd.size().",
                0.001
                * size
                ** 0.5: "The square-root rule comes in lesson 09. Here, multiply by hvd.size().",
            },
        )
    check_with_real_horovod(program)
    return "Rates 0.001, 0.004, 0.008 on 1, 4 and 8 ranks; gradients are averaged."


def check_with_real_horovod(program: Any) -> None:
    """Check that the real Horovod accepts this optimizer; the replacement accepts anything."""
    import horovod.tensorflow.keras as real

    if not real.is_initialized():
        real.init()
    made = type(program.make_optimizer(0.001))
    if not made.__module__.startswith("horovod"):
        raise CheckFailed(
            "an optimizer made by Horovod",
            f"{made.__module__}.{made.__name__}",
            "Return the result of hvd.DistributedOptimizer.",
        )


@exercise("7.3")
def check_7_3(program: Any) -> str:
    """After the call every rank holds the parameters of rank 0."""
    model = program.keras.Sequential(
        [
            program.keras.layers.Dense(3, input_shape=(2,)),
            program.keras.layers.BatchNormalization(),
        ]
    )
    calls = {rank: broadcasts_of(program, model, rank) for rank in (0, 1)}
    silent = [rank for rank, made in calls.items() if not made]
    if len(silent) == 2:
        raise CheckFailed(
            "broadcast_variables is called",
            "it is not",
            "broadcast_variables(model.variables, root_rank=0)",
        )
    if silent:
        raise CheckFailed(
            "broadcast_variables is called on every rank",
            f"rank {silent[0]} does not call it, rank {1 - silent[0]} does",
            "Rank 0 sends and the others receive with the same call, so put no `if` around it "
            "and no `return` in front of it. If only one rank calls it, that rank waits forever.",
        )
    for given, root in calls[0] + calls[1]:
        if root != 0:
            raise CheckFailed(
                "root_rank=0 on every rank",
                f"root_rank={shown(root)}",
                "All ranks have to name the same sender, and 0 always exists.",
            )
        if not all(hasattr(variable, "assign") for variable in given):
            raise CheckFailed(
                "variables, into which rank 0's values can be written",
                "copies of their values",
                "model.get_weights() makes copies: pass model.variables.",
            )
    for made in calls.values():
        received = {id(variable) for given, _ in made for variable in given}
        if len(received) < len(model.variables):
            raise CheckFailed(
                f"all {len(model.variables)} variables of a small model",
                f"{len(received)}",
                "model.variables contains all of them; the trainable ones are not enough: batch "
                "normalisation keeps averages that are not trained.",
            )
    return "Before the first step, every rank gets all variables from rank 0."


def broadcasts_of(program: Any, model: Any, rank: int) -> list[tuple[list[Any], Any]]:
    """Return the variables and root of each broadcast_variables call made by one of two ranks."""
    made: list[tuple[list[Any], Any]] = []

    def broadcast(variables: Any, root_rank: Any = None, *_: Any, **__: Any) -> None:
        made.append((list(variables), root_rank))

    with pretending(program, rank, 2, rank, broadcast_variables=broadcast) as horovod:
        horovod.calls.append("init")
        program.start_alike(model)
    return made


@exercise("7.4")
def check_7_4(program: Any) -> str:
    """One of four ranks saves the weights in a single file and returns 1. The others return 0."""
    path = "checkpoints/network.weights.h5"
    model = mock.Mock(name="model")
    for rank in (0, 1, 2, 3):
        model.reset_mock()
        with pretending(program, rank, 4, 0) as horovod:
            horovod.calls.append("init")
            said = program.save_checkpoint(model, path)
        saved = [call for call in model.method_calls if "save" in call[0]]
        if rank == 0:
            only_the_weights(saved, path)
        elif saved:
            raise CheckFailed(
                f"rank {rank} writes nothing",
                f"rank {rank} calls model.{saved[0][0]}",
                "Four ranks that write one file at the same time can break it. Only the rank "
                "whose hvd.rank() is 0 may write. Do not use local_rank: it is 0 once on every "
                "node.",
            )
        if said is None or isinstance(said, bool):
            advice = "Return a number: 1 where the file was written, 0 on all other ranks."
            raise CheckFailed(f"files that rank {rank} wrote: {int(not rank)}", str(said), advice)
        compare(
            number(said, "save_checkpoint(…)"),
            float(not rank),
            f"files that rank {rank} wrote",
            otherwise="1 where the file was written, 0 on all other ranks.",
        )
    return "Rank 0 writes the weights into one file; the other ranks write nothing."


def only_the_weights(saved: Sequence[Any], path: str) -> None:
    """Check that one file was saved with the caller's name, in a format that `--resume` reads."""
    if not saved:
        advice = "Rank 0 is the one that writes: `if hvd.rank() != 0: return 0` comes first."
        raise CheckFailed("rank 0 saves the weights", "it saves nothing", advice)
    calls = ", ".join(f"model.{name}(…)" for name, _, _ in saved)
    if len(saved) > 1:
        raise CheckFailed("one file: model.save_weights(path)", calls, "Save once.")
    name, given, by_name = saved[0]
    if name != "save_weights":
        raise CheckFailed(
            "model.save_weights(path)",
            calls,
            "model.save writes another kind of file, which model.load_weights cannot read when "
            "the run goes on with --resume.",
        )
    if (*given, by_name.get("filepath"))[0] != path:
        found = f"model.save_weights({', '.join(map(repr, (*given, *by_name.values())))})"
        raise CheckFailed(f"a file {path}", found, "The caller names the file: save_weights(path).")


ASKED = 10  # numbers that are not in the lesson's question
SIZES = (1, 2, 3, 4, 7, 16)


@exercise("7.5")
def check_7_5(epochs: Function, passes: Function) -> str:
    """10 epochs on 1, 2, 3, 4, 7, 16 ranks are 10, 5, 4, 3, 2, 1 epochs per rank, never 0."""
    for size in SIZES:
        right = -(-ASKED // size)
        compare(
            number(epochs(ASKED, size), f"epochs({ASKED}, {size})"),
            right,
            f"epochs({ASKED}, {size})",
            {
                0: "This rounds down: with more ranks than epochs, no rank would train. Round up.",
                ASKED / size: "A program runs whole epochs: round up with math.ceil.",
                ASKED // size: "This rounds down, so requested passes would be missing. Round up.",
                ASKED * size: "Divide: all ranks share the requested passes.",
                ASKED: "Each rank would do all the work: nothing gets faster.",
            },
        )
    for size in SIZES:
        right = -(-ASKED // size) * size
        compare(
            number(passes(ASKED, size), f"passes({ASKED}, {size})"),
            right,
            f"passes({ASKED}, {size})",
            {
                -(-ASKED // size): (
                    "These are the epochs of one rank. How many passes do all ranks make together?"
                ),
                ASKED: (
                    "That is the requested number of passes. Rounding up gives more for some "
                    "numbers of ranks."
                ),
            },
            "Every rank makes epochs(asked, size) passes; there are size ranks.",
        )
    return "10, 5, 4, 3, 2, 1 epochs; together 10, 10, 12, 12, 14, 16 passes over the data."
