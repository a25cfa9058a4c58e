"""Read the numbers and words that students write as answers, if their meaning is certain."""

import re

QUOTES = "\"'`“”„‘’«»"
# A number, followed by what may be its unit.
VALUE = re.compile(
    r"(?P<number>[+-]?[\d.,]*\d\.?(?:[eE][+-]?\d{1,3})?)\s*(?P<unit>[^\d\s.,].{0,30})?\Z"
)
THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?\Z")
# The same with the separators of many other countries: 1.190,48 or 1.325.568.
POINTS = re.compile(r"[+-]?\d{1,3}((\.\d{3})+,\d+|(\.\d{3}){2,})\Z")
EITHER = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}\Z")  # 150.528 and 150,528
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,2})?\Z")
LABELLED = re.compile(r"^(?:rank|line|step|exercise|rang|zeile|schritt)\s*(?=\d)", re.I)  # `rank 2`
SAME_WORDS = {"true": "yes", "ja": "yes", "false": "no", "nein": "no"}

# The names of each unit, and its size in a base unit.
SIZES = {
    name: (base, size)
    for base, size, names in (
        ("s", 1.0, "s sec secs second seconds sekunde sekunden"),
        ("s", 1e-3, "ms msec millisecond milliseconds millisekunden"),
        ("s", 1e-6, "us µs μs microsecond microseconds"),
        ("s", 60.0, "min mins minute minutes minuten"),
        ("s", 3600.0, "h hour hours stunde stunden"),
        ("sample", 1.0, "samples images image img"),
        ("byte", 1.0, "b byte bytes"),
        *(("byte", 1000.0**power, f"{prefix}b") for power, prefix in enumerate("kmgt", start=1)),
        *(("flop", 1000.0**power, f"{p}flop {p}flops") for power, p in enumerate(("", *"kmgtp"))),
    )
    for name in names.split()
}
A_SECOND = r"(?:/ ?s|/ ?sec|/ ?second| per second| a second| pro sekunde)"
PERCENT = ("%", "percent", "per cent", "prozent")
# What may follow a number in a question without a unit: `1.9x`, `150528 numbers`.
COUNTED = re.compile(
    r"[x×-]|times|-?(?:fold|mal|fach)|numbers|values|inputs|pixels|parameters?|weights|images|samples|files|steps"
    r"|epochs|passes|updates|devices|gpus|ranks|classes|zahlen|werte|gewichte|bilder|dateien|schritte"
    r"|epochen"
)


def as_interval(text: str) -> tuple[float, float] | None:
    """Return the ends of an interval such as `2400 to 2900`, or None if it has no such form."""
    ends = [value for part in text.split(" to ") for value in readings(part)[:1]]
    return (ends[0], ends[1]) if len(ends) == 2 and 0 < ends[0] <= ends[1] else None


def readings(text: str, unit: str = "") -> tuple[float, ...]:
    """Return the possible values of the number in an answer, or nothing if there is no number.

    Quotes and other units of the same kind are accepted. 150.528 and 150,528 have two readings,
    because the point or comma may separate thousands or decimals, depending on the country.
    """
    text = unquoted(text.replace("\u2212", "-").replace("\u00a0", " "))
    text = text if unit else LABELLED.sub("", text, count=1)
    text = re.sub(r"(?<=\d)[ '’_](?=\d{3}(?:\D|\Z))", "", text)  # thousands separators
    match = VALUE.match(text.rstrip(".").strip())
    if match is None:
        return ()
    number, word = match["number"], (match["unit"] or "").strip().casefold()
    value, factor = value_of(number), 0.01 if word in PERCENT else factor_of(word, unit.casefold())
    if value is None or factor is None:
        return ()
    values = [value]
    if EITHER.match(number):
        values.append(value * 1000 if "." in number else value / 1000)
    return tuple(value * factor for value in values)


def value_of(number: str) -> float | None:
    """Return the value of a number such as 60,000, 7,2 or 1.190,48."""
    if POINTS.match(number):
        number = number.replace(".", "").replace(",", ".")
    elif THOUSANDS.match(number):
        number = number.replace(",", "")
    elif number.count(",") == 1 and "." not in number:
        number = number.replace(",", ".")
    return float(number) if len(number) <= 40 and NUMBER.match(number) else None


def factor_of(word: str, unit: str) -> float | None:
    """Return the factor that converts the written unit to the wanted one."""
    if not word or word == unit:
        return 1.0
    if not unit:
        return 1.0 if COUNTED.fullmatch(word) else None
    if unit.endswith("/s") and (rate := re.fullmatch(rf"(.+?){A_SECOND}", word)):
        return factor_of(rate[1].strip(), unit.removesuffix("/s"))
    (base, size), (other, unit_size) = (SIZES.get(name, ("", 1.0)) for name in (word, unit))
    return size / unit_size if base and base == other else None


def as_word(text: str) -> str:
    """Return a word without the differences that do not affect whether an answer is right.

    They concern case, quotes, brackets, a final full stop, and the language of yes and no. Letters
    such as `D, A, B, C` are the word `DABC`.
    """
    word = unquoted(text).strip("\"'`()[]").rstrip(".").rstrip(")").strip().casefold()
    letters = re.findall(r"\w+", word)
    if len(letters) > 1 and set(map(len, letters)) == {1}:
        word = "".join(letters)
    return SAME_WORDS.get(word, word)


def unquoted(text: str) -> str:
    """Return the text without enclosing quotes or trailing JSON or sentence punctuation."""
    text = text.strip().rstrip(",;}|" if "[" in text else ",;}]|").strip()
    if len(text) > 1 and text[0] in QUOTES and text[-1] in QUOTES:
        text = text[1:-1].strip()
    return text.strip("*").strip() if text.startswith("**") else text
