"""The port that is used where none is named."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from microshrub_host.base.errors import UserError
from microshrub_tools.board import ports, simulated_board


def port(name: str, vendor: int | None) -> Any:
    return SimpleNamespace(device=name, vid=vendor, description="n/a", product=None)


@pytest.fixture
def ports_of_pc(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, no_virtual_board: None
) -> list[SimpleNamespace]:
    """The ports of this PC, in a folder in which no virtual board was started."""
    some: list[SimpleNamespace] = []
    monkeypatch.setattr(ports.list_ports, "comports", lambda: some)
    monkeypatch.setattr(ports, "sorted", lambda given, key: list(given), raising=False)
    monkeypatch.chdir(tmp_path)
    return some


def refused() -> str:
    with pytest.raises(UserError) as raised:
        ports.chosen_port(None)
    assert "--port" in str(raised.value)
    return str(raised.value)


def test_the_only_board_is_taken_and_two_are_listed(
    ports_of_pc: list[SimpleNamespace], capsys: pytest.CaptureFixture[str]
) -> None:
    ports_of_pc += [port("/dev/ttyS0", None), port("/dev/ttyUSB7", 0x0403)]
    ports_of_pc.append(port("/dev/ttyACM0", 0x2E8A))
    assert ports.chosen_port(None) == "/dev/ttyACM0"
    assert "The board is at /dev/ttyACM0." in capsys.readouterr().err
    assert ports.chosen_port("/dev/x") == "/dev/x"
    ports_of_pc.append(port("/dev/ttyACM1", 0x303A))
    assert "ttyACM1  Espressif" in refused()


def test_a_built_in_port_is_no_board(ports_of_pc: list[SimpleNamespace]) -> None:
    assert "built in" not in refused()
    ports_of_pc.append(port("/dev/ttyS0", None))
    message = refused()
    assert "/dev/ttyS0 is built in" in message
    assert "data cable" in message
    assert "MicroPython" in message


def test_a_usb_port_that_may_be_a_board_is_listed_with_its_obstacle(
    ports_of_pc: list[SimpleNamespace], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter = tmp_path / "ttyUSB0"
    adapter.touch()
    ports_of_pc += [port("/dev/ttyS0", None), port(str(adapter), 0x10C4)]
    message = refused()
    assert "data cable" not in message
    assert str(adapter) in message
    assert "permission" not in message
    monkeypatch.setattr(ports.os, "access", lambda *_: False)
    assert f"no permission to open it: join the group {adapter.group()}" in refused()


def test_a_virtual_board_is_found_only_where_it_was_started(
    ports_of_pc: list[SimpleNamespace], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    with simulated_board.announced("/dev/pts/77"):
        assert ports.chosen_port(None) == "/dev/pts/77"
        assert "/dev/pts/77, a virtual board" in capsys.readouterr().err
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        monkeypatch.chdir(elsewhere)
        assert f"/dev/pts/77  a virtual board that was started in {tmp_path}" in refused()
        ports_of_pc.append(port("/dev/ttyACM0", 0x2E8A))
        assert ports.chosen_port(None) == "/dev/ttyACM0"
