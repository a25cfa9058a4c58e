"""Test on two nodes that each of the box's PMI plug-ins shows a rank where it is."""

import pytest

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

SHOW = "from cluster.launchers import launched; print(launched())"


@pytest.mark.parametrize("plug_in", ["none", "pmi2", "pmix"])
def test_four_ranks_on_two_nodes_know_their_places(plug_in, student):
    student.write("show.py", SHOW)
    job = student.submit(
        "--nodes=2 --ntasks=4 --ntasks-per-node=2 --time=2 --output=out --error=err",
        f"source /etc/profile\nmodule load dl-course\nsrun --mpi={plug_in} python show.py",
    )
    assert student.wait(job)["state"] == "COMPLETED", student.read("err")
    places = [f"rank={rank}, local_rank={rank % 2}, size=4, local_size=2" for rank in range(4)]
    shown = [f"LaunchedAs(launcher='srun', {place})" for place in places]
    assert sorted(student.read("out").splitlines()) == shown
