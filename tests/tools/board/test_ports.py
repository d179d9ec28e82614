"""Which port is meant where none is named."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from microshrub_host.base.errors import UserError
from microshrub_tools.board import ports


def port(name: str, vendor: int | None) -> Any:
    return SimpleNamespace(device=name, vid=vendor, description="n/a", product=None)


@pytest.mark.usefixtures("no_virtual_board")
def test_the_only_board_is_taken_and_two_are_listed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = [port("/dev/ttyS0", None), port("/dev/ttyUSB7", 0x0403)]
    monkeypatch.setattr(ports.list_ports, "comports", lambda: found)
    monkeypatch.setattr(ports, "sorted", lambda given, key: list(given), raising=False)
    with pytest.raises(UserError, match=r"--port is missing\. Ports found:\n  /dev/ttyS0"):
        ports.chosen_port(None)
    found.append(port("/dev/ttyACM0", 0x2E8A))
    assert ports.chosen_port(None) == "/dev/ttyACM0"
    assert "The board is at /dev/ttyACM0." in capsys.readouterr().err
    assert ports.chosen_port("/dev/x") == "/dev/x"
    found.append(port("/dev/ttyACM1", 0x303A))
    with pytest.raises(UserError, match="ttyACM1  Espressif"):
        ports.chosen_port(None)
