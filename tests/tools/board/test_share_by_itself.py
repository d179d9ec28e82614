"""Programs of `build --share`, flashed unchanged: they teach each other, and forget again."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import pytest
from mqtt_support import needs_broker
from patience import PATIENCE
from sharing_board import SharingBoard

from microshrub_research.benchmarks.local_broker import LocalBroker
from microshrub_tools.cli.main import main

pytestmark = needs_broker


def test_built_programs_teach_each_other(
    micropython_command: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broker").mkdir()
    with LocalBroker(tmp_path / "broker", 16) as broker, contextlib.ExitStack() as running:
        at = ["--mqtt", f"127.0.0.1:{broker.port}"]
        share = [*at, "--share", "rooms", "classes=all"]
        boards = [
            SharingBoard(micropython_command, tmp_path / name, classes, *share, "--name", name)
            for name, classes in (("kitchen", (0, 1)), ("attic", (0, 2)))
        ]
        for board in boards:
            running.enter_context(board.pc)
        end = time.monotonic() + PATIENCE
        while min(boards[0].right(2), boards[1].right(1)) < 0.9:
            assert time.monotonic() < end, "they have not taught each other"
            time.sleep(1)
        group = [*at, "--group", "rooms", "--origin", "attic"]
        assert main(["share", "forget", *boards[0].port("network"), *group]) == 0
        assert "The board goes on without" in capsys.readouterr().out
        assert boards[0].right(2) < 0.5, "what it has judged it does not learn again"
