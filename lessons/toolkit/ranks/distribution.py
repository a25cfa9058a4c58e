"""Give each rank its own share of a list: rank 0 makes the list, the others receive their part.

    from mpi4py import MPI
    from lessons.toolkit.ranks import DataDistributor

    @DataDistributor(MPI.COMM_WORLD, shutdown_on_error=True)
    def get_filenames(path):
        return sorted(os.listdir(path))

    mine = get_filenames("data/parts")  # on rank r of n: items r, r + n, r + 2n, …

Names and behaviour are those of `hpc4neuro.distribution`, so a program written for that module only
needs a different import. This module also accepts `seed` and `shuffle` at construction, makes equal
shares by padding or dropping, and works on one rank without MPI (`DataDistributor(None)`). A rank
receives only its own share, and a failure on any rank is an error on all of them instead of a hang.
"""

import functools
import pickle
import random
import sys
from collections.abc import Callable, Iterable
from typing import Any, Literal

from cluster.launchers import launched

Loader = Callable[..., Any]


class DataDistributionError(Exception):
    """A failure to distribute the data, raised on every rank."""


class Alone:
    """The communicator of a single rank, for use without MPI."""

    def Get_rank(self) -> int:  # noqa: N802 - mpi4py's names
        return 0

    def Get_size(self) -> int:  # noqa: N802
        return 1

    def Barrier(self) -> None:  # noqa: N802
        pass

    def scatter(self, items: Any, root: int = 0) -> Any:
        return items[0]

    def allgather(self, item: Any) -> list[Any]:
        return [item]


class DataDistributor:
    """A decorator for functions that return a sized iterable: each rank gets its share, as a list.

    mpi_comm: a communicator of mpi4py, or None for one rank without MPI.
    shutdown_on_error: end all ranks with exit code 1 instead of raising DataDistributionError.
    shuffle: distribute the items in a random order, which is new for each call.
    seed: makes these orders the same in every run; without it Python's `random` decides.
    equal: "pad" repeats the first items in the shorter shares, "drop" leaves the last items out.
        Both give all ranks the same number of items. With None, shares may differ by one.
    """

    def __init__(
        self,
        mpi_comm: Any,
        shutdown_on_error: bool = False,
        *,
        shuffle: bool = False,
        seed: int | None = None,
        equal: Literal["pad", "drop"] | None = None,
    ) -> None:
        if equal not in (None, "pad", "drop"):
            raise ValueError(f'equal={equal!r}: give "pad", "drop" or None')
        self._comm = Alone() if mpi_comm is None else mpi_comm
        self._rank = self._comm.Get_rank()
        self._num_ranks = self._comm.Get_size()
        self._shutdown_on_error = shutdown_on_error
        if self._num_ranks == 1 and (problem := strangers(mpi_comm)):
            self._fail(problem, None)
        self._shuffle = shuffle
        self._seed = seed
        self._random: Any = random if seed is None else random.Random(seed)
        self._equal = equal

    def __repr__(self) -> str:
        return f"DataDistributor(rank {self._rank} of {self._num_ranks}, {self._comm!r})"

    def __call__(self, data_loader: Loader, shuffle: bool = False) -> Callable[..., list[Any]]:
        """Decorate a function. It is called on rank 0 only, with that rank's arguments."""

        @functools.wraps(data_loader)
        def share_of_this_rank(*args: Any, **kwargs: Any) -> list[Any]:
            packed: list[tuple[str | None, bytes]] | None = None
            ended: BaseException | None = None
            if self._rank == 0:
                packed, ended = self._pack(data_loader, args, kwargs, shuffle or self._shuffle)
            problem, mine = self._comm.scatter(packed, root=0)
            if problem is None:
                try:
                    items = pickle.loads(mine)
                except Exception as error:
                    problem = f"rank {self._rank} could not read its share: {words(error)}"
                # Rank 0 is done here, but has to stop as well if another rank has an error.
                problem = next(filter(None, self._comm.allgather(problem)), None)
            if ended is not None and not isinstance(ended, Exception):
                raise ended  # after Ctrl-C or sys.exit() on rank 0; the others have their message
            if problem is not None:
                self._fail(problem, ended)
            return items

        return share_of_this_rank

    def _pack(
        self, load: Loader, args: Any, kwargs: Any, shuffle: bool
    ) -> tuple[list[tuple[str | None, bytes]], BaseException | None]:
        """Return one message per rank, and the error that stopped the loader, if any.

        A message contains either a problem or the rank's share.
        """
        try:
            items = self._arrange(load(*args, **kwargs), shuffle)
            shares = [items[rank :: self._num_ranks] for rank in range(self._num_ranks)]
            return [(None, pickle.dumps(share, pickle.HIGHEST_PROTOCOL)) for share in shares], None
        except DataDistributionError as error:
            problem, ended = str(error), None
        # Sent in any case, because the other ranks are waiting for a message.
        except BaseException as error:
            problem, ended = f"Error during data loading: {words(error)}", error
        return [(problem, b"")] * self._num_ranks, ended

    def _arrange(self, found: Any, shuffle: bool) -> list[Any]:
        """Return the loader's items as a list to distribute, or raise a DataDistributionError."""
        name = type(found).__name__
        for works, missing in ((iter, "iterable: iter()"), (len, "sized: len()")):
            try:
                works(found)
            except TypeError:
                raise DataDistributionError(
                    f"the function returned a {name}, which is not {missing} does not work on it; "
                    "return a list of the items to share out"
                ) from None
        items = list(found)
        if isinstance(found, set | frozenset) and self._seed is not None:
            items = in_order(items)  # the order of a set differs between runs
        if len(items) < self._num_ranks:
            raise DataDistributionError(
                f"{len(items)} items for {self._num_ranks} rank"
                f"{'s' if self._num_ranks > 1 else ''}: each rank needs at least one; "
                "start fewer ranks or make more parts"
            )
        if shuffle:
            self._random.shuffle(items)
        rest = len(items) % self._num_ranks
        if rest and self._equal == "drop":
            del items[-rest:]
        elif rest and self._equal == "pad":
            items += items[: self._num_ranks - rest]
        return items

    def _fail(self, problem: str, cause: BaseException | None) -> None:
        if not self._shutdown_on_error:
            raise DataDistributionError(problem) from cause
        self._comm.Barrier()
        if self._rank == 0:
            print(f"\n***** Fatal error: {problem} *****", file=sys.stderr, flush=True)
        self._comm.Barrier()
        sys.exit(1)


def strangers(comm: Any) -> str | None:
    """Return why a one-rank communicator is wrong here, or None if it is right.

    Such a communicator is wrong if several ranks were started, because each would take all items.
    """
    launch = launched()
    if launch is None or launch.size < 2:
        return None
    if comm is None:
        return (
            f"DataDistributor(None) is for one rank, but {launch.size} were started: "
            "give it a communicator, DataDistributor(MPI.COMM_WORLD)"
        )
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is not None and comm == mpi.COMM_WORLD:
        return (
            f"{launch.launcher} started {launch.size} ranks, but MPI sees only one: start the "
            "program with mpirun, or with srun and its MPI plug-in (horovodrun --gloo starts no "
            "MPI)"
        )
    return None


def in_order(items: Iterable[Any]) -> list[Any]:
    try:
        return sorted(items)
    except TypeError:  # items that cannot be compared
        return sorted(items, key=repr)


def words(error: BaseException) -> str:
    """Return the message of an error.

    Except for an OSError, the error's name is added, because a message such as KeyError's says too
    little.
    """
    said = str(error)
    return said if isinstance(error, OSError) else f"{type(error).__name__}: {said}".rstrip(": ")
