"""`autograder foretell` as a user with a table runs it.

The published numbers are from TensorFlow's benchmarks of 2017, MLPerf training v2.0 (Dell), J.
Torres' book, and MegaScale (arXiv 2402.15627).
"""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from autograder.cli import main
from autograder.foretell.table import EXPECTED
from cluster.cli import main as cluster

IMAGES = "workers,samples_per_second\n1,240\n2,464\n4,892\n8,1668\n16,3075\n32,5205\n"


@pytest.fixture
def foretell(tmp_path: Path):
    def run(table: str | bytes, *words: object) -> Result:
        file = tmp_path / "table.csv"
        file.write_bytes(table if isinstance(table, bytes) else table.encode())
        done = CliRunner().invoke(main, ["foretell", str(file), *map(str, words)])
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done

    return run


@pytest.fixture
def answer(foretell):
    def run(table: str, *words: object) -> dict:
        done = foretell(table, *words, "--json")
        assert done.exit_code == 0, done.output
        return json.loads(done.output)

    return run


HELD = {  # a table, the size left out, and the true value there
    "K80, images per second": ("samples_per_second\n1,19.4\n8,146\n16,291\n32,565\n", 64, 981),
    "P100, images per second": ("samples_per_second\n1,219\n2,422\n4,852\n", 8, 1734),
    "to accuracy": (
        "seconds\n4,3732.6\n8,2007\n16,1026.0\n32,587.4\n64,331.8\n", 128, 195.6,
    ),
    "tokens per second": (
        "samples_per_second\n1,48229\n2,92376\n4,173728\n8,338376\n16,669904\n", 32, 1325568,
    ),
    "seconds per step": ("seconds\n3072,23.66\n6144,12.21\n8192,9.56\n", 12288, 6.34),
    "start to end": ("seconds\n1,2350\n2,1354\n4,842\n8,605\n16,457\n", 32, 310),
}  # fmt: skip


@pytest.mark.parametrize("name", HELD)
def test_published_truth_lies_in_a_useful_interval(name, answer):
    table, size, truth = HELD[name]
    [line] = answer(f"workers,{table}", "--at", size)["foretold"]
    low, high = line["value"]
    assert low <= truth <= high
    assert high / low < 2


def test_the_answer_is_always_an_interval(foretell):
    done = foretell(IMAGES, "--at", 64, "--at", 1024)
    assert done.exit_code == 0
    rows = [line for line in done.output.splitlines() if line.startswith(("64 ", "1,024 "))]
    assert len(rows) == 2
    assert all(row.count(" to ") == 3 for row in rows)
    for law in ("Amdahl", "Gustafson", "USL", "tree", "ring", "power"):
        assert f"\n{law} " in done.output
    assert "Karp–Flatt's fraction falls" in done.output
    assert "κ = -0.00017, below zero" in done.output
    assert "does not describe these data" in done.output


def test_without_at_twice_four_and_eight_times(answer):
    assert [line["size"] for line in answer(IMAGES)["foretold"]] == [64, 128, 256]


SAME = {  # the same runs, written in another way
    "seconds": ("workers,seconds\n1,100\n2,51\n4,27\n8,15\n", ()),
    "of another amount of work": ("workers,seconds\n1,1e1\n2,5.1\n4,2.7\n8,1.5\n", ()),
    "throughput": (
        "workers,samples_per_second\n1,1\n2,1.96078431\n4,3.7037037\n8,6.6666667\n", (),
    ),
    "speedup": ("workers,speedup\n1,1\n2,1.96078431\n4,3.7037037\n8,6.6666667\n", ()),
    "epoch": ("workers,seconds\n1,100\n2,51\n4,27\n8,15\n", ("--scaling", "epoch")),
    "weak": ("workers,seconds\n1,100\n2,102\n4,108\n8,120\n", ("--scaling", "weak")),
    "in another order, with comments": (
        "# ours\n\nseconds , workers\n15,8\n 100, 1\n\n # four\n27,4\n51,2\n", (),
    ),
    "nodes": ("workers,nodes,seconds\n1,1,100\n2,1,51\n4,1,27\n8,1,15\n", ()),
    "from a spreadsheet": (
        '\ufeff"workers","seconds"\r\n1,100\r\n2,51\r\n4,27.0\r\n8.0,15\r\n', (),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_the_same_runs_have_the_same_answer(name, answer):
    table, words = SAME[name]
    node = () if name == "nodes" else ("--per-node", 8)
    [one] = answer(SAME["seconds"][0], "--at", 16, "--per-node", 8)["foretold"]
    [other] = answer(table, "--at", 16, *words, *node)["foretold"]
    assert other["speedup"] == pytest.approx(one["speedup"], rel=1e-5)


def test_values_are_in_the_unit_of_the_table(answer):
    [line] = answer("workers,seconds\n1,100\n2,51\n4,27\n", "--at", 8)["foretold"]
    low, high = line["speedup"]
    assert line["value"] == pytest.approx([100 / high, 100 / low])


def test_repeats_are_rows_of_one_size(answer):
    table = "workers,speedup\n1,1\n2,1.9\n2,1.8\n4,3.5\n2,2.0\n"
    assert [(m["size"], m["value"]) for m in answer(table, "--at", 8)["measured"]] == [
        (1, 1), (2, 1.8), (2, 1.9), (2, 2.0), (4, 3.5),
    ]  # fmt: skip


def test_nodes_say_how_many_workers_one_has(answer):
    table = "workers,nodes,seconds\n1,1,100\n4,1,27\n6,2,20\n8,2,15\n"
    assert answer(table)["per_node"] == 4
    assert answer(table, "--per-node", 6)["per_node"] == 6


@pytest.mark.parametrize(
    ("table", "words", "remark"),
    [
        ("samples_per_second\n1,48\n2,46\n4,43\n", (), "the sum over all workers"),
        ("seconds\n1,10\n2,10.1\n4,10.5\n", (), "add --scaling weak"),
        ("seconds\n1,10\n2,10.1\n4,10.5\n", ("--scaling", "weak"), None),
        ("seconds\n4,10\n5,9\n6,8.5\n", (), None),
    ],
)
def test_values_that_hardly_improve_are_remarked_on(table, words, remark, foretell):
    output = foretell(f"workers,{table}", *words).output
    assert ("hardly faster" in output) is (remark is not None)
    assert remark is None or remark in output


def test_a_first_step_over_the_network_is_feared_and_said(foretell, answer):
    table = "workers,samples_per_second\n1,100\n2,198\n4,390\n"
    inside, outside = (
        answer(table, "--at", 8, "--per-node", node)["foretold"][0]["speedup"] for node in (8, 4)
    )
    assert inside[0] > 1.2 * outside[0]
    assert "within one node of 4" in foretell(table, "--per-node", 4).output
    assert "with --per-node" in foretell(table).output


def test_a_picture_is_written(foretell, tmp_path):
    done = foretell(IMAGES, "--at", 1024, "--picture", tmp_path / "it.png")
    assert done.exit_code == 0
    assert (tmp_path / "it.png").read_bytes().startswith(b"\x89PNG")


NO_ANSWER = {
    "two sizes": ("1,10\n2,5\n", (), "at least 3 sizes, and there are 2"),
    "too far": ("1,10\n2,5\n4,3\n", ("--at", 4096), "4,096 is too far beyond"),
    "too small": ("4,10\n8,6\n16,4\n", ("--at", 2), "below the smallest size"),
    "too many workers": ("1,10\n2,5\n1e9,4\n", (), "a whole number from 1 to 10,000,000"),
}


@pytest.mark.parametrize("name", NO_ANSWER)
def test_what_cannot_be_answered_is_one_sentence(name, foretell):
    rows, words, sentence = NO_ANSWER[name]
    refused(foretell(f"workers,seconds\n{rows}", *words), sentence)


REFUSED = {  # a file, and the message with its line
    "empty": ("", "line 1: the file has no header"),
    "only comments": ("# ours\n\n", "line 1: the file has no header"),
    "only a header": ("# ours\nworkers,seconds\n", "line 2: no row follows the header"),
    "no header": ("1,100\n2,51\n", "line 1: unknown column '1': the header is '1,100'"),
    "other names": ("\nGPUs,images/s\n1,9\n", "line 2: unknown column 'GPUs': the header"),
    "one more column": ("workers,seconds,loss\n1,9,2\n", "line 1: unknown column 'loss': "),
    "capitals": ("Workers,seconds\n1,9\n", "line 1: unknown column 'Workers': "),
    "no workers": ("nodes,seconds\n1,9\n", "line 1: the column workers is missing: "),
    "a name twice": ("workers,workers\n1,2\n", "line 1: the column workers appears twice: "),
    "no value": ("workers,nodes\n1,2\n", "line 1: exactly one of seconds, samples_"),
    "two values": ("workers,seconds,speedup\n1,9,1\n", "line 1: exactly one of seconds, "),
    "semicolons": ("workers;seconds\n1;9\n", "line 1: unknown column 'workers;seconds'"),
    "Markdown": ("| workers | seconds |\n|---|---|\n", "line 1: unknown column '| workers"),
    "decimal comma": ("workers,seconds\n1,3,5\n", "the header has 2 columns, this line 3"),
    "too few cells": ("workers,seconds\n1,3\n2\n", "line 3: the header has 2 columns, this line 1"),
    "an empty cell": ("workers,seconds\n1,\n", "line 2: seconds is '', not a number above 0"),
    "no number": ("workers,seconds\n1,9\n2,ten\n", "line 3: seconds is 'ten', not a number"),
    "a unit": ("workers,seconds\n1,9 ms\n", "line 2: seconds is '9 ms', not a number"),
    "no time": ("workers,seconds\n1,0\n", "line 2: seconds is '0', not a number above 0"),
    "negative": ("workers,seconds\n1,-4\n", "line 2: seconds is '-4', not a number above 0"),
    "infinite": ("workers,seconds\n1,1e999\n", "line 2: seconds is '1e999', not a number"),
    "not a number": ("workers,seconds\n1,nan\n", "line 2: seconds is 'nan', not a number"),
    "half a worker": ("workers,seconds\n1.5,9\n", "line 2: workers is '1.5', not a whole number"),
    "no worker": ("workers,seconds\n0,9\n", "line 2: workers is '0', not a whole number above 0"),
    "more nodes": ("workers,nodes,seconds\n1,2,9\n", "line 2: there are more nodes than workers"),
    "a picture": (b"\x89PNG\r\n\x1a\n\0\0", "line 1: this line is not UTF-8 text"),
    "Latin-1": ("workers,seconds\n# für\n1,9\n".encode("latin-1"), "line 2: this line is not"),
    "a NUL": ("workers,seconds\n1,\0\n", "line 2: "),
    "an open quote": ('workers,seconds\n1,"9\n', "line 2: this is not a CSV line"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_another_file_is_refused_with_its_line_and_the_expected_header(name, foretell, tmp_path):
    data, sentence = REFUSED[name]
    done = foretell(data)
    refused(done, sentence)
    assert done.stderr.startswith(f"Error: {tmp_path / 'table.csv'} line ")
    assert done.stderr.endswith(f". {EXPECTED}\n")


def refused(done, sentence):
    assert done.exit_code == 2
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


def test_a_file_that_is_not_there_or_a_folder(foretell, tmp_path):
    for place in (tmp_path, tmp_path / "no.csv"):
        done = CliRunner().invoke(main, ["foretell", str(place)])
        assert (done.exit_code, done.stderr) == (2, f"Error: {place} is not a file\n")


def test_a_file_of_another_kind_is_not_read_whole(foretell):
    refused(foretell("#" * 3_000_000), "more than 1,000,000 bytes")


def test_a_file_without_a_size_is_not_read_whole(monkeypatch):
    monkeypatch.setattr("autograder.foretell.table.MOST_BYTES", 10)
    refused(CliRunner().invoke(main, ["foretell", "/proc/self/status"]), "more than 10 bytes")


@pytest.mark.parametrize("words", [(), ("table.csv", "--at", "64"), ("--help",)])
def test_the_old_command_names_the_new_one(words):
    refused(CliRunner().invoke(cluster, ["foretell", *words]), "is now `autograder foretell")
    assert "foretell" not in CliRunner().invoke(cluster, ["--help"]).output
