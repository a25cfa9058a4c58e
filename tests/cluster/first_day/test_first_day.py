"""A first day at a centre: it stops at what is wrong, says what to do, and can be continued."""

import subprocess
import sys
from pathlib import Path

import pytest

from cluster.first_day import steps
from cluster.first_day.day import Day, WrongError
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
    assert "   → docs/sites.md; until cluster site check juwels finds nothing" in said
    assert "2. The environment here" not in said
    assert "8 steps remain. Correct this problem, then run the same command again." in said
    report = shell.read("first-day/report.md")
    assert "**wrong**: this site charges every job to an account" in report


def test_students_who_have_no_solutions_are_told_whose_command_it_is(shell):
    said = first_day(shell, "--solutions", shell.folder, ok=False).stderr
    assert "contains no solutions, which this command needs" in said
    assert not (shell.folder / "first-day").exists()


def test_where_a_node_has_one_gpu_two_ranks_are_tried_over_two_nodes(tmp_path, monkeypatch):
    """BioHPC's nodes, for example, have one GPU; no step puts two ranks on one GPU."""
    asked = []

    def job(self, file, *words, **options):
        asked.append((file.parent.parent.name, options.get("nodes"), options["ntasks"]))
        raise WrongError("that is enough", "")

    monkeypatch.setattr(Day, "job", job)
    monkeypatch.setenv("SBATCH_ACCOUNT", "mine")
    site = site_files.load(site_files.FOLDER / "biohpc.sh")
    day = Day(site, tmp_path, COURSE / "solutions")
    passed = steps.two_ranks(day)
    assert (passed.tried, passed.found) == (
        False,
        "each node has one GPU, and two ranks would have to share it",
    )
    with pytest.raises(WrongError):
        steps.two_nodes(day)
    with pytest.raises(WrongError):
        steps.lesson(day, "07_horovod", 2, ())
    assert asked == [("doctor", "2", "2"), ("runs", "2", "2")]


def test_ranks_of_a_node_with_the_same_local_number_are_found(tmp_path, monkeypatch):
    output = (COURSE / "tests/lessons/planted/outputs/07/right.out.txt").read_text()
    (tmp_path / "right.out").write_text(output)
    (tmp_path / "wrong.out").write_text(output.replace('"local_rank":1', '"local_rank":0'))
    day = Day(site_files.load(site_files.FOLDER / "laptop.sh"), tmp_path, COURSE / "solutions")
    monkeypatch.setattr(Day, "job", lambda *_, **__: tmp_path / "right.out")
    assert "2 ranks on" in steps.lesson(day, "07_horovod", 2, ()).found
    monkeypatch.setattr(Day, "job", lambda *_, **__: tmp_path / "wrong.out")
    with pytest.raises(WrongError, match=r"local numbers.* are 0 on (.*), 0 on "):
        steps.lesson(day, "07_horovod", 2, ())


@pytest.mark.slow
@pytest.mark.ranks
def test_a_launcher_that_starts_too_few_ranks_is_found_before_a_lesson_runs(shell, monkeypatch):
    file = shell.folder / "site.sh"
    file.write_text(BROKEN_LAUNCH.format(laptop=site_files.FOLDER / "laptop.sh"))
    for name, value in (shell.environment | {"COURSE_SITE": str(file)}).items():
        monkeypatch.setenv(name, value)
    day = Day(site_files.load(file), shell.folder, COURSE / "solutions")
    with pytest.raises(WrongError) as problem:
        steps.two_ranks(day)
    assert problem.value.found == "ranks: 2 on 1 node requested, 1 on 1 found"
    order = [step.name for step in steps.STEPS]
    assert order.index("ranks") < order.index("02")
