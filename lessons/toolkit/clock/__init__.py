"""Measure speed jobs from outside: this package keeps time, and other processes do the work.

    clock.conduct(alone, together, command_line(), lesson="10", framework="torch")

The launcher starts a *conductor* on each rank. It starts two more processes, which take turns: the
*yardstick*, which imports released code only, and the *learner*, which imports the student's
program. See conductor.py.
"""

from lessons.toolkit.clock.conductor import Job, conduct

__all__ = ["Job", "conduct"]
