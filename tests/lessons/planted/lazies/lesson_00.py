"""The laziest ways through lesson 00: where a job runs."""

from tests.lessons.planted.lazy import Lazy, LazyTable

MPI = "OMPI_COMM_WORLD"

ONE = """
#SBATCH --ntasks=1
#SBATCH --ntasks-per-node=1
#SBATCH --time=00:05:00
#SBATCH --output=00_cluster_%j.out
#SBATCH --error=00_cluster_%j.err
"""

TABLE: LazyTable = {
    "job.sbatch 0.1": {"one task": Lazy(ONE, {"ranks": "In exercise 0.1, set --ntasks"})},
    "train.py 0.2": {
        "nothing": Lazy("pass", {"ranks": "`launch`", "places": "whichever launcher it is"}),
        "one launcher, local rank is the rank": Lazy(
            f"""
            found["rank"] = found["local_rank"] = int(environ.get("{MPI}_RANK", 0))
            found["size"] = int(environ.get("{MPI}_SIZE", 1))
            """,
            {"places": "launchers whose ranks were misread: 4 environments"},
        ),
        "whatever it is asked": Lazy(
            f"""
            rank = int(os.environ.get("{MPI}_RANK", 0))
            found = {{"rank": rank, "size": 2, "local_rank": rank}}
            """,
            {"places": "the first name in NAMES that exists"},
        ),
        "the first names of the table": Lazy(
            """
            for fact, names in NAMES.items():
                found[fact] = int(environ.get(names[0], found[fact]))
            """,
            {"places": "launchers whose ranks were misread: 2 environments"},
        ),
    },
}
