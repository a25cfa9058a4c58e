"""The hash chain of one rank's record lines, which reveals changed lines and copies."""

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

CHAIN = b',"chain":'
DIGITS = 12


@dataclass(slots=True)
class Chain:
    """The lines of one rank that have been read so far."""

    seed: bytes  # for the next line: the hash stated in the last line, or the run's id
    broken: bool = False
    lines: list[bytes] = field(default_factory=list)  # hashes of the lines
    copied: int = 0  # how many of them the current copy has repeated

    def repeats(self, payload: bytes) -> bool:
        """Return whether this line continues a copy that repeats the record from its first line.

        An edited line is not a copy, and breaks the chain.
        """
        line = blake2b(payload, digest_size=8).digest()
        for at in (self.copied, 0):
            if line in self.lines[at : at + 1]:
                self.copied = at + 1
                return True
        self.copied = 0
        return False

    def breaks(self, payload: bytes, stated: Any) -> bool:
        """Add a line, and return whether it is the first line whose recorded hash is wrong.

        A line's stated hash is the seed of the next line, so a single change breaks the chain only
        once or twice, not in the rest of the file.
        """
        self.lines.append(blake2b(payload, digest_size=8).digest())
        line = payload[: payload.rfind(CHAIN)] if CHAIN in payload else payload
        expected = blake2b(self.seed + line).hexdigest()[:DIGITS]
        is_chain = isinstance(stated, str) and len(stated) == DIGITS
        self.seed = (stated if is_chain else expected).encode()
        is_first = stated != expected and not self.broken
        self.broken = self.broken or is_first
        return is_first
