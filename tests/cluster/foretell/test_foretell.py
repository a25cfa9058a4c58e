"""`cluster foretell` as somebody with a table uses it. Published numbers: TensorFlow's benchmarks
of 2017, MLPerf training v2.0 (Dell), J. Torres' book, MegaScale (arXiv 2402.15627)."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cluster.cli import main

IMAGES = "GPUs,images/s\n1,240\n2,464\n4,892\n8,1668\n16,3075\n32,5205\n"


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


HELD = {  # a table, the size behind it, the truth there
    "K80, images/s": ("GPUs,images/s\n1,19.4\n8,146\n16,291\n32,565\n", 64, 981),
    "P100, images/s": ("GPU count;img/sec\n1;219\n2;422\n4;852\n", 8, 1734),
    "minutes to accuracy": (
        "# GPUs,Time to train (minutes)\n4,62.21\n8,33.45\n16,17.10\n32,9.79\n64,5.53\n", 128, 3.26,
    ),
    "tokens/s a GPU": (
        "| GPUs | tokens/s a GPU |\n|---:|---:|\n| 1 | 48,229 |\n| 2 | 46,188 |\n| 4 | 43,432 |\n"
        "| 8 | 42,297 |\n| 16 | 41,869 |\n", 32, 41424,
    ),
    "seconds a step": ("gpus,seconds a step\n3072,23.66\n6144,12.21\n8192,9.56\n", 12288, 6.34),
    "start to end": (
        "workers\tseconds\n1\t2350\n2\t1354\n4\t842\n8\t605\n16\t457\n", 32, 310,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HELD)
def test_published_truth_lies_in_a_useful_interval(name, answer):
    table, size, truth = HELD[name]
    [line] = answer(table, "--at", size)["foretold"]
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


SAME = {  # the same runs, said otherwise
    "seconds": ("GPUs,s\n1,100\n2,51\n4,27\n8,15\n", ()),
    "milliseconds": ("GPUs,epoch time (ms)\n1,100000\n2,51000\n4,27000\n8,15000\n", ()),
    "minutes in cells": ("ranks,time\n1,1:40\n2,51 s\n4,0.45 min\n8,0.25 min\n", ()),
    "throughput": ("GPUs,samples/sec\n1,1\n2,1.96078431\n4,3.7037037\n8,6.6666667\n", ()),
    "per GPU": ("GPUs,samples/s/GPU\n1,1\n2,.980392157\n4,.925925926\n8,.833333333\n", ()),
    "speedup": ("n,speedup\n1,1\n2,1.96078431\n4,3.7037037\n8,6.6666667\n", ()),
    "weak": ("GPUs,s,scaling\n1,100,weak\n2,102,weak\n4,108,weak\n8,120,weak\n", ()),
    "weak by option": ("GPUs,s\n1,100\n2,102\n4,108\n8,120\n", ("--scaling", "weak")),
    "other order, with notes": ("# ours\nGPUs,s,loss\n8,15,1\n1,100,2\n\n4,27,3\n2,51,4\n", ()),
    "one of two models": (
        "model,GPUs,s\na,1,100\na,2,51\na,4,27\na,8,15\nb,1,7\n", ("--only", "model=a"),
    ),
    "one of two values": ("GPUs,s,images/s\n1,100,1\n2,51,1\n4,27,1\n8,15,1\n", ("--value", "s")),
    "nodes and GPUs a node": ("nodes,GPUs per node,s\n1,1,100\n1,2,51\n1,4,27\n1,8,15\n", ()),
    "what failed is left out": ("GPUs,s\n1,100\n2,51\n4,27\n8,15\n16,OOM\n", ()),
    "a mark of the byte order": ("\ufeffGPUs,s\r\n1,100\r\n2,51\r\n4,27\r\n8,15\r\n", ()),
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_the_same_runs_have_the_same_answer(name, answer):
    table, words = SAME[name]
    node = () if "node" in name else ("--per-node", 8)
    [one] = answer(SAME["seconds"][0], "--at", 16, "--per-node", 8)["foretold"]
    [other] = answer(table, "--at", 16, *words, *node)["foretold"]
    assert other["speedup"] == pytest.approx(one["speedup"], rel=1e-5)


def test_values_are_in_the_unit_of_the_table(answer):
    tables = ("GPUs,s\n1,100\n2,51\n4,27\n", "GPUs,min\n1,1.6666667\n2,.85\n4,.45\n")
    [[seconds], [minutes]] = [answer(table, "--at", 8)["foretold"] for table in tables]
    assert seconds["value"] == pytest.approx([60 * v for v in minutes["value"]], rel=1e-6)
    low, high = seconds["speedup"]
    assert seconds["value"] == pytest.approx([100 / high, 100 / low])


def test_a_first_step_over_the_network_is_feared_and_said(foretell, answer):
    table = "GPUs,images/s\n1,100\n2,198\n4,390\n"
    inside, outside = (
        answer(table, "--at", 8, "--per-node", node)["foretold"][0]["speedup"] for node in (8, 4)
    )
    assert inside[0] > 1.2 * outside[0]
    assert "within one node of 4" in foretell(table, "--per-node", 4).output
    assert "say how many a node has with --per-node" in foretell(table).output


def test_a_changed_local_batch_is_said_and_widens(answer):
    rows = [(4, 62, 408), (8, 33, 816), (16, 17, 1632), (32, 9.8, 3264), (64, 5.5, 13056)]
    plain = "GPUs,minutes to accuracy\n" + "".join(f"{n},{t}\n" for n, t, _ in rows)
    batch = "GPUs,minutes to accuracy,global batch\n" + "".join(
        f"{n},{t},{b}\n" for n, t, b in rows
    )
    one, other = answer(plain, "--at", 128), answer(batch, "--at", 128)
    assert any("batch of one worker changes" in remark for remark in other["remarks"])
    low, high = one["foretold"][0]["speedup"]
    assert other["foretold"][0]["speedup"][0] < low
    assert other["foretold"][0]["speedup"][1] > high


def test_a_picture_is_written(foretell, tmp_path):
    done = foretell(IMAGES, "--at", 1024, "--picture", tmp_path / "it.png")
    assert done.exit_code == 0
    assert (tmp_path / "it.png").read_bytes().startswith(b"\x89PNG")


REFUSED = {
    "two sizes": ("GPUs,s\n1,10\n2,5\n", (), "3 sizes are needed, and there are 2"),
    "too far": (IMAGES, ("--at", 4096), "4,096 is too far beyond"),
    "too small": ("GPUs,s\n4,10\n8,6\n16,4\n", ("--at", 2), "below the smallest size"),
    "weak or not": ("GPUs,s\n1,10\n2,10.1\n4,10.5\n", (), "Say --scaling strong, epoch or weak"),
    "whose throughput": (
        "GPUs,tokens/s\n1,48229\n2,46188\n4,43432\n8,42297\n", (), "(--per-worker) or of all",
    ),
    "not one's throughput": (
        "GPUs,images/s per GPU\n1,240\n2,464\n4,892\n", (), "grows like a throughput of all",
    ),
    "two models": ("model,GPUs,s\na,1,9\na,2,5\nb,1,9\nb,2,5\n", (), "--only 'model=a'"),
    "two values": ("GPUs,s,images/s\n1,9,1\n2,5,2\n", (), "choose with --value 's'"),
    "no size": ("model,s\n1,9\n2,5\n", (), "no column is a size"),
    "no value": ("GPUs,loss\n1,9\n2,5\n", (), "no column is a time or a throughput"),
    "nodes and workers": ("nodes,GPUs per node,GPUs,s\n1,4,8,9\n", (), "is not nodes × workers"),
    "two scalings": (
        "GPUs,s,scaling\n1,9,weak\n2,9,strong\n4,9,weak\n", (), "are two studies",
    ),
    "half a worker": ("GPUs,s\n1.5,9\n", (), "a whole number above 0"),
    "no time": ("GPUs,s\n1,0\n2,5\n4,3\n", ("--scaling", "strong"), "has to be above 0"),
    "not a number": ("GPUs,s\n1,ten\n2,5\n", (), "line 2: s is 'ten'; that is no number"),
    "infinite": ("GPUs,s\n1,1e999\n2,5\n", (), "no finite number"),
    "decimal comma": ("GPUs;s\n1;3,5\n2;2,5\n", (), "write decimals with a point"),
    "unknown unit": ("GPUs,s\n1,3 weeks\n2,5\n", (), "'weeks' is no unit of time"),
    "ragged": ("GPUs,s\n1,48,229\n", (), "line 2: 3 cells under 2 names"),
    "empty": ("", (), "is empty"),
    "only names": ("GPUs,s\n", (), "no row"),
    "a name twice": ("GPUs,GPUs\n1,2\n", (), "each once"),
    "no text": (b"\x89PNG\r\n\x1a\n\0\0", (), "no text"),
    "zeros": (b"GPUs,s\n1,\0\n", (), "no text"),
    "an open quote": ('GPUs,s\n1,"9\n', (), "is no row of a table"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_said_is_one_sentence(name, foretell):
    table, words, sentence = REFUSED[name]
    done = foretell(table, *words)
    assert done.exit_code == 2
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


def test_a_file_that_is_not_there_or_a_folder(foretell, tmp_path):
    for place in (tmp_path, tmp_path / "no.csv"):
        done = CliRunner().invoke(main, ["foretell", str(place)])
        assert (done.exit_code, done.stderr) == (2, f"Error: {place} is not a file\n")
