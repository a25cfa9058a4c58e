"""Steps that browser tests share in JupyterLab, wherever it runs."""

import re
import time
from pathlib import Path

from playwright.sync_api import Page, expect

ROOT = Path(__file__).parents[1]

# JupyterLab shows a kernel as idle before it has requested one, and cells that are run then are
# lost: they return to [ ]. So ask the server whether this notebook has a kernel, whether the page
# is connected to it, and whether it is idle.
KERNEL_IS_READY = """async () => {
    const config = JSON.parse(document.querySelector('#jupyter-config-data').textContent);
    const tab = document.querySelector('#jp-main-dock-panel .lm-TabBar-tab.jp-mod-current');
    const sessions = await (await fetch(config.baseUrl + 'api/sessions')).json();
    return tab && sessions.some(session =>
        session.path.split('/').pop() === tab.textContent
        && session.kernel.connections > 0 && session.kernel.execution_state === 'idle');
}"""


# Even then, a busy page may drop the request to run. `[*]` marks a cell that waits for its turn.
BEGUN_OR_LOST = """() => {
    const prompts = [...document.querySelectorAll('.jp-InputPrompt')].map(one => one.textContent);
    if (prompts.some(text => /\\d/.test(text))) return 'begun';
    return prompts.some(text => text.includes('*')) ? null : 'lost';
}"""

NONE_WAITS = """() => ![...document.querySelectorAll('.jp-InputPrompt')]
    .some(each => each.textContent.includes('*'))"""


def run_all(page: Page) -> None:
    """Choose "Run All Cells" when the notebook's kernel is ready.

    Try again if the page dropped it.
    """
    page.wait_for_function(KERNEL_IS_READY, polling=300, timeout=60_000)
    idle = page.locator(".jp-Notebook-ExecutionIndicator")
    expect(idle).to_have_attribute("data-status", "idle", timeout=60_000)
    for _ in range(5):
        page.locator(".jp-Notebook .jp-CodeCell").first.click()
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        page.wait_for_timeout(5_000)
        if page.wait_for_function(BEGUN_OR_LOST, polling=500).json_value() == "begun":
            return
    raise AssertionError("Run All Cells was chosen five times, and no cell has run")


def until_answered(page: Page, folder: Path, seconds: float) -> None:
    """Wait until the lesson in this folder has noted all answers, and the page has run to its end.

    Look at the file, because the browser would search the text of the whole notebook each time.
    """
    page_of = (ROOT / "solutions" / folder.name / "lesson.py").read_text()
    calls = re.findall(r"^(?:course\.answers\.)?note\((.*?)\)$", page_of, re.MULTILINE | re.DOTALL)
    count = sum(len(re.findall(r"(\w+)=\1\b", call)) for call in calls)
    file, end = folder / "answers.txt", time.monotonic() + seconds
    while not file.is_file() or file.read_text().count(" = ") < count:
        assert time.monotonic() < end, "the notebook has not noted all answers"
        page.wait_for_timeout(500)
    expect(page.get_by_text(f"answers.txt now holds {count} answers")).to_be_attached()
    page.wait_for_function(NONE_WAITS, polling=500, timeout=1000 * seconds)
