"""What a browser test does in JupyterLab, wherever that runs."""

from playwright.sync_api import Page, expect

# JupyterLab shows a kernel as idle before it has asked for one, and what is run then is lost: the
# cells go back to [ ]. So ask the server: is there a kernel for this notebook, does the page hold a
# connection to it, and has it nothing to do?
KERNEL_IS_READY = """async () => {
    const config = JSON.parse(document.querySelector('#jupyter-config-data').textContent);
    const tab = document.querySelector('#jp-main-dock-panel .lm-TabBar-tab.jp-mod-current');
    const sessions = await (await fetch(config.baseUrl + 'api/sessions')).json();
    return tab && sessions.some(session =>
        session.path.split('/').pop() === tab.textContent
        && session.kernel.connections > 0 && session.kernel.execution_state === 'idle');
}"""


# Even then a busy page may drop what it is told to run. `[*]` is a cell that waits its turn.
BEGUN_OR_LOST = """() => {
    const prompts = [...document.querySelectorAll('.jp-InputPrompt')].map(one => one.textContent);
    if (prompts.some(text => /\\d/.test(text))) return 'begun';
    return prompts.some(text => text.includes('*')) ? null : 'lost';
}"""


def run_all(page: Page) -> None:
    """Run, Run All Cells, once the notebook's kernel is ready; again if the page dropped it."""
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
