"""Lower the options of a program to the sizes in sizes.toml.

python smaller.py launch python -u train.py --epochs 12

The words are printed with a zero byte after each. A default that is too large gets an option.
"""

import ast
import re
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
SIZES = tomllib.loads((HERE / "sizes.toml").read_text(encoding="utf-8"))
TOOLKIT = HERE.parents[2] / "lessons/toolkit"
BORROWED = re.compile(
    r"(\w+)\.(?:command_line|add_options)\(|from (\w+) import [^\n]*\bcommand_line\b"
)


def options_of(program: Path) -> dict[str, object]:
    """Return the options in a program's source, with their defaults or None if computed.

    The parser itself is not asked, because importing a framework takes seconds.
    """
    source, options = program.read_text(encoding="utf-8"), {}
    for module in filter(None, sum(BORROWED.findall(source), ())):
        beside = program.with_name(f"{module}.py")
        options |= options_of(beside if beside.exists() else TOOLKIT / beside.name)
    for call in ast.walk(ast.parse(source)):
        if isinstance(call, ast.Call) and ast.unparse(call.func).endswith(".add_argument"):
            [default] = [word.value for word in call.keywords if word.arg == "default"] or [None]
            name = ast.literal_eval(call.args[0]) if isinstance(call.args[0], ast.Constant) else ""
            options[name] = default.value if isinstance(default, ast.Constant) else None
    return options


def limits_of(program: Path) -> dict[str, int | str]:
    """Return the limit of each option, and refuse a limit of an option that does not exist."""
    limits = SIZES.get(program.parent.name, {}).get(program.name, {})
    limits = {f"--{name}": limit for name, limit in limits.items()}
    if limits and (unknown := limits.keys() - options_of(program)):
        raise ValueError(f"{program} has no option {', '.join(sorted(unknown))}: see sizes.toml")
    return limits


def smaller(words: list[str], folder: Path) -> list[str]:
    """Return a command in which the program's options are within their limits."""
    at = next((at for at, word in enumerate(words, 1) if word.endswith(".py")), len(words))
    program = folder / words[at - 1]
    limits, lowered, option = limits_of(program), words[:at], ""
    for word in words[at:]:
        option = word if word.startswith("--") else option
        lowered.append(word if word == option else lower(word, limits.get(option)))
    for option, limit in limits.items():
        if option not in words:
            default = options_of(program)[option]
            value = lower(str(limit if default is None else default), limit)
            lowered += [option, value]
    return lowered


def lower(value: str, limit: int | str | None) -> str:
    if isinstance(limit, str):
        return limit
    return str(min(int(value), limit)) if limit is not None and value.isdigit() else value


if __name__ == "__main__":
    command = smaller(sys.argv[1:], Path.cwd())
    if command != sys.argv[1:]:
        print("rehearsal:", *command[1:], file=sys.stderr)
    print(*command, sep="\0", end="\0")
