"""What a student's function does when it is asked for something whose answer is known, told in one
number. Programs ask outside of their gaps and put the number into the run record."""

from lessons.toolkit.probes.environments import facts_wrong
from lessons.toolkit.probes.gradients import descent_error, gradient_error
from lessons.toolkit.probes.steps import step_error

__all__ = ["descent_error", "facts_wrong", "gradient_error", "step_error"]
