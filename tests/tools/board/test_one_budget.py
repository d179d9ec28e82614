"""`budget`, `simulate --board` and `build` tell the same RAM of the same program."""

from __future__ import annotations

from pathlib import Path

import pytest
from budget_support import SMALL, check_same


@pytest.mark.parametrize("options", [[], [*SMALL, "--label-budget", "10%", "--guarantee", "90%"]])
def test_the_commands_tell_the_same(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check_same(options, tmp_path / "out", capsys)
