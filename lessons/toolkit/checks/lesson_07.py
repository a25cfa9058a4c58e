"""Public checks of lesson 07: Horovod.

The five steps are checked without starting ranks: the student's functions are called with a
Horovod that says it is one rank of several and notes what it was asked for. What real ranks make
of them shows in the jobs' records.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

from lessons.toolkit.checks.check import CheckFailed, compare, exercise, number, shown

Function = Callable[..., Any]


class Pretend:
    """Horovod as one rank sees it, with nobody at the other end."""

    def __init__(self, rank: int, size: int, local_rank: int) -> None:
        self.place = (rank, size, local_rank)
        self.calls: list[str] = []

    def init(self, *_: Any, **__: Any) -> None:
        self.calls.append("init")

    def told(self, which: int, name: str) -> int:
        if "init" not in self.calls:
            raise CheckFailed(
                "hvd.init() before anything else", f"hvd.{name}() first", "Begin with hvd.init()."
            )
        return self.place[which]

    def rank(self) -> int:
        return self.told(0, "rank")

    def size(self) -> int:
        return self.told(1, "size")

    def local_rank(self) -> int:
        return self.told(2, "local_rank")

    def DistributedOptimizer(self, optimizer: Any, *_: Any, **__: Any) -> Any:  # noqa: N802
        self.calls.append("DistributedOptimizer")
        return optimizer


@contextmanager
def pretending(program: Any, rank: int, size: int, local_rank: int, **others: Any) -> Iterator[Any]:
    """The student's program, its `hvd` and other names replaced for a moment."""
    horovod = Pretend(rank, size, local_rank)
    with ExitStack() as stack:
        for name, value in {"hvd": horovod, **others}.items():
            stack.enter_context(mock.patch.object(program, name, value))
        yield horovod


@exercise("7.1")
def check_7_1(program: Any) -> str:
    """Each rank of a node makes one GPU visible, the one with its local number."""
    # Rank 6 of 8 on two nodes of four GPUs: rank 6 is number 2 of the second node.
    for gpus, rank, local in ((4, 6, 2), (4, 1, 1), (4, 4, 0), (0, 1, 1)):
        devices = [f"GPU {n}" for n in range(gpus)]
        config = program.tf.config
        visible: list[Any] = []
        with (
            pretending(program, rank, 8, local) as horovod,
            mock.patch.object(config, "list_physical_devices", lambda kind="GPU", d=devices: d),
            mock.patch.object(config, "set_visible_devices", lambda d, *_, v=visible: v.append(d)),
        ):
            try:
                program.start_horovod()
            except IndexError:
                raise one_gpu(rank, local, gpus, "IndexError: no such GPU on this node") from None
        if "init" not in horovod.calls:
            raise CheckFailed(
                "hvd.init() is called", "it is not", "Begin with hvd.init(): meet the other ranks."
            )
        chosen = visible[-1] if visible else None
        chosen = chosen[0] if isinstance(chosen, list) and len(chosen) == 1 else chosen
        if gpus and chosen != devices[local]:
            found = "all GPUs stay visible" if chosen is None else f"{shown(chosen)} is visible"
            raise one_gpu(rank, local, gpus, found)
    return "Rank 6 of 8 on two nodes takes GPU 2 of its node; without GPUs nothing is pinned."


def one_gpu(rank: int, local: int, gpus: int, found: str) -> CheckFailed:
    if not gpus:
        advice = "On a machine without GPUs the list is empty: pin only `if gpus:`."
    elif "IndexError" in found or (f"GPU {rank}" in found and rank != local):
        advice = "rank counts over all nodes; the number within a node is hvd.local_rank()."
    elif "all GPUs" in found:
        advice = 'tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")'
    elif "GPU 0" in found:
        advice = "All ranks of the node would share GPU 0: take gpus[hvd.local_rank()]."
    else:
        advice = "One GPU a rank: gpus[hvd.local_rank()]."
    return CheckFailed(f"rank {rank} with local number {local} sees GPU {local}", found, advice)


@exercise("7.2")
def check_7_2(program: Any) -> str:
    """An Adam that averages over the ranks, its rate multiplied by their number."""
    for rank, size in ((0, 1), (2, 4), (5, 8)):
        with pretending(program, rank, size, 0) as horovod:
            horovod.calls.append("init")
            optimizer = program.make_optimizer(0.001)
        if "DistributedOptimizer" not in horovod.calls:
            raise CheckFailed(
                "hvd.DistributedOptimizer(…)",
                f"{type(optimizer).__name__} alone",
                "Without it every rank trains a network of its own: return "
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
            f"rate on {size} ranks from 0.001",
            {
                0.001: "A step now averages a batch size times as large: lr * hvd.size().",
                0.001 / size: "Multiply instead of dividing: Horovod takes the mean already.",
                0.001
                * rank: "That is the rate times the rank. All ranks need the same: hvd.size().",
                0.001
                * (rank + 1): "That depends on the rank. All ranks need the same: hvd.size().",
                0.001
                * size**0.5: "The square root rule comes in lesson 09; here times hvd.size().",
            },
        )
    # The stand-in above accepts anything; the real one has to accept this optimizer as well.
    import horovod.tensorflow.keras as real

    if not real.is_initialized():
        real.init()
    made = type(program.make_optimizer(0.001))
    if not made.__module__.startswith("horovod"):
        raise CheckFailed(
            "an optimizer made by Horovod",
            f"{made.__module__}.{made.__name__}",
            "Return what hvd.DistributedOptimizer gives back.",
        )
    return "Rates 0.001, 0.004, 0.008 on 1, 4 and 8 ranks; gradients are averaged."


@exercise("7.3")
def check_7_3(program: Any) -> str:
    """Afterwards every rank holds the parameters of rank 0."""
    roots: list[Any] = []
    given: list[Any] = []

    def broadcast(variables: Any, root_rank: Any = None, *_: Any, **__: Any) -> None:
        given.extend(variables)
        roots.append(root_rank)

    model = program.keras.Sequential(
        [
            program.keras.layers.Dense(3, input_shape=(2,)),
            program.keras.layers.BatchNormalization(),
        ]
    )
    with (
        pretending(program, 1, 2, 1, broadcast_variables=broadcast) as horovod,
        mock.patch.object(Pretend, "broadcast_variables", staticmethod(broadcast), create=True),
    ):
        horovod.calls.append("init")
        program.start_alike(model)
    if not roots:
        raise CheckFailed(
            "broadcast_variables is called",
            "it is not",
            "broadcast_variables(model.variables, root_rank=0)",
        )
    if roots[-1] != 0:
        raise CheckFailed(
            "root_rank=0 on every rank",
            f"root_rank={shown(roots[-1])}",
            "All ranks have to name the same sender, and 0 always exists.",
        )
    missing = len(model.variables) - len({id(variable) for variable in given})
    if missing:
        raise CheckFailed(
            f"all {len(model.variables)} variables of a small model",
            f"{len(given)}",
            "model.variables holds all; the trainable ones are not enough: batch normalisation "
            "keeps averages that are not trained.",
        )
    return "All variables, from rank 0; it is called on every rank, before the first step."


@exercise("7.4")
def check_7_4(program: Any) -> str:
    """Of four ranks one writes the file, and says so."""
    path = "checkpoints/network.weights.h5"
    model = mock.Mock(name="model")
    for rank in (0, 1, 2, 3):
        model.reset_mock()
        with pretending(program, rank, 4, 0) as horovod:
            horovod.calls.append("init")
            said = program.save_checkpoint(model, path)
        saved = [call for call in model.method_calls if "save" in call[0]]
        if rank == 0 and not saved:
            advice = "Rank 0 is the one that writes: `if hvd.rank() != 0: return 0` comes first."
            raise CheckFailed("rank 0 saves the weights", "it saves nothing", advice)
        if rank == 0 and saved[0][1][:1] != (path,):
            raise CheckFailed(f"a file {path}", shown(saved[0][1]), "model.save_weights(path)")
        if rank and saved:
            raise CheckFailed(
                f"rank {rank} writes nothing",
                f"rank {rank} calls {saved[0][0]}",
                "Four ranks that write one file at a time leave a broken one: only hvd.rank() 0, "
                "and not local_rank, which is 0 once on every node.",
            )
        if said is None:
            raise CheckFailed(
                f"rank {rank} returns how many files it wrote", "None", "Return 1 or 0."
            )
        compare(number(said, "save_checkpoint(…)"), float(rank == 0), f"files of rank {rank}")
    return "Rank 0 writes one file, the others none."


SIZES = (1, 2, 3, 4, 5, 8)


@exercise("7.5")
def check_7_5(epochs: Function, passes: Function) -> str:
    """For 4 epochs on 1, 2, 3, 4, 5, 8 ranks: 4, 2, 2, 1, 1, 1 epochs, never 0."""
    for size in SIZES:
        right = -(-4 // size)
        compare(
            number(epochs(4, size), f"epochs(4, {size})"),
            right,
            f"epochs(4, {size})",
            {
                0: "This cuts off: on more ranks than epochs nobody would train. Round up.",
                4 / size: "A program makes whole epochs: round up with math.ceil.",
                4 // size: "This cuts off; round up, so that at least 4 passes are made.",
                4 * size: "Divide: together the ranks make the asked-for passes.",
                4: "Each rank would do all the work: nothing gets faster.",
            },
        )
    for size in SIZES:
        right = -(-4 // size) * size
        compare(
            number(passes(4, size), f"passes(4, {size})"),
            right,
            f"passes(4, {size})",
            {
                -(-4 // size): "These are the epochs of one rank. How many do all make together?",
                4: "That is what was asked for; rounding up gives more on some numbers of ranks.",
            },
            "Every rank makes epochs(asked, size) passes; there are size ranks.",
        )
    return "4, 2, 2, 1, 1, 1 epochs; together 4, 4, 6, 4, 5, 8 passes over the data."


OUTSIDE = "mpirun (Open MPI) 4.1.5\n\nReport bugs to http://www.open-mpi.org/community/help/\n"
MPI_CASES = [
    (OUTSIDE, OUTSIDE, True, ""),
    (OUTSIDE, "mpirun (Open MPI) 4.1.2\n", True, "4.1.5 and 4.1.2 differ in the third number only"),
    (OUTSIDE, "mpirun (Open MPI) 5.0.11\n", False, "4 and 5 are different major versions"),
    (OUTSIDE, "mpirun (Open MPI) 4.0.7\n", False, "4.1 and 4.0 differ in the second number"),
    (
        OUTSIDE,
        "HYDRA build details:\n    Version:                                 4.1.5\n",
        False,
        "Hydra is MPICH's launcher: another MPI, though its number is the same",
    ),
    (
        "mpirun (Open MPI) 4.10.1\n",
        "mpirun (Open MPI) 4.1.0\n",
        False,
        "4.10 is not 4.1: compare numbers and not the first letters of the text",
    ),
    ("bash: mpirun: command not found\n", OUTSIDE, False, "there is no MPI on the host"),
]


@exercise("7.6")
def check_7_6(mpi_match: Function, pull: Function) -> str:
    """MPI outside and inside are of one make, with equal first and second numbers."""
    for host, container, right, why in MPI_CASES:
        found = mpi_match(host, container)
        if found is None or bool(found) != right:
            raise CheckFailed(
                f"mpi_match({first_line(host)!r}, {first_line(container)!r}) is {right}",
                shown(found),
                f"{why[:1].upper()}{why[1:]}." if why else "The two texts are the same.",
            )
    uri, file = "docker://horovod/horovod:latest", "horovod.sif"
    command = pull(uri, file)
    words = command.split() if isinstance(command, str) else command
    if not isinstance(words, Sequence) or list(words) != ["apptainer", "pull", file, uri]:
        advice = "apptainer pull, then the file to be made, then where it comes from."
        if isinstance(words, Sequence) and list(words)[2:] == [uri, file]:
            advice = "The slide's order is reversed: the file to be made comes first."
        raise CheckFailed(f"apptainer pull {file} {uri}", shown(command), advice)
    return "Same make, same first two numbers; pull FILE URI."


def first_line(text: str) -> str:
    return text.splitlines()[0]
