"""The directive `command-reference`: what `microshrub COMMAND --help` prints, for all of them."""

import contextlib
import io
import os
import re

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

COLUMNS = "88"
_COMMAND = re.compile(r"^    (\w+)(?: {2,}|$)", re.MULTILINE)


def help_of(*words: str) -> str:
    """What `microshrub WORDS --help` prints."""
    from microshrub_tools.cli.main import main

    said = io.StringIO()
    os.environ["COLUMNS"] = COLUMNS
    with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
        main([*words, "--help"])
    if not said.getvalue():
        raise RuntimeError(f"microshrub {' '.join(words)} --help printed nothing")
    return said.getvalue()


def command_names() -> list[str]:
    """The subcommands, in the order of `microshrub --help`."""
    return _COMMAND.findall(help_of())


class CommandReference(Directive):
    """One section a command."""

    def run(self) -> list[nodes.Node]:
        return [_block(help_of()), *(self._section(name) for name in command_names())]

    def _section(self, name: str) -> nodes.section:
        section = nodes.section(ids=[nodes.make_id(f"microshrub-{name}")])
        section += nodes.title("", "", nodes.literal("", f"microshrub {name}"))
        section += _block(help_of(name))
        self.state.document.note_explicit_target(section)
        return section


def _block(text: str) -> nodes.literal_block:
    return nodes.literal_block(text, text, language="text")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("command-reference", CommandReference)
    return {"parallel_read_safe": True}
