"""Time speed jobs from outside: this package measures while other processes do the work.

    clock.conduct(alone, together, command_line(), lesson="10", framework="torch")

The launcher starts a *conductor* on each rank. Each conductor starts two processes, which take
turns: the *yardstick* imports only released code, and the *learner* imports the student's program.
See conductor.py.
"""

from lessons.toolkit.clock.conductor import Job, conduct

__all__ = ["Job", "conduct"]
