"""Test what the pages of 07 to 09 and 12 request in `full`, on a site with GPUs."""

import ast
import re

import pytest
from real_runs import ROOT


@pytest.mark.parametrize(("lesson", "jobs"), [("07", 6), ("08", 2), ("09", 2), ("12", 2)])
def test_every_job_of_several_ranks_has_a_gpu_for_each(lesson, jobs, monkeypatch):
    """With eight ranks on one node with four GPUs, four ranks would find no GPU."""
    monkeypatch.setenv("COURSE_SITE", str(ROOT / "cluster" / "sites" / "juwels.sh"))
    [source] = ROOT.glob(f"solutions/{lesson}_*/lesson.py")
    page = ast.parse(source.read_text(encoding="utf-8"))
    known = {"profile": "full", "ranks": 0, "gpus": "gres=gpu:{n}"}
    for line in page.body:
        wanted = "from lessons import course|ranks = .*ranks or|device =|one, several =|two = "
        if re.match(wanted, ast.unparse(line)):
            exec(ast.unparse(line), known)
    assert known["ranks"] == 8 or lesson == "09", "sizes 1, 2, 4 and 8, the last on two nodes"
    asked = [
        ast.unparse(word.value)
        for call in ast.walk(page)
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "course.submit"
        for word in call.keywords
        if word.arg == "options"
    ]
    assert len(asked) == jobs
    longer = {"time": "00:30:00"}
    eight = longer | {"ntasks": "8", "nodes": "2", "ntasks-per-node": "4", "gres": "gpu:4"}
    pair = longer | {"ntasks": "2", "nodes": "1", "gres": "gpu:2"}
    for options in asked:
        found = eval(options, known | {"n": 8, "options": known.get("several")})
        assert found in (eight, known.get("one"), pair), options
