import contextlib
import re
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from cluster.job_file import jobfile
from cluster.job_file.jobfile import JobFileError


def parse(*lines: str) -> jobfile.JobFile:
    return jobfile.parse("\n".join(["#!/bin/bash", *lines, "echo done", ""]), Path("job.sbatch"))


@pytest.mark.parametrize(
    ("lines", "options"),
    [
        (["#SBATCH --nodes=2"], {"nodes": "2"}),
        (["#SBATCH -N 2 -n 4   # two nodes"], {"nodes": "2", "ntasks": "4"}),
        (["#SBATCH --nodes=2", "", "# text", "#SBATCH --nodes=3"], {"nodes": "3"}),
        (["#SBATCH --comment='two words'"], {"comment": "two words"}),
        (["set -e", "#SBATCH --nodes=2"], {}),
        (["#SBATCH --switches 1 --reboot -n2"], {"switches": "1", "reboot": "", "ntasks": "2"}),
    ],
)
def test_directives_are_read_as_sbatch_reads_them(lines, options):
    assert parse(*lines).options == options


@pytest.mark.parametrize("line", [" #SBATCH --nodes=2", "# SBATCH --nodes=2", "#sbatch --nodes=2"])
def test_a_line_that_only_looks_like_a_directive_is_pointed_out(line):
    assert parse(line).notes == (
        f"job.sbatch line 2: ignored, directives begin with #SBATCH: {line}",
    )


@given(st.text())
def test_no_text_brings_the_reader_down(text):
    for whole in (text, f"#!/bin/bash\n#SBATCH {text}\n"):
        with contextlib.suppress(JobFileError):  # any other exception fails the test
            jobfile.request(jobfile.parse(whole))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "job.sbatch: the file is empty"),
        ("echo hi\n", "line 1: a job file begins with an interpreter"),
        ("#!/bin/bash\r\n#SBATCH -n 2\r\n", "lines end as on Windows"),
        ("#!/bin/bash\n\n#SBATCH -Y 2\n", "line 3: sbatch: -Y: write this option"),
        ("#!/bin/bash\n#SBATCH -n 2 train.py\n", "line 2: sbatch: not an option: 'train.py'"),
    ],
)
def test_a_file_that_sbatch_refuses_is_refused_with_its_line(text, message):
    with pytest.raises(JobFileError, match=re.escape(message)):
        jobfile.parse(text)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--nodes=", "line 2: --nodes=: a whole number above 0 is needed"),
        ("--time=1h", "a time is minutes"),
        ("--array=0-3%0", "after % comes"),
        ("--signal=@60", "a signal is given as"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused_with_its_line(line, message):
    with pytest.raises(JobFileError, match=re.escape(message)):
        jobfile.request(parse(f"#SBATCH {line}"))


def test_all_lines_still_to_be_filled_in_are_named_in_the_files_order():
    job = parse("#SBATCH --ntasks=\n#SBATCH --job-name=a\n#SBATCH --nodes=\n#SBATCH --output=")
    named = "these have no value yet: line 2 --ntasks=, line 4 --nodes=, line 5 --output="
    with pytest.raises(JobFileError, match=re.escape(named)):
        jobfile.request(job)
    assert jobfile.request(job, {"ntasks": "4", "nodes": "2", "output": "out"}).ntasks == 4


@pytest.mark.parametrize(
    ("line", "nodes", "ntasks"),
    [("", 1, 1), ("-N 2", 2, 2), ("-n 4", 1, 4), ("-N 2 --ntasks-per-node=4", 2, 8)],
)
def test_nodes_and_tasks_follow_from_each_other(line, nodes, ntasks):
    asked = jobfile.request(parse(f"#SBATCH {line}"))
    assert (asked.nodes, asked.ntasks) == (nodes, ntasks)


def test_the_command_line_overrides_the_file():
    job = parse("#SBATCH --ntasks=2 --time=10")
    assert jobfile.request(job, {"ntasks": "8"}).ntasks == 8
    assert jobfile.request(job, {"time": "1:30"}).seconds == 90
    with pytest.raises(JobFileError, match=r"^--ntasks=x: a whole number"):
        jobfile.request(job, {"ntasks": "x"})


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("10", 600), ("1:30", 90), ("2-0", 172800), ("1-12:30:15", 131415), ("UNLIMITED", None)],
)
def test_times(text, seconds):
    assert jobfile.seconds(text) == seconds


@pytest.mark.parametrize(
    ("text", "indices", "at_once"),
    [("0-3", (0, 1, 2, 3), None), ("0-6:2", (0, 2, 4, 6), None), ("0-15:4%2", (0, 4, 8, 12), 2)],
)
def test_arrays(text, indices, at_once):
    assert jobfile.array_indices(text) == (indices, at_once)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("USR1", ("USR1", 60, False)), ("B:SIGTERM@5", ("TERM", 5, True)), ("10@1", ("10", 1, False))],
)
def test_signals(text, expected):
    assert jobfile.signal_request(text) == expected


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("%x_%j.out", "mnist_120.out"),
        ("slurm-%A_%a.out", "slurm-118_2.out"),
        ("%N.%n.%t.log", "vm.0.0.log"),
        ("100%%_%q", "100%_%q"),
        (r"plain\%j", "plain%j"),
    ],
)
def test_output_patterns(pattern, name):
    values = jobfile.values_of(120, "mnist", "vm", (118, 2))
    assert jobfile.fill(pattern, values) == name


def test_outputs_are_found_oldest_job_first(tmp_path):
    job = jobfile.parse("#!/bin/bash\n#SBATCH -J a[1] -o %x_%j.out\n", tmp_path / "job.sbatch")
    for name in ("a[1]_10.out", "a[1]_9.out", "a1_8.out", "a[1]_10.err", "other_3.out"):
        (tmp_path / name).touch()
    found = [path.name for path in jobfile.existing_outputs(job, tmp_path)]
    assert found == ["a[1]_9.out", "a[1]_10.out"]
