"""Records of a scaling study in one launch, written from docs/run-record.md alone."""

from tests.autograder.in_memory import read_bytes
from tests.autograder.make_record import make_record, some_rounds

FACTS = {"source": "study", "model": "resnet20", "params": 272282, "started_by": ["mpirun"]}
# Kind -> (local batch per rank, samples in total) on p ranks; one rank has 64 and 512.
WORK = {
    "strong": lambda p: (64 // p, 512),
    "epoch": lambda p: (64, 512),
    "weak": lambda p: (64, 512 * p),
}


def points(kind, rounds, *, sizes=(1, 2), work=None, **more):
    """Return the measures of a study from the seconds of each size in each round."""
    found = []
    for number, seconds in enumerate(rounds, start=1):
        for size, value in zip(sizes, seconds, strict=True):
            batch, samples = (work or WORK[kind])(size)
            found.append(
                {"name": "point", "value": value, "unit": "s", "round": number, "ranks": size,
                 "local_batch": batch, "steps": -(-samples // (batch * size)), "samples": samples,
                 "read": samples, "moved": 0.1, "spread": 0.0} | more
            )  # fmt: skip
    return tuple(found)


def lines_of(
    kind, rounds, *, sizes=(1, 2), run="5f0c2a91", silent=None, work=None, params=None, **more
):
    """Return a record's lines; `silent` adds the rounds of a weak study to its points."""
    facts = FACTS | ({"params": params} if params else {})
    measures = points(kind, rounds, sizes=sizes, work=work, **more)
    if silent:
        phases = [(r[0], quiet, r[-1]) for r, quiet in zip(rounds, silent, strict=True)]
        measures += some_rounds(*phases)
    total = 5 + sum(map(sum, rounds)) + sum(silent or ())
    return make_record(
        lesson="12", run=run, size=max(sizes), seconds=(), scaling=kind, measures=measures,
        total=total, test_accuracy=None, epochs_asked=None, **facts,
    )  # fmt: skip


def study(kind, rounds, **more):
    """Return the study's runs as grading reads them."""
    return read_bytes({f"12_study_{kind}.out": "\n".join(lines_of(kind, rounds, **more)).encode()})
