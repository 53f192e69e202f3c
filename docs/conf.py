"""Settings of the site, which `make docs` builds: see tools/docs.sh.

PHASIC_SITE_CACHE names the folder of the outputs of cells; it has to be another
one for another build of phasic. PHASIC_SITE_QUICK leaves pages with
`slow: true` below `phasic:` in their front matter unexecuted.
"""

import os
import pathlib
import sys
from typing import Any

from jupyter_cache.cache import db as cells

_DOCS = pathlib.Path(__file__).parent
# After the installed package, since the sources hold a folder `phasic`, too.
sys.path.append(str(_DOCS.parent))

project = "phasic"
author = "The phasic developers"
project_copyright = author
html_title = "phasic"
language = "en"

extensions = [
  "myst_nb",
  "sphinx.ext.autodoc",
  "sphinx.ext.napoleon",
  "sphinx.ext.viewcode",
  "sphinx_copybutton",
  "sphinx_design",
  "sphinx-mathjax-offline",
  "tools.site.downloads",
  "tools.site.links",
  "tools.site.reference",
]
exclude_patterns = ["BUILD", "decisions/README.md", "pypi.md"]
default_role = "py:obj"  # In docstrings, single backticks are code.

# Pages.
myst_enable_extensions = [
  "amsmath",
  "colon_fence",
  "deflist",
  "dollarmath",
  "fieldlist",
]
myst_heading_anchors = 4
nb_execution_mode = "cache"
nb_execution_cache_path = os.environ.get(
  "PHASIC_SITE_CACHE", str(_DOCS.parent / ".build" / "site-cache")
)
# Made before the processes that read pages, which would race to make it.
pathlib.Path(nb_execution_cache_path).mkdir(parents=True, exist_ok=True)
cells.create_db(nb_execution_cache_path)
# What is not executed is colored by the kernelspec's `language: python`.
_SLOW = "\nphasic:\n  slow: true\n---\n"
nb_execution_excludepatterns = []
for _page in _DOCS.rglob("*.md"):
  _text = _page.read_text(encoding="utf-8")
  if "\nphasic:" in _text and _SLOW not in _text:
    raise ValueError(f"{_page}: the front matter must end in {_SLOW!r}")
  if os.environ.get("PHASIC_SITE_QUICK") and _SLOW in _text:
    nb_execution_excludepatterns.append(_page.relative_to(_DOCS).as_posix())
nb_execution_timeout = 300  # seconds, for one cell
# A cell that fails is a warning, which fails the build after all pages.
nb_execution_raise_on_error = False
nb_execution_show_tb = True
nb_merge_streams = True
nb_output_stderr = "warn"  # Else pages would show warnings of libraries.
nb_code_prompt_show = "Show the code"
nb_code_prompt_hide = "Hide the code"
copybutton_exclude = ".linenos, .gp, .go"

# The reference: docstrings are Google's style.
autodoc_member_order = "groupwise"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 72
add_module_names = False
toc_object_entries_show_parents = "hide"

# Looks.
html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_context = {"default_mode": "auto"}
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_copy_source = False
html_show_sourcelink = False
html_search_scorer = str(_DOCS / "_static" / "scorer.js")
html_theme_options = {
  "logo": {
    "text": "phasic",
    "alt_text": "phasic: home",
  },
  "navbar_align": "left",
  "header_links_before_dropdown": 6,
  "navigation_with_keys": False,
  "show_nav_level": 1,
  "show_toc_level": 2,
  "secondary_sidebar_items": ["page-toc"],
  "footer_start": ["copyright"],
  "footer_end": ["sphinx-version"],
}
mathjax3_config = {"options": {"enableMenu": False}}


def setup(app: Any) -> None:
  """Says what an extension leaves open: it only copies files, at the end."""
  app.extensions["sphinx-mathjax-offline"].parallel_read_safe = True
