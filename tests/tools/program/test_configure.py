"""Another configuration over the link: it is used if it works; otherwise the old one stays."""

from __future__ import annotations

import contextlib
import json
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from device_support import Device, configuration, put_device
from patience import wait_until

from microshrub_host.library import loader
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.link_errors import RefusedError
from microshrub_tools.link.messages import (
    FINGERPRINT,
    STATUS,
    DeviceStatus,
    Fingerprint,
    configure,
    sample,
)
from microshrub_tools.link.serial_line import SerialLine

SHAPE = {"features": 2, "classes": 2}
CHECKPOINT = {"path": "checkpoint", "seconds": 240}
OLD = configuration(
    "ShrubEnsemble", SHAPE | {"window": 8, "trees": 2}, warmup=1, checkpoint=CHECKPOINT
)
NEW = configuration("ShrubEnsemble", SHAPE | {"window": 16, "trees": 2}, checkpoint=CHECKPOINT)

CANNOT_BE = [
    ({"parameters": SHAPE | {"widow": 3}}, "widow"),
    ({"parameters": SHAPE | {"window": 1}}, "window has to be"),
    ({"parameters": SHAPE | {"window": 1024, "trees": 255}}, "does not fit"),
    ({"pending": 32768}, "samples that wait for a label take"),
    ({"model": "gone.state"}, "gone.state cannot be read"),
    ({"quantizer": "config.json"}, "damaged"),
    ({"model": "config.json"}, "damaged"),
    ({"sensor": {"kind": "adc", "pins": [1, 2], "rate": 50}}, "has no machine.ADC"),
    ({"label_pin": {"pin": 999, "pressed": 1, "released": 0}}, "has no machine.Pin"),
    ({"watchdog": 5000}, "has no machine.WDT"),
    ({"alarm": {"detector": "dog"}}, "detector has to be one of"),
]


@pytest.fixture
def device(micropython_command: tuple[str, ...], tmp_path: Path) -> Iterator[Device]:
    put_device(tmp_path, OLD)
    with Device(micropython_command, tmp_path) as device:
        yield device


def learn(link: HostLink, samples: int = 40) -> int:
    """Learn some samples; return the CRC32 of the state."""
    link.ask(sample([0, 0]))  # the warm-up
    for k in range(samples):
        link.ask(sample([k * 37 % 100, k], k // 5 % 2))
    answer = link.ask(FINGERPRINT)
    assert isinstance(answer, Fingerprint)
    return answer.crc32


def send(link: HostLink, config: dict[str, Any]) -> int:
    """Send the configuration; return its hash."""
    data = json.dumps(config).encode()
    for piece in configure(data, link.connect().longest_payload - 1):
        link.ask(piece)
    return zlib.crc32(data)


@pytest.mark.parametrize(("fields", "words"), CANNOT_BE)
def test_the_old_configuration_stays(
    fields: dict[str, Any], words: str, device: Device, tmp_path: Path
) -> None:
    text: list[bytes] = []
    before = (tmp_path / "config.json").read_bytes()
    with HostLink(SerialLine(device.port), on_text=text.append) as link:
        link.connect()
        crc = learn(link)
        send(link, NEW | fields)
        time.sleep(0.3)
        assert link.connect().configuration_hash == zlib.crc32(before)
        assert link.ask(FINGERPRINT) == Fingerprint(crc)
        status = link.ask(STATUS)
    assert isinstance(status, DeviceStatus)
    assert status.samples == 40
    output = b"".join(text).decode()
    assert "new configuration cannot be used" in output
    assert words in output
    assert (tmp_path / "config.json").read_bytes() == before


def test_nothing_changes_until_a_host_says_hello(device: Device, tmp_path: Path) -> None:
    before = (tmp_path / "config.json").read_bytes()
    with HostLink(SerialLine(device.port)) as link:
        link.connect()
        crc = learn(link)
        wanted = send(link, NEW)
        link.poll(0.5)
        assert (tmp_path / "config.json").read_bytes() == before
        device.kill()
        device.start()
        link.connect()
        assert link.ask(FINGERPRINT) == Fingerprint(crc)
        assert send(link, NEW) == wanted
        assert link.connect().configuration_hash == wanted
        wait_until(lambda: zlib.crc32((tmp_path / "config.json").read_bytes()) == wanted)


def test_an_invalid_configuration_is_refused_at_once(device: Device) -> None:
    with HostLink(SerialLine(device.port)) as link:
        link.connect()
        with pytest.raises(RefusedError, match="learner has to be"):
            send(link, NEW | {"learner": "Forest"})
        deep: list[Any] = []
        for _ in range(700):
            deep = [deep]
        with pytest.raises(RefusedError, match="nested too deeply"):
            send(link, NEW | {"learner": deep})
        with pytest.raises(RefusedError, match="seconds has to be"):
            send(link, NEW | {"checkpoint": CHECKPOINT | {"seconds": 0}})
        outside: list[dict[str, Any]] = [
            {"checkpoint": CHECKPOINT | {"path": path}} for path in ("../a", "/a", "a/../../b")
        ]
        for fields in (*outside, {"model": "/etc/passwd"}, {"quantizer": "../a"}):
            with pytest.raises(RefusedError, match="leaves the program's folder"):
                send(link, NEW | fields)
        assert isinstance(link.ask(STATUS), DeviceStatus)


class FatError(OSError):
    """FAT's error for a rename onto an existing file."""


@pytest.mark.parametrize("cut", range(5))
def test_no_cut_on_fat_leaves_the_board_without_a_configuration(
    cut: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library: Any = loader.load("python")
    config = library.device.config
    steps = 0

    class Fat:
        """The part of `os` that config.py uses, on a file system that does not overwrite."""

        @staticmethod
        def rename(old: str, new: str) -> None:
            Fat.step()
            if Path(new).exists():
                raise FatError(17)
            Path(old).rename(new)

        @staticmethod
        def remove(path: str) -> None:
            Fat.step()
            Path(path).unlink()

        @staticmethod
        def step() -> None:
            nonlocal steps
            if steps == cut:
                raise KeyboardInterrupt
            steps += 1

    monkeypatch.setattr(config, "os", Fat)
    folder = f"{tmp_path}/"
    (tmp_path / "config.json").write_text(json.dumps(OLD))
    (tmp_path / "config.new").write_text(json.dumps(NEW))
    with contextlib.suppress(KeyboardInterrupt):
        config.adopt_new(folder)
    configuration = config.read_configuration(folder)
    assert configuration.parameters in (OLD["parameters"], NEW["parameters"])
    assert steps > 1 or cut < 2
