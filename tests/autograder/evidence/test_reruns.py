"""A record compared with the output of a rerun: what counts as reproduced."""

import pytest

from autograder.codes import FindingCode as Code
from autograder.evidence import examine
from autograder.evidence.accounting import AccountedJob
from autograder.evidence.reruns import Again, compare
from autograder.reading.files import read_bytes
from autograder.settings.reruns import RepeatedJob
from autograder.verdict import TIERS
from tests.autograder.make_record import (
    make_record,
)

SUBMITTED = 1772791200.0  # 2026-03-06T10:00:00Z, four days after the record
JOB = RepeatedJob("77", (), "COMPLETED", SUBMITTED, SUBMITTED + 60, ("5f0c2a91",))
HONEST = {"site": "box", "threads": 1, "epochs_asked": 3}
THERE = {"run": "aaaa0077", "job_id": "77", "started": "2026-03-06T10:00:05+00:00"}
TIMES = (2.1, 1.05, 1.04)  # no two runs take the same time


def run_of(**facts):
    [run] = read_bytes({"a.out": "\n".join(make_record(**HONEST | facts)).encode()})
    return run


def rerun_of(**facts):
    return run_of(**{"seconds": TIMES} | THERE | facts)


def seen(run, again, job=JOB, accounting=None, login=None):
    known = {run.launch: Again(job, again, "" if again else "the run did not finish: failed")}
    return examine.examine([run], [run], examine.Sources(accounting, [login], reruns=known))


def test_the_same_again_is_reproduced():
    found = seen(run_of(), rerun_of())
    assert (found.tier, found.findings) == ("reproduced", ())
    assert "to the last bit" in found.reason
    assert "last bit" not in seen(run_of(), rerun_of(hashes=("other",))).reason


# What differs slightly in honest work, the record, the rerun.
HONESTLY = [
    ("accuracy, by threads", {}, {"test_accuracy": 0.962}),
    ("accuracy of a hard task", {"test_accuracy": 0.41}, {"test_accuracy": 0.36}),
    ("slower, with others on the machine", {}, {"seconds": (9.0, 8.0, 7.0)}),
    ("on another site", {}, {"seconds": (9.0, 8.0, 7.0), "site": "laptop"}),
    ("on another device", {}, {"seconds": (9.0, 8.0, 7.0), "device": "CPU a slow one"}),
    ("faster than the record", {"seconds": (9.0, 8.0, 7.0)}, {}),
    ("no accuracy in the record", {"test_accuracy": None}, {}),
    ("hosts and launcher", {"launcher": "srun"}, {"launcher": "mpirun", "hosts": ["n1", "n2"]}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "record", "again"), HONESTLY, ids=[h[0] for h in HONESTLY])
def test_what_honest_runs_differ_in_is_no_finding(name, record, again):
    undisturbed = "others" not in name
    job = RepeatedJob("77", (), "COMPLETED", SUBMITTED, SUBMITTED + 60, ("5f0c2a91",), undisturbed)
    found = seen(run_of(**record), rerun_of(**again), job)
    assert (found.tier, found.findings) == ("reproduced", ())


def test_a_training_that_stops_by_itself_may_do_so_an_epoch_earlier():
    early = {"epochs_asked": 20, "seconds": (2.1, 1.05)}
    assert list(compare(run_of(epochs_asked=20), Again(JOB, rerun_of(**early)))) == []


# The forgery, the record, the rerun, the finding, and whether the rerun contradicts the record.
FORGED = [
    ("accuracy raised", {"test_accuracy": 0.978}, {"test_accuracy": 0.92},
        Code.RERUN_LOWER_ACCURACY, True),
    ("loss lowered", {"end": {"test_loss": 0.01}}, {"end": {"test_loss": 0.3}},
        Code.RERUN_HIGHER_LOSS, True),
    ("epochs added", {}, {"seconds": TIMES[:2]}, Code.RERUN_OTHER_EPOCHS, True),
    ("epochs added, which ranks divide", {"size": 2, "source": "keras-horovod", "epochs_asked": 6},
        {"size": 2, "source": "keras-horovod", "epochs_asked": 4, "seconds": TIMES[:2]},
        Code.RERUN_OTHER_EPOCHS, True),
    ("samples added", {}, {"samples": 12800}, Code.RERUN_OTHER_STEPS, True),
    ("one rank written as two", {"size": 2, "source": "keras-horovod"}, {
        "source": "keras-horovod"}, Code.RERUN_OTHER_RANKS, True),
    ("another network", {}, {"params": 50890}, Code.RERUN_OTHER_PARAMETERS, True),
    ("seconds / 10", {"seconds": (0.2, 0.1, 0.11)}, {}, Code.RERUN_FAR_SLOWER, False),
    ("a kept record, printed", {}, {"started": "2026-03-02T10:00:00+00:00"},
        Code.RERUN_OTHER_TIME, True),
    ("no start at all", {}, {"started": None}, Code.RERUN_OTHER_TIME, True),
    ("longer than its job", {}, {"total": 600.0}, Code.RERUN_LONGER_THAN_JOB, True),
    ("the very seconds", {}, {"seconds": (2.0, 1.0, 1.1)}, Code.RERUN_SAME_SECONDS, True),
    ("ranks that are not there", {"size": 2, "source": "keras-horovod"}, {
        "size": 2, "source": "keras-horovod", "first_rank_only": True},
            Code.RERUN_CONTRADICTS_ITSELF, True),
    ("a better program submitted", {"test_accuracy": 0.5}, {"test_accuracy": 0.97},
        Code.RERUN_HIGHER_ACCURACY,
        False),
    ("the stand-in", {}, {"dataset": {"sha256": "00", "synthetic": True, "train_samples": 60000}},
        Code.RERUN_OTHER_DATA, False),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "record", "again", "code", "contradicts"), FORGED, ids=[f[0] for f in FORGED]
)
def test_what_is_not_reproduced(name, record, again, code, contradicts):
    job = RepeatedJob("77", (), "COMPLETED", SUBMITTED, SUBMITTED + 60, ("5f0c2a91",), True)
    found = seen(run_of(**record), rerun_of(**again), job)
    assert code in [finding.code for finding in found.findings]
    assert found.tier == ("contradicted" if contradicts else "self-consistent")
    for finding in found.findings:
        assert finding.look
        assert finding.expected
        assert finding.found
        assert finding.where
        assert finding.try_


STRANGE = [None, [], {}, ["x"], "x" * 5000, "nan", True, -1, 1e308, 10**30]
MEMBERS = [
    "started",
    "dataset",
    "params",
    "model",
    "global_batch",
    "epochs_asked",
    "device",
    "site",
]
MEMBERS += ["threads", "test_accuracy", "seconds"]


@pytest.mark.parametrize("strange", STRANGE, ids=[repr(value)[:12] for value in STRANGE])
@pytest.mark.parametrize("member", MEMBERS)
def test_whatever_either_of_them_says_can_be_compared(member, strange):
    job = RepeatedJob("77", (), "COMPLETED", SUBMITTED, SUBMITTED + 60, ("5f0c2a91",), True)
    facts = {"end": {"seconds": strange}} if member == "seconds" else {member: strange}
    for record, again in (({}, facts), (facts, {})):
        found = seen(run_of(**record), rerun_of(**again), job)
        assert found.tier in TIERS
        assert all(len(f.expected) + len(f.found) < 1000 for f in found.findings)


def test_a_program_that_fails_when_run_again():
    found = seen(run_of(), None)
    assert found.tier == "self-consistent"
    [finding] = found.findings
    assert finding.code == Code.RERUN_UNFINISHED
    assert "job 77" in finding.found


def test_with_an_accounting_both_have_to_agree():
    honest = AccountedJob(
        job_id="1234",
        user="ada",
        state="COMPLETED",
        start=1772445595.0,
        end=1772445700.0,
        nodes=1,
        cpus=1,
        gpus=0,
        hosts=frozenset({"n1"}),
    )
    assert seen(run_of(), rerun_of(), accounting={"1234": honest}, login="ada").tier == "reproduced"
    unknown = seen(run_of(), rerun_of(), accounting={})
    assert unknown.tier == "self-consistent"
