"""Read a trace. A span is a pair (start, end); all are in the same unit."""


def busy(spans):
    """Return for how long at least one of the spans is running."""
    raise NotImplementedError("Exercise 14.3: the length of the spans' union")


def hidden(communication, computing):
    """Return the fraction of the communication's time during which computing is running, too."""
    raise NotImplementedError("Exercise 14.4: the share that overlaps; 1 if nobody communicates")
