"""Tests that open and run a lesson in JupyterLab, in a real browser."""

import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import jupytext
import pytest
from playwright.sync_api import Page, expect

from tests.jupyterlab import run_all, until_answered
from tests.lessons.programs.all_points import earns_all_points
from tests.lessons.programs.break_it import leaves_its_traces

pytestmark = [pytest.mark.browser, pytest.mark.slow]
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def student(tmp_path_factory):
    """A student's lessons: 00 and 01 solved, 02 untouched; beside them what they import."""
    folder = tmp_path_factory.mktemp("course") / "lessons"
    (folder / "toolkit").mkdir(parents=True)
    (folder / "cli.py").touch()
    shutil.copytree(ROOT / "lessons" / "02_serial", folder / "02_serial")
    for name in ("00_cluster", "01_learning"):
        shutil.copytree(ROOT / "solutions" / name, folder / name)
        notebook = jupytext.read(folder / name / "lesson.py")
        jupytext.write(notebook, folder / name / f"{name}.ipynb")
    return folder


@pytest.fixture(scope="module")
def lab(student):
    """Start JupyterLab in the student's folder, on the loopback address."""
    folder, own = student, student.parent
    # All cells in the page, not only those in view; no question about news.
    for name, text in {
        "notebook-extension/tracker": '{"windowingMode": "none"}',
        "apputils-extension/notification": '{"fetchNews": "false"}',
    }.items():
        settings = own / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        settings.parent.mkdir(parents=True)
        settings.write_text(text)

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(8)
    command = [sys.executable, "-m", "jupyter", "lab", "--no-browser", "--ip=127.0.0.1"]
    command += [f"--port={port}", f"--IdentityProvider.token={token}", f"--notebook-dir={folder}"]
    command += ["--allow-root"] if os.geteuid() == 0 else []
    env = os.environ | {
        "HOME": str(own),
        "COURSE_ROOT": str(own),
        "COURSE_SITE": str(ROOT / "cluster/sites/laptop.sh"),
    }
    env["PATH"] = f"{Path(sys.executable).parent}:{env['PATH']}"
    env["JUPYTERLAB_SETTINGS_DIR"] = str(own / "settings")
    env["JUPYTER_CONFIG_PATH"] = str(ROOT / "lessons" / "student" / "jupyter_config")
    with (own / "lab.log").open("w") as log:
        server = subprocess.Popen(command, env=env, stdout=log, stderr=log)
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(120):
            try:
                urllib.request.urlopen(f"{url}/api", timeout=2).close()
                break
            except OSError:
                assert server.poll() is None, (own / "lab.log").read_text()
                time.sleep(0.5)
        yield url, token
    finally:
        server.terminate()
        server.wait(30)


@pytest.fixture
def page(browser, request):
    page = browser.new_page(viewport={"width": 1300, "height": 1600})
    page.set_default_timeout(60_000)
    yield page
    if "SCREENSHOTS" in os.environ:  # a folder, for whoever wants to look
        page.screenshot(path=Path(os.environ["SCREENSHOTS"]) / f"{request.node.name}.png")
    page.close()


def open_lesson(page: Page, lab: tuple[str, str], folder: str) -> None:
    url, token = lab
    page.goto(f"{url}/lab/workspaces/{folder}/tree/{folder}/{folder}.ipynb?token={token}&reset")
    page.locator(".jp-Notebook .jp-CodeCell").first.wait_for()
    expect(page.locator(".jp-Notebook-ExecutionIndicator")).to_have_attribute(
        "data-status", "idle", timeout=60_000
    )


def test_it_opens_on_the_start_page_and_lists_the_lessons_only(lab, page):
    url, token = lab
    page.goto(f"{url}/?token={token}")
    start = page.locator(".jp-RenderedMarkdown", has_text="Deep Learning on Supercomputers")
    expect(start.locator("tbody tr")).to_have_count(3, timeout=60_000)
    listed = page.locator(".jp-DirListing-itemText")
    expect(listed).to_have_text(["00_cluster", "01_learning", "02_serial", "START.md"])
    start.locator("strong a").click()
    current = page.locator("#jp-main-dock-panel .lm-TabBar-tab.jp-mod-current").last
    expect(current).to_have_text("00_cluster.ipynb")
    # The list of files follows the open notebook.
    expect(listed.filter(has_text="train_gpt.py")).to_have_count(1, timeout=60_000)


def test_the_first_cell_trains_on_two_ranks_and_the_lesson_earns_all_points(
    lab, page, student, tmp_path
):
    """Run from the top; the curve is there before the job has ended."""
    open_lesson(page, lab, "00_cluster")
    run_all(page)
    curve = page.locator('[data-mime-type="image/svg+xml"]').first
    expect(curve).to_be_attached(timeout=120_000)
    output = page.locator(".jp-CodeCell").nth(2).locator(".jp-OutputArea")
    expect(output).not_to_contain_text("After training it writes")
    expect(output).to_contain_text("After training it writes", timeout=120_000)
    expect(output).to_contain_text("rank 1 of 2: process")
    expect(output).not_to_contain_text("MLLOG")
    page.locator(".jp-CodeCell").nth(2).scroll_into_view_if_needed()
    last = page.locator(".jp-CodeCell").last.locator(".jp-OutputArea-output").first
    expect(last).to_be_attached(timeout=240_000)
    assert page.locator('[data-mime-type="application/vnd.jupyter.error"]').count() == 0
    earns_all_points("00", student / "00_cluster", tmp_path)
    leaves_its_traces("00", student / "00_cluster")


def test_an_untouched_gap_is_one_plain_sentence(lab, page):
    open_lesson(page, lab, "02_serial")
    run_all(page)
    gap = page.locator(".jp-OutputArea-output", has_text="Predict: set predict_accuracy")
    expect(gap).to_be_attached(timeout=60_000)


def test_the_solved_lesson_runs_to_its_end_and_earns_all_points(lab, page, student, tmp_path):
    open_lesson(page, lab, "01_learning")
    run_all(page)
    until_answered(page, student / "01_learning", 240)
    assert page.locator('[data-mime-type="application/vnd.jupyter.error"]').count() == 0
    earns_all_points("01", student / "01_learning", tmp_path)
