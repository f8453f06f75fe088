"""The documentation site. `make docs` builds it, offline, with warnings as errors."""

import os
import re
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "python")]

import commands  # noqa: E402
import docstrings  # noqa: E402
import mathml  # noqa: E402
import rpages  # noqa: E402

commands.write(HERE / "reference" / "command-line.md")
rpages.write(HERE / "reference" / "r.md")

project = "bestset"
author = "The bestset developers"
copyright = "the bestset developers; MIT or Apache 2.0"
release = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]
version = release

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "README.md", "**/GALLERY_HEADER.rst", "gallery/*.py", "generated/**/*.ipynb"]
nitpicky = False
# Pickles of the gallery's functions cannot be cached; the figures are.
# The mathematics counts its sections below the title by three signs.
suppress_warnings = ["config.cache", "myst.header"]

myst_enable_extensions = ["colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 3
# Included documents link to files of the repository.
myst_url_schemes = {"http": None, "https": None, "mailto": None}

autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False

copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True
copybutton_line_continuation_character = "\\"
copybutton_exclude = ".linenos"  # prompts must be there for the lines below them to be left out

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "generated/gallery",
    "filename_pattern": r"/plot_",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 1e9,
    "matplotlib_animations": False,
    "image_srcset": ["2x"],  # sharp on screens of two points to a pixel
    "within_subsection_order": "ExampleTitleSortKey",
    "nested_sections": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "bestset"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = [path for path in os.environ.get("BESTSET_SITE_EXTRA", "").split(os.pathsep) if path]
html_show_sourcelink = False
html_copy_source = False
# Summaries are fetched, which browsers refuse for files; without them the search works from a folder.
html_show_search_summary = False
html_search_scorer = str(HERE / "scorer.js")
html_math_renderer = "mathml"
html_theme_options = {
    "logo": {"text": "bestset"},
    "navbar_align": "left",
    # The wide button of the theme has a label that its text is not.
    "navbar_persistent": ["search-button"],
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "install": [], "ten-minutes": [], "questions": []}

warnings.filterwarnings("ignore", message="Matplotlib is currently using agg")


def links_of_the_repository(app, relative, parent, content):
    """An included document links to its neighbours in the repository: to the page of it where there is one, else to nothing."""
    pages = {"MATH.md": "mathematics.md", "ARCHITECTURE.md": "architecture.md", "bench/NOTES.md": "benchmarks.md"}

    def link(found):
        text, target = found[1], found[2]
        page = next((page for name, page in pages.items() if target.split("#")[0].endswith(name)), None)
        return f"[{text}](/guide/{page})" if page else text

    content[0] = re.sub(r"(?<!!)\[([^\]]+)\]\((?!https?:|#)([^)]+)\)", link, content[0])
    # Equations stand in the text by four blanks, and are no code.
    content[0] = content[0].replace("(4.5)\n· ball", "(4.5) · ball")


def setup(app):
    mathml.setup(app)
    docstrings.setup(app)
    app.connect("include-read", links_of_the_repository)
