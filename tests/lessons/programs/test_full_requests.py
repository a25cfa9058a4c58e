"""Test what the pages of 07 to 09 and 12 request in `full`, on a site with GPUs."""

import ast
import re
from types import SimpleNamespace

import IPython.display
import pytest
from matplotlib.figure import Figure
from real_runs import ROOT

from autograder.reading.files import read_files
from lessons import course
from tests.autograder.make_record import make_record, write_lines


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


@pytest.mark.parametrize(
    ("lesson", "says"),
    [
        ("07", "4 ranks on 1 node: last loss 0.167"),
        ("08", "4 ranks: images of"),
        ("09", "4 ranks: 1.1 s"),
    ],
)
def test_the_cell_of_full_submits_every_size_and_draws(lesson, says, tmp_path, monkeypatch, capsys):
    asked, drawn, written = [], [], []

    def submit_sizes(job_file, ranks, gpus):
        asked.append((job_file, ranks, gpus))
        facts = {"lesson": lesson, "source": "keras-nodes", "end": {"param_spread": 0.0}}
        records = {n: make_record(size=n, run=f"{n}f0c2a91", **facts) for n in (1, 2, 4)}
        return read_files(write_lines(tmp_path / f"{n}.out", records[n]) for n in records)

    monkeypatch.setattr(course, "submit_sizes", submit_sizes)
    monkeypatch.setattr(IPython.display, "display", drawn.append)
    [source] = ROOT.glob(f"solutions/{lesson}_*/lesson.py")
    lines = ast.parse(source.read_text(encoding="utf-8")).body
    [cell] = [line for line in lines if ast.unparse(line).startswith("if profile == 'full':\n")]
    exec(
        ast.unparse(cell.body),
        {"course": course, "ranks": 4, "gpus": "gres=gpu:{n}", "parts": 64}
        | {"display": drawn.append}
        | {"data": SimpleNamespace(load=lambda name: SimpleNamespace(x_train=name, y_train=[]))}
        | {"make_parts": SimpleNamespace(write_parts=lambda *words: written.append(words))},
    )
    assert asked == [("job_nodes.sbatch", 4, "gres=gpu:{n}")]
    assert [isinstance(figure, Figure) for figure in drawn] == [True] * (lesson != "09")
    assert says in capsys.readouterr().out
    assert written == ([("cifar10", [], "data/photographs", 64)] if lesson == "08" else [])
