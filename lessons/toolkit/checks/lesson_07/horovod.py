"""Checks for the Horovod exercises (7.1 to 7.4).

They start no ranks, because that takes too long for a notebook. Horovod is the real one, but only
says that it is one rank of several. The jobs' records show the effect on real ranks.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from lessons.toolkit.checks.shared.check import CheckFailed, compare, exercise, number, shown


def one_of(program: Any, rank: int, size: int, local_rank: int) -> Any:
    """Let Horovod say in a `with` block that this is one rank of several."""
    says = {"rank": rank, "size": size, "local_rank": local_rank}
    functions = {name: mock.Mock(return_value=value) for name, value in says.items()}
    return mock.patch.multiple(program.hvd, **functions)


@exercise("7.1")
def check_7_1(program: Any) -> str:
    """Each rank makes one GPU visible: the one whose number is the rank's local number."""
    # Rank 6 of 8 on two nodes of four GPUs: rank 6 is number 2 of the second node. Where a node has
    # three ranks, so is rank 5.
    for gpus, rank, local in ((4, 6, 2), (4, 1, 1), (4, 4, 0), (4, 5, 2), (0, 1, 1)):
        expected = f"rank {rank} with local number {local} sees GPU {local} of {gpus}"
        with (
            one_of(program, rank, 8, local),
            mock.patch.object(program.hvd, "init") as init,
            pretended_gpus(program, gpus) as visible,
        ):
            try:
                program.start_horovod()
            except IndexError:
                advice = "hvd.rank() counts over all nodes. What counts within one?"
                advice = advice if gpus else "Without GPUs the list is empty: pin only `if gpus:`."
                raise CheckFailed(expected, "IndexError: no such GPU", advice) from None
        if not init.called:
            raise CheckFailed("hvd.init() is called", "it is not", "Begin with hvd.init().")
        chosen, of_type = visible[-1] if visible else (None, None)
        chosen = chosen[0] if isinstance(chosen, list) and len(chosen) == 1 else chosen
        if gpus and (chosen, of_type) != (f"GPU {local}", "GPU"):
            advice = (
                "help(tf.config.set_visible_devices) shows how to hide devices of one type. Which "
                "of a rank's numbers is its number on its node?"
            )
            if chosen == "GPU 0":
                advice = "All ranks of the node would share GPU 0. What distinguishes them there?"
            found = f"set_visible_devices({chosen}, {of_type})" if visible else "all GPUs"
            raise CheckFailed(expected, found, advice)
    return "Rank 6 of 8 on two nodes takes GPU 2 of its node; without GPUs nothing is pinned."


@contextmanager
def pretended_gpus(program: Any, gpus: int) -> Iterator[list[tuple[Any, Any]]]:
    """Replace TensorFlow's devices with a CPU and these GPUs during a `with` block.

    The result contains the devices that each call made visible, with their type.
    """
    devices = ["CPU 0", *(f"GPU {n}" for n in range(gpus))]
    visible: list[tuple[Any, Any]] = []

    def found(device_type: str | None = None) -> list[str]:
        return [device for device in devices if device_type in (None, device.split()[0])]

    def see(devices: Any, device_type: str | None = None) -> None:
        visible.append((devices, device_type))

    functions: Any = {"list_physical_devices": found, "set_visible_devices": see}
    config = program.tf.config
    with (
        mock.patch.multiple(config, **functions),
        mock.patch.multiple(config.experimental, **functions),
    ):
        yield visible


@exercise("7.2")
def check_7_2(program: Any) -> str:
    """Adam averages gradients over all ranks; its learning rate is multiplied by their number."""
    if not program.hvd.is_initialized():
        # Its thread looks for gradients 1,000 times per second, and lives as long as the notebook.
        with mock.patch.dict(os.environ, HOROVOD_CYCLE_TIME="100"):
            program.hvd.init()
    for rank, size in ((0, 1), (2, 4), (5, 8)):
        with one_of(program, rank, size, 0):
            optimizer = program.make_optimizer(0.001)
        rate, kind = getattr(optimizer, "learning_rate", None), type(optimizer)
        if rate is None or "Adam" not in kind.__name__:
            advice = "Is there a `return` in front of it? Lesson 02 trains with Adam."
            raise CheckFailed("make_optimizer returns an Adam", shown(optimizer), advice)
        if not kind.__module__.startswith("horovod"):
            raise CheckFailed(
                "an optimizer of Horovod's",
                f"{kind.__name__} alone",
                "Every rank trains its own network. Which class of `dir(train.hvd)` wraps an "
                "optimizer?",
            )
        mistakes = {
            0.001: f"A step averages over {size} batches. What does this imply for the rate?",
            0.001 / size: "Horovod already takes the mean. Should fewer steps be shorter, too?",
            0.001 * rank: "That multiplies by the rank. All ranks need the same factor.",
            0.001 * size**0.5: "The square-root rule comes in lesson 09. Here, use the linear one.",
        }
        what = f"rate on {size} ranks, from 0.001"
        compare(number(float(rate), "the learning rate"), 0.001 * size, what, mistakes)
    return "Rates 0.001, 0.004, 0.008 on 1, 4 and 8 ranks; gradients are averaged."


@exercise("7.3")
def check_7_3(program: Any) -> str:
    """After the call every rank holds the parameters of rank 0."""
    layers = program.keras.layers
    model = program.keras.Sequential(
        [layers.Dense(3, input_shape=(2,)), layers.BatchNormalization()]
    )
    calls: list[list[tuple[list[Any], Any]]] = [[], []]
    for rank in (0, 1):

        def broadcast(variables: Any, root_rank: Any = None, rank: int = rank, **_: Any) -> None:
            calls[rank].append((list(variables), root_rank))

        with (
            one_of(program, rank, 2, rank),
            mock.patch.object(program, "broadcast_variables", broadcast),
        ):
            program.start_alike(model)
    expected = "every rank calls the imported function once, for all variables"
    if silent := [rank for rank in (0, 1) if not calls[rank]]:
        found = "nobody calls it"
        if len(silent) == 1:
            found = f"rank {silent[0]} does not call it, rank {1 - silent[0]} does"
        advice = "Rank 0 sends and the others receive with the same call, so put no `if` around it."
        raise CheckFailed(expected, found, advice)
    for variables, root in calls[0] + calls[1]:
        if root != 0:
            advice = "All ranks have to name the same sender, and 0 always exists."
            raise CheckFailed(expected, f"root_rank={shown(root)}", advice)
        count = sum(hasattr(variable, "assign") for variable in variables)
        if count < len(model.variables):
            found = f"{count} of {len(model.variables)} variables of a small model"
            advice = (
                "Batch normalisation keeps averages that are not trained, and copies, as from "
                "get_weights(), change nothing in the model."
            )
            raise CheckFailed(expected, found, advice)
    return "Before the first step, every rank gets all variables from rank 0."


@exercise("7.4")
def check_7_4(program: Any) -> str:
    """Only rank 0 has written its weights after an epoch with these callbacks."""
    import numpy as np

    for rank in (0, 1, 2, 3):
        with tempfile.TemporaryDirectory() as folder, one_of(program, rank, 4, 0):
            path = Path(folder, "network.weights.h5")
            model = small_model(program)
            model.compile("sgd", "mse", run_eagerly=True)  # a graph would take longer
            callbacks = program.checkpoints(str(path))
            if not isinstance(callbacks, list | tuple):
                advice = "fit takes a list, also where nothing is to be written."
                raise CheckFailed("a list of callbacks", shown(callbacks), advice)
            model.fit(np.ones((4, 2)), np.ones(4), verbose=0, callbacks=list(callbacks))
            files = [file.name for file in Path(folder).rglob("*") if file.is_file()]
            if rank and files:
                advice = (
                    "Four ranks that write one file at the same time can break it. Which of a "
                    "rank's numbers is 0 only once in the whole job?"
                )
                raise CheckFailed(f"rank {rank} writes nothing", ", ".join(files), advice)
            if not rank:
                check_file(path, files, model, small_model(program))
    return "Rank 0 writes the weights into one file; the other ranks write nothing."


def small_model(program: Any) -> Any:
    return program.keras.Sequential([program.keras.layers.Dense(1, input_shape=(2,))])


def check_file(path: Path, files: list[str], model: Any, other: Any) -> None:
    if files != [path.name]:
        advice = "Use the file name that is passed to `checkpoints`."
        if not files:
            advice = "Which rank writes? Did you call the function, with ()?"
        raise CheckFailed(
            f"rank 0 writes {path.name}", ", ".join(files) or "it writes nothing", advice
        )
    try:
        other.load_weights(path)
        pairs = zip(model.get_weights(), other.get_weights(), strict=True)
        right = all((saved == read).all() for saved, read in pairs)
    except (OSError, KeyError, ValueError):
        right = False
    if not right:
        advice = "Which argument of ModelCheckpoint leaves out everything but the weights?"
        raise CheckFailed("a file with the weights", "another kind of file", advice)
