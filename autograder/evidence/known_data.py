"""Check whether a run's data set is the one it names, by hash and size."""

from collections.abc import Iterator
from dataclasses import dataclass

from autograder.codes import FindingCode
from autograder.evidence.findings import finding
from autograder.records import Run
from autograder.safe_text import shortened
from autograder.verdict import Finding


@dataclass(frozen=True, slots=True)
class DataSet:
    sha256: str
    train_samples: int
    test_samples: int


# The course's data sets, as its programs describe them in a record.
KNOWN = {
    "mnist": DataSet(
        "c65580678af93f1ea48c2c0d01d543ec89307c6b8a0eb7ca542d7c18c5f4c681", 60_000, 10_000
    ),
    "cifar10": DataSet(
        "97fff95240daa5ad1f7672fa4290d1b9c6b11a9d8f63d2de2f6e0334af590d90", 50_000, 10_000
    ),
}
BY_HASH = {known.sha256: name for name, known in KNOWN.items()}


def data_as_known(run: Run) -> Iterator[Finding]:
    dataset = run.header.dataset
    name, sha256, synthetic = dataset.name, dataset.sha256, dataset.synthetic
    name_by_hash, expected = BY_HASH.get(sha256 or ""), KNOWN.get(name or "")
    where = run.rank_lines[:1]
    if name_by_hash is not None and (name_by_hash != name or synthetic):
        yield finding(
            FindingCode.DATA_HASH_AND_NAME,
            f"{name_by_hash}, the real data set, by its hash",
            f"{shortened(str(name), 40)}, {'synthetic' if synthetic else 'real'}",
            where,
        )
    if expected is None:
        return
    if name_by_hash is None and synthetic is False:
        yield finding(
            FindingCode.DATA_IS_ANOTHER,
            f"the hash {expected.sha256[:12]}… of {name}",
            shortened(str(sha256), 16),
            where,
            "`lessons data check`, then submit again",
            name=str(name),
        )
    for part in ("train_samples", "test_samples"):
        count, most = getattr(dataset, part), getattr(expected, part)
        if count is not None and count > most:
            yield finding(
                FindingCode.DATA_TOO_SMALL,
                f"at most {most:,} {part.replace('_', ' ')}",
                f"{count:,.0f}",
                where,
            )
