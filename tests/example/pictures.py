"""Make the pictures of the documentation from real runs: `make pictures`.

    python -m tests.example.pictures FOLDER      # FOLDER: written by `make example`

This needs Chromium and Matplotlib. The plot shows a saved speed job; the pages are the example's.
"""

import shutil
import sys
from pathlib import Path

from tests.autograder.in_memory import read_bytes

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"
SPEED_JOB = ROOT / "tests/lessons/planted/outputs/07/speed.out.txt"
LARGEST = 150_000  # bytes of a picture

# Picture -> the page, the window's size, and what is removed from the page first.
PAGES = {
    "class-page": ("index.html", (1040, 600), ""),
    "student-page": ("students/hana.html", (720, 960), "#lesson-1, #lesson-2"),
}


def plot_speed_job() -> bytes:
    """Return the plot of a speed job as lesson 07 draws it."""
    from lessons.toolkit import plots

    text = SPEED_JOB.read_text("utf-8").partition("\n")[2]
    [run] = read_bytes({"07_speed_1.out": text.encode()})
    return plots.speed_rounds(run)._repr_png_()


def photograph(grades: Path) -> dict[str, bytes]:
    """Return screenshots of the example's pages."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("google-chrome") or "chromium"
    found = {}
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, (file, (width, height), without) in PAGES.items():
            page = browser.new_page(viewport={"width": width, "height": height})
            page.goto((grades / file).resolve().as_uri())
            if without:
                page.eval_on_selector_all(without, "all => all.forEach(one => one.remove())")
            found[name] = page.screenshot()
        browser.close()
    return found


def main(example: Path) -> None:
    pictures = {"speed-job": plot_speed_job(), **photograph(example / "grades")}
    PICTURES.mkdir(exist_ok=True)
    for name, png in pictures.items():
        assert len(png) < LARGEST, f"{name}.png has {len(png)} bytes"
        (PICTURES / f"{name}.png").write_bytes(png)
        print(f"{PICTURES / name}.png: {len(png) / 1000:.0f} kB")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
