"""One job file with several numbers of ranks, each on the nodes that it needs."""

import pytest

from cluster.jobs import gpu_share, notebook, placing
from cluster.jobs.notebook import submit_sizes
from cluster.schedulers.laptop.cores import whole_cores
from cluster.sites.site_files import FOLDER, Site


@pytest.mark.parametrize(
    ("room", "ranks", "asked"),
    [
        ("", 4, {"ntasks": "4"}),
        ("4", 8, {"ntasks": "8", "nodes": "2", "ntasks-per-node": "4"}),
        ("4", 6, {"ntasks": "6", "nodes": "2", "ntasks-per-node": "3"}),
        ("4", 5, {"ntasks": "5", "nodes": "2"}),
    ],
)
def test_nodes_follow_from_the_gpus_of_a_node(room, ranks, asked):
    settings = {"SITE_SCHEDULER": "slurm", "SITE_GPUS_PER_NODE": room}
    site = Site("x", None, settings, {})  # type: ignore[arg-type]
    assert placing.placed(ranks, site) == asked
    each = -(-ranks // int(asked.get("nodes", 1)))
    more = {"gres": f"gpu:{each}", "time": "00:30:00"}
    assert placing.placed(ranks, site, "gres=gpu:{n}") == asked | more


@pytest.mark.parametrize(
    ("settings", "cores"),
    [
        ({"SITE_CORES_PER_GPU": "18", "SITE_CORES_PER_NODE": "80"}, 18),
        ({"SITE_CORES_PER_NODE": "48", "SITE_GPUS_PER_NODE": "4"}, 12),
        ({"SITE_SCHEDULER": "laptop"}, len(whole_cores())),
        ({"SITE_SCHEDULER": "laptop", "SITE_GPUS_PER_NODE": "999"}, 1),
    ],
)
def test_cores_of_a_gpu_follow_from_what_the_site_file_says(settings, cores):
    site = Site("x", None, {"SITE_SCHEDULER": "slurm"} | settings, {})  # type: ignore[arg-type]
    assert gpu_share.cores_per_gpu(site) == cores


def choose(monkeypatch, site):
    monkeypatch.setenv("COURSE_SITE", str(FOLDER / f"{site}.sh"))


@pytest.fixture
def lesson(shell, monkeypatch):
    monkeypatch.setenv("HOME", str(shell.home))
    monkeypatch.chdir(shell.folder)
    shell.write("job.sbatch", 'echo "ran $* on $SLURM_NTASKS"', "--output=out_%j.out")
    return shell


def test_one_job_file_runs_on_every_size_and_once(lesson, capsys):
    for _ in range(2):
        found = submit_sizes("job.sbatch", "--epochs", 4, ranks=4)
        printed = [path.read_text().splitlines()[-1] for path in found]
        assert printed == [f"ran --epochs 4 on {ranks}" for ranks in (1, 2, 4)]
    assert capsys.readouterr().out.count("Submitted batch job") == 3


@pytest.mark.parametrize(
    ("site", "waited_for"), [("juwels", [4, 4, 4]), ("marenostrum5", [0, 1, 2])]
)
def test_all_sizes_wait_in_the_queue_together_where_several_may(
    lesson, monkeypatch, site, waited_for
):
    """Each count is the number of jobs present when a size is first waited for.

    Some centres allow only one job at a time.
    """
    asked, there = [], []
    monkeypatch.setattr(notebook, "submitted", lambda *words: asked.append(words[2]))

    def wait(*words, options):
        there.append(len(asked))
        if site == "marenostrum5":
            asked.append(options)
        return []

    monkeypatch.setattr(notebook, "submit_once", wait)
    choose(monkeypatch, site)
    submit_sizes("job.sbatch", ranks=8, gpus="gres=gpu:{n}")
    assert there[:3] == waited_for
    assert asked[-1] == {
        "ntasks": "8", "nodes": "2", "ntasks-per-node": "4", "gres": "gpu:4", "time": "00:30:00",
    }  # fmt: skip
    assert [options["gres"] for options in asked] == ["gpu:1", "gpu:2", "gpu:4", "gpu:4"]


@pytest.mark.parametrize(
    ("site", "ranks", "asked"),
    [
        ("laptop", 4, {"ntasks": "4", "gres": "gpu:4"}),
        ("biohpc", 4, {"ntasks": "4", "nodes": "4", "ntasks-per-node": "1", "gres": "gpu:1"}),
        ("juwels", 8, {"ntasks": "8", "nodes": "2", "ntasks-per-node": "4", "gres": "gpu:4"}),
    ],
)
def test_a_study_s_largest_size_leaves_the_node_and_has_a_gpu_for_each_rank(
    monkeypatch, site, ranks, asked
):
    choose(monkeypatch, site)
    assert notebook.two_nodes() == ranks
    assert len(placing.up_to(ranks)) >= 3
    same = asked | {"time": "00:30:00"}
    assert notebook.on_nodes(ranks, "gres=gpu:{n}") == same
