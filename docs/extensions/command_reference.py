"""The directive `command-reference`: the output of `COMMAND --help-all` for every command."""

import contextlib
import io
import os
import re

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

COLUMNS = "88"
_COMMAND = re.compile(r"^    ([\w-]+)(?: {2,}|$)", re.MULTILINE)


def help_of(*words: str) -> str:
    """Return the output of `microshrub WORDS --help-all`."""
    from microshrub_tools.cli.main import main

    said = io.StringIO()
    os.environ["COLUMNS"] = COLUMNS
    with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
        main([*words, "--help-all"])
    if not said.getvalue():
        raise RuntimeError(f"microshrub {' '.join(words)} --help-all printed nothing")
    return said.getvalue()


def command_names() -> list[tuple[str, ...]]:
    """Return the commands, each before its subcommands, in the order of `--help-all`."""
    found: list[tuple[str, ...]] = []
    for name in _COMMAND.findall(help_of()):
        found.append((name,))
        text = help_of(name)
        if "COMMAND ...\n" in text:
            found += [(name, inner) for inner in _COMMAND.findall(text)]
    return found


class CommandReference(Directive):
    """A section for each command."""

    def run(self) -> list[nodes.Node]:
        return [_block(help_of()), *map(self._section, command_names())]

    def _section(self, words: tuple[str, ...]) -> nodes.section:
        name = " ".join(("microshrub", *words))
        section = nodes.section(ids=[nodes.make_id(name)])
        section += nodes.title("", "", nodes.literal("", name))
        section += _block(help_of(*words))
        self.state.document.note_explicit_target(section)
        return section


def _block(text: str) -> nodes.literal_block:
    return nodes.literal_block(text, text, language="text")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("command-reference", CommandReference)
    return {"parallel_read_safe": True}
