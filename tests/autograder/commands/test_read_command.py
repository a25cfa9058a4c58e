"""`autograder read`, for people and for scripts."""

import json

import pytest
from click.testing import CliRunner

from autograder.cli import main
from tests.autograder.make_record import make_record
from tests.autograder.make_study import lines_of
from tests.autograder.reading.test_read import KERAS, TRACEBACK, UNFINISHED


def command(*arguments: object):
    return CliRunner().invoke(main, ["read", *map(str, arguments)])


FIELDS = (
    "files format outcome workers job_id epochs epoch_seconds epoch_seconds_median_after_first "
    "final_train_accuracy final_val_accuracy best_val_accuracy test_accuracy final_train_loss "
    "throughput problems scaling"
)


def test_command_prints_json(tmp_path):
    (tmp_path / "a_4711.out").write_text("\n".join(make_record(size=2, seconds=(3, 2, 1.5))))
    (tmp_path / "b.out").write_text(UNFINISHED + TRACEBACK)
    result = command(tmp_path / "a_4711.out", tmp_path / "b.out", "--json")
    assert result.exit_code == 0
    record, keras = json.loads(result.output)
    assert " ".join(record) == " ".join(keras) == FIELDS
    assert record["workers"] == 2
    assert record["epoch_seconds"] == [3, 2, 1.5]
    assert record["epoch_seconds_median_after_first"] == 1.75
    assert record["throughput"] == pytest.approx(60000 / 1.75)  # as graded
    assert record["final_val_accuracy"] is None
    (problem,) = keras["problems"]
    assert list(problem) == ["file", "line", "text", "reason"]


RECOGNISED = {"Test accuracy: 0.91": 0, KERAS: 0, "hello\nworld": 1, TRACEBACK: 1, "": 1}


@pytest.mark.parametrize("text", RECOGNISED)
@pytest.mark.parametrize("how", ["--json", None])
def test_exit_code_tells_whether_anything_was_recognised(text, how, tmp_path):
    (tmp_path / "4gpu_4711.out").write_text(text)
    result = command(tmp_path / "4gpu_4711.out", *filter(None, [how]))
    assert result.exit_code == RECOGNISED[text]
    assert len(result.stderr.splitlines()) == RECOGNISED[text]


@pytest.mark.parametrize(
    ("output", "error"),
    [("a_4711.out", "a_4711.err"), ("job.o17", "job.e17"), ("slurm-9.out", "slurm-9.err")],
)
def test_error_output_that_lies_beside_is_read_too(tmp_path, output, error):
    out, err = tmp_path / output, tmp_path / error
    (tmp_path / "b_4712.err").write_text(TRACEBACK)  # of another job
    out.write_text(UNFINISHED)
    assert command(out).output.splitlines()[0] == str(out)  # there is none
    err.write_text(TRACEBACK)
    (run,) = json.loads(command(out, "--json").output)
    assert (run["files"], run["outcome"]) == ([str(out), str(err)], "failed")
    alone = command(err).output  # only the error output was asked for
    assert alone.splitlines()[0] == str(err)


def three_sizes(*seconds: int) -> str:
    """Return runs on 1, 2 and 4 GPUs in one file, with whole seconds as Keras prints them."""
    result = "Epoch {0}/3\n98/98 - {1}s - loss: 0.5 - accuracy: 0.8 - {1}s/epoch - 10ms/step\n"
    return "".join(
        f"Training with {2**place} GPUs\n" + "".join(result.format(n, each) for n in (1, 2, 3))
        for place, each in enumerate(seconds)
    )


def test_several_sizes_in_one_file_are_compared(tmp_path):
    (tmp_path / "a.out").write_text(three_sizes(14, 8, 5))
    (tmp_path / "b.out").write_text(KERAS)
    *three, other = json.loads(command(tmp_path / "a.out", tmp_path / "b.out", "--json").output)
    assert [run["workers"] for run in three] == [1, 2, 4]
    (table,) = three[0]["scaling"]
    assert three[0]["scaling"] == three[1]["scaling"] == three[2]["scaling"]
    assert table["kind"] is None
    one, two, four = table["rows"]
    assert (one["ranks"], one["runs"], one["seconds"], one["speedup"]) == (1, 1, 14, 1)
    assert (two["from"], two["to"]) == (7.5, 8.5)
    assert (four["low"], four["high"]) == pytest.approx((13.5 / 5.5, 14.5 / 4.5))
    assert (four["speedup"], four["efficiency"]) == pytest.approx((2.80, 0.70))
    assert other["scaling"] is None
    said = command(tmp_path / "a.out").output
    [cells] = [line.split() for line in said.splitlines() if line.split()[:2] == ["4", "1"]]
    assert cells == ["4", "1", "5", "4.5", "5.5", "2.80", "2.45", "3.22", "0.70"]
    assert "speedup" not in command(tmp_path / "b.out").output


def ranks_of(*records: dict, folder) -> list[list[tuple[int, float]]]:
    """Return the ranks and speedups of each table that is made of these records, a job each."""
    files = []
    for number, record in enumerate(records):
        files.append(folder / f"job_{number}.out")
        files[-1].write_text("\n".join(make_record(run=f"{number}f0c2a91", **record)))
    tables = json.loads(command(*files, "--json").output)[0]["scaling"] or []
    return [[(row["ranks"], row["speedup"]) for row in table["rows"]] for table in tables]


def test_jobs_of_one_program_on_several_sizes_are_compared(tmp_path):
    one, two = {"size": 1, "seconds": (9, 8, 8)}, {"size": 2, "seconds": (9, 4, 4)}
    assert ranks_of(one, two, folder=tmp_path) == [[(1, 1), (2, pytest.approx(2, rel=1e-3))]]
    assert ranks_of(one, two | {"source": "torch"}, folder=tmp_path) == []
    assert ranks_of(one, two | {"precision": "float16"}, folder=tmp_path) == []


def test_a_run_that_did_not_end_well_is_not_compared(tmp_path):
    text = three_sizes(14, 8, 5).rsplit("Epoch 3/3", 1)[0]
    (tmp_path / "a.out").write_text(text)
    *_, last = json.loads(command(tmp_path / "a.out", "--json").output)
    (table,) = last["scaling"]
    assert [row["ranks"] for row in table["rows"]] == [1, 2]


def test_a_study_in_one_launch_has_a_table_for_its_kind(tmp_path):
    rounds = [(8.0, 5.0), (16.0, 9.0), (8.2, 4.9)]
    (tmp_path / "12_study_1.out").write_text("\n".join(lines_of("strong", rounds)))
    (run,) = json.loads(command(tmp_path / "12_study_1.out", "--json").output)
    (table,) = run["scaling"]
    assert table["kind"] == "strong"
    assert [(row["ranks"], row["runs"]) for row in table["rows"]] == [(1, 3), (2, 3)]
    assert table["rows"][1]["speedup"] == pytest.approx(8.2 / 4.9)
    assert "strong scaling\n" in command(tmp_path / "12_study_1.out").output


OWN = """\
lesson: ours
title: Own
points: 1
runs: {a: {where: {source: ours}, or_format: [ours]}}
checks: [{id: e, title: t, points: 1, require: [{metric: epochs, of: a, equal: 3}]}]
formats:
  - name: ours
    templates: ['pass {epoch}/{of}: loss = {train_loss} acc = {train_accuracy}% took {seconds}s']
"""


def test_an_own_format_is_read_by_its_templates(tmp_path):
    lines = [f"pass {n}/3: loss = 0.{9 - n} acc = {50 + n}.2% took 1{n}.5s\n" for n in (1, 2, 3)]
    (tmp_path / "job.out").write_text("".join(lines))
    (tmp_path / "ours.yaml").write_text(OWN)
    read = command("--formats", tmp_path / "ours.yaml", tmp_path / "job.out").output
    assert "epoch seconds                     11.5 12.5 13.5" in read
    assert "final train loss                  0.6" in read
    wrong = command("--formats", tmp_path / "job.out", tmp_path / "job.out")
    assert wrong.exit_code == 2
    assert "job.out:" in wrong.output
