"""A command starts at once: no heavy module is imported before the work."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from microshrub_host.cli import kept_help as kept_help_module
from microshrub_host.cli.kept_help import kept_help
from microshrub_tools.cli.main import COMMANDS

HEAVY = {
    *("llvmlite", "matplotlib", "river", "scipy", "pandas", "pyarrow", "sklearn", "torch"),
    "distributed",
}
PROGRAM = """
import json, sys
try:
    {what}
except SystemExit:
    pass
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
RUN = "from microshrub_tools.cli.main import main; main(sys.argv[1:])"


def imported(what: str, *words: str) -> set[str]:
    """Return the modules that a fresh Python has imported after this statement."""
    command = [sys.executable, "-c", PROGRAM.format(what=what), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(json.loads(done.stderr.splitlines()[-1]))


def test_the_list_of_commands_imports_none_of_them() -> None:
    for words in (["--help"], ["--version"]):
        modules = imported(RUN, *words)
        assert not modules & (HEAVY | {"numpy", "rich"})
        assert not modules & {command.module for command in COMMANDS}


@pytest.mark.parametrize("name", [command.name for command in COMMANDS])
def test_the_help_of_a_command_imports_only_its_module(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MICROSHRUB_CACHE", str(tmp_path / "cache"))
    modules = imported(RUN, name, "--help")
    assert not modules & HEAVY
    module = next(command.module for command in COMMANDS if command.name == name)
    assert module in modules
    others = {c.module for c in COMMANDS} & modules - {module}
    assert others <= {"microshrub_host.cli.budget"}  # its text on a model that is too large
    again = imported(RUN, name, "--help")
    assert not again & (HEAVY | {"numpy", "rich", module}), "a text was made twice"
    assert len(again) < 200


def test_help_is_made_again_for_another_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MICROSHRUB_CACHE", str(tmp_path / "cache"))
    made = iter(("first", "second", "third"))
    assert kept_help("x", lambda: next(made)) == "first"
    assert kept_help("x", lambda: next(made)) == "first"
    monkeypatch.setenv("MICROSHRUB_LEARNERS", "mine.py:Mine")
    assert kept_help("x", lambda: next(made)) == "second"
    files = [(*file,) for file in kept_help_module._files()]
    assert any(path.endswith("simulate.py") for path, *_ in files)
    monkeypatch.setattr(kept_help_module, "_files", lambda: files[1:])
    assert kept_help("x", lambda: next(made)) == "third"


@pytest.mark.parametrize("package", ["microshrub_host", "microshrub_tools"])
def test_importing_a_package_is_cheap(package: str) -> None:
    modules = imported(f"import {package}")
    assert not modules & (HEAVY | {"numpy", "rich"})
