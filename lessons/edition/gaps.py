"""Gaps: the marked parts of a solution that become exercises.

    ### BEGIN SOLUTION Exercise 2.1: build the network
    …
    ### END SOLUTION

In Python a gap becomes one `raise NotImplementedError`. In a job file, the values of #SBATCH lines
are removed, and commands are replaced by one that reports that they are missing. A prediction or an
answer that the student writes is a gap too: `Predict: …`, `Answer: …`.
"""

import ast
import io
import json
import re
import shlex
import subprocess
import textwrap
import tokenize
from dataclasses import dataclass

LABEL = r"(?P<label>(Exercise \d+\.\d+[a-z]?|Predict|Answer): \S.*)"
BEGIN = re.compile(r"(?P<indent>\s*)### BEGIN SOLUTION " + LABEL)
END = re.compile(r"(?P<indent>\s*)### END SOLUTION\s*")
NEARLY = re.compile(r"#.*\b(BEGIN|END)[ _]SOLUTION", re.IGNORECASE)
LONGEST_LINE = 100
DIRECTIVE = re.compile(r"(#SBATCH --[a-z-]+=).*")


class SourceError(Exception):
    """An error in one line of a lesson's source, as a sentence."""

    def __init__(self, file: str, line: int, sentence: str) -> None:
        super().__init__(f"{file}:{line}: {sentence}")


@dataclass(frozen=True, slots=True)
class Gap:
    label: str  # "Exercise 2.1: build the network"
    begin: int  # line of the BEGIN marker, from 1
    end: int  # line of the END marker
    indent: str
    body: tuple[str, ...]

    @property
    def number(self) -> str | None:
        """Return the number of an exercise, such as 2.1; None for a prediction or an answer."""
        name = self.label.split(":")[0]
        return name.removeprefix("Exercise ") if name.startswith("Exercise ") else None

    @property
    def name(self) -> str:
        """Return exercise-2-1, predict or answer. Cell ids and nbgrader allow these characters."""
        return re.sub(r"[ .]", "-", self.label.split(":")[0].lower())


def is_marker(line: str) -> bool:
    return bool(BEGIN.fullmatch(line) or END.fullmatch(line))


def find_gaps(text: str, file: str) -> list[Gap]:
    """Return all gaps of a file.

    The first invalid marker raises a SourceError.
    """
    lines = text.splitlines()
    gaps: list[Gap] = []
    opened: tuple[int, re.Match[str]] | None = None
    for number, line in enumerate(lines, start=1):
        begin, end = BEGIN.fullmatch(line), END.fullmatch(line)
        if begin and opened:
            raise SourceError(
                file, number, f"this gap is inside the gap of line {opened[0]}; end that one first."
            )
        if begin:
            opened = number, begin
        elif end and not opened:
            raise SourceError(file, number, "END SOLUTION without a BEGIN SOLUTION before it.")
        elif end and opened:
            first, match = opened
            if end["indent"] != match["indent"]:
                raise SourceError(file, number, f"indent this END like its BEGIN in line {first}.")
            body = tuple(lines[first : number - 1])
            gaps.append(Gap(match["label"].rstrip(), first, number, match["indent"], body))
            opened = None
        elif NEARLY.search(line):
            raise SourceError(
                file,
                number,
                "not a marker; write `### BEGIN SOLUTION Exercise 2.1: what to do` "
                "or `### END SOLUTION` on a line of its own.",
            )
    if opened:
        raise SourceError(file, opened[0], "BEGIN SOLUTION without an END SOLUTION after it.")
    return gaps


def without_solutions(text: str, file: str) -> str:
    """Return the students' edition of one file."""
    gaps = find_gaps(text, file)
    if not gaps:
        return text
    python = file.endswith(".py")
    if not python and not file.endswith((".sbatch", ".sh")):
        raise SourceError(file, gaps[0].begin, "only .py, .sbatch and .sh files can have gaps.")
    if python:
        refuse_torn_python(text, gaps, file)
    lines = text.splitlines()
    for gap in reversed(gaps):
        stub = python_stub(gap) if python else shell_stub(gap, file)
        lines[gap.begin - 1 : gap.end] = [gap.indent + line for line in stub]
    result = "\n".join(lines) + "\n"
    if python:
        ast.parse(result)
    else:
        refuse_broken_shell(result, gaps, file)
    return result


def python_stub(gap: Gap) -> list[str]:
    quoted = repr(gap.label) if '"' in gap.label else json.dumps(gap.label, ensure_ascii=False)
    line = f"raise NotImplementedError({quoted})"
    if len(gap.indent + line) <= LONGEST_LINE:
        return [line]
    return ["raise NotImplementedError(", f"    {quoted}", ")"]


def shell_stub(gap: Gap, file: str) -> list[str]:
    """Return the directives without values or, for commands, lines that report the gap and exit."""
    code = [line.strip() for line in gap.body if line.strip()]
    directives = [DIRECTIVE.fullmatch(line) for line in code]
    if code and all(directives):
        return [f"# {gap.label}"] + [match[1] for match in directives if match]
    if not code or any(line.startswith("#SBATCH") for line in code):
        raise SourceError(
            file, gap.begin, "a gap here holds `#SBATCH --name=value` lines or commands, not both."
        )
    return [f"echo {shlex.quote(gap.label + ' is still a gap')} >&2", "exit 1"]


def refuse_torn_python(text: str, gaps: list[Gap], file: str) -> None:
    """Raise an error unless each gap consists of whole statements at its own indentation.

    Removing anything else would break the rest of the program.
    """
    try:
        ast.parse(text)
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (SyntaxError, tokenize.TokenError) as error:
        line = getattr(error, "lineno", None) or gaps[0].begin
        raise SourceError(file, line, f"this is not valid Python: {error}.") from error
    depth, open_at = 0, {}
    for token in tokens:
        if token.type == tokenize.OP:
            depth += (token.string in "([{") - (token.string in ")]}")
        elif token.type == tokenize.COMMENT and is_marker(token.line.rstrip("\n")):
            open_at[token.start[0]] = depth
    for gap in gaps:
        whole = (open_at.get(line) == 0 for line in (gap.begin, gap.end))
        if not all(whole):
            raise SourceError(
                file, gap.begin, "this gap is inside an expression or a string; move it outside."
            )
        code = [line for line in gap.body if line.strip()]
        try:
            statements = ast.parse(textwrap.dedent("\n".join(code))).body
        except SyntaxError:
            statements = []
        indented_alike = code and code[0].startswith(gap.indent + code[0].lstrip())
        if not statements or not indented_alike:
            raise SourceError(
                file, gap.begin, "a gap must contain whole statements at a single indent."
            )


def refuse_broken_shell(text: str, gaps: list[Gap], file: str) -> None:
    check = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True)
    if check.returncode != 0:
        reason = check.stderr.strip().splitlines()[0]
        raise SourceError(
            file, gaps[0].begin, f"without its solutions this is not a valid script: {reason}"
        )
