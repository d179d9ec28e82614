"""The commands on the how-to pages exist, and read only files that an earlier
command has written.
"""

from __future__ import annotations

import itertools
import re

import pytest
from pages_support import commands
from test_commands_run import words_of
from tests_support import ROOT

from microshrub_tools.cli.main import parser

PAGES = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/how-to/*.md"))
ELSEWHERE = {"walk"}  # the recording of a board's model, which `stream` sends to the board


@pytest.mark.parametrize("page", PAGES)
def test_a_command_has_its_options_and_its_recordings(page: str) -> None:
    known: set[str] = set(ELSEWHERE)
    for line in commands(ROOT / page):
        if line.startswith("export "):
            break  # the rest depends on it: test_blocks.py runs it
        for command in line.removeprefix("$ ").split(" && "):
            if not re.match(r"microshrub [a-z]", command):
                continue
            words = words_of(command)[1:]
            parser().parse_args(words)
            if words[0] == "example":
                known.add(words[1])
            known |= {
                file.partition(".")[0]
                for option, file in itertools.pairwise(words)
                if option in ("-o", "--save", "--output")
            }
            read = [re.fullmatch(r"(\w+)\.(csv|csv\.gz|mshrub)", word) for word in words]
            for match in filter(None, read):
                assert match[1] in known, command
