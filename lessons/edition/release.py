"""`lessons release`: the students' edition of the whole course, without anything that solves it."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click

from lessons.edition.build import build, drift
from lessons.edition.gaps import find_gaps, without_solutions
from lessons.edition.pack import write_zip
from lessons.folders import course_root, is_product, lesson_folders, made_by_hand

# What students get; everything else (solutions, tests, benchmarks, CI) stays with the instructor.
PARTS = (
    *("lessons", "cluster", "autograder", "docs"),
    *("pyproject.toml", "Makefile", "README.md", "environment.yml", ".gitignore"),
    *("LICENSE", "LICENSE-lessons.md"),
)
WITHHELD = Path("autograder/rubrics/expected")
STUDENTS_PAGE = "docs/for-students.md"  # is their README
TOP = "dl-on-supercomputers"
# A shorter piece of a solution, like `return samples / seconds`, may well be written elsewhere.
TELLING = 40


def choose_files(root: Path) -> list[Path]:
    """Relative paths of the release: what git knows or would add, else what was made by hand."""
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
    """The text of a file, of a notebook its cells' sources; lines without indent or blanks."""
    text = content.decode("utf-8", errors="replace")
    if name.endswith(".ipynb"):
        text = "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
    return squeezed(text)


def squeezed(text: str) -> str:
    return "\n".join(" ".join(line.split()) for line in text.splitlines() if line.strip())


def secrets(root: Path) -> Iterator[tuple[str, str]]:
    """(where it comes from, text) of everything that would give an exercise away.

    What another lesson shows openly is no secret: 02 runs whole programs whose lines are 07's gaps.
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
    for path in sorted((root / WITHHELD).glob("*.yaml")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if re.match(r"\s*[A-Za-z][\w.-]*\s*:\s*\S", line):
                yield f"{path.relative_to(root)}:{number}", squeezed(line)


def openly_shown(root: Path) -> str:
    """All programs of the solutions without what is in their gaps."""
    programs = sorted((root / "solutions").glob("*/*.py"))
    texts = (without_solutions(path.read_text(encoding="utf-8"), path.name) for path in programs)
    return "\n\n".join(map(squeezed, texts))


def leaks(root: Path, files: dict[str, bytes]) -> Iterator[str]:
    """Sentences about solutions that would be released."""
    texts = {name: readable(name, content) for name, content in files.items()}
    for where, secret in secrets(root):
        pattern = re.compile(rf"^{re.escape(secret)}$", re.MULTILINE)
        for name, text in texts.items():
            if pattern.search(text):
                yield f"{name} holds what {where} keeps back"


def gather(root: Path) -> dict[str, bytes]:
    files = {path.as_posix(): (root / path).read_bytes() for path in choose_files(root)}
    if STUDENTS_PAGE in files:
        files["README.md"] = files.pop(STUDENTS_PAGE)
    return files


def write_folder(target: Path, files: dict[str, bytes], executable: frozenset[str]) -> None:
    for name, content in files.items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o755 if name in executable else 0o644)


@click.command("release")
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="DIR|ZIP")
def release_command(out: Path) -> None:
    """Make what students get: no solutions, no expected answers; a folder or a .zip."""
    root = course_root()
    if not (root / "solutions").is_dir():
        raise click.ClickException("There is no solutions/ folder here: this is a release already.")
    edition = build(root)
    if edition.problems or any(drift(root, edition, ())):
        raise click.ClickException(
            "lessons/ is not what solutions/ makes: run `lessons build` "
            "(it keeps a copy of each file that it replaces)."
        )
    files = gather(root)
    found = list(leaks(root, files))
    if found:
        raise click.ClickException("\n".join(["nothing was released:", *found]))
    executable = frozenset(name for name in files if (root / name).stat().st_mode & 0o100)
    if out.suffix == ".zip":
        named = {f"{TOP}/{name}": content for name, content in files.items()}
        write_zip(out, named, frozenset(f"{TOP}/{name}" for name in executable))
    else:
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise click.UsageError(f"{out} is not empty; name a new folder, or a file.zip.")
        write_folder(out, files, executable)
    size = sum(map(len, files.values())) / 1e6
    click.echo(f"{out}: {len(files)} files, {size:.1f} MB, {len(edition.files)} of them lessons")
