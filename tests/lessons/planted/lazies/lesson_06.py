"""The laziest ways through lesson 06: allreduce by hand."""

from tests.lessons.planted.lazy import Lazy, LazyTable

SUM, MOVED, BEFORE = "error of the sum", "arrays sent", "sums started before the last array"
SENT = "arrays sent / arrays required"
EXCHANGE = "every scheme"
LIBRARY = "from mpi4py import MPI\ncomm.Allreduce(MPI.IN_PLACE, values)"
LOST = {"ranks": "ranks that took part", "spread": "ranks that took part", "as-serial": ""}

RING = """
received = np.empty_like(chunks[0])
for number in range(size - 1):
    take = chunks[(rank - number - 1) % size]
    comm.Sendrecv(chunks[(rank - number) % size], dest=right, recvbuf=received, source=left)
    {add}
for number in range({rounds}):
    take = chunks[(rank - number) % size]
    comm.Sendrecv(chunks[(rank - number + 1) % size], dest=right, recvbuf=take, source=left)
"""
# On MPI's ranks, the library; on simulated ranks, which have no Allreduce, what the exercise asks.
IF_MPI = f"""
if hasattr(comm, "Allreduce"):
    {LIBRARY.replace(chr(10), chr(10) + "    ")}
    return
"""
SERVER = """
received = np.empty_like(values)
for source in range(1, size) if rank == 0 else ():
    comm.Recv(received, source=source)
    values += received
if rank:
    comm.Send(values, dest=0)
    comm.Recv(values, source=0)
for dest in range(1, size) if rank == 0 else ():
    comm.Send(values, dest=dest)
"""
ADDS = RING.format(add="take += received[: take.size]", rounds="size - 1")


def exchange(code: str, words: str) -> Lazy:
    return Lazy(code, {"schemes": words}, base=EXCHANGE)


def ring(code: str, words: str) -> Lazy:
    """Return the fastest ring, which does nothing."""
    return Lazy(code, {"schemes": words, "ring-speed": words}, base=EXCHANGE)


TABLE: LazyTable = {
    "collectives.py 6.1": {
        "pass": exchange("pass", SUM),
        "its own number times size": exchange("values *= size", SUM),
        "the sum on rank 0 alone": exchange(
            """
            if rank:
                comm.Send(values, dest=0)
            for source in range(1, size) if not rank else ():
                received = np.empty_like(values)
                comm.Recv(received, source=source)
                values += received
            """,
            SUM,
        ),
        "the library": exchange(LIBRARY, MOVED),
        "the library on real ranks only": exchange(IF_MPI + SERVER, SENT),
        "the ring": exchange("ring_allreduce(comm, values)", MOVED),
    },
    "collectives.py 6.2": {
        "pass": ring("pass", SUM),
        "no passing on": ring(RING.format(add="take += received[: take.size]", rounds="0"), SUM),
        "the library": ring(LIBRARY, MOVED),
        "the library on real ranks only": ring(IF_MPI + ADDS, SENT),
        "the server": ring("ps_allreduce(comm, values)", MOVED),
        "right the first time only": ring(
            """
            if values.nbytes in vars(ring_allreduce):
                return
            vars(ring_allreduce)[values.nbytes] = True
            ps_allreduce(comm, values)
            """,
            SUM,
        ),
        "remembers its first sum": ring(
            """
            known = vars(ring_allreduce)
            if values.nbytes not in known:
                ps_allreduce(comm, values)
                known[values.nbytes] = values.copy()
            values[:] = known[values.nbytes]
            """,
            SUM,
        ),
        "number by number": Lazy(
            RING.format(
                add="for k in range(take.size):\n        take[k] += received[k]", rounds="size - 1"
            ),
            {"ring-speed": "the library's time / the ring's time"},
            base=EXCHANGE,
        ),
    },
    "collectives.py 6.5": {
        "pass": exchange("pass", SUM),
        "nothing is computed": exchange("return []", SUM),
        "its own gradients": exchange("return list(gradients)", SUM),
        "all at the end": exchange(
            """
            from mpi4py import MPI
            found = list(gradients)
            for gradient in found:
                comm.Iallreduce(MPI.IN_PLACE, gradient).Wait()
            return found
            """,
            BEFORE,
        ),
        "waits at once": exchange(
            """
            totals = []
            for gradient in gradients:
                totals.append(np.empty_like(gradient))
                comm.Iallreduce(gradient, totals[-1]).Wait()
            return totals
            """,
            BEFORE,
        ),
    },
    "train.py 6.4: samples of all epochs / samples of one update, rounded up": {
        "one step": Lazy("return 1", {"ranks": "announced and made steps"}),
        "no step": Lazy("return int(epochs / nranks)", {"ranks": "announced and made steps"}),
    },
    "train.py 6.4: first of all, init with this totsize": {
        "no init": Lazy("pass", LOST, start="fails"),
        "alone, each": Lazy(
            """
            from mpi4py import MPI
            mc.team.update(comm=MPI.COMM_SELF, totsize=totsize, step=0)
            """,
            LOST,
        ),
    },
    "train.py 6.4: config_team, then everyone takes the parameters of rank 0": {
        "no broadcast": Lazy(
            "mc.config_team(0, 0, 100, max_steps, 2, 200)",
            {
                "spread": "difference in a parameter",
                "as-serial": "difference of the parameters",
            },
        ),
        "broadcast thrown away": Lazy(
            "mc.config_team(0, 0, 100, max_steps, 2, 200)\nmc.broadcast(params, 0)",
            {
                "spread": "difference in a parameter",
                "as-serial": "difference of the parameters",
            },
        ),
        "all 0": Lazy(
            "mc.config_team(0, 0, 100, max_steps, 2, 200)\nparams = [0 * p for p in params]",
            {"spread": "test accuracy", "as-serial": "test accuracy"},
        ),
        "all 0 on one rank": Lazy(
            "mc.config_team(0, 0, 100, max_steps, 2, 200)\nparams = [0 * p for p in params]",
            {"as-serial": "test accuracy"},
            base="one rank",
        ),
    },
    "train.py 6.4: the mean of all ranks' gradients": {
        "own gradients": Lazy("pass", {"spread": "difference in a parameter", "as-serial": ""}),
        "times 0": Lazy(
            "gradients = [0 * gradient for gradient in gradients]",
            {"spread": "largest change in a parameter", "as-serial": ""},
        ),
        "times 0 on one rank": Lazy(
            "gradients = [0 * gradient for gradient in gradients]",
            {"as-serial": "largest change in a parameter"},
            base="one rank",
        ),
        "rank 0's for all": Lazy(
            "gradients = mc.broadcast(gradients, 0)",
            {"as-serial": "difference of the parameters"},
        ),
    },
    "train.py 6.4: the last call": {
        "pass": Lazy("pass", {"ranks": "ranks left after the plugin ended"}),
        "says so": Lazy('print("finalized")', {"ranks": "ranks left after the plugin ended"}),
    },
}
