"""Templates proposed for outputs that no format knows."""

import os
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.cli import main
from autograder.reading.explain.propose import proposal
from autograder.reading.files import read_files
from autograder.reading.plain_summary import summary
from autograder.settings.own_formats import load_formats
from tests.autograder.reading.known_outputs import LOGS

LOGGED = """\
Loading /scratch/x86_64/v2 took 3.2 s
2026-03-02 14:47:13,123 [INFO] world size 4
2026-03-02 14:47:25,623 [INFO] pass 1/3: loss = 0.912 (ema 0.91) acc = 61.2% took 12.5s lr 0.1
2026-03-02 14:47:26,123 [INFO]   check: validation loss = 0.9 acc = 60.2%
2026-03-02 14:47:37,623 [INFO] pass 2/3: loss = 0.512 (ema 0.71) acc = 71.2% took 11.5s lr 0.01
2026-03-02 14:47:38,123 [INFO]   check: validation loss = 0.7 acc = 70.2%
2026-03-02 14:47:49,823 [INFO] pass 3/3: loss = 0.312 (ema 0.51) acc = 81.2% took 11.7s lr 0.001
2026-03-02 14:47:50,123 [INFO]   check: validation loss = 0.6 acc = 75.2%
Finished training in 37.2 s
final test accuracy 0.742
"""
PASS = (
    "[INFO] pass {epoch}/{of}: loss = {train_loss} (ema {any}) acc = {train_accuracy}% "
    "took {seconds}s"
)


def templates(text: str) -> list[str]:
    return [line.strip()[3:-1] for line in text.splitlines() if line.strip().startswith("- '")]


def proposed(tmp_path: Path, output: str) -> list[str]:
    (tmp_path / "job.out").write_text(output)
    return templates(proposal(tmp_path / "job.out"))


def test_what_is_proposed_reads_the_output(tmp_path):
    assert proposed(tmp_path, LOGGED) == [
        "[INFO] world size {workers}",
        PASS,
        "check: validation loss = {val_loss} acc = {val_accuracy}%",
        "Finished training in {total_seconds} s",
        "final test accuracy {test_accuracy}",
    ]
    (tmp_path / "ours.yaml").write_text(proposal(tmp_path / "job.out"))
    (run,) = read_files([tmp_path / "job.out"], load_formats(tmp_path / "ours.yaml"))
    said = summary(run)
    assert (said["workers"], said["outcome"]) == (4, "completed")
    assert said["epoch_seconds"] == [12.5, 11.5, 11.7]
    assert said["final_val_accuracy"] == pytest.approx(0.752)
    assert run.total_seconds.value == 37.2


# Lines, and the templates that they should give.
LINES = [
    ("a number that counts up and a loss", "row {0}: loss 0.{0}\n",
     ["row {epoch}: loss {train_loss}"]),
    ("JSON", '{{{{"epoch": {0}, "val_loss": 0.{0}, "lr": 0.0{0}}}}}\n',
     ['{{"epoch": {epoch}, "val_loss": {val_loss}']),
    ("a unit that is no time", "epoch {0} 3{0} s/it\n", ["epoch {epoch}"]),
    ("ms", "epoch {0}: time 3{0} ms\n", ["epoch {epoch}: time {seconds} ms"]),
    ("the time of a part", "epoch {0}, data time 3.{0} s\n", ["epoch {epoch}"]),
    ("braces", "epoch {0} {{{{loss}}}} {0}.5\n", ["epoch {epoch} {{loss}} {train_loss}"]),
    ("an apostrophe", "it's epoch {0}, loss {0}.5\n", ["it''s epoch {epoch}, loss {train_loss}"]),
    ("numbers in words", "resnet50 epoch {0} acc@1 {0}.5\n",
     ["resnet50 epoch {epoch} acc@1 {train_accuracy}"]),
    ("a path", "saved /data/run_{0}/epoch_{0}.pt\n", []),
    ("no words", "{0} 0.{0} 3{0}\n", []),
    ("workers of a loader", "epoch {0} uses 4{0} data workers\n", ["epoch {epoch}"]),
]  # fmt: skip


@pytest.mark.parametrize(("line", "wanted"), [row[1:] for row in LINES], ids=[r[0] for r in LINES])
def test_words_around_a_number_say_what_it_is(tmp_path, line, wanted):
    text = "".join(line.replace("{{{{", "{").replace("}}}}", "}").replace("{0}", str(n))
                   for n in range(1, 5))  # fmt: skip
    assert proposed(tmp_path, text) == wanted


def command(*words: object):
    return CliRunner().invoke(main, ["read", *map(str, words)])


def test_the_command_proposes_and_reads_by_what_was_edited(tmp_path):
    (tmp_path / "job.out").write_text(LOGGED)
    said = command("--propose", tmp_path / "job.out")
    assert said.exit_code == 0
    assert "# So it reads as: completed, 3 epochs, 11.6 s an epoch, 0.312 last" in said.output
    edited = said.output.replace("{train_loss}", "{any}")
    (tmp_path / "ours.yaml").write_text(edited)
    read = command("--formats", tmp_path / "ours.yaml", tmp_path / "job.out").output
    assert "epoch seconds                     12.5 11.5 11.7" in read
    assert "final train loss" not in read
    (tmp_path / "none.out").write_text("1 2 3\n4 5 6\n")
    nothing = command("--propose", tmp_path / "none.out")
    assert nothing.exit_code == 1
    assert nothing.output.count("\n") == 1
    assert "nothing to propose" in nothing.output
    assert command("--propose", tmp_path / "job.out", tmp_path / "none.out").exit_code == 2
    wrong = command("--formats", tmp_path / "job.out", tmp_path / "job.out")
    assert wrong.exit_code == 2
    assert "job.out:" in wrong.output


def test_why_proposes_for_a_file_in_which_no_epochs_were_read(tmp_path):
    text = "".join(f"round {n} of 3 done, cost 0.{n}\n" for n in (1, 2, 3))
    (tmp_path / "job.out").write_text(text)
    said = command("--why", tmp_path / "job.out")
    assert said.exit_code == 0
    assert "- 'round {epoch} of {of} done, cost {train_loss}'" in said.output


def test_what_cannot_be_opened_is_one_sentence(tmp_path):
    """What the other files say is told all the same."""
    (tmp_path / "job.out").write_text("Epoch 1/1 loss: 0.9, time: 12.4s\n")
    os.mkfifo(tmp_path / "pipe.out")
    for way, there in (("--why", True), ("--propose", False)):
        files = [tmp_path / "job.out", tmp_path / "pipe.out"][not there :]
        said = command(way, *files)
        assert said.exit_code == 1
        assert isinstance(said.exception, SystemExit)
        assert said.stderr.endswith("pipe.out cannot be read: this is no regular file\n")
        assert said.stderr.count("\n") == 1
        assert ("job.out:1: Epoch 1/1" in said.stdout) == there
    said = command("--why", tmp_path / ("x" * 300))
    assert said.exit_code == 2
    assert "File name too long" in said.stderr


WORDS = st.sampled_from(
    ["epoch ", "loss ", "acc", " {", "}} ", "0.5", "7", "s", " ms", "\0", "\r", "\x1b[1m", "'", "/",
     ": ", "%", "1:02", "nan", "\n", "1: ", "test ", "é", "gpus"]
)  # fmt: skip


@settings(max_examples=150)
@given(st.lists(WORDS, max_size=80))
def test_whatever_was_printed_a_proposal_can_be_loaded(words):
    with tempfile.TemporaryDirectory() as folder:
        output, own = Path(folder) / "job.out", Path(folder) / "ours.yaml"
        output.write_text("".join(words) * 3)
        text = proposal(output)
        own.write_text(text)
        assert not text or load_formats(own)


# What the proposal alone reads of other people's outputs that print in their own way.
READ = {
    "022": {"epoch_seconds_median_after_first": 5092.4415, "final_train_loss": 0.7657},
    "027": {"epoch_seconds_median_after_first": 52.2736, "final_val_accuracy": 0.6523},
    "068": {"epochs": 30, "final_train_accuracy": 0.461, "final_val_accuracy": 0.5558},
}


@pytest.mark.logs
@pytest.mark.parametrize("id_", READ)
def test_other_peoples_outputs_read_by_what_is_proposed(tmp_path, id_):
    assert LOGS is not None
    (output,) = LOGS.glob(f"{id_}_*")
    (tmp_path / "ours.yaml").write_text(proposal(output))
    (run,) = read_files([output], load_formats(tmp_path / "ours.yaml"))
    assert run.format == "ours"
    assert {name: summary(run)[name] for name in READ[id_]} == pytest.approx(READ[id_])
