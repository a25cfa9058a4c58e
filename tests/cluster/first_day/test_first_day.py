"""A first day at a centre: it stops at what is wrong, says what to do, and can go on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cluster.sites import site_files

COURSE = Path(__file__).parents[3]
BROKEN_LAUNCH = """
source {laptop}
launch_ranks() {{ "${{@:2}}"; }}  # one rank, however many are asked for
"""


def first_day(shell, *words, ok):
    done = subprocess.run(
        [Path(sys.executable).with_name("cluster"), "first-day", *words],
        cwd=shell.folder, env=shell.environment, capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    assert (done.returncode == 0) == ok, done.stdout + done.stderr
    return done


def test_it_stops_at_a_site_file_that_is_not_ready(shell):
    said = first_day(shell, "--site", "juwels", ok=False).stdout
    assert "1. The site file\n   WRONG: this site charges every job to an account" in said
    assert "   → docs/sites.md; until cluster site check juwels is silent" in said
    assert "2. The environment here" not in said
    assert "9 steps are left: mend this, then start the same command again." in said
    report = shell.read("first-day/report.md")
    assert "**wrong**: this site charges every job to an account" in report


def test_students_who_have_no_solutions_are_told_whose_command_it_is(shell):
    said = first_day(shell, "--solutions", shell.folder, ok=False).stderr
    assert "this command is for instructors" in said
    assert not (shell.folder / "first-day").exists()


@pytest.mark.slow
@pytest.mark.ranks
def test_a_launcher_that_starts_too_few_ranks_is_found_before_a_lesson_runs(shell):
    site = shell.folder / "site.sh"
    site.write_text(BROKEN_LAUNCH.format(laptop=site_files.FOLDER / "laptop.sh"))
    shell.environment |= {"COURSE_SITE": str(site)}
    said = first_day(shell, ok=False).stdout
    assert "WRONG: ranks: 2 on 1 node asked for, 1 on 1 found" in said
    assert "6. Two nodes" not in said


@pytest.mark.slow
@pytest.mark.ranks
def test_on_the_laptop_it_runs_from_end_to_end_and_submits_nothing_twice(shell):
    shell.environment |= {n: v for n, v in os.environ.items() if n == "COURSE_DATA"}
    done = first_day(shell, "--site", "laptop", ok=True)
    assert "10. The solution's runs, graded as a student's\n   ok: 02: " in done.stdout
    assert 'SITE_TESTED="20' in done.stdout
    assert ': 1 rank, 2 ranks, lessons 02 and 07"' in done.stdout, "two nodes were not tried"
    report = shell.read("first-day/report.md")
    assert str(shell.home) not in report
    assert report.count("\n| ") == 11
    again = first_day(shell, "--site", "laptop", ok=True)
    assert "Submitted batch job" not in again.stdout
