"""Make .venv, or confirm within 0.1 s that it is complete.

    python3 -m cluster.environment [PART]...

The course itself is always installed. PART adds to it:

    horovod   Horovod for TensorFlow and PyTorch, compiled once (lessons 07 to 09)
    tools     pytest, ruff, mypy and Sphinx (make test, make lint, make book)

With the only word `check`, report whether this Python can do that, and install nothing.
This file and complete.py also start on older Pythons than 3.11, to say so.
"""

import os
import sys
from importlib.util import find_spec

from cluster.environment.complete import PARTS, is_complete

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOO_OLD = (
    "Set-up stopped: {} is Python {}.{}, and the course needs 3.11 or newer; install it (Debian, "
    "Ubuntu 24.04: sudo apt install python3 python3-venv; RHEL: sudo dnf install python3.11), then "
    "name it in the command, as in make demo PYTHON=python3.11."
)


def main():
    parts = sys.argv[1:]
    if parts != ["check"] and not set(parts) <= set(PARTS):
        print(__doc__)
        return 2
    if parts != ["check"] and is_complete(ROOT, parts):
        return 0
    if find_spec("tomllib") is None:  # Python 3.11 brought it
        own = os.path.join(ROOT, ".venv", "bin", "python")
        if os.path.exists(own):
            os.execv(own, [own, "-m", "cluster.environment", *parts])
        print(TOO_OLD.format(sys.executable, *sys.version_info[:2]), file=sys.stderr)
        return 1
    from cluster.environment.set_up import set_up

    return set_up(parts)


if __name__ == "__main__":
    sys.exit(main())
