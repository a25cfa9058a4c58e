"""YAML for rubrics and other settings: plain data and the line of each part of it.

`no` stays a word, `02` a name, and a key that stands twice is an error.
"""

import difflib
import re
from pathlib import Path
from typing import Any

import click
import yaml
from pydantic import BaseModel


class SettingsError(click.ClickException):
    """A file of the instructor's that cannot be used: exit code 2, because nothing was graded."""

    exit_code = 2


def line_of(lines: dict[tuple, int], place: tuple) -> int:
    """The line of a place, or of the smallest part around it that has one."""
    return next(lines[place[:n]] for n in range(len(place), -1, -1) if place[:n] in lines)


KINDS = {
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "dict_type": "`name: value` lines",
    "list_type": "a list",
    "tuple_type": "a list",
    "model_type": "`name: value` lines",
}


def sentence(mistake: Any, model: type[BaseModel]) -> str:
    """What pydantic found, in the words of somebody who writes the file."""
    place = [str(part) for part in mistake["loc"]]
    name, kind = ".".join(place) or "the file", mistake["type"]
    given, limits = mistake.get("input"), mistake.get("ctx", {})
    if kind == "extra_forbidden":
        there = list(model.model_fields) if len(place) == 1 else []
        near = difflib.get_close_matches(place[-1], there, 1)
        hint = f"did you mean {near[0]}?" if near else "check the spelling"
        return f"{name}: no such field; {hint}"
    if kind in KINDS:
        return f"{name} has to be {KINDS[kind]}, not {given!r}"
    if kind == "greater_than_equal":
        return f"{name} has to be at least {limits['ge']:g}, not {given!r}"
    if kind == "missing":
        return f"{name}: this field is needed"
    return f"{name}: {mistake['msg'].removeprefix('Value error, ')}"


def read_yaml(path: Path) -> tuple[Any, dict[tuple, int]]:
    """Plain data and the line of every part of it. No tags, no anchors' tricks, no double keys."""
    try:
        text = path.read_text(encoding="utf-8")
        node = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        what = getattr(error, "problem", None) or "not valid YAML"
        raise SettingsError(f"{path}:{line}: {what}") from None
    lines: dict[tuple, int] = {(): 1}
    if node is None:
        return None, lines
    return _plain(node, (), lines, path), lines


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
                raise SettingsError(
                    f"{path}:{key_node.start_mark.line + 1}: {key!r} is there twice"
                )
            data[key] = _plain(value_node, (*place, key), lines, path)
            lines[(*place, key)] = key_node.start_mark.line + 1
        return data
    return _scalar(node.value, node.tag, getattr(node, "style", None))


def _scalar(text: str, tag: str, style: str | None) -> Any:
    """`no` is a word and `02` is a name here; YAML 1.1 would make False and 2 of them."""
    if style in ("'", '"', "|", ">"):
        return text
    if text in ("true", "false"):
        return text == "true"
    if tag.endswith(":null"):
        return None
    if re.fullmatch(r"-?(0|[1-9][0-9_]*)", text):
        return int(text)
    if re.fullmatch(r"-?(0|[1-9][0-9]*)?(\.[0-9]+)?([eE][-+]?[0-9]+)?", text) and text != "-":
        return float(text)
    return text
