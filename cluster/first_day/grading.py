"""Run the autograder's commands as an instructor would."""

import json
import sys
from pathlib import Path
from typing import Any

from autograder.codes import ABSENT, EvidenceLevel
from cluster.environment.stage import last_words
from cluster.first_day.day import WrongError
from cluster.schedulers import real_command


def calibrate(runs: Path, out: Path) -> str:
    out.unlink(missing_ok=True)
    return autograder("calibrate", str(runs), "--out", str(out)).splitlines()[-1]


def grade(hand_in: Path, out: Path) -> str:
    """Return the results of the checks that these few runs can decide.

    A total score would be low and look like a failure, because the answers and the other programs'
    runs are missing.
    """
    words = ["grade", str(hand_in), "--out", str(out), "--profile", "smoke", "--jobs", "1"]
    autograder(*words, fine=(0, 1))  # 1 means only that somebody should look
    [record] = (out / "records").glob("*.json")
    told, not_passed = [], []
    for each in json.loads(record.read_text())["grades"]:
        lesson = each["lesson"]
        if each["tier"] == EvidenceLevel.CONTRADICTED:
            raise WrongError(f"{lesson}: {each['tier_reason']}", f"see {out}")
        checks = [check for check in each["checks"] if is_decided(check)]
        lost = [check for check in checks if check["status"] != "passed"]
        told.append(f"{lesson}: {len(checks) - len(lost)} of {len(checks)}")
        not_passed += [f"{lesson}: {check['title']}: {check['actual']}" for check in lost]
    decided = f"{', '.join(told)} checks that these runs decide are passed; the pages are in {out}"
    return "; not passed: ".join([decided, *not_passed])


def is_decided(check: dict[str, Any]) -> bool:
    """Return whether everything that the check needs was submitted."""
    return not any(part["code"] in ABSENT for part in check["parts"])


def autograder(*words: str, fine: tuple[int, ...] = (0,)) -> str:
    done = real_command.run([sys.executable, "-m", "autograder", *words])
    if done.returncode not in fine:
        said = last_words("\n" + (done.stderr or done.stdout))
        raise WrongError(said, f"by hand: autograder {' '.join(words)}")
    return done.stdout
