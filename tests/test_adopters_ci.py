"""The CI workflows for people who adopt the course call only commands that exist."""

import re
import shlex
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from cluster.sites.site_files import names
from lessons.book.book_command import book_command
from lessons.execute.run_command import run_command

ROOT = Path(__file__).parents[1]
WORKFLOWS = (ROOT / ".github/workflows/course.yml", ROOT / ".gitlab-ci.yml")


def commands(workflow: Path) -> list[str]:
    """Return every command of every job: GitHub's `run`, GitLab's `script`."""
    data = yaml.safe_load(workflow.read_text())
    jobs = data.get("jobs") or {k: v for k, v in data.items() if k != "stages"}
    found = [step["run"] for job in jobs.values() for step in job.get("steps", []) if "run" in step]
    return found + [line for job in jobs.values() for line in job.get("script", [])]


def test_the_nightly_workflow_runs_the_planted_mistakes_and_the_wider_tests():
    called = commands(ROOT / ".github/workflows/nightly.yml")
    assert {"make planted", "make test-nightly"} <= set(called)


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_each_command_is_one_of_ours_and_takes_its_options(workflow):
    targets = set(re.findall(r"^([\w.-]+):", (ROOT / "Makefile").read_text(), re.M))
    called = commands(workflow)
    for command in called:
        program, *words = shlex.split(command.replace('"$SITE"', names()[0]))
        if command == "test -f public/index.html":  # left by the job before it
            assert any(f"lessons book --from build/runs --out {words[1].split('/')[0]}" in one
                       for one in called)  # fmt: skip
        elif program == "make":
            assert set(words) <= targets
        elif program.endswith("/build/grader/bin/autograder"):  # which `make example` installs
            assert words == ["--version"]
        else:
            assert program == ".venv/bin/lessons"
            ours = {"run": run_command, "book": book_command}[name := words.pop(0)]
            ours.make_context(name, words)  # refuses an unknown option
    assert {"make lint", "make test"} <= set(called)
    assert any("lessons book --from build/runs" in command for command in called)
    assert any("--profile full --site" in command for command in called)
    assert CliRunner().invoke(run_command, ["--help"]).exit_code == 0
