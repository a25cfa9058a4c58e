"""`autograder gradescope-zip`: make an autograder for Gradescope, ready to upload.

The zip contains this package and the rubrics. Gradescope runs it in a container with the student's
files in /autograder/submission. Students' programs are not executed there either.
"""

from importlib.metadata import version
from pathlib import Path

import click

from autograder.classroom.kept import grader_files
from autograder.commands.options import (
    NEW_FILE,
    chosen_profile,
    lesson_named,
    profile_option,
    rubrics_option,
)
from autograder.report.back.zipped import zipped
from autograder.report.rendering import render
from autograder.settings import rubric
from autograder.settings.rubric import load_released
from autograder.settings.rubric_schema import Profile
from autograder.writing import write_bytes_if_new


@click.command()
@click.argument("lesson")
@click.option(
    "--out", type=NEW_FILE, required=True, help="The zip to upload as Gradescope's autograder."
)
@profile_option
@rubrics_option
def gradescope_zip_command(lesson: str, out: Path, profile: Profile | None, rubrics: Path) -> None:
    """Write a zip for Gradescope that grades LESSON (its number or its folder's name)."""
    lesson = lesson_named(lesson, [path.stem for path in rubric.files_in(rubrics)])
    loaded = rubric.load_rubric(rubrics / f"{lesson}.yaml")
    profile = chosen_profile(profile, {lesson: loaded})
    answers, released = f"expected/{lesson}.yaml", f"released/{lesson}.json"
    rubric.load_expected(rubrics / answers, loaded)
    load_released(rubrics / released)
    script = {"lesson": lesson, "profile": profile}
    files: dict[str, str | bytes] = {
        "setup.sh": render("gradescope_setup.sh.j2", packages=requirements()),
        "run_autograder": render("gradescope_run.sh.j2", **script),
    }
    files |= {f"autograder/{name}": content for name, content in grader_files()}
    for name in (f"{lesson}.yaml", answers, released):
        if (rubrics / name).exists():
            files[f"rubrics/{name}"] = (rubrics / name).read_bytes()
    write_bytes_if_new(out, zipped(files, programs=("setup.sh", "run_autograder")))
    click.echo(f"Written to {out}: lesson {lesson}, {loaded.points:g} points, profile {profile}.")


def requirements() -> list[str]:
    """Return the packages with the exact versions that are installed here."""
    names = ("click", "jinja2", "pydantic", "pyyaml", "rich")
    return [f"{name}=={version(name)}" for name in names]
