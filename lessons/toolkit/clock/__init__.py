"""Time speed jobs from outside: this package measures while other processes do the work.

    clock.conduct(alone, together, command_line(), lesson="10", framework="torch")

The launcher starts a *conductor* on each rank. Each conductor starts two processes, which take
turns: the *yardstick* imports only released code, and the *learner* imports the student's program.
See conductor.py.

    clock.race(library, own, command_line(), lesson="06", floats=2_560_000, code="collectives.py")

In lesson 06, each conductor starts only one process, because only one can use MPI. See race.py.
"""

from lessons.toolkit.clock.conductor import Job, conduct
from lessons.toolkit.clock.race import race

__all__ = ["Job", "conduct", "race"]
