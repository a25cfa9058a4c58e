import pytest
from hypothesis import given, strategies as st

from cluster.job_file.sbatch_options import (
    FLAGS,
    WITH_VALUE,
    OptionError,
    as_words,
    take_options,
    unknown,
)


@pytest.mark.parametrize(
    ("line", "options", "rest"),
    [
        ("--nodes=2 job", {"nodes": "2"}, ["job"]),
        ("-N 2 -n8 job --nodes=4", {"nodes": "2", "ntasks": "8"}, ["job", "--nodes=4"]),
        ("--nodes=1 --nodes 3", {"nodes": "3"}, []),
        ("--output=a=b.out", {"output": "a=b.out"}, []),
        ("--job-name= x", {"job-name": ""}, ["x"]),
        ("-W -- -x", {"wait": ""}, ["-x"]),
        ("--switches=1@60 --contiguous job", {"switches": "1@60", "contiguous": ""}, ["job"]),
        ("", {}, []),
    ],
)
def test_options_are_taken_as_sbatch_takes_them(line, options, rest):
    assert take_options(line.split()) == (options, rest)


def test_an_option_outside_the_tables_is_passed_on():
    options, _ = take_options(["--switches=1", "--contiguous", "-N2"])
    assert unknown(options) == ["switches", "contiguous"]
    assert as_words(options) == ["--switches=1", "--contiguous", "--nodes=2"]


@pytest.mark.parametrize("line", ["--time", "-N", "-Y"])
def test_an_option_that_cannot_be_read_is_refused(line):
    with pytest.raises(OptionError):
        take_options([line])


def values_for(name: str) -> st.SearchStrategy[str]:
    text = st.text(st.characters(codec="utf-8", exclude_characters="\0\n\r"), min_size=1)
    return st.just("") if name in FLAGS else st.text() | text


option_sets = st.lists(st.sampled_from(sorted(WITH_VALUE | FLAGS)), unique=True).flatmap(
    lambda names: st.fixed_dictionaries({name: values_for(name) for name in names})
)


@given(option_sets, st.lists(st.text(), max_size=3))
def test_written_options_are_read_back(options, arguments):
    words = [*as_words(options), "job.sbatch", *arguments]
    assert take_options(words) == (options, ["job.sbatch", *arguments])
