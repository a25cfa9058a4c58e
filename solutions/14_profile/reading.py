"""Read a trace. A span is a pair (start, end); all are in the same unit."""


def busy(spans):
    """Return for how long at least one of the spans is running."""
    ### BEGIN SOLUTION Exercise 14.3: the length of the spans' union
    total, covered = 0, float("-inf")
    for start, end in sorted(spans):
        total += max(end - max(start, covered), 0)
        covered = max(covered, end)
    return total
    ### END SOLUTION


def hidden(communication, computing):
    """Return the fraction of the communication's time during which computing is running, too."""
    ### BEGIN SOLUTION Exercise 14.4: the share that overlaps; 1 if nobody communicates
    talking = busy(communication)
    both = talking + busy(computing) - busy([*communication, *computing])
    return both / talking if talking else 1.0
    ### END SOLUTION
