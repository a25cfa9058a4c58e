"""Rehearse `full` without GPUs: every cell of every page, on several ranks, with small programs.

site.sh is the jobs' site, and sizes.toml says how small. The grader then asks for everything but
the metrics in missed.toml, each of which has a reason there.
"""

import json
import os
import shutil
import subprocess
import tomllib
from contextlib import nullcontext
from pathlib import Path

import pytest

from autograder.settings.strict_yaml import read_yaml
from lessons.folders import lesson_folders
from tests.lessons.programs.all_points import BIN, ROOT
from tests.lessons.rehearsal.forked_ranks import rank_server
from tests.lessons.rehearsal.smaller import SIZES, limits_of, smaller

HERE = Path(__file__).parent
RUBRICS = ROOT / "autograder/rubrics"
MISSED = tomllib.loads((HERE / "missed.toml").read_text(encoding="utf-8"))
DIFFER = ("07", "08", "09", "10", "11", "12", "13", "15")  # with the number of ranks
ON_EACH_CHANGE = {("11", 4), ("13", 4)}
RANKS = {"05": "replicas", **dict.fromkeys((*DIFFER, "16"), "ranks")}  # the page's parameter
CASES = [(lesson, 4) for lesson in lesson_folders(ROOT / "solutions")] + [(n, 8) for n in DIFFER]


def marks(case: tuple[str, int]) -> list[pytest.MarkDecorator]:
    return [pytest.mark.ranks, pytest.mark.slow if case in ON_EACH_CHANGE else pytest.mark.nightly]


@pytest.mark.parametrize(("lesson", "ranks"), [pytest.param(*c, marks=marks(c)) for c in CASES])
def test_every_cell_runs_and_earns_what_cpus_can(lesson, ranks, tmp_path):
    words = ["-p", f"{RANKS[lesson]}={ranks}"] if lesson in RANKS else []
    env = os.environ | {"PATH": f"{BIN}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    env["COURSE_SITE"] = str(HERE / "site.sh")
    run = ["lessons", "run", lesson, "--profile", "full", *words, "--out", tmp_path / "run"]
    with rank_server() if lesson in ("11", "13") else nullcontext({}) as ranks_from:
        env = ranks_from | env
        done = subprocess.run(run, env=env, cwd=ROOT, capture_output=True, text=True, timeout=1500)
    assert done.returncode == 0, done.stdout + done.stderr
    [folder] = (tmp_path / "run").glob(f"{lesson}_*/")
    assert missed(lesson, folder, tmp_path) == []


def missed(lesson: str, folder: Path, tmp_path: Path, *never: str) -> list[str]:
    """Return what a run misses in `full`. Reasons named in `never` excuse nothing here."""
    submission = tmp_path / "class/ada" / lesson
    submission.parent.mkdir(parents=True)
    shutil.move(folder, submission)
    shutil.copytree(RUBRICS, tmp_path / "rubrics")  # with the expected answers
    text = json.dumps(possible(lesson, never))  # YAML can be JSON
    (tmp_path / "rubrics" / f"{lesson}.yaml").write_text(text, encoding="utf-8")
    words = ["--profile", "full", "--rubrics", "rubrics", "--out", "grades"]
    grade = [BIN / "autograder", "grade", "class", *words]
    done = subprocess.run(grade, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode < 2, done.stderr
    [grade] = json.loads((tmp_path / "grades/records/ada.json").read_text())["grades"]
    return [
        f"{check['id']}: {check['actual']}; asked: {check['expected']}"
        for check in grade["checks"]
        if check["status"] not in ("passed", "borderline", "waits")
    ]


def possible(lesson: str, never: tuple[str, ...]) -> dict:
    """Return the lesson's rubric without the conditions that a rehearsal may miss."""
    rubric = rubric_of(lesson)
    reasons = [metrics for reason, metrics in MISSED.items() if reason not in never]
    allowed = {
        metric for each in reasons for key in (lesson, "all") for metric in each.get(key, [])
    }
    for name in allowed & rubric.get("answers", {}).keys():
        rubric["answers"][name] = {"ask": "It depends on the size.", "kind": "prediction"}
    for check in rubric["checks"]:
        for condition in check.get("require", []):
            runs = [run for run in listed(condition["of"]) if not names(condition, run) & allowed]
            condition["of"] = runs
        if "require" in check:
            check["require"] = [condition for condition in check["require"] if condition["of"]]
    rubric["checks"] = [check for check in rubric["checks"] if check.get("require") != []]
    # All points are on one check, because each profile's points must add up. Only statuses count.
    counted = [check for check in rubric["checks"] if "by_hand" not in check]
    by_hand = sum(check.get("by_hand", 0) for check in rubric["checks"])
    for check in counted:
        check["points"] = 0.0
    next(c for c in counted if "only" not in c)["points"] = rubric["points"] - by_hand
    for part in (rubric, *rubric["runs"].values()):
        part.pop("train_samples", None)
    return rubric


def listed(runs: str | list[str]) -> list[str]:
    return [runs] if isinstance(runs, str) else runs


def names(condition: dict, run: str) -> set[str]:
    return {condition["metric"], f"{condition['metric']} of {run}"}


def rubric_of(lesson: str) -> dict:
    return read_yaml(RUBRICS / f"{lesson}.yaml")[0]


def test_every_limit_is_of_an_option_that_exists():
    for folder, programs in SIZES.items():
        for program in programs:
            limits_of(ROOT / "solutions" / folder / program)


def test_received_bytes_are_as_unknown_as_with_nccl():
    show = (
        "import socket\nfrom lessons.toolkit.ranks.wire import bytes_received\n"
        "with socket.create_server(('', 0)) as server:\n"
        "    with socket.create_connection(server.getsockname()): print(bytes_received())"
    )
    said = {}
    for name, path in {"gloo": str(ROOT), "nccl": f"{HERE / 'nccl'}:{ROOT}"}.items():
        env = os.environ | {"PYTHONPATH": path}
        done = subprocess.run([BIN / "python", "-c", show], env=env, capture_output=True, text=True)
        said[name] = done.stdout.strip()
    assert said == {"gloo": "0", "nccl": "None"}


def test_values_and_defaults_above_their_limits_are_lowered():
    words = ["launch", "python", "train_torch.py", "--epochs", "24", "--test-samples", "100"]
    lowered = [*words, "--train-samples", "1280"]
    assert smaller(words, ROOT / "solutions/07_horovod") == lowered


def test_a_limit_of_a_renamed_option_is_refused(monkeypatch):
    monkeypatch.setitem(SIZES, "10_native", {"train.py": {"images": 1280}})
    with pytest.raises(ValueError, match="--images"):
        limits_of(ROOT / "solutions/10_native/train.py")


def test_every_metric_that_may_be_missed_is_asked_for_in_full():
    for reason, lessons in MISSED.items():
        for lesson, metrics in lessons.items():
            rubrics = lesson_folders(ROOT / "solutions") if lesson == "all" else [lesson]
            checks = [c for each in rubrics for c in rubric_of(each)["checks"]]
            checks = [c for c in checks if c.get("only") != "smoke"]
            asked = [c for check in checks for c in check.get("require", [])]
            asked = [(c, r) for c in asked if c.get("only") != "smoke" for r in listed(c["of"])]
            answers = [check.get("answers", []) for check in checks]
            known = set().union(*answers, *(names(*each) for each in asked))
            assert set(metrics) <= known, (reason, lesson)
