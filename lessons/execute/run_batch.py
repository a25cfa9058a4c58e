"""Run each lesson as a job of the site (`lessons run --batch`), so its kernel has GPUs.

The job executes its single lesson with `lessons run`. Jobs that the lesson submits run inside that
job, as on a laptop.
"""

import contextlib
import json
import shlex
from pathlib import Path

import click

from cluster.job_file.jobfile import clock
from cluster.jobs.submit import submit
from cluster.jobs.wait import watch
from cluster.schedulers.known import scheduler_of
from cluster.sites.site_files import Site
from lessons.execute.one_lesson import LessonOutcome
from lessons.execute.plan import Plan
from lessons.execute.run_lessons import LessonsRun, Watcher
from lessons.execute.stopping import StopRequested, stoppable

CORES = {"smoke": 2, "full": 8}
SPARE = 300  # seconds of the job beyond the lesson's own limit

JOB = """#!/bin/bash
#SBATCH --job-name=lesson_{number}
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task={cores}
#SBATCH --time={time}
#SBATCH --output=%x_%j.out
#SBATCH --error=%x_%j.err
set -euo pipefail
source "${{COURSE_SITE:-$HOME/.dl-course/site.sh}}"
facts
launch {command}
"""


def write_job(plan: Plan, run: LessonsRun, edition: str, profile: str) -> Path:
    """Write the lesson's job file as a person would write it."""
    cell, whole = run.limits
    words = ["lessons", "run", plan.name[:2], "--site", "laptop"]
    words += ["--edition", edition, "--profile", profile, "--out", str(result_folder(run, plan))]
    words += ["--cell-timeout", f"{cell:g}", "--timeout", f"{whole:g}"]
    for name, value in plan.parameters.items():
        if name != "profile":
            words += ["-p", f"{name}={value!r}"]
    seconds = int(whole) + SPARE
    text = JOB.format(
        number=plan.name[:2],
        cores=CORES[profile],
        time=clock(seconds),
        command=shlex.join(words),
    )
    file = run.out / f"{plan.name}.sbatch"
    file.write_text(text)
    return file


def result_folder(run: LessonsRun, plan: Plan) -> Path:
    return run.out / f"{plan.name}_job"


def run_batch(run: LessonsRun, show: Watcher, where: Site, edition: str, profile: str) -> None:
    """Submit all jobs, wait for them, and collect their results."""
    submitted: list[tuple[Plan, str]] = []
    waiting: list[tuple[Plan, str]] = []
    try:
        with stoppable(), contextlib.chdir(run.out):
            for plan in run.plans:
                job = write_job(plan, run, edition, profile)
                submitted.append((plan, submit(Path(job.name), [], {}, where)))
                show.started(plan.name, sum(c.cell_type == "code" for c in plan.notebook.cells))
            waiting = list(submitted)
            while waiting:
                plan, label = waiting[0]
                state = ""
                for statuses in watch(label, where):
                    state = ", ".join(sorted({status.state for status in statuses}))
                    show.tick()
                waiting.pop(0)
                outcome = collect(run, plan, f"job {label}: {state}")
                run.outcomes.append(outcome)
                show.ended(outcome)
    except StopRequested as stopped:
        run.stopped_by = stopped.signum
        for plan, label in waiting or submitted:
            with contextlib.suppress(click.ClickException):  # the job has just ended
                scheduler_of(where).cancel(label)
            run.outcomes.append(
                LessonOutcome(plan.name, "stopped", error=f"job {label} was cancelled")
            )


def collect(run: LessonsRun, plan: Plan, job: str) -> LessonOutcome:
    """Return the job's own summary, or the reason why there is none."""
    try:
        summary = json.loads((result_folder(run, plan) / "summary.json").read_text())
        return LessonOutcome(**summary["lessons"][0])
    except (OSError, ValueError, LookupError, TypeError):
        errors = sorted(run.out.glob(f"lesson_{plan.name[:2]}_*.err"))
        lines = errors[-1].read_text(errors="replace").splitlines()[-12:] if errors else []
        return LessonOutcome(
            plan.name, "error", error=f"{job}, but it left no result", last_lines=lines
        )
