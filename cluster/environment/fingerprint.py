"""Whether .venv is complete, told from one small file. Runs on any Python 3.6 or newer."""

import hashlib
import os


def fingerprint(root):
    """Return the hash of all that decides what .venv holds: pins, recipe and place."""
    here = os.path.join(root, "cluster", "environment")
    files = [os.path.join(root, "pyproject.toml"), os.path.join(here, "locked.txt")]
    files += [os.path.join(here, name) for name in sorted(os.listdir(here)) if name[-3:] == ".py"]
    digest = hashlib.sha256(os.path.realpath(root).encode())
    for file in files:
        with open(file, "rb") as handle:
            digest.update(hashlib.sha256(handle.read()).digest())
    return digest.hexdigest()


def stamp(root):
    return os.path.join(root, ".venv", ".set-up", "complete")


def up_to_date(root):
    """Whether the last set-up of this very folder ended well and nothing changed since."""
    try:
        with open(stamp(root)) as handle:
            written = handle.read().strip()
        return written == fingerprint(root) and os.path.exists(
            os.path.join(root, ".venv", "bin", "python")
        )
    except OSError:
        return False
