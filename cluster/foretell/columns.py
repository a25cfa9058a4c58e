"""What a column is, by its name: workers, nodes, workers a node, a time, a throughput, a batch."""

import re
from dataclasses import dataclass

from cluster.foretell.errors import TableError
from cluster.foretell.numbers import SECONDS

WORKERS = {
    *("gpu", "gpus", "device", "devices", "worker", "workers", "rank", "ranks", "process"),
    *("processes", "procs", "proc", "task", "tasks", "ntasks", "core", "cores", "cpu", "cpus"),
    *("tpu", "tpus", "chip", "chips", "accelerator", "accelerators", "gcd", "gcds"),
}
SIZES = {"n", "p", "size", "world size", "world", "sizes"}
FILLING = {"number", "of", "num", "no", "n", "count", "total", "the", "nb", "#", "used"}
MODEL = re.compile(r"(?:nvidia|amd|intel|(?:[abhklptv]|gb|gh|mi)\d{2,3}[a-z]?s?)")
EACH = re.compile(r"(?:/|\bper|\ban?)[\s_]*(gpu|device|worker|rank|process|core|cpu|tpu|chip)s?\b")
A_NODE = re.compile(r"(?:/|\bper|\ba)[\s_]*node\b")
A_SECOND = re.compile(
    r"(?:\w/|\bper\b|\ba\b)[\s_]*(?:s|sec|second)\b|/\s*(?:s|sec|second)\b|\bips\b|flops?\b"
)
RATES = ("throughput", "images sec", "samples sec", "tokens sec", "performance")
TIMES = ("time", "duration", "elapsed", "wall", "latency", "runtime", "walltime", "ttt")
DERIVED = {
    "speedup": "rate",
    "speed up": "rate",
    "efficiency": "each",
    "scaling efficiency": "each",
}
NOT_TIMES = re.compile(
    r"(accuracy|loss|gpu hours|core hours|node hours)\b.*|epochs?|steps|seed|runs?"
)


@dataclass(frozen=True, slots=True)
class Value:
    """The column that was measured: a time (with the seconds of its unit) or a rate."""

    name: str
    kind: str  # time, rate (of all workers), each (of one worker)
    unit: float = 1.0
    unit_name: str = ""
    derived: bool = False
    to_target: bool = False  # time to accuracy, to train: work is one result, whatever the size
    a_step: bool = False


def words(name: str) -> str:
    text = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
    return re.sub(r"\s+", " ", re.sub(r"[_\-()\[\]{},.:#]", " ", text)).strip()


def role(name: str) -> str | Value | None:
    """workers, nodes, per node, local batch, global batch, scaling; a Value; or nothing known."""
    text = words(name)
    parts = [word for word in text.split() if word not in FILLING]
    bare = " ".join(word for word in parts if not MODEL.fullmatch(word)) or (
        "gpus" if parts else text
    )
    if A_NODE.search(text) and set(A_NODE.sub(" ", text).split()) & WORKERS:
        return "per node"
    if "batch" in text and not A_SECOND.search(text) and "time" not in text:
        local = EACH.search(text) or {"local", "micro", "per"} & set(text.split())
        return "local batch" if local else "global batch"
    if text in ("scaling", "kind of scaling", "mode", "scaling mode"):
        return "scaling"
    if set(bare.removeprefix("n").split()) <= WORKERS or bare in WORKERS or {bare, text} & SIZES:
        return "workers"
    if bare in ("node", "nodes"):
        return "nodes"
    return measured(name, text)


def measured(name: str, text: str) -> Value | None:
    share = text.replace("%", "").strip()
    if share in DERIVED or share.endswith(" efficiency"):
        return Value(name, DERIVED.get(share, "each"), derived=True)
    each = bool(EACH.search(text))
    if A_SECOND.search(text) or any(word in text for word in RATES):
        return Value(name, "each" if each else "rate")
    if NOT_TIMES.fullmatch(text):
        return None
    unit = unit_of(text)
    if unit is None and not any(word in text.split() for word in TIMES):
        return None
    to_target = bool(re.search(r"\bto (train|accuracy|target|quality|solution)|\bttt\b", text))
    a_step = bool(re.search(r"\bsteps?\b|\biter|\bbatch", text))
    return Value(name, "time", SECONDS[unit] if unit else 1.0, unit or "", False, to_target, a_step)


def unit_of(text: str) -> str | None:
    """The unit of a time: the last of several words that may be one."""
    found = [word for word in re.split(r"[\s/]+", text) if word in SECONDS and len(word) > 1]
    short = [word for word in re.split(r"[\s/]+", text) if word in ("s", "h")]
    return (found or short or [None])[-1]


def only(names: list[str], what: str) -> str | None:
    if len(names) > 1:
        raise TableError(f"{' and '.join(names[:3])} may all be the {what}: leave one of them")
    return names[0] if names else None
