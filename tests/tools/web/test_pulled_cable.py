"""The cable is pulled, or the power is cut, while a board learns a stream from the page."""

from __future__ import annotations

import contextlib
import csv
import io
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_support import Browser
from cable_support import bridged, pulled_cable
from device_support import Device, configuration, frozen_quantizer, put_device
from playground_support import give_csv
from serial_support import serial_port

from microshrub_host import open_stream, simulate
from microshrub_host.streams.stream import Stream

SAMPLES = 1500
OPTIONS = {"window": 16, "trees": 4, "depth": 3}
SENT = "document.querySelector('#watch-sent').textContent"
STATUS = "document.querySelector('#watch-status')"
# Records every text of the status line
LISTEN = """
window.texts = [];
new MutationObserver(() => texts.push(document.querySelector('#watch-status').textContent))
  .observe(document.querySelector('#watch-status'), { childList: true });
"""


@pytest.fixture
def stream(tmp_path: Path) -> Stream:
    """A file for the page."""
    made = open_stream("synth:agrawal_a", limit=SAMPLES)
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow([*made.feature_names, "class"])
    for values, label in zip(made.values.round(3).tolist(), made.labels, strict=True):
        rows.writerow([*values, made.class_names[label]])
    (tmp_path / "stream.csv").write_text(text.getvalue())
    return open_stream(str(tmp_path / "stream.csv"))


@contextlib.contextmanager
def device_with(
    command: tuple[str, ...],
    stream: Stream,
    folder: Path,
    *,
    frozen: bool = True,
    saves: bool = True,
) -> Iterator[Device]:
    """A board that learns the stream over its line, optionally with ranges and checkpoints."""
    folder.mkdir()
    shape = {"features": len(stream.feature_names), "classes": len(stream.class_names)}
    config = configuration(
        "ShrubEnsemble",
        shape | OPTIONS,
        class_names=list(stream.class_names),
        feature_names=list(stream.feature_names),
        units=[list(unit) for unit in stream.scale.units()],
        quantizer="quantizer.state" if frozen else None,
        checkpoint={"path": "checkpoint", "seconds": 240} if saves else None,
    )
    put_device(folder, config)
    if frozen:
        (folder / "quantizer.state").write_bytes(frozen_quantizer(stream))
    with Device(command, folder) as device:
        yield device


@contextlib.contextmanager
def streaming(
    page: Browser, command: tuple[str, ...], stream: Stream, folder: Path, **options: bool
) -> Iterator[Device]:
    """A board with the page on its bridge; the page has begun to send the stream."""
    with (
        device_with(command, stream, folder / "flash", **options) as device,
        bridged(device.port) as bridge,
    ):
        begin(page, bridge.address, folder)
        yield device


def begin(page: Browser, address: str, tmp_path: Path) -> None:
    """Connect the page to the board, and start to stream the file."""
    watch(page, address)
    give_csv(page, tmp_path / "stream.csv", (tmp_path / "stream.csv").read_text())
    page.run("document.querySelector('#watch-stream').click()")


def watch(page: Browser, address: str) -> None:
    page.open(address)
    page.wait("!!document.querySelector('#start')")
    page.run(LISTEN)
    page.run("document.querySelector('#watch').click()")
    page.wait("document.querySelector('#watch-numbers').textContent")


def confirmed(page: Browser, samples: int) -> None:
    """Wait until the board has confirmed this many samples."""
    page.wait(f"parseInt({SENT}.replace(',', '')) >= {samples}")
    assert page.run(f"parseInt({SENT}.replace(',', ''))") < SAMPLES, "it was over too soon"


def cut_power(device: Device) -> None:
    device.kill()
    time.sleep(0.3)
    device.start()


def crc_of_board(page: Browser) -> int:
    page.wait(f"!!document.querySelector('#watch-crc32') || {STATUS}.className === 'bad'")
    page.wait("!!document.querySelector('#watch-crc32')")
    return int(page.run("document.querySelector('#watch-crc32').textContent"), 16)


@pytest.mark.parametrize("via", ["bridge", "WebSerial"])
def test_after_a_pulled_cable_no_sample_is_lost_or_learned_twice(
    page: Browser,
    address: str,
    micropython_command: tuple[str, ...],
    stream: Stream,
    tmp_path: Path,
    via: str,
) -> None:
    with (
        device_with(micropython_command, stream, tmp_path / "flash") as device,
        pulled_cable(tmp_path, device.port) as (cable, bridge),
        serial_port(page, f"ws://localhost:{bridge.port}/bridge?token={bridge.token}"),
    ):
        there = bridge.address if via == "bridge" else bridge.address.partition("#")[0]
        begin(page, there, tmp_path)
        for samples in (200, 600):
            confirmed(page, samples)
            cable.pull()
        assert crc_of_board(page) == simulate(stream, "shrub", **OPTIONS).state_crc32
        page.wait(f"{STATUS}.textContent.startsWith('{SAMPLES:,} samples learned')")
        result = page.run("texts")
    assert sum("as soon as the board is" in text for text in result) == 2
    assert "The board is back." in result


@pytest.mark.parametrize("frozen", [True, False])
def test_a_board_continues_from_its_checkpoint_after_a_power_cut(
    page: Browser,
    address: str,
    micropython_command: tuple[str, ...],
    stream: Stream,
    tmp_path: Path,
    frozen: bool,
) -> None:
    with streaming(page, micropython_command, stream, tmp_path, frozen=frozen) as device:
        for samples in (30, 700):
            confirmed(page, samples)
            cut_power(device)
        assert crc_of_board(page) == simulate(stream, "shrub", **OPTIONS).state_crc32
        page.wait(f"{STATUS}.textContent.startsWith('{SAMPLES:,} samples learned')")


def test_a_board_that_lost_its_earlier_state_is_not_half_taught(
    page: Browser,
    address: str,
    micropython_command: tuple[str, ...],
    stream: Stream,
    tmp_path: Path,
) -> None:
    with streaming(page, micropython_command, stream, tmp_path, saves=False) as device:
        confirmed(page, 200)
        cut_power(device)  # the stream's own samples survive: they are sent again
        assert crc_of_board(page) == simulate(stream, "shrub", **OPTIONS).state_crc32
        page.run("document.querySelector('#watch-stream').click()")
        page.wait(f"{SENT}.includes('confirmed')")
        confirmed(page, 200)
        cut_power(device)
        page.wait("texts.some((text) => text.includes('no longer knows'))")
        assert not page.run("document.querySelector('#watch-stream').disabled")


def test_a_board_that_is_only_watched_is_waited_for(
    page: Browser,
    address: str,
    micropython_command: tuple[str, ...],
    stream: Stream,
    tmp_path: Path,
) -> None:
    with (
        device_with(micropython_command, stream, tmp_path / "flash") as device,
        pulled_cable(tmp_path, device.port) as (cable, bridge),
    ):
        watch(page, bridge.address)
        cable.pull()
        page.wait("texts.includes('The board is back.')")
        cut_power(device)
        page.run("texts.length = 0")
        page.wait("texts.some((text) => text.startsWith('0 samples learned'))")
    page.wait("texts.some((text) => text.includes('It goes on as soon as'))")
    page.run("document.querySelector('#watch').click()")
    page.wait("document.querySelector('#watch').textContent === 'Connect'")
