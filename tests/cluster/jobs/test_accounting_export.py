"""Export the jobs of a class, with a stand-in for sacct."""

import getpass

import pytest

from autograder.evidence.accounting import read_accounting
from autograder.slurm_notation import SACCT_FORMAT
from tests.cluster.schedulers.fake_slurm import answer, calls, install

ME = getpass.getuser()
HEADER = SACCT_FORMAT.replace(",", "|")
WORDS = ("accounting", "--class", "class.yaml", "--since", "2026-03-01")


@pytest.fixture
def export(shell):
    install(shell)
    (shell.folder / "roster.csv").write_text(f"student,login\nada,{ME}\nben,nobody-has-this\n")
    (shell.folder / "class.yaml").write_text("roster: roster.csv\n")
    return lambda: shell.cluster(*WORDS, ok=None)


def line(job, user):
    cells = {"jobid": job, "user": user, "start": "6", "end": "9"}
    return "|".join(cells.get(name, "") for name in SACCT_FORMAT.split(","))


def test_only_the_rosters_accounts_are_exported(shell, export, tmp_path):
    rows = [line("7", "eve"), line("7.0", ""), line("8", ME), line("8.0", ""), line("9", "eve")]
    answer(shell, sacct=["\n".join([HEADER, *rows]) + "\n", "", 0])
    done = export()
    assert done.returncode == 0
    assert done.stdout.splitlines()[1:] == rows[2:4]
    (tmp_path / "sacct.txt").write_text(done.stdout)
    assert read_accounting(tmp_path / "sacct.txt")["8"].start == 6
    (call,) = calls(shell)
    assert call["environment"]["SLURM_TIME_FORMAT"] == "%s"
    assert {"-D", f"--user={ME}", "--starttime=2026-03-01"} <= set(call["words"])


@pytest.mark.parametrize(
    ("output", "error", "code"),
    [
        (HEADER, "", 0),
        ("", "sacct: error: no database", 1),
        ("", "", 0),
        (f"{HEADER}\n{line('8', ME)}\n", "sacct: error: lost the database", 1),
    ],
)
def test_nothing_or_part_of_it_is_an_error(shell, export, output, error, code):
    answer(shell, sacct=[output, error, code])
    done = export()
    assert done.returncode == 1
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_a_roster_without_accounts_is_refused(shell, export):
    (shell.folder / "roster.csv").write_text("student\nada\n")
    done = export()
    assert done.returncode == 2
    assert "`login`" in done.stderr
