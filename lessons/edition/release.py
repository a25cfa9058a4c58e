"""Make the students' edition of the whole course, without solutions (`lessons release`)."""

import json
import os
import re
import subprocess
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import click

from autograder.settings.draws import KEY_FILE
from lessons.edition.build import build, drift
from lessons.edition.dates import dates_of
from lessons.edition.for_grader import RUBRICS
from lessons.edition.gaps import find_gaps, without_solutions
from lessons.edition.open_elsewhere import in_words, is_program, open_elsewhere
from lessons.edition.pack import write_zip
from lessons.folders import (
    LESSON_NAME,
    choose_lessons,
    course_root,
    is_product,
    lesson_folders,
    made_by_hand,
)

# What students get; everything else (solutions, tests, benchmarks, CI) stays with the instructor.
PARTS = (
    *("lessons", "cluster", "autograder", "docs"),
    *("pyproject.toml", "Makefile", "README.md", "environment.yml", ".gitignore"),
    *("LICENSE", "LICENSE-lessons.md"),
)
WITHHELD = Path("autograder/rubrics/expected")
# Files at the top of the release, and where the instructor keeps them.
AT_TOP = {"README.md": "docs/for-students.md", "AGENTS.md": "lessons/edition/AGENTS.md"}
READS = re.compile(r'show_diff\(\s*"(\d\d)_')  # a notebook that shows another lesson's program
SIBLING = re.compile(rb"\]\(([\w-]+)\.md")  # a link from one page of docs/ to another
TOP = "dl-on-supercomputers"
# A shorter piece of a solution, like `return samples / seconds`, may also occur elsewhere.
TELLING = 40


def choose_files(root: Path) -> list[Path]:
    """Return the relative paths of the files in the release.

    In a clone, these are the files that git tracks or would add; elsewhere, all files that are not
    generated.
    """
    listed = ["git", "-C", str(root), "ls-files", "-z", "-co", "--exclude-standard", "--", *PARTS]
    git = subprocess.run(listed, capture_output=True, text=True)
    if (root / ".git").exists() and git.returncode == 0:
        found = [Path(name) for name in git.stdout.split("\0") if name]
    else:
        found = [Path(part) for part in PARTS if (root / part).is_file()]
        for part in PARTS:
            if (root / part).is_dir():
                found += [Path(part) / relative for relative in made_by_hand(root / part)]
    return [
        path
        for path in sorted(set(found))
        if (root / path).is_file()
        and WITHHELD not in path.parents
        and (path.name.startswith(".git") or not is_product(path))
    ]


def readable(name: str, content: bytes) -> str:
    """Return the text of a file, or the sources of a notebook's cells.

    Indentation and blank lines are removed.
    """
    text = content.decode("utf-8", errors="replace")
    if name.endswith(".ipynb"):
        text = "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
    return squeezed(text)


def squeezed(text: str) -> str:
    return "\n".join(" ".join(line.split()) for line in text.splitlines() if line.strip())


def secrets(root: Path) -> Iterator[tuple[str, str]]:
    """Yield (source, text) of everything that would reveal a solution.

    A solution that another lesson shows openly is not secret: lesson 02 runs whole programs whose
    lines are gaps in lesson 07.
    """
    shown = openly_shown(root)
    for folder in lesson_folders(root / "solutions").values():
        for relative in made_by_hand(folder):
            if relative.suffix not in (".py", ".sbatch", ".sh"):
                continue
            file = f"solutions/{folder.name}/{relative.as_posix()}"
            for gap in find_gaps((folder / relative).read_text(encoding="utf-8"), file):
                body = squeezed("\n".join(gap.body))
                if len(body) >= TELLING and body not in shown:
                    yield f"{file}:{gap.begin}", body
    for path in sorted((root / WITHHELD).rglob("*.yaml")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if re.match(r"\s*[A-Za-z][\w.-]*\s*:\s*\S", line):
                yield f"{path.relative_to(root)}:{number}", squeezed(line)


def openly_shown(root: Path) -> str:
    """Return the text of all programs in solutions/, without the solutions of their gaps."""
    programs = sorted((root / "solutions").glob("*/*.py"))
    texts = (without_solutions(path.read_text(encoding="utf-8"), path.name) for path in programs)
    return "\n\n".join(map(squeezed, texts))


def leaks(root: Path, files: dict[str, bytes]) -> Iterator[str]:
    """Yield a sentence for each solution that would be released."""
    yield from leaks_in(root, {name: readable(name, content) for name, content in files.items()})


def leaks_in(root: Path, texts: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for each solution in the texts, which come from `readable`."""
    padded = {name: f"\n{text}\n" for name, text in texts.items()}
    for where, secret in secrets(root):
        for name, text in padded.items():
            if f"\n{secret}\n" in text:  # only whole lines
                yield f"{name} contains what {where} withholds"


def gather(root: Path, without: Collection[str] = ()) -> dict[str, bytes]:
    """Return the content of each file in the release, by name, except the lessons in `without`."""
    chosen = (path for path in choose_files(root) if lesson_of(path) not in without)
    files = {path.as_posix(): (root / path).read_bytes() for path in chosen}
    students_page = AT_TOP["README.md"] in files
    files |= {top: files.pop(name) for top, name in AT_TOP.items() if name in files}
    if students_page:
        files["README.md"] = SIBLING.sub(rb"](docs/\1.md", files["README.md"])
        for name in [name for name in files if name.startswith("docs/") and name.endswith(".md")]:
            files[name] = files[name].replace(b"](for-students.md", b"](../README.md")
    return files


def lesson_of(path: Path) -> str | None:
    """Return the lesson that a file belongs to, by its folder or by its rubric's name."""
    if path.parts[0] == "lessons" and LESSON_NAME.fullmatch(path.parts[1]):
        return path.parts[1][:2]
    return path.stem if RUBRICS in path.parents and re.fullmatch(r"\d\d", path.stem) else None


def asked_for(root: Path, asked: Collection[str], last: str | None) -> dict[str, str]:
    """Return the lessons to release.

    Each maps to "" or a sentence about the lesson that reads it.
    """
    lessons = choose_lessons(root / "solutions", asked)
    if last is not None:
        if asked:
            raise click.UsageError("Name the lessons, or the last one with --upto, but not both.")
        [end] = choose_lessons(root / "solutions", [last])
        lessons = {number: folder for number, folder in lessons.items() if number <= end}
    chosen = dict.fromkeys(lessons, "")
    for number in reversed(lesson_folders(root / "solutions")):  # a lesson reads only earlier ones
        if number in chosen:
            for other in read_by(root, number):
                chosen.setdefault(other, f"lesson {number} shows how its program differs from it")
    return dict(sorted(chosen.items()))


def read_by(root: Path, number: str) -> list[str]:
    """Return the lessons whose programs this lesson's notebook reads."""
    page = lesson_folders(root / "solutions")[number] / "lesson.py"
    return READS.findall(page.read_text(encoding="utf-8")) if page.is_file() else []


def write_folder(
    target: Path, files: dict[str, bytes], executable: frozenset[str], dates: Mapping[str, float]
) -> None:
    places = {each for name in files for each in (target / name).parents}
    for folder in sorted(each for each in places if not each.exists()):
        folder.mkdir()
        folder.chmod(0o755)  # students read it, whatever the umask of the release is
    for name, content in files.items():
        path = target / name
        path.write_bytes(content)
        path.chmod(0o755 if name in executable else 0o644)
        os.utime(path, (dates[name], dates[name]))


@click.command("release")
@click.argument("lessons", metavar="[NN]...", nargs=-1)
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    metavar="DIR|ZIP",
    help="A new folder, or a zip to upload.",
)
@click.option("--upto", "last", metavar="NN", help="All lessons up to this one.")
@click.option("--term-key", metavar="WORD", help="The term_key of class.yaml: it draws incidents.")
def release_command(
    lessons: tuple[str, ...], out: Path, last: str | None, term_key: str | None
) -> None:
    """Make the students' edition, without solutions or expected answers, as a folder or a .zip.

    It contains the named lessons, or all lessons if none is named. A lesson that one of them reads
    is added, and the output says so.

    Some lessons continue from a complete program of an earlier one, so next week's lesson reveals
    this week's gaps. Use --upto to leave out later lessons. The command lists gaps whose solution
    can still be read elsewhere.
    """
    root = course_root()
    if not (root / "solutions").is_dir():
        raise click.ClickException("There is no solutions/ folder here: this is already a release.")
    edition = build(root)
    if edition.problems or any(drift(root, edition, ())):
        raise click.ClickException(
            "lessons/ is out of date: run `lessons build` (it keeps a copy of each file that it "
            "replaces)."
        )
    chosen = asked_for(root, lessons, last)
    files = gather(root, lesson_folders(root / "solutions").keys() - chosen)
    if term_key:
        files[f"{RUBRICS.as_posix()}/{KEY_FILE}"] = f"{term_key}\n".encode()
    found = list(leaks(root, files))
    if found:
        raise click.ClickException("\n".join(["nothing was released:", *found]))
    sources = {name: name for name in files}
    sources |= {top: name for top, name in AT_TOP.items() if (root / name).is_file()}
    known = dates_of(root, [path for path in sources.values() if (root / path).exists()])
    dates = {name: known.get(source, max(known.values())) for name, source in sources.items()}
    executable = frozenset(
        name
        for name, source in sources.items()
        if (root / source).exists() and (root / source).stat().st_mode & 0o100
    )
    if out.suffix == ".zip":
        named = {f"{TOP}/{name}": content for name, content in files.items()}
        dated = {f"{TOP}/{name}": when for name, when in dates.items()}
        write_zip(out, named, frozenset(f"{TOP}/{name}" for name in executable), dated)
    else:
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise click.UsageError(f"{out} is not empty; name a new folder, or a file.zip.")
        write_folder(out, files, executable, dates)
    size = sum(map(len, files.values())) / 1e6
    of_lessons = sum(
        LESSON_NAME.fullmatch(Path(name).parts[1]) is not None
        for name in files
        if name.startswith("lessons/")
    )
    click.echo(f"{out}: {len(files)} files, {size:.1f} MB, {of_lessons} of them in lesson folders")
    for number, reason in chosen.items():
        if reason:
            click.echo(f"Added lesson {number}: {reason}")
    texts = {name: readable(name, files[name]) for name in files if is_program(name)}
    for line in in_words(open_elsewhere(root, texts)):
        click.echo(line)
