"""The difference between two programs, in colour and with the numbers of the steps."""

from lessons.toolkit.colour_diff import changed_lines, show_diff

OLD = "import torch\n\nmodel = build()\nprint(loss)\n"
NEW = """import torch
import torch.distributed as dist

### BEGIN SOLUTION Exercise 1.1: wrap
model = DDP(build())
### END SOLUTION
if rank == 0 < 1:
    print(loss)
"""
STEPS = {"meet": "dist", "wrap": r"DDP\("}


def test_lines_have_the_numbers_of_their_steps():
    found = changed_lines(OLD, NEW, STEPS)
    assert ("+import torch.distributed as dist", "1 meet") in found
    assert ("+model = DDP(build())", "2 wrap") in found
    assert ("-model = build()", "") in found
    assert not any("SOLUTION" in line for line, _ in found)


def test_a_page_shows_the_difference_without_markup_of_the_program(tmp_path):
    for name, text in {"old.py": OLD, "new.py": NEW}.items():
        (tmp_path / name).write_text(text)
    shown = show_diff(tmp_path / "old.py", tmp_path / "new.py", **STEPS).data
    assert "+if rank == 0 &lt; 1:" in shown
    assert "<b>2 wrap</b>" in shown


def test_gaps_are_not_shown_as_a_difference(tmp_path, capsys):
    (tmp_path / "old.py").write_text(OLD)
    (tmp_path / "new.py").write_text(f"{NEW}    raise NotImplementedError('Exercise 1.2')\n")
    shown = show_diff(tmp_path / "old.py", tmp_path / "new.py").data
    assert "DDP(build())" in shown
    assert "NotImplementedError" not in shown
    assert "gaps left" in capsys.readouterr().out


def test_a_page_names_the_earlier_program_by_its_lesson(tmp_path):
    (tmp_path / "new.py").write_text(NEW)
    assert "-    mnist = data.load" in show_diff("02_serial/train.py", tmp_path / "new.py").data
