"""A student starts the app on a real Slurm, opens lesson 02 through the portal, and runs it."""

import os
import re
import shutil
import signal
import stat
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import jupytext
import nbformat
import pytest
import yaml
from node_proxy import portal
from playwright.sync_api import Page, expect
from portal import COURSE, Session, install_app, ruby, sbatch_words

from tests.cluster.box.test_lessons_on_box import grades, hand_in
from tests.cluster.box_students import student_named
from tests.jupyterlab import run_all, until_answered
from tests.lessons.programs.all_points import points_lost
from tests.lessons.programs.break_it import leaves_its_traces

pytestmark = [pytest.mark.slurm, pytest.mark.browser, pytest.mark.slow]
# Render all cells, not only the visible ones, and do not ask about news.
PREFERENCES = {
    "notebook-extension/tracker": '{"windowingMode": "none"}',
    "apputils-extension/notification": '{"fetchNews": "false"}',
}
# The session asks for different numbers than this job.
NESTED = """#!/bin/bash
#SBATCH --nodes=2
#SBATCH --ntasks=4
#SBATCH --ntasks-per-node=2
#SBATCH --time=2
#SBATCH --output=nested.out
echo "cpus-per-task=${SLURM_CPUS_PER_TASK:-not given} gpus=${SLURM_GPUS_PER_NODE:-not given}"
echo "account=$SLURM_JOB_ACCOUNT python=$(command -v python)"
srun bash -c 'echo "rank $SLURM_PROCID of $SLURM_NTASKS on $(hostname)"'
"""


@pytest.fixture(scope="module")
def running(box, tmp_path_factory):
    """Start a session of student1 and wait until its Jupyter answers.

    Yield its folder, its connection and the portal.
    """
    page = tmp_path_factory.mktemp("portal") / "view.html"
    with student_named("student1") as student, portal(page) as address:
        home = Path(student.do("echo $HOME").strip())
        preferences = home / ".jupyter/lab/user-settings/@jupyterlab"
        shutil.rmtree(preferences, ignore_errors=True)  # left by an interrupted run of these tests
        environment = student.do("module load dl-course && echo $VIRTUAL_ENV").strip()
        app = install_app(
            tmp_path_factory.mktemp("ondemand"),
            portal=address,
            cluster="box",
            environment=environment,
            site=str(COURSE / "cluster/sites/box.sh"),
            queues=["debug", "gpus"],
            max_gpus=4,
            listen="${host}",
        )
        folder = Path(student.folder, "session")
        typed = {"bc_account": "course", "bc_queue": "gpus", "gpus": "1", "cores": "3"}
        typed |= {"bc_num_hours": "1"}
        done = ruby(app, folder, typed)
        assert done.returncode == 0, done.stderr
        session = Session(folder)

        for name, text in PREFERENCES.items():
            file = preferences / f"{name}.jupyterlab-settings"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        lesson = Path(student.folder, "06_allreduce")
        shutil.copytree(COURSE / "solutions/06_allreduce", lesson)
        jupytext.write(jupytext.read(lesson / "lesson.py"), lesson / f"{lesson.name}.ipynb")
        Path(student.folder, "nested.sh").write_text(NESTED)
        nested = nbformat.v4.new_notebook(
            metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
            cells=[
                nbformat.v4.new_code_cell("!sbatch --wait nested.sh"),
                nbformat.v4.new_code_cell("!cat nested.out"),
                nbformat.v4.new_code_cell("import sys; print('ended in', sys.prefix)"),
            ],
        )
        nbformat.write(nested, Path(student.folder, "nested.ipynb"))
        for owned in (student.folder, home / ".jupyter"):
            subprocess.run(["chown", "-R", "student1:", owned], check=True)

        words = sbatch_words(session.options)
        job = student.do(f"{' '.join(words)} --parsable < {folder}/job.sh").strip()
        try:
            end = time.monotonic() + 120
            while not (folder / "connection.yml").is_file():
                output = folder / "output.log"
                log = output.read_text() if output.is_file() else ""
                state = student.do(f"squeue --noheader --states=all --jobs={job} --format=%T")
                assert state.strip() in ("PENDING", "RUNNING"), f"{state}{log}"
                assert time.monotonic() < end, log
                time.sleep(0.5)
            connection = yaml.safe_load((folder / "connection.yml").read_text())
            done = ruby(app, folder)
            assert done.returncode == 0, done.stderr
            page.write_text(session.text("view.html"))
            yield session, connection, address, student, environment, job
        finally:
            student.try_to(f"scancel {job}; rm -rf ~/.jupyter ~/.local/share/jupyter {folder}")


@pytest.fixture
def page(browser, request):
    context = browser.new_context(viewport={"width": 1300, "height": 1600})
    context.set_default_timeout(60_000)
    yield context.new_page()
    if "SCREENSHOTS" in os.environ:  # a folder for people who want to look
        for number, opened in enumerate(context.pages):
            name = f"ondemand-{request.node.name}-{number}.png"
            opened.screenshot(path=Path(os.environ["SCREENSHOTS"]) / name)
    context.close()


def connect(page: Page, address: str) -> Page:
    """Go from the portal's page into JupyterLab, as the student's click does."""
    page.goto(address)
    with page.context.expect_page() as opened:
        page.get_by_role("button", name="Open the lessons").click()
    lab = opened.value
    lab.locator("#jp-main-dock-panel").wait_for()
    return lab


def open_and_run(lab: Page, running, path: str) -> None:
    _, connection, address, student, *_ = running
    inside_home = Path(student.folder).name
    base = f"{address}/node/{connection['host']}/{connection['port']}"
    lab.goto(
        f"{base}/lab/workspaces/{Path(path).parts[0].split('.')[0]}/tree/{inside_home}/{path}?reset"
    )
    lab.locator(".jp-Notebook .jp-CodeCell").first.wait_for()
    name = lab.locator(".jp-KernelName")
    expect(name).to_contain_text("Deep Learning on Supercomputers", timeout=60_000)
    run_all(lab)


def log_in(running, password: str, origin: str | None = None, **form: str) -> int:
    """Send a login form through the portal, and return its status without following it."""
    _, connection, address, *_ = running
    url = f"{address}/node/{connection['host']}/{connection['port']}/login"
    cookie = "_xsrf=" + "ab" * 16
    data = urllib.parse.urlencode({"password": password} | form).encode()
    headers = {"Cookie": cookie, "Origin": origin or address}

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_):
            return None

    try:
        opener = urllib.request.build_opener(Stay)
        return opener.open(urllib.request.Request(url, data, headers), timeout=30).status
    except urllib.error.HTTPError as error:
        return error.code


def test_only_the_owner_reads_the_password_and_the_hash(running):
    session, connection, *_ = running
    for name in ("connection.yml", "jupyter_config.py"):
        assert stat.S_IMODE((session.folder / name).stat().st_mode) == 0o600
    secret = connection["password"]
    assert len(secret) == 32
    config = session.text("jupyter_config.py")
    assert "argon2:$argon2id$" in config
    assert secret not in config
    assert secret not in session.text("output.log")
    for process in Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes()
            words = (process / "cmdline").read_bytes()
        except OSError:  # already ended
            continue
        assert secret.encode() not in words
        assert secret.encode() not in environment


def test_the_password_the_form_and_its_origin_are_checked(running):
    secret, token = running[1]["password"], "ab" * 16
    assert log_in(running, secret, _xsrf=token) == 302
    assert log_in(running, "wrong", _xsrf=token) == 401
    assert log_in(running, secret) == 403
    assert log_in(running, secret, _xsrf="cd" * 16) == 403
    assert log_in(running, secret, "https://elsewhere.example", _xsrf=token) in (403, 404)


def words_of(process: Path) -> list[bytes]:
    try:
        return (process / "cmdline").read_bytes().split(b"\0")
    except OSError:  # already ended
        return [b""]


def test_ctrl_c_ends_what_runs_in_a_terminal(running):
    """Processes that a shell starts in the background ignore Ctrl-C, and so do their children."""
    config = f"--config={running[0].folder}/jupyter_config.py".encode()
    processes = Path("/proc").glob("[0-9]*")
    [jupyter] = [
        one for one in processes if config in words_of(one) and b"python" in words_of(one)[0]
    ]
    ignored = re.search(r"SigIgn:\s*(\w+)", (jupyter / "status").read_text())[1]
    assert not int(ignored, 16) & 1 << (signal.SIGINT - 1)


def test_sbatch_in_a_notebook_is_a_job_of_its_own(running, page):
    _, _, address, student, environment, _ = running
    lab = connect(page, address)
    open_and_run(lab, running, "nested.ipynb")
    expect(lab.get_by_text(f"ended in {environment}")).to_be_attached(timeout=240_000)
    printed = student.read("nested.out").splitlines()
    assert printed[0] == "cpus-per-task=not given gpus=not given"
    assert printed[1] == f"account=course python={environment}/bin/python"
    ranks = sorted(re.findall(r"rank (\d) of 4 on (\S+)", "\n".join(printed)))
    assert [rank for rank, _ in ranks] == list("0123")
    assert len({host for _, host in ranks}) == 2


def test_lesson_06_runs_to_its_end_and_earns_all_points(running, page, box, tmp_path):
    _, _, address, student, environment, session_job = running
    lab = connect(page, address)
    open_and_run(lab, running, "06_allreduce/06_allreduce.ipynb")
    until_answered(lab, Path(student.folder, "06_allreduce"), 400)
    assert lab.locator('[data-mime-type="application/vnd.jupyter.error"]').count() == 0
    # The lesson's jobs ran under Slurm itself, after the session's job, with the notebook's Python.
    outputs = sorted(Path(student.folder, "06_allreduce").glob("*.out"))
    assert outputs
    for output in outputs:
        text = output.read_text()
        number = re.search(r"^job: (\d+)", text, re.MULTILINE)
        assert number
        assert int(number[1]) > int(session_job)
        assert f"python: {environment}/bin/python" in text
        assert student.wait(number[1])["state"] == "COMPLETED"
    hand_in(student, box, {"06": "06_allreduce"}, tmp_path)
    grade = grades(tmp_path, "smoke")["06"]
    assert points_lost(grade) == {}
    assert grade["max_score"] == 10
    assert grade["tier"] == "confirmed", grade["findings"]
    leaves_its_traces("06", Path(student.folder, "06_allreduce"))
