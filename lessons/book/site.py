"""Build the site with Sphinx.

All files that a page needs are included; no other host is contacted.
"""

import io
import shutil
from pathlib import Path
from typing import Any

NEEDED = ("sphinx", "myst_nb", "sphinx_book_theme")
STATIC = Path(__file__).with_name("static")

SETTINGS: dict[str, Any] = {
    "project": "Deep Learning on Supercomputers",
    "extensions": ["myst_nb"],
    "suppress_warnings": ["toc.not_included"],  # pages outside docs/ that a page links to
    "nb_execution_mode": "off",
    "nb_merge_streams": True,
    "nb_ipywidgets_js": {},  # would come from another host
    "myst_enable_extensions": ["colon_fence"],
    "myst_heading_anchors": 3,
    "smartquotes": False,  # the texts contain – and … themselves
    "highlight_language": "none",
    "html_theme": "sphinx_book_theme",
    "html_title": "Deep Learning on Supercomputers",
    "html_static_path": [str(STATIC)],
    "html_css_files": ["book.css"],
    "html_copy_source": False,
    "html_favicon": str(STATIC / "icon.svg"),
    "html_context": {"default_mode": "auto"},  # follow the reader's system until the reader chooses
    "html_theme_options": {
        "use_download_button": False,  # a lesson's page lists its files
        "show_navbar_depth": 1,
        "show_toc_level": 2,
        "home_page_in_toc": True,
        "pygments_light_style": "a11y-high-contrast-light",
        "pygments_dark_style": "a11y-high-contrast-dark",
        # No bar above the page: search and title are in the sidebar.
        "navbar_start": [],
        "navbar_center": [],
        "navbar_end": [],
        "navbar_persistent": [],
        "footer_content_items": [],
    },
}


def make_site(source: Path, target: Path, doctrees: Path) -> list[str]:
    """Write the site and return Sphinx's warnings, for example about broken links."""
    from sphinx.application import Sphinx
    from sphinx.util.docutils import docutils_namespace, patch_docutils

    warnings = io.StringIO()
    with patch_docutils(None), docutils_namespace():
        app = Sphinx(
            str(source),
            None,
            str(target),
            str(doctrees),
            "html",
            confoverrides=dict(SETTINGS),
            status=None,
            warning=warnings,
            parallel=2,
        )
        app.build()
    for name in (".buildinfo", "objects.inv"):
        (target / name).unlink(missing_ok=True)
    shutil.rmtree(target / "_sources", ignore_errors=True)
    (target / ".nojekyll").touch()  # GitHub would leave out folders that begin with _
    return [line for line in warnings.getvalue().splitlines() if line.strip()]
