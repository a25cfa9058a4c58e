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
    ### BEGIN SOLUTION Exercise 17.7: compare calls 1, 2, 3 … of all ranks; the first that differs
    calls = [{entry["collective_seq_id"]: call(entry) for entry in dump} for dump in dumps]
    for number in sorted({number for own in calls for number in own}):
        made = [own.get(number, (None, None)) for own in calls]
        usual = max(made, key=made.count)
        for rank, own in enumerate(made):
            if own != usual:
                return rank, number, own[0]
    return None
    ### END SOLUTION


def call(entry):
    """Return the part of an entry in which all ranks have to agree."""
    return entry["profiling_name"], str(entry["input_sizes"])
