"""A student's `answers.txt`: one `id = value` line for each answer, beside the job's outputs."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from autograder.judging import judge_answers
from autograder.settings import rubric
from autograder.submissions.answers import parse_answers
from autograder.submissions.lesson_names import lesson_of
from autograder.wording import counted


def note(path: str | Path = "answers.txt", **values: object) -> None:
    """Put answers into the file, keeping the ones that are there already, and all other lines."""
    path = Path(path)
    kept, others = {}, []
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            name, equals, value = line.partition("=")
            if equals:
                kept[name.strip()] = value.strip()
            elif read := parse_answers(line.encode(), path.name, values)[0]:
                kept |= {name: answer.text for name, answer in read.items()}
            elif line.strip():
                others.append(f"{line.rstrip()}\n")
    kept |= {name: _written(value) for name, value in values.items()}
    text = "".join([*others, *(f"{name} = {value}\n" for name, value in sorted(kept.items()))])
    path.write_text(text, encoding="utf-8")
    said = f"{path} now holds {counted(len(kept), 'answer')}: {', '.join(sorted(kept))}"
    print(textwrap.fill(said, 90, subsequent_indent="  "))  # a notebook would break words
    for name, asked in of_another_kind(Path.cwd().name, kept, values):
        print(f"Look again at {name}: {kept[name]} is not what is asked, {asked}.")


def of_another_kind(
    folder: str, kept: Mapping[str, str], names: Iterable[str]
) -> Iterator[tuple[str, str]]:
    """Which of these answers the lesson's public rubric asks in another form, and in which."""
    file = rubric.FOLDER / f"{lesson_of(folder)}.yaml"
    if file.exists():
        questions = rubric.load_rubric(file).answers
        for name in names:
            if name in questions:
                asked = judge_answers.of_another_kind(questions[name], kept[name])
                if asked:
                    yield name, asked


def _written(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else " ".join(str(value).split())
