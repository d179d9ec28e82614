"""Sphinx's settings for the site, which `make docs` builds in build/docs.

Sphinx is well maintained, works offline, documents classes that are imported lazily, and can treat
every broken link as an error; with MyST, the pages are Markdown that a code-hosting site shows as
well; furo reads well on a phone.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).with_name("extensions")))

from microshrub_host.library import loader

# The module of `import microshrub` on a board; on CPython, the loader replaces MicroPython.
sys.modules["microshrub"] = loader.load("python")

project = "microshrub"
author = "the microshrub authors"
copyright = author
version = release = sys.modules["microshrub"].__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",  # for docstrings in numpydoc's form
    "sphinx_copybutton",
    "command_reference",
    "plain_docstrings",
    "public_names",
]
exclude_patterns = ["extensions", "style"]
html_static_path = ["style"]
html_css_files = ["code.css"]
default_role = "code"

myst_enable_extensions = ["deflist", "fieldlist"]
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 88
python_use_unqualified_type_names = True

copybutton_prompt_text = "$ "  # only lines with a prompt are copied, without the prompt

html_theme = "furo"
html_title = f"microshrub {release}"
html_show_copyright = False
html_copy_source = False
