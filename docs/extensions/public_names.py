"""The directive `public-names MODULE`: the documentation of all names in the module's __all__.

With `:functions-first:`, functions precede the classes that they return.

The page cannot lag behind the code: every exported name, and every learner, is on it.
"""

import importlib
import inspect
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import nested_parse_with_titles


class PublicNames(SphinxDirective):
    """Classes with their members first, then functions, then constants."""

    required_arguments = 1
    option_spec: ClassVar = {"functions-first": directives.flag}

    def run(self) -> list[nodes.Node]:
        module = importlib.import_module(self.arguments[0])
        lines: list[str] = []
        names = [*module.__all__]
        if hasattr(module, "learners"):
            names += module.learners.learner_names()
        order = (1, 0, 2) if "functions-first" in self.options else (0, 1, 2)
        for name in sorted(names, key=lambda name: order[_rank(getattr(module, name))]):
            lines += _directive(f"{self.arguments[0]}.{name}", getattr(module, name))
        text = nodes.Element()
        nested_parse_with_titles(
            self.state, StringList(["```{eval-rst}", *lines, "```"], source="__all__"), text
        )
        return text.children


def _rank(value: object) -> int:
    return 0 if inspect.isclass(value) else 1 if callable(value) else 2


def _directive(path: str, value: object) -> list[str]:
    """Return the lines of the autodoc directive that documents a value under its public path."""
    kind = ("autoclass", "autofunction", "autodata")[_rank(value)]
    lines = [f".. {kind}:: {path}"]
    if kind == "autoclass":
        lines += ["   :members:", "   :inherited-members: BaseException"]
    return [*lines, ""]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("public-names", PublicNames)
    return {"parallel_read_safe": True}
