"""A picture of a job: its tasks on their nodes, and its times from submission to end."""

from datetime import datetime
from typing import Any

from autograder.records import Run
from cluster.schedulers import history
from lessons.toolkit.plots.figure import COLOURS, GREY, picture


@picture
def node_grid(figure: Any, run: Run, submitted: float | None = None) -> None:
    """Plot a square for each task, one row per node, and the job's stages below."""
    rows: dict[str, list[Any]] = {}
    for rank in sorted(run.ranks, key=lambda rank: (rank.host or "", rank.local_rank or 0)):
        rows.setdefault(rank.host or "unknown node", []).append(rank)
    widest = max((len(ranks) for ranks in rows.values()), default=1)
    figure.set_size_inches(7.2, 1.9 + 0.62 * max(len(rows), 1))
    axes, below = figure.subplots(2, 1, height_ratios=[max(len(rows), 1), 1.2])
    for y, ranks in enumerate(rows.values()):
        for x, rank in enumerate(ranks):
            colour = COLOURS[y % len(COLOURS)]
            axes.barh(y, 0.9, left=x + 0.05, height=0.8, color=colour, alpha=0.25, ec=colour, lw=2)
            axes.text(
                x + 0.5, y, f"rank {rank.rank}\nlocal {rank.local_rank}", ha="center", va="center"
            )
    axes.set_yticks(range(len(rows)), list(rows))
    axes.set(xlim=(0, max(widest, 4)), ylim=(len(rows) - 0.4, -0.6), xticks=[])
    axes.grid(False)
    nodes = "1 node" if len(rows) == 1 else f"{len(rows)} nodes"
    axes.set_title(f"{len(run.ranks)} of {run.workers} tasks on {nodes}", loc="left")
    axes.spines[:].set_visible(False)
    job_bar(below, run, submitted if submitted is not None else submission_time(run))


def job_bar(axes: Any, run: Run, submitted: float | None) -> None:
    axes.spines[["left"]].set_visible(False)
    axes.grid(False)
    axes.set(yticks=[], xlabel="seconds")
    try:
        started = datetime.fromisoformat(run.header.started or "").timestamp()
    except ValueError:
        axes.set_axis_off()
        axes.text(0, 0.5, "the output does not say when the job started")
        return
    lasted = run.total_seconds.value if run.total_seconds else 0.0
    waited = max(0.0, started - submitted) if submitted is not None else 0.0
    if submitted is not None:
        axes.barh(0, waited, height=0.5, color="white", edgecolor=GREY, hatch="////")
        axes.text(0, 0.35, "submitted", va="bottom", ha="left")
    axes.barh(0, lasted, left=waited, height=0.5, color=COLOURS[0])
    starts = f"started after {waited:.0f} s" if submitted is not None else "started"
    axes.text(waited, -0.35, starts, va="top", ha="left" if waited <= lasted else "right")
    end = f"ended after {waited + lasted:.0f} s" if run.total_seconds else "did not end"
    axes.text(waited + lasted, 0.35, end, va="bottom", ha="right")
    axes.set(ylim=(-1, 0.9), xlim=(0, 1.02 * (waited + lasted) or 1))


def submission_time(run: Run) -> float | None:
    """Return the time of the job's submission, if it was submitted from here."""
    submission = history.with_id(run.job_id) if run.job_id else None
    return submission.submitted if submission else None
