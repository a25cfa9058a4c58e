"""Make .venv, or confirm within 0.1 s that it is complete.

    python3 -m cluster.environment [PART]...

The course itself is always installed. PART adds to it:

    horovod   Horovod for TensorFlow and PyTorch, compiled once (lessons 07 to 09)
    tools     pytest, ruff, mypy and Sphinx (make test, make lint, make book)

This file runs on Python 3.6 or newer and hands over to Python 3.11 when there is work to do.
"""

import os
import sys

from cluster.environment.complete import PARTS, is_complete
from cluster.environment.failure import SetUpError, explain_os_error

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def main() -> int:  # noqa: RET503 - execv does not return
    parts = sys.argv[1:]
    if not set(parts) <= set(PARTS):
        print(__doc__)
        return 2
    if is_complete(ROOT, parts):
        return 0
    if not sys.platform.startswith("linux"):
        print(
            "Set-up stopped: this course runs on Linux; elsewhere use a Linux container or WSL.",
            file=sys.stderr,
        )
        return 1
    try:
        from cluster.environment.prerequisites import check
        from cluster.environment.python311 import find

        check(ROOT, parts)
        python = find(ROOT, with_headers="horovod" in parts)
    except (SetUpError, OSError) as error:
        sentence = explain_os_error(error) if isinstance(error, OSError) else error
        print(f"Set-up stopped: {sentence}.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nSet-up interrupted; run it again and it continues from here.", file=sys.stderr)
        return 130
    os.chdir(ROOT)
    # Packages of other Pythons must not be visible in the new environment.
    for name in ("PYTHONPATH", "PYTHONHOME", "__PYVENV_LAUNCHER__"):
        os.environ.pop(name, None)
    os.execv(python, [python, "-m", "cluster.environment.set_up", *parts])


if __name__ == "__main__":
    sys.exit(main())
