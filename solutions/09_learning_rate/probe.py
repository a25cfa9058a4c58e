"""Run the checks of rates.py in the job: do your rates, updates and LARS follow their formulas?

python probe.py

Nothing here is to be filled in. The job runs it after the training, with the same arguments.
"""

from lessons.toolkit.checks.lesson_09 import check_9_2, check_lars, check_update
from lessons.toolkit.checks.shared.measure import check_fails
from lessons.toolkit.probes.on_ranks import run_tests
from lessons.toolkit.record import Run

import rates
import train


def formulas():
    yield "rate_error", check_fails(check_9_2, rates.lr_at)
    yield "update_error", check_fails(check_update, rates.update)
    yield "lars_error", check_fails(check_lars, rates.lars)


TESTS = {formulas: ("rate_error", "update_error", "lars_error")}  # measures that rubrics ask for


def command_line():
    return train.command_line()


def main():
    args = command_line().parse_args()
    run_tests(Run("09", args, source="probe"), TESTS)


if __name__ == "__main__":
    main()
