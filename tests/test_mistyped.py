"""Tests of mistyped commands: each gets one sentence, exit code 2 or 1, and no traceback."""

import pytest
from click import (
    BadParameter,
    ClickException,
    MissingParameter,
    UsageError,
)
from click.testing import CliRunner

from autograder.errors import SettingsError
from cluster.sites.site_files import FOLDER
from tests.test_help import PROGRAMS

# In the folder where they are typed.
FILES = {
    "class/ada/02_serial/02_1.out": "epoch 1\n",
    "empty/notes.txt": "",
    "submissions.zip": "not a zip",
    "roster.csv": "studnet,name\nada,Ada L.\n",
    "job.sbatch": "#!/bin/bash\ntrue\n",
    "wrong.sbatch": "#!/bin/bash\n#SBATCH -n two words\ntrue\n",
}

# The command, the exit code, the class of the error, and a word that the sentence contains.
MISTAKES = [
    ("autograder raed 02_1.out", 2, UsageError, "'read'"),
    ("autograder read", 2, MissingParameter, "FILES"),
    ("autograder read nofile.out", 2, UsageError, "nofile.out"),
    ("autograder grade class", 2, SettingsError, "--profile"),
    ("autograder grade class --profile fast", 2, BadParameter, "'fast'"),
    ("autograder grade class --profile smoke --roster roster.csv", 2, SettingsError, "`student`"),
    ("autograder collect submissions.zip --into new", 2, UsageError, "--from"),
    ("autograder collect class --from moodel --into new", 2, BadParameter, "'moodle'"),
    ("autograder collect class --from folders --into new --lesson 99", 2, SettingsError, "'99'"),
    ("cluster sumbit job.sbatch", 2, UsageError, "'submit'"),
    ("cluster submit", 2, UsageError, "job.sbatch"),
    ("cluster submit wrong.sbatch", 2, SettingsError, "wrong.sbatch line 2"),
    ("cluster logs 4711", 1, ClickException, "4711"),
    ("cluster use laptp", 2, SettingsError, "laptop"),
    ("lessons check 3.2", 2, UsageError, "lessons check 03"),
    ("lessons check 02 --in empty", 2, UsageError, "empty"),
    ("lessons submit 02 --out 02.tar", 2, UsageError, ".zip"),
    ("lessons data fetch cifar", 2, BadParameter, "cifar10"),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("COURSE_LAPTOP_QUEUE", str(tmp_path / "queue"))
    monkeypatch.setenv("COURSE_SITE", str(FOLDER / "laptop.sh"))
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("line", "code", "kind", "word"), MISTAKES, ids=[m[0] for m in MISTAKES])
def test_a_mistake_gets_a_sentence(line, code, kind, word):
    name, *words = line.split()
    done = CliRunner().invoke(PROGRAMS[name], words, standalone_mode=False)
    error = done.exception
    assert isinstance(error, kind), repr(error)
    assert error.exit_code == code
    assert word in error.format_message()
    assert "Traceback" not in error.format_message()
