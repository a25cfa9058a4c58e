from pathlib import Path

import pytest

from cluster.jobs.submit import sort_words


@pytest.mark.parametrize(
    ("line", "site", "wait", "options", "arguments"),
    [
        ("job", None, False, {}, []),
        ("job --epochs 4", None, False, {}, ["--epochs", "4"]),
        ("job -n 4", None, False, {}, ["-n", "4"]),
        ("-n 4 --time=5 job a", None, False, {"ntasks": "4", "time": "5"}, ["a"]),
        ("--site box job", "box", False, {}, []),
        ("-n4 --site=box --wait job", "box", True, {"ntasks": "4"}, []),
        ("-n4 -W job", None, True, {"ntasks": "4"}, []),
        ("job --site laptop --wait -- --epochs 4", "laptop", True, {}, ["--epochs", "4"]),
        ("job --wait --epochs 4", None, True, {}, ["--epochs", "4"]),
        ("job --ntasks=2 -- --site x", None, False, {"ntasks": "2"}, ["--site", "x"]),
        ("-n2 job --ntasks=4 --", None, False, {"ntasks": "4"}, []),
        ("job -- -- x", None, False, {}, ["--", "x"]),
    ],
)
def test_one_line_is_sorted_into_what_each_word_is_for(line, site, wait, options, arguments):
    assert sort_words(line.split()) == (site, wait, options, Path("job"), arguments)
