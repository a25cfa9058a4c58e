import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.job_file import jobfile
from cluster.job_file.sbatch_options import (
    LONG_NAME,
    ROWS,
    TAKES_VALUE,
    OptionError,
    as_words,
    take_options,
)


@pytest.mark.parametrize(
    ("line", "options", "rest"),
    [
        ("--nodes=2 job", {"nodes": "2"}, ["job"]),
        ("--nodes 2 job", {"nodes": "2"}, ["job"]),
        ("-N 2 -n8 job --nodes=4", {"nodes": "2", "ntasks": "8"}, ["job", "--nodes=4"]),
        ("-HQ -N2", {"hold": "", "quiet": "", "nodes": "2"}, []),
        ("-HN 2", {"hold": "", "nodes": "2"}, []),
        ("--ntasks-per-n=4", {"ntasks-per-node": "4"}, []),
        ("--exclusive --nice=5", {"exclusive": "", "nice": "5"}, []),
        ("--nodes=1 --nodes=3", {"nodes": "3"}, []),
        ("--output=a=b.out", {"output": "a=b.out"}, []),
        ("--job-name= x", {"job-name": ""}, ["x"]),
        ("-W -- -x", {"wait": ""}, ["-x"]),
        ("-t -1", {"time": "-1"}, []),
        ("", {}, []),
    ],
)
def test_options_are_taken_as_sbatch_takes_them(line, options, rest):
    assert take_options(line.split()) == (options, rest)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--node-list=a", "unrecognized option '--node-list'"),
        ("--ntask", "option '--ntask' is ambiguous"),
        ("--time", "option '--time' requires an argument"),
        ("--hold=yes", "option '--hold' doesn't allow an argument"),
        ("--mem-per=1", "option '--mem-per' is ambiguous"),
        ("-Y", "invalid option -- 'Y'"),
        ("-N", "option requires an argument -- 'N'"),
    ],
)
def test_what_sbatch_refuses_is_refused_in_its_words(line, message):
    with pytest.raises(OptionError, match=message.replace("(", r"\(")):
        take_options(line.split())


def values_for(name: str) -> st.SearchStrategy[str]:
    text = st.text(st.characters(codec="utf-8", exclude_characters="\0\n\r"), min_size=1)
    return {"no": st.just(""), "yes": st.text() | text, "maybe": st.just("") | text}[
        TAKES_VALUE[name]
    ]


option_sets = st.lists(st.sampled_from(sorted(TAKES_VALUE)), unique=True).flatmap(
    lambda names: st.fixed_dictionaries({name: values_for(name) for name in names})
)


@given(option_sets, st.lists(st.text(), max_size=3))
def test_written_options_are_read_back(options, arguments):
    assert take_options([*as_words(options), "job.sbatch", *arguments]) == (
        options,
        ["job.sbatch", *arguments],
    )


@given(option_sets)
def test_any_options_survive_the_way_through_a_job_file(options):
    options = {
        name: value for name, value in options.items() if value.splitlines() in ([], [value])
    }
    lines = [f"#SBATCH {shlex.quote(word)}" for word in as_words(options)]
    assert jobfile.parse("\n".join(["#!/bin/bash", *lines])).options == options


@given(st.sampled_from(sorted(LONG_NAME.items())), st.from_regex(r"\A[a-z0-9:]+\Z"))
def test_short_and_long_forms_mean_the_same(option, value):
    letter, name = option
    if TAKES_VALUE[name] == "no":
        assert take_options([f"-{letter}"]) == take_options([f"--{name}"])
    else:
        assert take_options([f"-{letter}{value}"]) == take_options([f"--{name}={value}"])
    if TAKES_VALUE[name] == "yes":
        assert take_options([f"-{letter}", value]) == take_options([f"--{name}", value])


def test_no_option_is_listed_twice():
    assert len(ROWS) == len(TAKES_VALUE)
    assert len(LONG_NAME) == sum(letter != "-" for _, letter, _ in ROWS)
