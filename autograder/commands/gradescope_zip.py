"""`autograder gradescope-zip`: make an autograder for Gradescope, ready to upload.

The zip contains this package and the rubrics. Gradescope runs it in a container with the student's
files in /autograder/submission. Students' programs are not executed there either.
"""

from pathlib import Path

import click

from autograder.commands.options import (
    NEW_FILE,
    chosen_profile,
    lesson_named,
    profile_option,
    rubrics_option,
)
from autograder.report.back.zipped import zipped
from autograder.settings import rubric
from autograder.settings.rubric import load_released
from autograder.settings.rubric_schema import Profile
from autograder.writing import write_bytes_if_new

SETUP = """\
#!/usr/bin/env bash
set -euo pipefail
python3 -m venv /autograder/venv
/autograder/venv/bin/pip install --quiet {packages}
"""

RUN = """\
#!/usr/bin/env bash
# 0: done, 1: done and somebody should look; both are a result.
cd /autograder/source
mkdir -p /autograder/results
/autograder/venv/bin/python -m autograder collect /autograder/submission \\
  --from gradescope --lesson {lesson} --rubrics rubrics --into /autograder/class || [ $? -eq 1 ]
/autograder/venv/bin/python -m autograder grade /autograder/class \\
  --profile {profile} --rubrics rubrics \\
  --gradescope /autograder/results/results.json{leaderboard} || [ $? -eq 1 ]
"""


@click.command()
@click.argument("lesson")
@click.option(
    "--out", type=NEW_FILE, required=True, help="The zip to upload as Gradescope's autograder."
)
@profile_option
@rubrics_option
@click.option("--leaderboard", is_flag=True, help="Speeds on Gradescope's leaderboard too.")
def gradescope_zip_command(
    lesson: str, out: Path, profile: Profile | None, rubrics: Path, leaderboard: bool
) -> None:
    """Write a zip for Gradescope that grades LESSON (its number or its folder's name)."""
    lesson = lesson_named(lesson, [path.stem for path in rubric.files_in(rubrics)])
    source = rubrics / f"{lesson}.yaml"
    loaded = rubric.load_rubric(source)
    profile = chosen_profile(profile, {lesson: loaded})
    answers = rubrics / "expected" / source.name
    rubric.load_expected(answers, loaded)
    released = rubrics / "released" / f"{lesson}.json"
    load_released(released)
    board = " --gradescope-leaderboard" if leaderboard else ""
    script = RUN.format(lesson=lesson, profile=profile, leaderboard=board)
    package = Path(__file__).parent.parent
    files: dict[str, str | bytes] = {
        "setup.sh": SETUP.format(packages=" ".join(requirements())),
        "run_autograder": script,
        f"rubrics/{source.name}": source.read_bytes(),
    }
    for path in package.rglob("*"):
        if path.suffix in (".py", ".j2", ".css") and "__pycache__" not in path.parts:
            files[f"autograder/{path.relative_to(package).as_posix()}"] = path.read_bytes()
    for path in (answers, released):
        if path.exists():
            files[f"rubrics/{path.relative_to(rubrics).as_posix()}"] = path.read_bytes()
    write_bytes_if_new(out, zipped(files, programs=("setup.sh", "run_autograder")))
    click.echo(f"Written to {out}: lesson {lesson}, {loaded.points:g} points, profile {profile}.")


def requirements() -> list[str]:
    """Return the packages with the exact versions that are installed here."""
    from importlib.metadata import version

    names = ("click", "jinja2", "pydantic", "pyyaml", "rich")
    return [f"{name}=={version(name)}" for name in names]
