"""Tests of the cells of 07 to 09 and 12 for `full` only, with records instead of GPUs."""

import ast
import re
from types import SimpleNamespace

import IPython.display
import pytest
from matplotlib.figure import Figure
from real_runs import ROOT

from autograder.reading.files import read_files
from autograder.wording import counted
from cluster.job_file import jobfile
from cluster.jobs import notebook
from lessons.toolkit import plots
from tests.autograder.make_record import make_record, write_lines


def in_full(lesson):
    """Return the statements under `if profile == "full":` in the lesson."""
    [source] = ROOT.glob(f"solutions/{lesson}_*/lesson.py")
    blocks = [
        node.body
        for node in ast.parse(source.read_text(encoding="utf-8")).body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "profile == 'full'"
    ]
    [block] = blocks
    return compile(ast.Module(block, []), source.name, "exec"), source.parent


@pytest.mark.parametrize(
    ("lesson", "says"),
    [("07", "4 ranks on 1 node: last loss 0.167"), ("08", "4 ranks: images of one"), ("09", "")],
)
def test_the_cell_submits_every_size_and_draws(lesson, says, tmp_path, monkeypatch, capsys):
    asked, drawn, written = [], [], []

    def submit_sizes(job_file, *words, ranks, gpus):
        asked.append((job_file, ranks, gpus.format(n=4)))
        same = {"lesson": lesson, "source": "keras-nodes", "end": {"param_spread": 0.0}}
        return [
            write_lines(
                tmp_path / f"{size}.out", make_record(size=size, run=f"{size}f0c2a91", **same)
            )
            for size in (1, 2, 4)
        ]

    monkeypatch.setattr(notebook, "submit_sizes", submit_sizes)
    monkeypatch.setattr(IPython.display, "display", drawn.append)
    code, folder = in_full(lesson)
    known = {
        "ranks": 4,
        "gpus": "gres=gpu:{n}",
        "parts": 64,
        "submit_sizes": submit_sizes,
        "read_files": read_files,
        "counted": counted,
        "plots": plots,
        "display": drawn.append,
        "data": SimpleNamespace(load=lambda name: SimpleNamespace(x_train=name, y_train=[])),
        "make_parts": SimpleNamespace(write_parts=lambda *words: written.append(words)),
    }
    exec(code, known)
    [(job_file, *others)] = asked
    assert others == [4, "gres=gpu:4"]
    assert jobfile.request(jobfile.read(folder / job_file), {}).ntasks == 1
    [figure] = drawn
    assert isinstance(figure, Figure)
    assert says in capsys.readouterr().out
    assert written == ([("cifar10", [], "data/photographs", 64)] if lesson == "08" else [])


@pytest.mark.parametrize(("lesson", "jobs"), [("07", 6), ("08", 2), ("09", 2), ("12", 2)])
def test_every_job_of_several_ranks_has_a_gpu_for_each(lesson, jobs, monkeypatch):
    """With eight ranks on one node with four GPUs, four ranks would find no GPU."""
    monkeypatch.setenv("COURSE_SITE", str(ROOT / "cluster" / "sites" / "juwels.sh"))
    [source] = ROOT.glob(f"solutions/{lesson}_*/lesson.py")
    page = ast.parse(source.read_text(encoding="utf-8"))
    known = {"profile": "full", "ranks": 0, "gpus": "gres=gpu:{n}"}
    for line in page.body:
        wanted = "from cluster|ranks = .*ranks or|device =|one, several =|two = on_nodes"
        if re.match(wanted, ast.unparse(line)):
            exec(ast.unparse(line), known)
    assert known["ranks"] == 8 or lesson == "09", "sizes 1, 2, 4 and 8, the last on two nodes"
    asked = [
        ast.unparse(word.value)
        for call in ast.walk(page)
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "submit_once"
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
