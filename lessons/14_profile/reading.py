"""Read a trace. A span is a pair (start, end); all are in the same unit."""


def busy(spans):
    """Return for how long at least one of the spans is running."""
    raise NotImplementedError(
        "Exercise 14.3: sort the spans; count what no earlier span has covered"
    )


def hidden(communication, computing):
    """Return the fraction of the communication's time during which computing is running, too."""
    raise NotImplementedError(
        "Exercise 14.4: time of both = one + other - either; 1 if nobody communicates"
    )
