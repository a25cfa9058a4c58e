"""Edited, shortened and impossible outputs, and what the grader finds in each."""

import json

import pytest

from autograder.codes import FindingCode as Code
from autograder.evidence import examine
from autograder.evidence.accounting_dump import read_accounting
from autograder.reading.files import read_bytes
from tests.autograder.class_yaml import setting
from tests.autograder.make_record import hand_in, make_record

TWO = {"size": 2, "source": "keras-horovod"}


def seen(lines, jobs=None, login=None) -> examine.Examined:
    runs = read_bytes({"a.out": ("\n".join(lines) + "\n").encode()})
    return examine.examine(runs, runs, examine.Sources(jobs, [login]))


def codes(found: examine.Examined) -> list[Code | None]:
    return [finding.code for finding in found.findings]


def test_an_untouched_record_agrees_with_itself():
    for lines in (make_record(), make_record(**TWO)):
        found = seen(lines)
        assert (found.tier, found.findings) == ("self-consistent", ())


# What was done to the record, its lines, and the expected finding.
MUTATIONS = [
    ("line removed", make_record()[:4] + make_record()[5:], Code.CHAIN_BROKEN),
    ("an epoch's clock runs backwards", make_record(wall=(2.0, -30.0, 1.1)), Code.CLOCK_BACKWARDS),
    ("accuracy above 1", make_record(test_accuracy=1.5), Code.NEVER_WRITTEN),
    ("rank left out", make_record(**TWO, first_rank_only=True), Code.RANK_MISSING),
    ("fewer ranks than asked", make_record(ranks_asked=4), Code.OTHER_RANK_COUNT),
    ("epochs longer than the run", make_record(seconds=(9.0, 8.0, 8.0), total=20.0),
        Code.PARTS_EXCEED_RUN),
    ("more samples than there are", make_record(samples=70000), Code.SAMPLES_IMPOSSIBLE),
    ("more samples than steps hold", make_record(global_batch=16), Code.SAMPLES_IMPOSSIBLE),
    ("claims a cover that the shares lack",
        make_record(**TWO, shards=[[0, None, 2], [0, None, 2]]), Code.SAMPLES_IMPOSSIBLE),
]  # fmt: skip


@pytest.mark.parametrize(("name", "lines", "code"), MUTATIONS, ids=[m[0] for m in MUTATIONS])
def test_mutations_are_found(name, lines, code):
    found = seen(lines)
    assert code in codes(found)
    contradicted = any(f.contradicts for f in found.findings)
    assert found.tier == ("contradicted" if contradicted else "self-consistent")
    for finding in found.findings:
        assert finding.expected
        assert finding.actual
        assert finding.where
        assert finding.advice
        assert finding.look


def test_only_what_cannot_be_true_is_a_contradiction():
    assert seen(make_record(ranks_asked=4)).tier == "self-consistent"
    synthetic = {"name": "mnist", "synthetic": True, "train_samples": 60000}
    found = seen(make_record(dataset=synthetic))
    assert found.tier == "self-consistent"
    assert found.findings[0].code == Code.SYNTHETIC_DATA


def test_plain_output_is_unverified():
    lines = [
        "Epoch 1/2",
        "1875/1875 - 8s - 4ms/step - accuracy: 0.9404 - loss: 0.2006",
        "Epoch 2/2",
        "1875/1875 - 7s - 4ms/step - accuracy: 0.9700 - loss: 0.1006",
    ]
    assert seen(lines).tier == "unverified"


SACCT = (
    "JobID|User|State|Start|End|NNodes|NCPUS|AllocTRES|NodeList\n"
    "1234|ada|COMPLETED|{start}|{end}|1|8|cpu=8,gres/gpu=1,node=1|n1\n"
    "1234.batch||COMPLETED|{start}|{end}|1|8||n1\n"
)
INSIDE = {"start": "1772445590", "end": "1772445700"}  # around 2026-03-02T10:00:00Z


@pytest.mark.parametrize(
    ("lines", "times", "tier", "code"),
    [
        (make_record(), INSIDE, "confirmed", None),
        (make_record(job_id="99"), INSIDE, "self-consistent", None),
        (make_record(job_id=None), INSIDE, "self-consistent", None),
        (make_record(site="laptop"), INSIDE, "self-consistent", None),
        (
            make_record(),
            {"start": "1772400000", "end": "1772400100"},
            "contradicted",
            Code.OUTSIDE_JOB_TIME,
        ),
        (make_record(total=500.0), INSIDE, "contradicted", Code.OUTSIDE_JOB_TIME),
        (
            make_record(**TWO, device="NVIDIA H100"),
            INSIDE,
            "contradicted",
            Code.MORE_RANKS_THAN_GPUS,
        ),
        (make_record(started="yesterday"), INSIDE, "self-consistent", None),
    ],
)
def test_the_schedulers_word(tmp_path, lines, times, tier, code):
    dump = tmp_path / "sacct.txt"
    dump.write_text(SACCT.format(**times))
    found = seen(lines, read_accounting(dump), "ada")
    assert found.tier == tier, codes(found)
    assert code in codes(found) if code else not found.findings


@pytest.mark.parametrize("where", [{"job_id": "99"}, {"job_id": None}, {"site": "laptop"}])
def test_a_run_outside_the_accounting_is_a_doubt_only_where_it_is_required(tmp_path, grade, where):
    (tmp_path / "sacct.txt").write_text(SACCT.format(**INSIDE))
    hand_in(tmp_path / "class/ada/02", keras=make_record(**where))
    words = setting("accounting", tmp_path / "sacct.txt")
    for more, looked in (((), False), (setting("accounting_is", "required"), True)):
        out = grade(tmp_path / "class", *words, *more).folder
        [found] = json.loads((out / "grades.json").read_text())["grades"]
        reasons = [one["code"] for one in found["look"]]
        assert (Code.JOB_NOT_ACCOUNTED in reasons) == looked


def test_hosts_and_owner_are_compared(tmp_path):
    dump = tmp_path / "sacct.txt"
    dump.write_text(SACCT.format(**INSIDE).replace("|n1\n", "|n[2-3]\n"))
    assert seen(make_record(), read_accounting(dump)).tier == "contradicted"
    dump.write_text(SACCT.format(**INSIDE))
    found = seen(make_record(), read_accounting(dump), login="ben")
    assert codes(found) == [Code.OTHER_ACCOUNT]
