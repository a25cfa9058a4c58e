"""Check whether .venv is complete, using one small file per part."""

import hashlib
import os

PARTS = ("horovod", "tools")  # the parts that can be added to the course


def fingerprint(root):
    """Return a hash of everything that decides what .venv contains: pins, recipe, folder."""
    here = os.path.join(root, "cluster", "environment")
    files = [os.path.join(root, "pyproject.toml"), os.path.join(here, "locked.txt")]
    files += [os.path.join(here, name) for name in sorted(os.listdir(here)) if name[-3:] == ".py"]
    digest = hashlib.sha256(os.path.realpath(root).encode())
    for file in files:
        with open(file, "rb") as handle:
            digest.update(hashlib.sha256(handle.read()).digest())
    return digest.hexdigest()


def stamp(root, part):
    """Return the file that is written when a part is complete."""
    return os.path.join(root, ".venv", ".set-up", "complete-" + part)


def is_complete(root, parts):
    """Return whether the course and these parts are installed and up to date."""
    if not os.path.exists(os.path.join(root, ".venv", "bin", "python")):
        return False
    wanted = fingerprint(root)
    for part in ("course", *parts):
        try:
            with open(stamp(root, part)) as handle:
                if handle.read().strip() != wanted:
                    return False
        except OSError:
            return False
    return True
