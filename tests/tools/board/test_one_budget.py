"""`budget`, `simulate --board` and `build` print the same RAM for the same program."""

from __future__ import annotations

from pathlib import Path

import pytest
from budget_support import SMALL, check_same


@pytest.mark.parametrize("options", [[], [*SMALL, "--label-budget", "10%", "--guarantee", "90%"]])
def test_the_commands_print_the_same_ram(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check_same(options, tmp_path / "out", capsys)
