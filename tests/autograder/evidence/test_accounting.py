"""Tests of the scheduler's accounting of a run, for each way of exporting it."""

import json

import pytest
from click import UsageError

from autograder.codes import FindingCode as Code
from autograder.evidence import examine
from autograder.evidence.accounting import duration, read_accounting
from autograder.slurm_notation import SACCT_FORMAT
from tests.autograder.class_yaml import setting
from tests.autograder.in_memory import read_bytes
from tests.autograder.make_record import BEGAN_MS, hand_in, make_record

BEGAN = BEGAN_MS // 1000
TWO = {"size": 2, "source": "keras-horovod", "launcher": "srun"}
TRES = "billing=2,cpu=2,mem=4G,node=1"


def dump(path, *rows):
    path.write_text("\n".join([SACCT_FORMAT.replace(",", "|"), *rows]) + "\n")
    return read_accounting(path)


def row(job="1234", start=-10, end=20, **cells):
    usual = {"User": "ada", "State": "COMPLETED", "NCPUS": "2", "AllocTRES": TRES}
    usual |= {"NodeList": "n1", "JobID": job}
    usual |= {"Start": str(BEGAN + start), "End": str(BEGAN + end)}
    values = {name.lower(): value for name, value in (usual | cells).items()}
    return "|".join(values.get(name, "") for name in SACCT_FORMAT.split(","))


def step(name="0", job="1234", start=-8, end=18, **cells):
    return row(f"{job}.{name}", start, end, User="", **cells)


GPU_JOB = row("9", AllocTRES="cpu=1,gres/gpu=1,gres/gpu:a100=1,node=1")


def seen(lines, jobs, login="ada", job="1234 02_keras"):
    text = "\n".join([f"job: {job}", "ranks: 2", "gpus on this node: none", *lines]) + "\n"
    runs = read_bytes({"a.out": text.encode()})
    return examine.examine(runs, runs, jobs, [login])


# The run, rows of the dump, the tier, and the finding.
CASES = {
    "all agrees, -X": (make_record(), [row()], "confirmed", None),
    "all agrees, with steps": (make_record(), [row(), step(NTasks="1")], "confirmed", None),
    "all agrees, and it computed": (make_record(), [row(TotalCPU="00:03.100"),
        step(TotalCPU="00:03.100", MaxRSS="210344K")], "confirmed", None),
    "it slept": (make_record(seconds=(4.0, 4.0, 4.0)), [row(TotalCPU="00:00.080"),
        step(TotalCPU="00:00.080")], "self-consistent", Code.JOB_TOO_SMALL),
    "one of two ranks slept": (make_record(**TWO), [row(TotalCPU="00:03.100")], "confirmed", None),
    "nobody's CPU time is counted": (make_record(), [row(TotalCPU="00:00:00")], "confirmed", None),
    "a rank more than CPUs": (make_record(**TWO | {"launcher": "mpirun"}), [row(NCPUS="1")],
        "self-consistent", Code.JOB_TOO_SMALL),
    "no GPU, where others have some": (make_record(device="NVIDIA H100"), [row(), GPU_JOB],
        "contradicted", Code.OUTSIDE_JOB),
    "no GPU, where nobody has one": (make_record(device="NVIDIA H100"), [row()],
        "confirmed", None),
    "GPUs unknown": (make_record(device="AMD Instinct MI250X"), [row(AllocTRES=""), GPU_JOB],
        "confirmed", None),
    "a GPU each": (make_record(**TWO, device="AMD Instinct MI250X"),
        [row(AllocTRES="cpu=2,gres/gpu=2,node=1")], "confirmed", None),
    "PBS's GPUs": (make_record(**TWO, device="AMD Instinct MI250X"),
        [row(AllocTRES="ncpus=2,ngpus=1")], "contradicted", Code.OUTSIDE_JOB),
    "failed, as after a crash behind the record": (make_record(), [row(State="FAILED")],
        "self-consistent", None),
    "cancelled by somebody": (make_record(), [row(State="CANCELLED by 1000")], "self-consistent",
        None),
    "failed later, after a step that did not": (make_record(),
        [row(State="FAILED"), step(State="COMPLETED")], "self-consistent", None),
    "another account": (make_record(), [row(User="eve")], "self-consistent", Code.OTHER_ACCOUNT),
    "an account that the dump leaves out": (make_record(), [row(User="")], "self-consistent",
        None),
    "a job with a minute of modules": (make_record(), [row(start=-60), step(end=10)],
        "confirmed", None),
    "no such job": (make_record(job_id="99"), [row()], "self-consistent", None),
    "a laptop": (make_record(site="laptop"), [row()], "self-consistent", None),
    "no date": (make_record(started="yesterday"), [row()], "self-consistent", None),
    "before the job": (make_record(), [row(start=900, end=2000)], "contradicted",
        Code.OUTSIDE_JOB),
    "longer than the job": (make_record(total=90.0), [row()], "contradicted",
        Code.OUTSIDE_JOB),
    "another node": (make_record(), [row(NodeList="n[2-3]")], "contradicted",
        Code.OUTSIDE_JOB),
    "an array's task, by the number it is told": (make_record(job_id="1240"),
        [row("1234_7", JobIDRaw="1240")], "confirmed", None),
}  # fmt: skip


@pytest.mark.parametrize(("lines", "rows", "tier", "code"), CASES.values(), ids=CASES)
def test_a_run_beside_its_accounting(tmp_path, lines, rows, tier, code):
    number = "1240" if '"job_id":"1240"' in lines[0] else "1234"
    found = seen(lines, dump(tmp_path / "sacct.txt", *rows), job=f"{number} 02_keras")
    codes = [one.code for one in found.findings]
    assert found.tier == tier, codes
    assert code in codes if code else codes == []


@pytest.mark.parametrize("where", [{"job_id": "99"}, {"job_id": None}, {"site": "laptop"}])
def test_a_run_outside_the_accounting_is_a_doubt_only_where_it_is_required(tmp_path, grade, where):
    dump(tmp_path / "sacct.txt", row())
    hand_in(tmp_path / "class/ada/02", keras=make_record(**where))
    words = setting("accounting", tmp_path / "sacct.txt")
    for more, looked in (((), False), (setting("accounting_is", "required"), True)):
        out = grade(tmp_path / "class", *words, *more).folder
        [found] = json.loads((out / "grades.json").read_text())["grades"]
        reasons = [one["code"] for one in found["look"]]
        assert (Code.JOB_NOT_ACCOUNTED in reasons) == looked


@pytest.mark.parametrize(
    ("elapsed", "tier"), [(17, "unverified"), (16, "unverified"), (13, "contradicted")]
)
def test_plain_outputs_cannot_claim_more_seconds_than_their_job_had(tmp_path, elapsed, tier):
    lines = [f"Epoch {n}/2\n10/10 - {s}s - loss: 0.5" for n, s in ((1, 9), (2, 8))]
    runs = read_bytes({"job_1234.out": "\n".join(lines).encode()})
    jobs = dump(tmp_path / "sacct.txt", row(start=0, end=elapsed))
    assert examine.examine(runs, runs, jobs, ["ada"]).tier == tier


@pytest.mark.parametrize(
    ("cells", "asks"),
    [({}, False), ({"NodeList": "q7"}, True), ({"job": "77"}, True), ({"User": "max"}, True)],
)
def test_the_export_of_another_cluster_is_noticed(tmp_path, grade, cells, asks):
    dump(tmp_path / "sacct.txt", row(**cells), row(**{"job": "1235", **cells}))
    hand_in(tmp_path / "class/ada/02")
    (tmp_path / "roster.csv").write_text("student,login\nada,ada\n")
    words = ("--roster", tmp_path / "roster.csv", *setting("accounting", tmp_path / "sacct.txt"))
    done = grade(tmp_path / "class", *words)
    assert ("another cluster" in done.stderr) == asks


@pytest.mark.parametrize("line", [row("1234|77"), row(NodeList="n[1-999]n[1-999]n[1-999]")])
def test_lines_that_no_accounting_has_are_a_usage_error(tmp_path, line):
    with pytest.raises(UsageError, match="cannot be read as sacct's output"):
        dump(tmp_path / "sacct.txt", row(), line)


def test_a_requeued_job_is_one_job(tmp_path):
    lines = [
        row(start=-500, end=-300, State="REQUEUED", TotalCPU="00:02", NodeList="n7"),
        row(start=-10, end=20, TotalCPU="00:03"),
        row(start=-10, end=20, User="eve"),
    ]
    job = dump(tmp_path / "sacct.txt", lines[2], *lines[:2])["1234"]
    assert (job.start, job.end) == (BEGAN - 500, BEGAN + 20)
    assert (job.state, job.cpu_seconds, job.hosts) == ("COMPLETED", 5, {"n1", "n7"})


def test_whose_job_it_is_instead_is_said_to_the_instructor_alone(tmp_path):
    found = seen(make_record(), dump(tmp_path / "sacct.txt", row(User="eve"))).findings
    assert [(one.code, one.private, one.actual) for one in found] == [
        (Code.OTHER_ACCOUNT, True, "eve")
    ]


def test_an_export_without_cpu_time_confirms_less(tmp_path):
    reasons = [
        seen(make_record(), dump(tmp_path / f"{number}.txt", line)).reason
        for number, line in enumerate((row(), row(TotalCPU="00:03.100")))
    ]
    assert reasons[0].startswith(reasons[1])
    assert reasons[0] != reasons[1]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("03:04.567", 184.567), ("02:03:04", 7384), ("1-02:03:04", 93784), ("00:00:00", 0),
     ("", None), ("x", None), ("1" * 30, None)],
)  # fmt: skip
def test_cpu_time_in_slurms_notation(text, seconds):
    assert duration(text) == seconds
