"""The page on installation: its tables have all commands and extras."""

from __future__ import annotations

import re
import sys

import pytest
from tests_support import ROOT

from microshrub_tools.cli.main import COMMANDS, main

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PAGE = (ROOT / "docs" / "how-to" / "install.md").read_text(encoding="utf-8")


def named_in(heading: str) -> list[str]:
    """Return the names in backticks in the first column of the table below this heading."""
    table = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([^|]+) \|", table, re.M)
    return [name for row in rows for name in re.findall(r"`([\w-]+)(?: --\w+)?`", row)]


def test_every_command_is_in_the_table_of_systems_once() -> None:
    known = {command.name for command in COMMANDS}
    listed = named_in("What runs where")
    assert {*listed} == known
    assert sorted(listed) == sorted([*known, "build"]), "build stands there twice, with --emit"


def test_every_extra_is_in_the_table_of_extras() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {*named_in("What it brings")} == {*project["optional-dependencies"]} - {"dev", "docs"}


def test_powershell_has_the_same_commands_as_the_shell() -> None:
    shell = re.search(r"```\n(.*?)```", PAGE, re.S)
    powershell = re.search(r"```powershell\n(.*?)```", PAGE, re.S)
    assert shell is not None
    assert powershell is not None
    assert shell[1].splitlines()[1:] == powershell[1].splitlines()[2:]


def test_a_virtual_board_says_that_it_needs_linux(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert main(["device"]) == 2
    err = capsys.readouterr().err
    assert "Linux" in err
    assert "`microshrub web`" in err
