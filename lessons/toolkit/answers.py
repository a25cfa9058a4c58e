"""Write a student's `answers.txt`: one `id = value` line per answer, beside the job's outputs."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from autograder.settings import answer_hints, rubric
from autograder.submissions.answers import parse_answers
from autograder.submissions.kinds import lesson_of
from autograder.wording import counted
from lessons.questions.forms import form_fault


def note(path: str | Path = "answers.txt", **values: object) -> None:
    """Write answers into the file, and keep its other answers and lines."""
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
    print(textwrap.fill(said, 90, subsequent_indent="  "))  # a notebook would wrap within words
    for line in to_look_at_again(lesson_of(Path.cwd().name), kept, values):
        print(textwrap.fill(line, 90, subsequent_indent="  "))


def to_look_at_again(
    lesson: str | None, kept: Mapping[str, str], names: Iterable[str]
) -> Iterator[str]:
    """Yield a sentence for each of these answers that is wrong, or has a wrong name or form."""
    file = rubric.FOLDER / f"{lesson}.yaml"
    if lesson is None or not file.exists():
        return
    questions = rubric.load_rubric(file).answers
    for name in names:
        question, text = questions.get(name), kept[name]
        if question is None:
            yield f"Look again at {name}: no question of this lesson has this name."
            continue
        if fault := form_fault(lesson, name, question, text):
            yield f"Look again at {name}: {text or 'nothing'} {fault}."
        elif advice := answer_hints.hint(lesson, name, question, text):
            yield f"Look again at {name}: {text} is wrong. Hint: {advice}"


def _written(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else " ".join(str(value).split())
