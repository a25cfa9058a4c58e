"""`python3 -m cluster.environment`: make .venv, or see at once that it is up to date.

Runs on any Python 3.6 or newer and hands over to Python 3.11 when there is work to do.
"""

import os
import sys

from cluster.environment.failure import SetUpError, explain_os_error
from cluster.environment.fingerprint import up_to_date

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def main() -> int:  # noqa: RET503 - execv does not return
    if sys.argv[1:]:
        print(__doc__)
        return 2
    if up_to_date(ROOT):
        return 0
    if not sys.platform.startswith("linux"):
        print(
            "Set-up stopped: this course runs on Linux; elsewhere use a Linux container or WSL.",
            file=sys.stderr,
        )
        return 1
    try:
        from cluster.environment.python311 import find

        python = find()
    except (SetUpError, OSError) as error:
        sentence = explain_os_error(error) if isinstance(error, OSError) else error
        print(f"Set-up stopped: {sentence}.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nSet-up interrupted; run it again and it goes on from here.", file=sys.stderr)
        return 130
    os.chdir(ROOT)
    # Packages of other Pythons must not shine through into the new environment.
    for name in ("PYTHONPATH", "PYTHONHOME", "__PYVENV_LAUNCHER__"):
        os.environ.pop(name, None)
    os.execv(python, [python, "-m", "cluster.environment.set_up"])


if __name__ == "__main__":
    sys.exit(main())
