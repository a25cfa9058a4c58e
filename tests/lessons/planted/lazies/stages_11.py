"""The laziest ways through lesson 11: the stages of a pipeline."""

from tests.lessons.planted.lazy import Lazy, LazyTable

TWO, SPEED = "right stages", "speed"
SERIAL = {"as-serial": "relative error against one process"}
NOTHING = dict.fromkeys(("parts", "as-serial"), "ranks that took part: 1 rank")  # the run on one
TINY = (("speed.py", "default=512,", "default=64,"), ("speed.py", "default=2048,", "default=64,"))
RIGHT = """
orders = []
for stage in range(stages):
    ahead = {ahead}
    order = [("F", k) for k in every[:ahead]]
    for k in every:
        order.append(("B", k))
        if k + ahead < micro_batches:
            order.append(("F", k + ahead))
    orders.append(order)
return orders
"""
SENDS_ON = """
if stage.before is not None:
    x = x.new_empty(len(x), stage.width)
    dist.recv(x, stage.before, group=stage.down)
    x.requires_grad_()
outputs = stage.layers({into})
if stage.after is not None:
    sent.append(dist.isend({out}, stage.after, group=stage.down))
return x, outputs
"""
SENDS_BACK = """
gradient = None
if stage.after is not None:
    gradient = torch.empty_like(outputs)
    dist.recv(gradient, stage.after, group=stage.up)
{back}
if stage.before is not None:
    sent.append(dist.isend({out}, stage.before, group=stage.up))
"""
HALF = "outputs.backward(gradient) if stage.after is None else outputs.sum().backward()"


def of(code: str, loses: dict[str, str], base: str = TWO, **more: str) -> Lazy:
    return Lazy(code, loses, base=base, beside=TINY if base == SPEED else (), **more)


FILLED = """
bounds = [0]
for stage in range(1, stages):
    at = bounds[-1] + 1
    while at < len(costs) - (stages - stage) and sum(costs[:at]) < stage * sum(costs) / stages:
        at += 1
    bounds.append(at)
return [*bounds, len(costs)]"""
SCHEDULE = "plan.py 11.3: gpipe: all F, then all B; 1f1b: a B as soon as there is one"
TABLE: LazyTable = {
    "plan.py 11.1": {
        "equally many": of(
            "return [s * len(costs) // stages for s in range(stages + 1)]",
            {"parts": "excess weight of the heaviest stage"},
        ),
        "one layer each, the last the rest": of(
            "return [*range(stages), len(costs)]", {"parts": "excess weight of the heaviest stage"}
        ),
        "filled one after the other": of(FILLED, {"parts": "excess weight of the heaviest stage"}),
        "all on every rank": of("return [0, len(costs)]", NOTHING, start="fails"),
    },
    SCHEDULE: {
        "always gpipe": of(
            "return [[(p, k) for p in 'FB' for k in every] for _ in range(stages)]",
            {"schedule": "micro-batches held at once, as scheduled"},
        ),
        "always 1f1b": of(
            RIGHT.format(ahead="min(micro_batches, stages - stage)"),
            {"schedule": "micro-batches held at once, as scheduled"},
        ),
        "one after the other": of(
            RIGHT.format(ahead="1"), {"schedule": "idle time beyond what is necessary"}
        ),
        "one after the other, timed": of(
            RIGHT.format(ahead="1"), {"schedule": "of_rank 0: 1"}, base=SPEED
        ),
    },
    "plan.py 11.3: stage, replica, and the ranks that hold the same layers": {
        "its rank": of(
            "return rank, 0, [rank]", {"schedule": "ranks in the wrong place in the grid"}
        ),
        "everybody holds the same": of(
            "return rank % stages, rank // stages, list(range(stages * replicas))",
            {"schedule": "ranks in the wrong place in the grid"},
        ),
    },
    "pipeline.py 11.4: x, or what the stage before sends, through the layers, sent on": {
        "zeros are sent on": of(SENDS_ON.format(into="x", out="torch.zeros_like(outputs)"), SERIAL),
        "what came is not looked at": of(
            SENDS_ON.format(into="0 * x", out="outputs.detach()"), SERIAL
        ),
        "nobody sends": of("return x, stage.layers(x)", NOTHING, start="fails"),
        "what came is not looked at, timed": of(
            SENDS_ON.format(into="0 * x", out="outputs.detach()"),
            {"speed": "relative error of the gradients"},
            base=SPEED,
        ),
    },
    "pipeline.py 11.4: the gradient of outputs comes in, that of x goes out": {
        "zeros are sent back": of(
            SENDS_BACK.format(back="outputs.backward(gradient)", out="torch.zeros_like(x)"), SERIAL
        ),
        "the gradient that came is not looked at": of(
            SENDS_BACK.format(back=HALF, out="x.grad"), SERIAL
        ),
        "zeros are sent back, timed": of(
            SENDS_BACK.format(back="outputs.backward(gradient)", out="torch.zeros_like(x)"),
            {"speed": "relative error of the gradients"},
            base=SPEED,
        ),
    },
}
