"""Read answers that are not written as `id = value`, if their meaning is certain."""

import html
import math
import re
from collections.abc import Collection

QUOTES = "\"'`“”„‘’«»"
LISTED = re.compile(r"(?:[-*•–]|\d{1,2}[.)])\s+")  # a list's marker, which a space follows
NAMED = re.compile(
    rf"[{QUOTES}*_]{{0,3}}(?P<key>[A-Za-z](?:[A-Za-z0-9_.-]{{0,62}}[A-Za-z0-9_])?)[{QUOTES}*]{{0,3}}"
)
EQUALS = re.compile(r"\s*=+\s*")
LOOSELY = re.compile(r"\s*(?::=?|->|→|=>|[,;|\t]|(?=\s)(?:\s+is|\s+ist)?(?=\s))\s*")
CALL = re.compile(r"\bnote\s*\((?P<inside>.*)\)?\s*;?\Z")
FILE = re.compile(r"\A\s*(?:\"[^\"]*\"|'[^']*')\s*,")  # the first argument may be a file name
PART = re.compile(
    r"\s*(?P<key>[A-Za-z]\w{0,63})\s*=\s*"
    r"(?P<value>\"[^\"]*\"|'[^']*'|[+-]?[\d.][\w.+-]*|True|False)\s*(?:,|\)|\Z)"
)
ENDS = re.compile(r"[) ;]*+\Z")
# No `<` within a tag, otherwise each of many would be searched for an end.
BREAKS = re.compile(r"(?i)<(?:br|/p|/div|/li|/tr|/h\d|/pre)\b[^<>]{0,200}>")
TAGS = re.compile(r"<[^<>]{0,2000}>")
ABOUT = re.compile(r"(?i)(?:~|≈|≃|about|around|approx\.?|ca\.?|circa|roughly)\s*")
# A number, followed by what may be its unit.
VALUE = re.compile(
    r"(?P<number>[+-]?[\d.,]*\d\.?(?:[eE][+-]?\d{1,3})?)\s*(?P<unit>[^\d\s.,].{0,30})?\Z"
)

# Other names of each unit, and its size in the base unit.
SECONDS = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds", "sekunde", "sekunden"), 1.0),
    **dict.fromkeys(("ms", "msec", "millisecond", "milliseconds", "millisekunden"), 1e-3),
    **dict.fromkeys(("us", "µs", "μs", "microsecond", "microseconds"), 1e-6),
    **dict.fromkeys(("min", "mins", "minute", "minutes", "minuten"), 60.0),
    **dict.fromkeys(("h", "hour", "hours", "stunde", "stunden"), 3600.0),
}
A_SECOND = r"(?:/ ?s|/ ?sec|/ ?second| per second| a second| pro sekunde)"
BYTES = {"b": 1.0, "byte": 1.0, "bytes": 1.0} | {
    f"{prefix}b": 1000.0**power for power, prefix in enumerate("kmgt", start=1)
}
FLOPS = {f"{prefix}flop": 1000.0**power for power, prefix in enumerate(("", *"kmgtp"))}
PLAIN = ("x", "×", "times", "fold", "mal", "-")  # for numbers without a unit: `1.9x`
# What students count in questions without a unit: `150528 numbers`.
COUNTED = (
    *("numbers", "values", "inputs", "pixels", "parameters", "weights", "images", "samples"),
    *("files", "steps", "epochs", "passes", "updates", "devices", "gpus", "ranks", "classes"),
    *("zahlen", "werte", "parameter", "gewichte", "bilder", "dateien", "schritte", "epochen"),
)
TERM = r"\d{1,12}(?:\.\d{1,12})?(?: ?[*×·] ?\d{1,12}(?:\.\d{1,12})?){0,4}"
SUM = re.compile(rf"{TERM}(?: ?\+ ?{TERM}){{0,4}}\Z")  # 784*64+64


def from_page(text: str) -> str:
    """Return the text typed into a platform's page, which the platform exports as HTML."""
    return html.unescape(TAGS.sub("", BREAKS.sub("\n", text))).replace("\u00a0", " ")


def call_in(line: str) -> list[tuple[str, str]]:
    """Return the values in a pasted `answers.note(keras_epoch_s=0.91, predict="no")`.

    If an argument is an expression, return nothing, because its value is not in the text.
    """
    call = CALL.search(line)
    if not call:
        return []
    found, at = [], 0
    inside = FILE.sub("", call["inside"], count=1)
    while not ENDS.match(inside, at):
        part = PART.match(inside, at)
        if not part:
            return []
        found.append((part["key"], unquoted(part["value"])))
        at = part.end()
    return found


def pair_in(line: str, ids: Collection[str]) -> list[tuple[str, str]]:
    """Return the answer in a line such as `- id: value`, `"id": value,` or `**id** = value`.

    A line `id value` is also accepted if a question has this id. `Note: I was ill` is not an
    answer, so the text before a colon must be a question's id or look like an id.
    """
    line = LISTED.sub("", line, count=1) if LISTED.match(line) else line
    line = line.lstrip("{[(,| ")
    named = NAMED.match(line)
    if not named:
        return []
    key, rest = named["key"], line[named.end() :]
    asked = key in ids or (not ids and re.search(r"[_\d]", key))
    sign = EQUALS.match(rest) or (LOOSELY.match(rest) if asked else None)
    value = unquoted(rest[sign.end() :]) if sign else ""
    return [(key, value)] if value or (sign and sign[0].strip()) else []


def says_nothing(line: str) -> bool:
    """Return whether a line is only a JSON bracket, or the first or last line of a pasted call."""
    return not re.sub(r"\A[\w.]*\bnote\s*\(", "", line).strip(" {}[](),;`'\"|-")


def unquoted(text: str) -> str:
    """Return the text without enclosing quotes or trailing JSON or sentence punctuation."""
    text = text.strip().rstrip(",;}]|").strip()
    if len(text) > 1 and text[0] in QUOTES and text[-1] in QUOTES:
        text = text[1:-1].strip()
    return text.strip("*").strip() if text.startswith("**") else text


def value_in(text: str, unit: str) -> tuple[str, float] | None:
    """Return a number as written and the factor to convert it to `unit`, or None if uncertain."""
    text = unquoted(text.replace("\u2212", "-").replace("\u00a0", " "))
    text = ABOUT.sub("", text, count=1) if ABOUT.match(text) else text
    text = re.sub(r"(?<=\d)[ '’_](?=\d{3}(?:\D|\Z))", "", text)  # thousands separators
    found = VALUE.match(text.rstrip(".").strip())
    if not found:
        return None
    word = (found["unit"] or "").strip().casefold()
    factor = factor_of(word, unit.casefold())
    return None if factor is None else (found["number"], factor)


def sum_in(text: str) -> float | None:
    """Return the value of a short sum of products. Other expressions are ambiguous."""
    text = unquoted(text)
    if not SUM.match(text):
        return None
    terms = [re.split(r"[*×·]", term) for term in text.split("+")]
    return math.fsum(math.prod(map(float, term)) for term in terms)


def factor_of(word: str, unit: str) -> float | None:
    """Return the factor that converts the written unit to the wanted one."""
    if not word or word == unit:
        return 1.0
    if not unit:
        return 1.0 if word in PLAIN or word in COUNTED else None
    if word in SECONDS and unit in SECONDS:
        return SECONDS[word] / SECONDS[unit]
    if unit.endswith("/s") and (rate := re.fullmatch(rf"(.+?){A_SECOND}", word)):
        return factor_of(rate[1].strip(), unit.removesuffix("/s"))
    if unit in ("samples", "images") and word in ("samples", "images", "img", "imgs", "image"):
        return 1.0
    for known in (BYTES, FLOPS):
        if word in known and unit in known:
            return known[word] / known[unit]
        if word.rstrip("s") in known and unit in known:
            return known[word.rstrip("s")] / known[unit]
    return None
