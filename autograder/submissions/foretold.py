"""Read an interval in answers.txt that was predicted before the true value was shown.

    foretold_x = 2400 to 2900; 2026-03-02T10:11:05Z; 3f9a1c2b90aa

The last word is a checksum of the rest. The checksum reveals careless edits made after the true
value was known. The checksum does not stop forgers, who can run this function themselves.
"""

import hashlib
import re
from dataclasses import dataclass

from autograder.submissions.answer_values import as_number

FORM = re.compile(r"(\S{1,30}) to (\S{1,30}); (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ); ([0-9a-f]{12})\Z")
ANY = re.compile(r"(\S{1,30}) to (\S{1,30})")


@dataclass(frozen=True, slots=True)
class Foretold:
    low: float
    high: float
    sealed: bool  # the checksum is right, so the course's function wrote it

    @property
    def width(self) -> float:
        """Return the high end divided by the low end."""
        return self.high / self.low


def written(key: str, low: float, high: float, when: str) -> str:
    ends = f"{low:.6g} to {high:.6g}"
    return f"{ends}; {when}; {seal(key, ends, when)}"


def seal(key: str, ends: str, when: str) -> str:
    return hashlib.blake2b(f"{key}\0{ends}\0{when}".encode()).hexdigest()[:12]


def read(key: str, text: str) -> Foretold | None:
    """Return the interval, or None unless the text has two positive numbers in ascending order."""
    whole = FORM.match(text)
    found = whole or ANY.match(text)
    low, high = (as_number(end) for end in found.groups()[:2]) if found else (None, None)
    if found is None or low is None or high is None or not 0 < low <= high:
        return None
    sealed = whole is not None and whole[4] == seal(key, f"{whole[1]} to {whole[2]}", whole[3])
    return Foretold(low, high, sealed)
