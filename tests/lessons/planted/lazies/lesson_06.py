"""The laziest ways through lesson 06: allreduce by hand."""

from tests.lessons.planted.lazy import Lazy, LazyTable

EXCHANGE = "every scheme"
LOST = {"ranks": "ranks that took part", "spread": "ranks that took part", "as-serial": ""}
# On MPI's ranks, the library; on simulated ranks, which have no Allreduce, what the exercise asks.
IF_MPI = """
if hasattr(comm, "Allreduce"):
    from mpi4py import MPI
    comm.Allreduce(MPI.IN_PLACE, values)
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
RING = """
received = np.empty_like(chunks[0])
for number in range(size - 1):
    take = chunks[(rank - number - 1) % size]
    comm.Sendrecv(chunks[(rank - number) % size], dest=right, recvbuf=received, source=left)
    take += received[: take.size]
for number in range(size - 1):
    take = chunks[(rank - number) % size]
    comm.Sendrecv(chunks[(rank - number + 1) % size], dest=right, recvbuf=take, source=left)
"""


def exchange(code: str, words: str) -> Lazy:
    return Lazy(code, {"schemes": words}, base=EXCHANGE)


TABLE: LazyTable = {
    "collectives.py 6.1": {
        "pass": exchange("pass", "error of the sum"),
        "the library on real ranks only": exchange(
            IF_MPI + SERVER, "arrays sent / arrays required"
        ),
    },
    "collectives.py 6.2": {
        "the server": exchange("ps_allreduce(comm, values)", "arrays sent"),
        "the library on real ranks only": exchange(IF_MPI + RING, "arrays sent / arrays required"),
    },
    "collectives.py 6.5": {
        "waits at once": exchange(
            """
            totals = []
            for gradient in gradients:
                totals.append(np.empty_like(gradient))
                comm.Iallreduce(gradient, totals[-1]).Wait()
            return totals
            """,
            "sums started before the last array",
        ),
    },
    "train.py 6.4: samples of all epochs / samples of one update, rounded up": {
        "one step": Lazy("return 1", {"ranks": "announced and made steps"}),
    },
    "train.py 6.4: first of all, init with this totsize": {
        "no init": Lazy("pass", LOST, start="fails"),
    },
    "train.py 6.4: config_team, then everyone takes the parameters of rank 0": {
        "no broadcast": Lazy(
            "mc.config_team(0, 0, 100, max_steps, 2, 200)",
            {"spread": "difference in a parameter", "as-serial": "difference of the parameters"},
        ),
    },
    "train.py 6.4: the mean of all ranks' gradients": {
        "own gradients": Lazy("pass", {"spread": "difference in a parameter", "as-serial": ""}),
    },
    "train.py 6.4: the last call": {
        "pass": Lazy("pass", {"ranks": "ranks left after the plugin ended"}),
    },
}
