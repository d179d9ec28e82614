"""Devices with sensors whose chips replay a recording."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from device_support import Device, put_device, run_device
from recorded_board import BOARD, put_held_clock


def put_board(folder: Path, config: dict[str, Any], recorded: Any, files: dict[str, str]) -> None:
    put_device(folder, config)
    (folder / "main.py").write_text(BOARD)
    put_held_clock(folder)
    (folder / "recorded.json").write_text(json.dumps(recorded))
    for name, text in files.items():
        (folder / "lib" / name).write_text(text)


@pytest.fixture
def start_main(micropython_command: tuple[str, ...], tmp_path: Path) -> Iterator[Any]:
    """A function that starts the program in the test's folder."""
    devices: list[Device] = []

    def start_main() -> Device:
        devices.append(Device(micropython_command, tmp_path, "192k"))
        return devices[-1]

    yield start_main
    for device in devices:
        device.close()


@pytest.fixture
def start(start_main: Callable[[], Device], tmp_path: Path) -> Any:
    """A function that starts a device with this config.json; `files` are the user's, in lib/."""

    def start(
        config: dict[str, Any], recorded: Any = None, files: dict[str, str] | None = None
    ) -> Device:
        put_board(tmp_path, config, recorded, files or {})
        return start_main()

    return start


@pytest.fixture
def refused(micropython_command: tuple[str, ...], tmp_path: Path) -> Callable[..., str]:
    """A function that returns the one-line error of a device with this config.json."""

    def refused(config: dict[str, Any], files: dict[str, str] | None = None) -> str:
        put_board(tmp_path, config, [], files or {})
        output = run_device(micropython_command, tmp_path, heap="192k")
        assert "Traceback" not in output
        return output

    return refused
