"""Read YAML for rubrics and other settings: plain data, with the line of each part.

`no` stays a word, `02` a name, and a repeated key is an error.
"""

import re
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticCustomError

from autograder.data_files import LOADER
from autograder.errors import SettingsError
from autograder.safe_text import shortened

Model = TypeVar("Model", bound=BaseModel)


def read_model(
    path: Path, model: type[Model], context: object = None
) -> tuple[Model, dict[tuple, int]]:
    """Return the contents of a file, and the line number of each part."""
    data, lines = read_yaml(path)
    try:
        return model.model_validate({} if data is None else data, context=context), lines
    except ValidationError as error:
        raise SettingsError(complaints(path, error, lines)) from None


def line_of(lines: dict[tuple, int], place: tuple) -> int:
    """Return the line of a place or, if unknown, that of the smallest enclosing part with one."""
    return next(lines[place[:n]] for n in range(len(place), -1, -1) if place[:n] in lines)


# --- what does not fit the model ----------------------------------------------------------------


def refuse_unknown_fields(cls: type[BaseModel], written: Any) -> Any:
    """Refuse a field that a model does not have, and name those that it has."""
    known = [field.alias or name for name, field in cls.model_fields.items()]
    for name in written if isinstance(written, dict) else ():
        if name not in known:
            facts = {"field": name, "known": ", ".join(known)}
            raise PydanticCustomError("unknown", "no such field; known are {known}", facts)
    return written


def complaints(path: Path, error: ValidationError, lines: dict[tuple, int]) -> str:
    """Return one line per mistake found by pydantic, with its location in the file."""
    groups: dict[tuple, list[Any]] = {}
    for mistake in error.errors(include_url=False):
        place = place_of(mistake)
        # If several kinds are possible, pydantic adds the kind that it tried to the place.
        if re.match(r"(str|int|float|bool)$|literal\[", str(place[-1:] and place[-1])):
            place = place if place in lines else place[:-1]
        groups.setdefault(place, []).append(mistake)
    return "\n".join(
        f"{path}:{line_of(lines, place)}: {complaint(place, mistakes)}"
        for place, mistakes in groups.items()
    )


def place_of(mistake: Any) -> tuple:
    return (*mistake["loc"], *filter(None, [mistake.get("ctx", {}).get("field")]))


def complaint(place: tuple, mistakes: list[Any]) -> str:
    """Return the mistakes at one place as a sentence."""
    name, first = ".".join(map(str, place)) or "the file", mistakes[0]
    if first["type"] == "missing":
        return f"{name}: this field is required"
    if first["type"] in ("model_type", "dict_type"):
        return f"{name}: should be `name: value` lines"
    words = (m["msg"].removeprefix("Value error, ").removeprefix("Input ") for m in mistakes)
    value = None if first["type"] == "value_error" else first.get("input")
    actual = f"; found {value!r}" if isinstance(value, str | int | float) else ""
    return f"{name}: {', or '.join(dict.fromkeys(words))}{actual}"


def reason(error: Exception) -> str:
    """Return one line: the first mistake found by pydantic, or the message of another exception."""
    if not isinstance(error, ValidationError):
        return shortened(error)
    first = error.errors(include_url=False)[0]
    return shortened(complaint(place_of(first), [first]))


# --- reading ------------------------------------------------------------------------------------


def read_yaml(path: Path) -> tuple[Any, dict[tuple, int]]:
    """Return the file as plain data, and the line number of each part."""
    lines: dict[tuple, int] = {(): 1}
    try:
        text = path.read_text(encoding="utf-8-sig")
        node = yaml.compose(text, Loader=LOADER)
        return (None if node is None else _plain(node, (), lines, path)), lines
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{path}: is not UTF-8: save it as UTF-8") from None
    except RecursionError:
        raise SettingsError(f"{path}:1: is nested too deeply") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        what = getattr(error, "problem", None) or shortened(error)
        line = mark.line + 1 if mark else 1
        raise SettingsError(f"{path}:{line}: this is not valid YAML: {what}") from None


def _plain(node: yaml.Node, place: tuple, lines: dict[tuple, int], path: Path) -> Any:
    line = node.start_mark.line + 1
    lines[place] = line
    if isinstance(node, yaml.SequenceNode):
        return [_plain(n, (*place, i), lines, path) for i, n in enumerate(node.value)]
    if isinstance(node, yaml.MappingNode):
        data: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = str(key_node.value)
            if key in data:
                raise SettingsError(f"{path}:{key_node.start_mark.line + 1}: {key!r} appears twice")
            data[key] = _plain(value_node, (*place, key), lines, path)
            lines[(*place, key)] = key_node.start_mark.line + 1
        return data
    return _scalar(node.value, node.tag, getattr(node, "style", None))


def _scalar(text: str, tag: str, style: str | None) -> Any:
    """Return `no` as a string and `02` as a name. YAML 1.1 would make them False and 2."""
    if style in ("'", '"', "|", ">"):
        return text
    if text in ("true", "false"):
        return text == "true"
    if tag.endswith(":null"):
        return None
    if re.fullmatch(r"-?(0|[1-9][0-9_]*)", text):
        return int(text)
    if re.fullmatch(r"-?(?=[.0-9])(0|[1-9][0-9]*)?(\.[0-9]+)?([eE][-+]?[0-9]+)?", text):
        return float(text)
    return text
