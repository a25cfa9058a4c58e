"""A picture with sliders: a pipeline's schedule by stages and micro-batches.

The rows are computed here, by a learner's functions. The script only chooses and draws them. A page
that runs no JavaScript shows none; the lesson draws the first picture again below.
"""

import json
from collections.abc import Callable
from typing import Any

from lessons.toolkit.plots.figure import COLOURS
from lessons.toolkit.ranks.schedules import Orders, held, timed

STAGES, MICRO_BATCHES, KINDS = 8, 12, ("gpipe", "1f1b")

PAGE = """<div class="pipeline-sliders">
<div class="moves" hidden>
<label>stages <input type="range" name="p" min="1" max="8" value="4"></label>
<label>micro-batches <input type="range" name="m" min="1" max="12" value="8"></label>
<select name="kind"><option>gpipe</option><option selected>1f1b</option></select>
<p class="says"></p>
<svg viewBox="0 0 760 192" width="100%" style="max-width: 760px" fill="currentColor"
font-size="11"></svg></div>
<script type="application/json">PLANS</script>
<script>
{
  const box = document.currentScript.parentElement, $ = (found) => box.querySelector(found);
  const plans = JSON.parse($("script[type]").textContent);
  const draw = () => {
    const [p, m, kind] = ["p", "m", "kind"].map((name) => $(`[name=${name}]`).value);
    const plan = plans[`${kind} ${p} ${m}`], step = 690 / plan.rows[0].length;
    $(".says").textContent = plan.says;
    $("svg").innerHTML = plan.rows.map((row, stage) => {
      const boxes = [...row.matchAll(/([A-Z])|([a-z])\\2/g)].map((work) => {
        const x = 60 + step * work.index, wide = step * work[0].length;
        const number = work[0].toUpperCase().charCodeAt(0) - 65;
        const colour = work[1] ? "FORWARD" : "BACKWARD";
        return `<rect x="${x}" y="${24 * stage}" width="${wide - 1}" height="22"
          fill="${colour}"/>` + (wide < 14 ? "" : `<text x="${x + wide / 2}" fill="white"
          y="${24 * stage + 15}" text-anchor="middle">${number}</text>`);
      });
      return `<text x="0" y="${24 * stage + 15}">stage ${stage}</text>${boxes.join("")}`;
    }).join("");
  };
  box.querySelectorAll("input, select").forEach((each) => each.addEventListener("input", draw));
  $(".moves").hidden = false;
  draw();
}
</script></div>"""


def schedule_sliders(
    schedule: Callable[[int, int, str], Orders], bubble: Callable[[int, int], float]
) -> Any:
    """Return the picture for a notebook. A forward pass takes one turn, a backward pass two."""
    from IPython.display import HTML

    return HTML(page(plans_of(schedule, bubble)))


def plans_of(
    schedule: Callable[[int, int, str], Orders], bubble: Callable[[int, int], float]
) -> dict[str, dict[str, Any]]:
    """Return the rows and the sentence for each kind, number of stages and micro-batches."""
    return {
        f"{kind} {p} {m}": plan(schedule(p, m, kind), bubble(p, m), f"{kind}, {p} × {m}")
        for kind in KINDS
        for p in range(1, STAGES + 1)
        for m in range(1, MICRO_BATCHES + 1)
    }


def plan(orders: Orders, idle: float, name: str) -> dict[str, Any]:
    """Return a character per turn: a capital letter forward, a small one back, a dot idle."""
    boxes = timed(orders)
    rows = [["."] * int(max(box.end for box in boxes)) for _ in orders]
    for box in boxes:
        letter = chr(ord("A" if box.kind == "F" else "a") + box.micro_batch)
        rows[box.stage][int(box.start) : int(box.end)] = letter * int(box.end - box.start)
    most = " / ".join(f"{count:g}" for count in held(orders))
    says = f"{name}: {len(rows[0])} turns, {idle:.0%} of the time idle; held at most {most}"
    return {"rows": ["".join(row) for row in rows], "says": says}


def page(plans: dict[str, dict[str, Any]]) -> str:
    text = PAGE.replace("FORWARD", COLOURS[0]).replace("BACKWARD", COLOURS[1])
    return text.replace("PLANS", json.dumps(plans, separators=(",", ":")))
