"""Call a program from a probe, to find out whether it exists and what it prints."""

import shutil
import subprocess


def answer(*words: str) -> tuple[int, str] | None:
    """Return a program's exit code and output, or None without it. The probe's limit ends it."""
    if not shutil.which(words[0]):
        return None
    done = subprocess.run(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    return done.returncode, done.stdout.decode(errors="replace").strip()
