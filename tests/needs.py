"""Check that this machine has what `make test-all` needs: python3 -m tests.needs"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable


def found(*programs: str) -> bool:
    return any(shutil.which(program) for program in programs)


def namespaces() -> bool:
    """Return whether this user may create a network namespace, as sandboxes do."""
    command = ["unshare", "--map-root-user", "--net", "true"]
    return found("unshare") and subprocess.run(command, capture_output=True).returncode == 0


# What is needed, how to check that it is there, and how to get it.
NEEDS: dict[str, tuple[Callable[[], bool], str]] = {
    "root, on Debian 12, to start a real Slurm": (
        lambda: os.geteuid() == 0 and found("apt-get"),
        "run it as root in a virtual machine or container of your own",
    ),
    "Chromium": (lambda: found("chromium", "google-chrome"), "sudo apt install chromium"),
    "Ruby": (lambda: found("ruby"), "sudo apt install ruby"),
    "fonts for the browser": (
        lambda: os.path.isdir("/usr/share/fonts/truetype"),
        "sudo apt install fonts-dejavu-core",
    ),
    "pkill": (lambda: found("pkill"), "sudo apt install procps"),
    "the right to make namespaces": (namespaces, "run it outside of an unprivileged container"),
}


def main() -> int:
    missing = {name: way for name, (is_there, way) in NEEDS.items() if not is_there()}
    for name, way in missing.items():
        print(f"make test-all needs {name}: {way}.", file=sys.stderr)
    if missing:
        print("Without them, run `make test`.", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
