"""Slurm's warning before the end of a job. Importing this module begins to listen for it."""

import signal

warnings = []  # the signals that this process has received


def note(number, frame):
    """Note the signal and return at once: training finishes its step first."""
    warnings.append(number)


# Without a function for USR1, the signal ends the process.
signal.signal(signal.SIGUSR1, note)


def anyone_warned(device):
    """Return whether any rank has received a signal. All ranks call this and agree."""
    import torch  # not above: loading it takes seconds in which a signal may come
    import torch.distributed as dist

    ### BEGIN SOLUTION Exercise 15.4: True on all ranks, or False on all
    flag = torch.tensor(float(bool(warnings)), device=device)
    dist.all_reduce(flag, dist.ReduceOp.MAX)
    return bool(flag)
    ### END SOLUTION
