"""Make dumps of the flight recorder as a job leaves them in which one rank left the others.

Nothing here is to be filled in. The probe draws new dumps in each run.
"""

CASES = ("skips a call", "swaps two calls", "sends another size", "died", "meets at a barrier")


def recorded(case, random):
    """Return the dumps of four to eight ranks, and (rank, number, name) of the one that left."""
    ranks, steps = random.randint(4, 8), random.randint(3, 6)
    layers = random.sample(range(64, 4096), 5)
    plan = [("broadcast", [[layers[0]]])] + [("all_reduce", [[n]]) for n in layers] * steps
    culprit, at = random.randrange(ranks), random.randrange(1, len(plan) - 1)
    other, last = list(plan), at
    if case == "skips a call":
        del other[at]
    elif case == "swaps two calls":
        other[at], other[at + 1] = other[at + 1], other[at]
    elif case == "sends another size":
        other[at] = ("all_reduce", [[2 * plan[at][1][0][0]]])
        last = min(at + random.randint(0, 3), len(plan) - 1)  # nobody compares sizes
    elif case == "died":
        del other[at:]
    else:
        other[at] = ("barrier", [[1]])
    # The others wait in their last collective. Often it is the one that the culprit left out.
    dumps = [entries(other if rank == culprit else plan, last) for rank in range(ranks)]
    own = other[at][0] if at < len(other) else None
    return dumps, (culprit, at + 1, own and f"nccl:{own}")


def entries(calls, at):
    """Return the entries of a rank that waits in call number `at`, counted from 0."""
    return [
        {
            "collective_seq_id": number,
            "profiling_name": f"nccl:{name}",
            "input_sizes": sizes,
            "state": "started" if number == at + 1 else "completed",
        }
        for number, (name, sizes) in enumerate(calls[: at + 1], 1)
    ]
