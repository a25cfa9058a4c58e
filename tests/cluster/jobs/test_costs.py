"""Tests of the costs of jobs: sacct's four columns, for every batch system."""

import subprocess

import click
import pytest

from autograder.slurm_notation import SACCT_COLUMNS
from cluster.jobs import costs
from cluster.jobs.notebook import submit_once


def row(**told):
    return "|".join(told.get(name, "") for name in SACCT_COLUMNS)


@pytest.fixture
def at(monkeypatch):
    def go(scheduler):
        site = costs.Site("here", None, {"SITE_SCHEDULER": scheduler}, {})
        monkeypatch.setattr(costs.site_files, "current", lambda name: site)

    return go


def test_slurm_is_asked_for_energy_too(at, monkeypatch, capsys):
    at("slurm")
    asked = []
    line = "77|00:10:30|billing=80,cpu=80,gres/gpu=8,node=2|5.04M"

    def pretended(words, exports):
        asked.append(words)
        return subprocess.CompletedProcess(words, 0, f"{line}\n", "")

    monkeypatch.setattr(costs.real_command, "run", pretended)
    assert costs.cost_lines(["77"]) == [line]
    assert "ConsumedEnergy" in " ".join(asked[0])
    assert "--jobs=77" in asked[0]
    assert "$ sacct -X -n -P" in capsys.readouterr().out


PBS = row(JobID="5.pbs", ElapsedRaw="93784", AllocTRES="ncpus=8,ngpus=4")


def test_pbs_is_told_in_slurms_words_and_forgets_some_jobs(at, monkeypatch, capsys):
    at("pbs")

    class Pbs:
        def records(self, labels):
            if labels != ["5.pbs"]:
                raise click.ClickException(f"qstat: Unknown Job Id {labels[0]}")
            return [PBS.split("|")]

    monkeypatch.setattr(costs, "scheduler_of", lambda site: Pbs())
    assert costs.cost_lines(["4.pbs", "5.pbs", "6.pbs"]) == ["5.pbs|1-02:03:04|cpu=8,gres/gpu=4|"]
    assert costs.cost_lines(["6.pbs"]) == []
    assert "Unknown Job Id 6.pbs" in capsys.readouterr().out


def test_nobody_knows_the_job(at, monkeypatch, capsys):
    at("slurm")
    found = [subprocess.CompletedProcess([], 1, "", "sacct: error: no database\n"),
             subprocess.CompletedProcess([], 0, "", "")]  # fmt: skip
    monkeypatch.setattr(costs.real_command, "run", lambda words, exports: found.pop(0))
    assert costs.cost_lines(["77"]) == []
    assert "no database" in capsys.readouterr().out
    assert costs.cost_lines(["77"]) == []
    assert "has no record of these jobs" in capsys.readouterr().out


def test_a_job_of_the_laptop_is_on_record(shell, monkeypatch):
    monkeypatch.setenv("HOME", str(shell.home))
    monkeypatch.chdir(shell.folder)
    shell.write("job.sbatch", "true", "--output=%x_%j.out")
    submit_once("job.sbatch", options={"ntasks": "2"}, site_name="laptop")
    [line] = costs.cost_lines(["1"], "laptop")
    job, elapsed, allocated, energy = line.split("|")
    assert (job, elapsed[:6], energy) == ("1", "00:00:", "")
    assert "cpu=2" in allocated
