"""Find the cause in the long error messages of TensorFlow and DCP, and the student's lines.

An error inside `.map` or a graph begins with "in user code:" or with the name of a node, describes
the whole path through the graph, and names the cause in its last line.
"""

import re
import traceback

SIGNS = ("in user code:", "Call arguments received by", "Graph execution error", "{{", "(RANK ")
NAMED_ERROR = re.compile(r"(\w+(?:Error|Exception)): (.+)")
NODE = re.compile(r"\{\{\w+ [^}]*\}\}\s*|\s*\[Op:\w+\]( name: ?)?")


def what_is_wrong(error: BaseException) -> str:
    """Return the error's name and the line of its text that names the cause."""
    text = str(error)
    if not any(sign in text for sign in SIGNS):
        return f"{type(error).__name__}: {text}".splitlines()[0]
    text = text.partition("Call arguments received by")[0]  # Keras lists them at the end
    lines = [NODE.sub("", line).strip() for line in text.splitlines()]
    lines = [line for line in lines if line.strip("[] ")]  # "[[{{node Sum}}]]": where, not what
    last = lines[-1] if lines else ""
    return last if NAMED_ERROR.fullmatch(last) else f"{type(error).__name__}: {last}"


def written_lines(error: BaseException) -> list[traceback.FrameSummary]:
    """Return the traceback up to where TensorFlow's generated copy of the student's code starts."""
    frames = list(traceback.extract_tb(error.__traceback__))
    generated = (i for i, f in enumerate(frames) if "__autograph_generated_file" in f.filename)
    return frames[: next(generated, len(frames))]
