"""A student's `answers.txt`: one `id = value` line for each answer, beside the job's outputs."""

import textwrap
from pathlib import Path


def note(path: str | Path = "answers.txt", **values: object) -> None:
    """Put answers into the file, keeping the ones that are there already."""
    path = Path(path)
    kept = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            name, equals, value = line.partition("=")
            if equals:
                kept[name.strip()] = value.strip()
    kept |= {name: _written(value) for name, value in values.items()}
    text = "".join(f"{name} = {value}\n" for name, value in sorted(kept.items()))
    path.write_text(text, encoding="utf-8")
    said = f"{path} now holds {len(kept)} answers: {', '.join(sorted(kept))}"
    print(textwrap.fill(said, 90, subsequent_indent="  "))  # a notebook would break words


def _written(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else " ".join(str(value).split())
