"""Any content of a file gives either intervals or one sentence and exit code 2."""

import json

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.cli import main

NAMES = st.sampled_from(
    ["workers", "seconds", "samples_per_second", "speedup", "nodes", "GPUs", "", "\x1b[31m", "=1+1"]
)
CELLS = st.one_of(
    st.integers(-3, 5000).map(str),
    st.floats().map(str),
    st.sampled_from(("1,234", "1:02:03", "97 %", "3 ms", "weak", "-", "\u202e", '"', "\x1b[2J")),
    st.text(max_size=8),
)
TABLES = st.lists(NAMES, min_size=1, max_size=4).flatmap(
    lambda names: st.lists(
        st.lists(CELLS, min_size=len(names), max_size=len(names)), max_size=6
    ).map(lambda rows: "\n".join(",".join(row) for row in [names, *rows]).encode())
)
GOOD = st.lists(st.tuples(st.integers(1, 10**6), st.floats(1e-6, 1e6)), min_size=1, max_size=8).map(
    lambda rows: (
        "workers,samples_per_second\n" + "\n".join(f"{n},{r!r}" for n, r in rows)
    ).encode()
)


@pytest.mark.slow
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.one_of(TABLES, GOOD, st.binary(max_size=200)))
def test_any_file_is_answered_or_refused(tmp_path_factory, data):
    file = tmp_path_factory.getbasetemp() / "any.csv"
    file.write_bytes(data)
    done = CliRunner().invoke(main, ["foretell", str(file), "--json"])
    if done.exit_code == 0:
        for line in json.loads(done.stdout)["foretold"]:
            for low, high in (line["value"], line["speedup"], line["efficiency"]):
                assert 0 < low < high < float("inf")
    else:
        assert isinstance(done.exception, SystemExit), done.exception
        assert done.exit_code == 2
        assert len(done.stderr.strip().splitlines()) == 1
        assert done.stderr.strip().isprintable()
