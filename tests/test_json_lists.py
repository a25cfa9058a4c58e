"""`--json` of every command that lists things: a list of objects."""

import json

import pytest
from click.testing import CliRunner

from tests.autograder.make_record import make_record, write_lines
from tests.test_help import PROGRAMS, commands, described

# The command, what it needs, and the keys of each object.
LISTS = {
    "autograder read": (["FILE"], {"outcome", "workers", "files"}),
    "lessons check": (["01"], {"exercise", "result", "what"}),
    "lessons data status": ([], {"data set", "file", "bytes", "state", "where"}),
}
OTHER_FORMS = {"cluster doctor"}  # it prints one object per line as findings arrive


def test_every_command_with_the_option_is_here():
    named = {" ".join(words) for name, main in PROGRAMS.items() for words in commands(name, main)}
    with_option = {one for one in named if "--json" in {*described(one)}}
    assert with_option == {*LISTS} | OTHER_FORMS


@pytest.mark.parametrize("command", LISTS)
def test_a_list_of_objects(command, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    write_lines(tmp_path / "a.out", make_record())
    words, keys = LISTS[command]
    name, *rest = command.split()
    rest += [str(tmp_path / "a.out") if word == "FILE" else word for word in words]
    done = CliRunner().invoke(PROGRAMS[name], [*rest, "--json"])
    assert done.exit_code in (0, 1), done.output
    listed = json.loads(done.stdout)
    assert isinstance(listed, list)
    assert all(keys <= one.keys() for one in listed)
    assert listed
