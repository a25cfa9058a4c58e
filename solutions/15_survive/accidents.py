"""Real signals at planned steps: what --kill-at, --warn-at and --fatal-for ask for."""

import os
import signal


def accident(args, life, number, rank, size):
    """Kill a rank, or warn rank 0, if this is what this step brings in this life."""
    bad_days = sorted([(at, "kill") for at in args.kill_at] + [(at, "warn") for at in args.warn_at])
    if life >= len(bad_days) or bad_days[life][0] != number:
        return
    if bad_days[life][1] == "warn" and rank == 0:
        os.kill(os.getpid(), signal.SIGUSR1)
    if bad_days[life][1] == "kill" and args.fatal_for == "node":
        os.kill(os.getppid(), signal.SIGKILL)  # torchrun, which would start this rank again
        os.kill(os.getpid(), signal.SIGKILL)
    if bad_days[life][1] == "kill" and args.fatal_for == "rank" and rank == size - 1:
        os.kill(os.getpid(), signal.SIGKILL)
