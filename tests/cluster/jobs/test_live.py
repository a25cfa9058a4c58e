"""The epochs of a running job are shown in the cell that waits for it."""

from xml.etree import ElementTree

import pytest

from cluster.jobs import live
from cluster.jobs.notebook import submit_once
from tests.autograder.in_memory import read_bytes

EPOCH = "Epoch {n}/2\n100/100 - 4s - loss: {loss} - accuracy: 0.9\n"


@pytest.fixture
def drawn(monkeypatch):
    """Collect what a notebook's cell is told to show, in order."""
    pictures: list[dict[str, str]] = []
    monkeypatch.setattr(live, "in_notebook", lambda: True)
    monkeypatch.setattr(live.LiveEpochs, "draw", lambda self, bundle: pictures.append(bundle))
    return pictures


@pytest.fixture
def lesson(shell, monkeypatch):
    monkeypatch.setenv("HOME", str(shell.home))
    monkeypatch.chdir(shell.folder)
    return shell


def test_an_epoch_is_shown_while_the_next_one_runs(lesson, drawn):
    """The two epochs end six seconds apart."""
    first, second = (EPOCH.format(n=n, loss=loss) for n, loss in ((1, 2.25), (2, 0.5)))
    lesson.write("job.sbatch", f"echo '{first}'; sleep 6; echo '{second}'", "-o %j.out")
    [output] = submit_once("job.sbatch")
    titles = list(dict.fromkeys(bundle["text/plain"] for bundle in drawn))
    assert titles == [
        "epoch 1 of 1 · 4.0 s · loss 2.250 · accuracy 0.900",
        "epoch 2 of 2 · 4.0 s · loss 0.500 · accuracy 0.900",
    ]
    assert output.read_text() == f"{first}\n{second}\n"  # drawings are not in the output


def test_the_picture_replaces_the_reminders(lesson, drawn, capsys, monkeypatch):
    monkeypatch.setattr("cluster.jobs.wait.FIRST_SILENCE", 0.3)
    first = EPOCH.format(n=1, loss=2.25)
    lesson.write("job.sbatch", f"sleep 3; echo '{first}'; sleep 4", "-o %j.out")
    shown_before = []
    monkeypatch.setattr(
        live.LiveEpochs, "draw", lambda self, _: shown_before.append(capsys.readouterr().out)
    )
    submit_once("job.sbatch")
    assert "RUNNING" in shown_before[0]
    assert capsys.readouterr().out.count("job 1: ") == 1  # its end


def test_what_the_untrained_network_writes_is_shown_while_the_first_epoch_runs(lesson, drawn):
    before = f"{live.UNTRAINED}\n    Zq <x>\n    zz"
    first = EPOCH.format(n=1, loss=2.25)
    lesson.write("job.sbatch", f"echo '{before}'; sleep 3; echo '{first}'", "-o %j.out")
    submit_once("job.sbatch")
    written = [bundle["text/plain"].splitlines()[1] for bundle in drawn]
    assert len(written) >= 2  # more on a busy machine
    assert set(written) == {"Zq <x>"}
    sizes = {ElementTree.fromstring(bundle["image/svg+xml"]).get("height") for bundle in drawn}
    assert len(sizes) == 1


@pytest.mark.parametrize("losses", [(2.25, 0.5), (1.0, 1.0), (3.0,)])
def test_the_picture_has_a_point_for_each_epoch(losses):
    text = "".join(EPOCH.format(n=n, loss=loss) for n, loss in enumerate(losses, start=1))
    [run] = read_bytes({"1.out": text.encode()})
    picture = ElementTree.fromstring(live.picture(run))
    circles = picture.findall("{http://www.w3.org/2000/svg}circle")
    assert len(circles) == len(losses)
    heights = [float(circle.get("cy", 0)) for circle in circles]
    assert heights == sorted(heights)  # a smaller loss is further down
