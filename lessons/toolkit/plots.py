"""The lessons' pictures: functions of what was read from outputs, or of plain lists.

They measure with autograder.measuring, so that a picture shows what is graded. Each returns a
Figure, which a notebook shows and `figure.savefig("name.png")` keeps.
"""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import Any

from autograder.measuring import measure
from autograder.records import Epoch, Number, Run

# Okabe and Ito's colours, which colour-blind readers can tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = "osD^vP"
GREY = "#595959"
STYLE: Any = {
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E0E0E0",
    "hatch.linewidth": 0.8,
    "legend.frameon": False,
    "figure.dpi": 100,
}

Seconds = Run | Sequence[float]


def picture(draw: Callable[..., None]) -> Callable[..., Any]:
    """Give a drawing function an empty figure in the course's style and return it drawn."""

    @wraps(draw)
    def drawn(*data: Any, **options: Any) -> Any:
        import io

        import matplotlib
        from matplotlib.figure import Figure

        class Picture(Figure):  # without pyplot, which would show the figure a second time
            def _repr_png_(self) -> bytes:
                png = io.BytesIO()
                self.savefig(png, format="png")
                return png.getvalue()

        with matplotlib.rc_context(STYLE):
            figure = Picture(figsize=(7.2, 4), layout="constrained", facecolor="white")
            draw(figure, *data, **options)
        return figure

    return drawn


@picture
def images(figure: Any, pixels: Any, labels: Sequence[Any]) -> None:
    """A row of pictures with their labels, eight a row."""
    rows = math.ceil(len(pixels) / 8)
    figure.set_size_inches(7.2, 1.15 * rows)
    for number, (image, label) in enumerate(zip(pixels, labels, strict=True), start=1):
        axes = figure.add_subplot(rows, 8, number)
        axes.imshow(image, cmap="gray_r" if image.ndim == 2 else None)
        axes.set_title(str(label), fontsize=11, pad=2)
        axes.set_axis_off()


@picture
def epoch_bars(figure: Any, runs: Mapping[str, Seconds]) -> None:
    """Seconds of each epoch, the first hatched; a line at the time of an epoch that counts."""
    axes = figure.subplots()
    width = 0.8 / max(len(runs), 1)
    most = 1
    for place, (name, run) in enumerate(runs.items()):
        colour = COLOURS[place % len(COLOURS)]
        seconds = seconds_of(run)
        most = max(most, len(seconds))
        centres = [n + (place + 0.5) * width - 0.4 for n in range(1, len(seconds) + 1)]
        bars = axes.bar(
            centres,
            [number.value for number in seconds],
            width * 0.92,
            color=colour,
            yerr=rounding(seconds),
            error_kw={"ecolor": "black", "capsize": 3},
        )
        for bar in bars[:1]:
            bar.set(facecolor="white", edgecolor=colour, hatch="////")
        time = measure.measured_or_none(measure.epoch_time, as_run(run))
        if time:
            axes.hlines(
                time.value, centres[1] - width / 2, centres[-1] + width / 2, "black", lw=1.2
            )
            name = f"{name}: {digits(time.value)} s an epoch ({time.basis})"
        axes.bar(0, 0, color=colour, label=name)
    axes.bar(
        0, 0, facecolor="white", edgecolor=GREY, hatch="////", label="first epoch: not counted"
    )
    axes.set(xlabel="epoch", ylabel="training time in s", xticks=range(1, most + 1))
    axes.set_xlim(0.5, most + 0.5)
    axes.grid(False, axis="x")
    figure.legend(loc="outside upper left", ncols=1)


@picture
def accuracy_curves(figure: Any, runs: Mapping[str, Run]) -> None:
    """Training accuracy after each epoch, and the test accuracy at the end."""
    axes = figure.subplots()
    last = 1
    for place, (name, run) in enumerate(runs.items()):
        look = {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)]}
        for which, line in (("train_accuracy", "-"), ("val_accuracy", ":")):
            known = [(e.number, getattr(e, which).value) for e in run.epochs if getattr(e, which)]
            if known:
                what = "training" if which == "train_accuracy" else "validation"
                axes.plot(*zip(*known, strict=True), line, **look, label=f"{name}, {what}")
                last = max(last, known[-1][0])
        if run.test_accuracy is not None:
            end = run.epochs[-1].number if run.epochs else 1
            value = run.test_accuracy.value
            axes.plot(
                end + 0.15, value, ls="", **look, mfc="white", ms=10, mew=2,
                label=f"{name}, test: {value:.4f}",
            )  # fmt: skip
    axes.set(xlabel="epoch", ylabel="accuracy", xticks=range(1, last + 1))
    axes.set_xlim(0.8, last + 0.4)
    if axes.lines:
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))


@picture
def speedup(figure: Any, runs: Sequence[Run] | Mapping[int, Sequence[float]]) -> None:
    """Speedup against workers, every repeat a point, the ideal dashed, the numbers below.

    runs: what was read from outputs, or {workers: seconds of an epoch, one for each repeat}.
    """
    points, left_out = repeats(runs)
    if not points:
        raise ValueError("There is no epoch time to draw: " + "; ".join(left_out or ["no runs"]))
    figure.set_size_inches(7.2, 4.4 + 0.28 * len(points))
    axes, below = figure.subplots(2, 1, height_ratios=[4, 0.4 + 0.3 * len(points)])
    counts = sorted(points)
    base = measure.middle(points[counts[0]])
    ideal = [count / counts[0] for count in counts]
    axes.plot(counts, ideal, "--", color=GREY, label="ideal")
    rows = []
    for count in counts:
        gains = [
            gain
            for t in points[count]
            if (gain := measure.measured_or_none(measure.ratio, base, t))
        ]
        values = [gain.value for gain in gains]
        errors = [[g.value - g.low for g in gains], [g.high - g.value for g in gains]]
        axes.errorbar(
            [count] * len(gains), values, errors, fmt="o", color=COLOURS[0], ecolor="#9DC3DC",
            capsize=3, alpha=0.8, label="one run each" if count == counts[0] else None,
        )  # fmt: skip
        typical = statistics.median(values)
        times = [time.value for time in points[count]]
        spread = f"{digits(min(times))} to {digits(max(times))}" if len(times) > 1 else "one run"
        efficiency = f"{100 * typical * counts[0] / count:.0f} %"
        median = digits(statistics.median(times))
        rows.append([str(count), str(len(times)), median, spread, f"{typical:.2f}", efficiency])
    medians = [float(row[4]) for row in rows]
    axes.plot(counts, medians, "-", color=COLOURS[0], lw=1, label="median")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:g}")
    axes.set(xlabel="workers", ylabel=f"speedup over {counts[0]}", xticks=counts)
    axes.legend(loc="upper left")
    table(below, ["workers", "runs", "epoch in s", "from … to", "speedup", "efficiency"], rows)
    if left_out:
        figure.supxlabel("left out: " + "; ".join(left_out), fontsize=9, color=GREY, wrap=True)


@picture
def node_grid(figure: Any, run: Run, submitted: float | None = None) -> None:
    """A square for each task in the row of its node; below, the job from submission to end."""
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
        started = datetime.fromisoformat(run.header["started"]).timestamp()
    except (KeyError, TypeError, ValueError):
        axes.set_axis_off()
        axes.text(0, 0.5, "the output does not tell when the job started")
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
    """When the job was submitted, if it was from here."""
    from cluster.schedulers import history

    submission = history.with_id(run.job_id) if run.job_id else None
    return submission.submitted if submission else None


def table(axes: Any, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    axes.set_axis_off()
    drawn = axes.table(rows, colLabels=head, cellLoc="center", loc="center", edges="horizontal")
    drawn.auto_set_font_size(False)
    drawn.set_fontsize(11)
    drawn.scale(1, 1.4)


def repeats(
    runs: Sequence[Run] | Mapping[int, Sequence[float]],
) -> tuple[dict[int, list[measure.Measure]], list[str]]:
    """Epoch times by workers, and the runs that cannot be compared with those of fewest workers."""
    if isinstance(runs, Mapping):
        return {
            count: [measure.exact(value, "s") for value in seconds]
            for count, seconds in runs.items()
        }, []
    points: dict[int, list[measure.Measure]] = {}
    left_out = []
    ordered = sorted(runs, key=lambda run: measure.workers(run) or 1)
    for run in ordered:
        name = ", ".join(Path(file).name for file in run.files)
        try:
            time = measure.epoch_time(run)
        except measure.NotMeasured as missing:
            left_out.append(f"{name}: {missing.reason}")
            continue
        unlike = measure.different_work(ordered[0], run) + measure.different_hardware(
            ordered[0], run
        )
        if unlike:
            left_out.append(f"{name}: {'; '.join(unlike)}")
        else:
            points.setdefault(measure.workers(run) or 1, []).append(time)
    return points, left_out


def digits(value: float) -> str:
    """Three significant digits: 10.2, 3.00, 215."""
    return f"{value:#.3g}".rstrip(".")


def seconds_of(run: Seconds) -> list[Number]:
    if isinstance(run, Run):
        return [epoch.seconds or Number(0.0) for epoch in run.epochs]
    return [Number(float(value)) for value in run]


def as_run(run: Seconds) -> Run:
    if isinstance(run, Run):
        return run
    epochs = (Epoch(n, seconds) for n, seconds in enumerate(seconds_of(run), start=1))
    return Run(files=(), format="list", outcome="completed", epochs=tuple(epochs))


def rounding(seconds: Sequence[Number]) -> list[float] | None:
    """Whiskers of what the log rounded away; none if it rounded nothing."""
    halves = [number.half_width for number in seconds]
    coarse = any(number.half_width > 0.01 * number.value for number in seconds)
    return halves if coarse else None
