"""Each block of the pages in docs/ runs as printed: page by page, in order, in an empty folder.

The commands run in this process, except those that start others, and except on a page that sets an
environment variable. skipped_blocks.py lists the blocks that no test runs, with reasons.
"""

from __future__ import annotations

import getpass
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from pages_support import PAGES, SHELLS, commands, plain, shown
from patience import PATIENCE
from skipped_blocks import LANGUAGES, PRINTED, SKIPPED, WRITTEN
from tests_support import ROOT

from microshrub_tools.cli.main import main

_ALL = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").rglob("*.md"))]
_WORKERS = ("check-learner",)  # commands with processes of their own
_OTHERS = [page for page in _ALL if page not in PAGES]


def reason(command: str) -> str:
    """Return the reason why no test runs a command; empty for a command that runs."""
    words = command.split("&&")[0].strip()
    return next((why for pattern, why in SKIPPED.items() if re.search(pattern, words)), "")


def runs(page: str) -> list[str]:
    return [command for command in commands(ROOT / page) if not reason(command)]


@pytest.mark.long
@pytest.mark.parametrize("page", [page for page in _OTHERS if runs(page)])
def test_the_blocks_run_as_printed(
    page: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    micropython_command: tuple[str, ...],
) -> None:
    (tmp_path / "tests").symlink_to(ROOT / "tests")  # of the reader's clone
    monkeypatch.chdir(tmp_path)
    for name in WRITTEN.get(page, ()):
        (tmp_path / name).write_text("password\n")
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(getpass, "getpass", lambda _: "password")  # a reader's input
    alone = any(command.startswith("export ") for command in runs(page))
    text = ""
    for command in runs(page):
        words = shlex.split(command, comments=True)
        if words[0] == "export":
            monkeypatch.setenv(*words[1].split("=", 1))
        elif words[0] == "microshrub" and words[1] not in _WORKERS and not alone:
            assert main(words[1:]) == 0, command + "\n" + "".join(capfd.readouterr())
        else:
            path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
            done = subprocess.run(
                ["bash", "-c", command], env=os.environ | {"PATH": path}, timeout=PATIENCE,
                stdin=subprocess.DEVNULL, check=False,
            )  # fmt: skip
            assert done.returncode == 0, command + "\n" + "".join(capfd.readouterr())
        text += "".join(capfd.readouterr())
    lines = [plain(line) for line in text.splitlines()]
    for line in shown(ROOT / page) if page not in PRINTED else ():
        assert any(line in one for one in lines), line


def test_each_reason_to_skip_matches_a_command() -> None:
    every = [command for page in _OTHERS for command in commands(ROOT / page)]
    for pattern in SKIPPED:
        assert any(re.search(pattern, command) for command in every), pattern


def test_each_block_of_another_language_has_a_reason() -> None:
    """No command is in an indented block, which no test would see."""
    for page in [*PAGES, *_ALL]:
        text = (ROOT / page).read_text(encoding="utf-8")
        matches = re.findall(r"^ *```(\w+)\n", text, re.M)
        assert not [name for name in matches if name not in (*SHELLS, *LANGUAGES)], page
        assert not re.search(r"^    (\$ )?microshrub [a-z]", text, re.M), page
