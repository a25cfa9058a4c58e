"""Run the autograder's commands as an instructor would."""

import json
import sys
from pathlib import Path

from autograder.codes import ReasonCode
from cluster.environment.stage import last_words
from cluster.first_day.day import WrongError
from cluster.schedulers import real_command

R = ReasonCode
ABSENT = {R.NO_RUN, R.NO_RUN_OF_SIZE, R.NO_REPORT, R.NO_ANSWER}  # something was not submitted


def calibrate(runs: Path, out: Path) -> str:
    out.unlink(missing_ok=True)
    return autograder("calibrate", str(runs), "--out", str(out)).splitlines()[-1]


def grade(hand_in: Path, out: Path) -> str:
    """Return which of the checks that these few runs can decide are not passed."""
    words = ["grade", str(hand_in), "--out", str(out), "--profile", "smoke", "--jobs", "1"]
    autograder(*words, fine=(0, 1))  # 1 means only that somebody should look
    [record] = (out / "records").glob("*.json")
    decided = [
        (f"{each['lesson']}: {check['title']}: {check['actual']}", check["status"] == "passed")
        for each in json.loads(record.read_text())["grades"]
        for check in each["checks"]
        if not any(part["code"] in ABSENT for part in check["parts"])
    ]
    lost = [text for text, is_passed in decided if not is_passed]
    told = f"{len(decided) - len(lost)} of {len(decided)} checks passed; the pages are in {out}"
    return "; not passed: ".join([told, *lost])


def autograder(*words: str, fine: tuple[int, ...] = (0,)) -> str:
    done = real_command.run([sys.executable, "-m", "autograder", *words])
    if done.returncode not in fine:
        said = last_words("\n" + (done.stderr or done.stdout))
        raise WrongError(said, f"by hand: autograder {' '.join(words)}")
    return done.stdout
