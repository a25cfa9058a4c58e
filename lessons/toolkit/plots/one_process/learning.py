"""Pictures of learning: a fitted curve, the loss of each step, the first layer's weights."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from lessons.toolkit.plots.figure import COLOURS, GREY, picture


@picture
def fitted_curves(
    figure: Any, x: Sequence[float], y: Sequence[float], curves: Mapping[str, Any]
) -> None:
    """Plot the points and the curves fitted to them.

    `curves`: name -> (x values, y values), drawn from light to dark.
    """
    axes = figure.subplots()
    axes.plot(x, y, "o", color=GREY, mfc="white", label=f"{len(x)} points")
    for place, (name, (across, up)) in enumerate(curves.items(), start=1):
        strength = place / len(curves)
        axes.plot(across, up, color=COLOURS[0], alpha=strength, lw=0.8 + 1.6 * strength, label=name)
    axes.set(xlabel="x", ylabel="y")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))


@picture
def losses(figure: Any, runs: Mapping[str, Sequence[float]], highest: float = 10.0) -> None:
    """Plot the loss after each step, one line per run. Values above `highest` are cut off."""
    axes = figure.subplots()
    ends = []
    for place, (name, values) in enumerate(runs.items()):
        colour = COLOURS[place % len(COLOURS)]
        inside = [v if math.isfinite(v) and v <= highest else math.nan for v in values]
        out = next((n for n, v in enumerate(inside) if math.isnan(v)), None)
        if out is not None:  # draw up to the edge only, because the loss does not come down again
            inside[out:] = [math.nan] * (len(inside) - out)
            axes.plot(out, highest, "^", color=colour, ms=10, clip_on=False)
            name = f"{name}: leaves the picture"
        axes.plot(range(len(inside)), inside, color=colour, lw=1.8, label=name)
        ends.append(len(values))
    axes.set_yscale("log")
    axes.set(xlabel="step", ylabel="loss", xlim=(0, max(ends) - 1))
    axes.set_ylim(top=highest)
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))


@picture
def weight_images(figure: Any, weights: Any, count: int = 16) -> None:
    """Show weights of the first hidden units as 28 × 28 pixels, blue above 0 and red below.

    weights: one column of 784 for each unit. The units with the largest weights are shown.
    """
    strength = (weights**2).sum(axis=0)
    units = sorted(range(weights.shape[1]), key=lambda unit: -strength[unit])[:count]
    rows = math.ceil(len(units) / 8)
    figure.set_size_inches(7.2, 1.1 * rows)
    for place, unit in enumerate(units, start=1):
        axes = figure.add_subplot(rows, 8, place)
        largest = abs(weights[:, unit]).max()
        image = weights[:, unit].reshape(28, 28)
        axes.imshow(image, cmap="RdBu", vmin=-largest, vmax=largest)
        axes.set_title(f"unit {unit}", fontsize=9, pad=2)
        axes.set_axis_off()
