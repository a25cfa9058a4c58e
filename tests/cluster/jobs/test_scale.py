"""A scaling study of a program that prints what Keras prints."""

import pytest
from click import UsageError

from autograder.measuring import study_table
from autograder.measuring.size_table import comparable, text
from autograder.records import Epoch, Number, Run
from cluster.jobs import scale_picture, scale_rounds
from cluster.jobs.scale import numbers, planned
from cluster.sites.site_files import Site
from tests.autograder.make_record import some_rounds
from tests.autograder.make_run import make_run
from tests.autograder.make_study import lines_of, study

# Times that halve exactly, so the table is known in advance.
PROGRAM = """
import os
from pathlib import Path
ranks = int(os.environ["SLURM_NTASKS"])
for epoch in (1, 2, 3):
    print(f"Epoch {epoch}/3")
    print(f"100/100 - {8 // ranks}s - {80 // ranks}ms/step - accuracy: 0.9 - loss: 0.5")
"""


def run(size: int, *seconds: float, scaling: str = "strong", samples: int = 100) -> Run:
    epochs = tuple(
        Epoch(number, Number(value), unique_samples=samples)
        for number, value in enumerate(seconds, start=1)
    )
    header = {"scaling": scaling, "world_size": size}
    return make_run(
        (f"out_{size}",), "record", "completed", workers=size, epochs=epochs, header=header
    )


def cells(runs: list[Run]) -> list[list[str]]:
    return [line.split() for line in text(comparable(runs)).splitlines()[1:]]


def test_times_are_compared_with_the_fewest_ranks():
    rows = cells([run(2, 9, 4, 4), run(1, 9, 8, 8), run(4, 9, 4, 4)])
    assert [row[0] for row in rows] == ["1", "2", "4"]
    assert [row[2] for row in rows] == ["8", "4", "4"]
    assert [row[5] for row in rows] == ["1.00", "2.00", "2.00"]
    assert [row[-1] for row in rows] == ["1.00", "1.00", "0.50"]


def test_repeats_give_a_median_and_a_range():
    ((size, jobs, seconds, low, high, *_),) = cells([run(1, 9, s, s) for s in (7, 8, 12)])
    assert (size, jobs, seconds, low, high) == ("1", "3", "8", "7", "12")


def test_weak_scaling_is_efficient_when_the_time_stays():
    rows = cells([run(1, 9, 8, 8, scaling="weak"), run(2, 9, 8, 8, scaling="weak", samples=200)])
    assert [row[-1] for row in rows] == ["1.00", "1.00"]


def test_other_work_is_not_compared():
    said = text(comparable([run(1, 9, 8, 8), run(2, 9, 2, 2, samples=50)]))
    assert "out_2 is not comparable: one reads 100 different samples" in said
    assert len(said.splitlines()) == 3


def speed_job(size: int, *seconds: tuple[float, float, float]) -> Run:
    measures = some_rounds(*seconds)
    return make_run((f"out_{size}",), "record", "completed", workers=size, measures=measures)


def test_speed_jobs_bring_their_own_comparison():
    slow = speed_job(2, (1, 1, 2), (2, 2, 4), (3, 3, 6))
    fast = speed_job(8, (1, 1, 1), (2, 2, 2), (3, 3, 3))
    two = speed_job(4, (1, 1, 1))
    head, *rows, remark = scale_rounds.table([fast, two, slow, slow]).splitlines()
    assert head.split() == ["ranks", "jobs", "speedup", "range", "ceiling", "share", "range"]
    first = ["2", "2", "1.00", "1.00", "to", "1.00", "2.00", "0.50", "0.50", "to", "0.50"]
    assert rows[0].split() == first
    assert rows[1].split()[:3] == ["8", "1", "8.00"]
    assert remark == "out_4: the run measured 1 round, of at least 3"
    assert scale_rounds.table([run(1, 9, 8, 8)]) == ""


def test_nodes_follow_from_the_gpus_of_a_node():
    where = Site("x", None, {"SITE_GPUS_PER_NODE": "4"}, {})  # type: ignore[arg-type]
    plan = planned([1, 8], 2, {"time": "5"}, where)
    assert (
        plan
        == [
            {"time": "5", "ntasks": "1", "nodes": "1"},
            {"time": "5", "ntasks": "8", "nodes": "2", "ntasks-per-node": "4"},
        ]
        * 2
    )
    by_hand = planned([8], 1, {"nodes": "1"}, where)
    assert by_hand == [{"nodes": "1", "ntasks": "8"}]


def test_numbers_of_ranks():
    assert numbers("4,1,2,2") == [1, 2, 4]
    for wrong in ("0,1", "a", "", "1,,2"):
        with pytest.raises(UsageError):
            numbers(wrong)


@pytest.mark.parametrize("weak", [False, True])
def test_every_job_is_a_point_of_the_picture(tmp_path, monkeypatch, weak):
    from matplotlib.figure import Figure

    drawn: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, file: drawn.append(figure))
    known = comparable([run(n, 9, s, s) for n in (1, 2) for s in (8.0 / n, 12.0 / n)])
    scale_picture.draw(tmp_path / "picture.png", known.by_size, weak)
    axes = drawn[0].axes[0]
    ideal, *_, medians = axes.lines
    assert list(ideal.get_ydata()) == [1, 2]
    points = [bars.lines[0].get_ydata() for bars in axes.containers]
    gains = [10 / 8, 10 / 12]
    assert list(points[0]) == pytest.approx(gains)
    assert list(points[1]) == pytest.approx([2 * (2 if weak else 1) * gain for gain in gains])
    assert medians.get_ydata()[1] == pytest.approx((4 if weak else 2) * (gains[0] + gains[1]) / 2)


@pytest.mark.slow
def test_a_study_on_the_laptop(shell):
    (shell.folder / "program.py").write_text(PROGRAM)
    job = shell.write("job.sbatch", "python program.py", "--output=%x_%j.out")
    done = shell.cluster("scale", "--ranks", "1,2", "--repeat", "2", job)
    assert "sbatch --ntasks=2 --dependency=afterany:1 job.sbatch" in done.stderr
    assert "autograder read" in done.stderr
    printed = [line.split() for line in done.stdout.splitlines()]
    rows = {row[0]: row for row in printed if row and row[0] in ("1", "2")}
    assert [rows[size][1:3] for size in ("1", "2")] == [["2", "8"], ["2", "4"]]
    assert rows["2"][5] == "2.00"
    assert len(list(shell.folder.glob("*.out"))) == 4
    picture = shell.folder / "job_speedup.png"
    assert f"The picture: {picture}\n" in done.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")
    refused = shell.cluster("scale", "--ranks", "1,2", "-o", "same.out", job, ok=False)
    assert "each job of the study overwrites the previous output" in refused.stderr
    shell.write("bad.sbatch", "exit 1")
    refused = shell.cluster("scale", "--ranks", "1", "bad.sbatch", ok=False)
    assert "no job succeeded" in refused.stderr


def test_a_study_in_one_launch_gets_the_table_of_its_report(shell, tmp_path):
    """Without --ranks, outputs that exist already are read."""
    kinds = ("strong", "epoch", "weak")
    rounds = [(8.0, 5.0), (16.0, 9.0), (8.2, 4.9)]
    for number, kind in enumerate(kinds):
        text = "\n".join(lines_of(kind, rounds, run=f"{number}f0c2a91"))
        (tmp_path / f"12_study_{number}.out").write_text(text)
    files = sorted(str(file) for file in tmp_path.glob("*.out"))
    done = shell.cluster("scale", *files)
    tables = done.stdout.split("\n\n")
    assert [told.split()[0] for told in tables] == list(kinds)
    for told, kind in zip(tables, kinds, strict=True):
        rows = study_table.rows(study(kind, rounds))
        printed = [line.split() for line in told.strip().splitlines()[1:]]
        assert printed == [list(study_table.HEAD), *(row.cells for row in rows)]


@pytest.mark.parametrize(
    ("words", "said"),
    [([], "name --ranks and a job file"), (["job.sbatch"], "--ranks is missing"),
     (["gone.out"], "gone.out is not there")],
)  # fmt: skip
def test_scale_without_ranks_says_what_it_wants(shell, words, said):
    refused = shell.cluster("scale", *words, ok=False)
    assert said in refused.stderr
