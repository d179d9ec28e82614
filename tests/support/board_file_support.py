"""Board files that tests write."""

from __future__ import annotations

from pathlib import Path

import pytest

from microshrub_host.boards import board_files, toml_section

# One board of each architecture, with and without separate memory for machine code
KINDS = ("esp32", "esp32c3", "esp32c6", "rpi_pico", "rpi_pico2")

GOOD = """
name = "Test board"
arch = "armv6m"
native = true
clock_hz = 125_000_000
sram_bytes = 270_336
heap_free_bytes = 200_000
heap_source = "made up for a test"
model_budget_bytes = 50_000

[serial]
interface = "usb"
baud = 115_200

[pins]
led = "LED"
adc = 26
"""


def write(folder: Path, text: str) -> str:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def refusal(folder: Path, text: str) -> str:
    """Return the error of load() for a board file with this text."""
    with pytest.raises(toml_section.BoardFileError) as caught:
        board_files.load(write(folder, text))
    return str(caught.value)
