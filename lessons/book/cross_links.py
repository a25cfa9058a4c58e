"""Turn mentions of lessons and their programs in the book's texts into links."""

import re
from collections.abc import Callable, Collection, Mapping

# Unchanged parts: fenced and indented code, headings, links; then code in a line.
KEEP = re.compile(r"^(?:    .*|#.*|\|?[-:| ]+\|?)$|\[[^\]]*\]\([^)]*\)|``.+?``", re.MULTILINE)
CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)


def linked(text: str, files: Collection[str], lessons: Mapping[str, str]) -> str:
    """Return the text with links.

    `files` are in the same folder as the text. `lessons` maps a lesson's number to the relative
    path of its page.
    """
    text, fences = put_aside(text, FENCE)
    text, kept = put_aside(text, KEEP)
    text, codes = put_aside(text, CODE, lambda code: link_to_file(code, files))
    text = re.sub(r"\b([Ll]essons?) (\d\d)\b", lambda found: link_to_lesson(found, lessons), text)
    for pieces in (codes, kept, fences):
        text = put_back(text, pieces)
    return text


def link_to_file(code: re.Match[str], files: Collection[str]) -> str:
    return f"[{code[0]}]({code[1]}.md)" if code[1] in files else code[0]


def link_to_lesson(found: re.Match[str], lessons: Mapping[str, str]) -> str:
    where = lessons.get(found[2])
    return f"[{found[0]}]({where})" if where else found[0]


def below_the_title(text: str) -> str:
    """Return the text with only one top-level heading.

    Other headings of that level move down a level.
    """
    text, fences = put_aside(text, FENCE)
    return put_back(re.sub(r"^# ", "## ", text, flags=re.MULTILINE), fences)


def put_aside(
    text: str,
    what: re.Pattern[str],
    change: Callable[[re.Match[str]], str] = lambda found: found[0],
) -> tuple[str, dict[str, str]]:
    """Replace each unchanged piece with a placeholder. Return the text and the pieces."""
    pieces: dict[str, str] = {}

    def keep(found: re.Match[str]) -> str:
        sign = f"\ue000{what.pattern[:4].encode().hex()}:{len(pieces)}\ue001"
        pieces[sign] = change(found)
        return sign

    return what.sub(keep, text), pieces


def put_back(text: str, pieces: Mapping[str, str]) -> str:
    return re.sub("\ue000[^\ue001]*\ue001", lambda sign: pieces.get(sign[0], sign[0]), text)
