"""`autograder gradescope-zip`: make an autograder for Gradescope, ready to upload.

The zip contains this package and the rubrics. Gradescope runs it in a container with the student's
files in /autograder/submission. Students' programs are not executed there either.
"""

import io
import zipfile
from pathlib import Path

import click

from autograder.commands.options import chosen_profile, profile_option, rubrics_option
from autograder.settings import rubric
from autograder.settings.released import load_released
from autograder.settings.rubric_schema import Profile
from autograder.submissions.lesson_names import lesson_among
from autograder.writing import write_bytes_if_new

# Fixed timestamps of zip members, so that the same course gives the same bytes.
DAY_ONE = (2020, 1, 1, 0, 0, 0)

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
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="The zip to upload as Gradescope's autograder.",
)
@profile_option
@rubrics_option
@click.option("--leaderboard", is_flag=True, help="Speeds on Gradescope's leaderboard too.")
def gradescope_zip_command(
    lesson: str, out: Path, profile: Profile | None, rubrics: Path, leaderboard: bool
) -> None:
    """Write a zip for Gradescope that grades LESSON (its number or its folder's name)."""
    there = [path.stem for path in rubric.files_in(rubrics)]
    lesson = lesson_among(lesson, there) or lesson
    if lesson not in there:
        known = ", ".join(there)
        raise click.UsageError(f"there is no rubric for lesson {lesson!r}; there are {known}")
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
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        add(archive, "setup.sh", SETUP.format(packages=" ".join(requirements())), run=True)
        add(archive, "run_autograder", script, run=True)
        for path in sorted(package.rglob("*")):
            name = path.relative_to(package)
            if path.suffix in (".py", ".j2", ".css") and "__pycache__" not in path.parts:
                add(archive, f"autograder/{name.as_posix()}", path.read_bytes())
        add(archive, f"rubrics/{source.name}", source.read_bytes())
        if answers.exists():
            add(archive, f"rubrics/expected/{source.name}", answers.read_bytes())
        if released.exists():
            add(archive, f"rubrics/released/{released.name}", released.read_bytes())
    write_bytes_if_new(out, packed.getvalue())
    click.echo(f"Written to {out}: lesson {lesson}, {loaded.points:g} points, profile {profile}.")


def add(archive: zipfile.ZipFile, name: str, content: str | bytes, run: bool = False) -> None:
    info = zipfile.ZipInfo(name, DAY_ONE)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = (0o100755 if run else 0o100644) << 16
    archive.writestr(info, content)


def requirements() -> list[str]:
    """Return the packages with the exact versions that are installed here."""
    from importlib.metadata import version

    names = ("click", "jinja2", "pydantic", "pyyaml", "rich")
    return [f"{name}=={version(name)}" for name in names]
