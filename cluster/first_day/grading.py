"""The autograder's commands, as an instructor would type them."""

import json
import sys
from pathlib import Path

from cluster.environment.stage import last_words
from cluster.first_day.day import WrongError
from cluster.schedulers import real_command


def calibrate(runs: Path, out: Path) -> str:
    out.unlink(missing_ok=True)
    return autograder("calibrate", str(runs), "--out", str(out)).splitlines()[-1]


def grade(hand_in: Path, out: Path) -> str:
    """What these few runs earn."""
    words = ["grade", str(hand_in), "--out", str(out), "--profile", "smoke", "--processes", "1"]
    autograder(*words, fine=(0, 1))  # 1: somebody should look
    told = []
    for file in sorted((out / "records").glob("*.json")):
        for each in json.loads(file.read_text())["grades"]:
            told.append(f"{each['lesson']}: {each['score']:g} of {each['max_score']:g}")
            if each["tier"] == "contradicted":
                raise WrongError(f"{each['lesson']}: {each['tier_reason']}", f"see {out}")
    if not told:
        raise WrongError(f"{out} holds no grade", f"autograder grade {hand_in}")
    return f"{', '.join(told)} (no answers were handed in); the pages are in {out}"


def autograder(*words: str, fine: tuple[int, ...] = (0,)) -> str:
    done = real_command.run([sys.executable, "-m", "autograder", *words])
    if done.returncode not in fine:
        said = last_words("\n" + (done.stderr or done.stdout))
        raise WrongError(said, f"by hand: autograder {' '.join(words)}")
    return done.stdout
