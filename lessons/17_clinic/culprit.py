"""Exercise 17.7: find the rank that left the others, in the flight recorder's dumps."""

# An entry of a dump has more fields than these. Each entry is one collective of the rank.
EXAMPLE = {
    "collective_seq_id": 41,  # all ranks should make their 41st collective together
    "profiling_name": "nccl:all_reduce",
    "input_sizes": [[4096, 1024]],
    "state": "completed",  # or "scheduled", "started"
}


def find_culprit(dumps):
    """Return (rank, number, name): who left the others, in which collective, and its own call.

    dumps: a list of entries for each rank, oldest first; there are at least three ranks. The
    culprit is the rank whose collective has another name or other sizes than most ranks' collective
    of that number, for the first number for which there is one. If it made none, its name is None.
    """
    raise NotImplementedError(
        "Exercise 17.7: compare calls 1, 2, 3 … of all ranks; the first that differs"
    )


def call(entry):
    """Return the part of an entry in which all ranks have to agree."""
    return entry["profiling_name"], str(entry["input_sizes"])
