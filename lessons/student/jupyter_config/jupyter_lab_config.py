"""Configure JupyterLab for `make lab`: open the start page, and show only the lessons.

Jupyter also reads the user's own settings, which may differ.
"""

import os
from pathlib import Path

from lessons.folders import LESSON_NAME, START_PAGE, course_root
from lessons.student.start_page import start_page

lessons = course_root() / "lessons"
# What students import and type, but need not open. Hidden in the list of files, not locked away.
machinery = [
    path.name
    for path in lessons.iterdir()
    if path.name != START_PAGE and not LESSON_NAME.fullmatch(path.name)
]

c = get_config()  # type: ignore[name-defined]  # noqa: F821 - Jupyter's own, when it reads this
# Python runs this file in each new kernel.
os.environ["PYTHONSTARTUP"] = str(Path(__file__).with_name("first_in_kernel.py"))
c.ContentsManager.hide_globs = ["__pycache__", "*.pyc", "*~", *machinery]
try:
    (lessons / START_PAGE).write_text(start_page(lessons), encoding="utf-8")
except OSError as error:  # in a course that somebody else installed
    print(f"{error.filename}: {error.strerror}, so there is no start page")
else:
    c.LabApp.default_url = f"/lab/tree/{START_PAGE}"
