"""Damaged states that config.json names: at the start of a program, and at its reset."""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from device_support import (
    Device,
    configuration,
    connected,
    crc32_of,
    put_device,
    run_device,
)

from microshrub_host.library import loader
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.link_errors import RefusedError
from microshrub_tools.link.messages import (
    RESET,
    STATUS,
    DeviceStatus,
    Prediction,
    sample,
)

SHAPE: dict[str, Any] = {"features": 2, "classes": 2, "window": 8, "trees": 2}
CONFIG = configuration(
    "ShrubEnsemble", SHAPE, model="learner.state", quantizer="quantizer.state", warmup=0
)


def states() -> dict[str, bytes]:
    """Return the states of a trained model and of its quantizer."""
    library: Any = loader.load("python")
    model, quantizer = library.ShrubEnsemble(**SHAPE), library.Quantizer(2)
    for k in range(50):
        quantizer.observe(array("i", [k, 3 * k]))
    quantizer.freeze()
    x = array("H", [0, 0])
    for k in range(50):
        quantizer.encode(array("i", [k, 3 * k]), x)
        model.learn(x, k // 25)
    return {"learner.state": model.save(), "quantizer.state": quantizer.save()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    put_device(tmp_path, CONFIG)
    for name, data in states().items():
        (tmp_path / name).write_bytes(data)
    return tmp_path


@pytest.fixture
def link(micropython_command: tuple[str, ...], folder: Path) -> Iterator[HostLink]:
    with Device(micropython_command, folder) as device, connected(device) as link:
        yield link


def flipped(data: bytes, place: int) -> bytes:
    """Return the data with one bit flipped."""
    return data[:place] + bytes([data[place] ^ 8]) + data[place + 1 :]


DAMAGE = [
    ("learner.state", lambda data: b"", "learner.state: the saved state is damaged"),
    ("learner.state", lambda data: data[:-1], "learner.state: the saved state is damaged"),
    ("learner.state", lambda data: data[:60], "learner.state: the saved state is damaged"),
    ("learner.state", lambda data: flipped(data, 3), "learner.state: the saved state is damaged"),
    ("learner.state", lambda data: flipped(data, 99), "learner.state: the saved state is damaged"),
    ("learner.state", lambda data: flipped(data, -9), "learner.state: the saved state is damaged"),
    ("quantizer.state", lambda data: flipped(data, -5), "quantizer.state: the saved state is dam"),
]


@pytest.mark.parametrize(("name", "damage", "words"), DAMAGE)
def test_with_a_damaged_state_all_states_start_fresh(
    name: str, damage: Any, words: str, folder: Path, micropython_command: tuple[str, ...]
) -> None:
    """The other state is dropped, too: a model's thresholds mean nothing to another quantizer."""
    (folder / name).write_bytes(damage((folder / name).read_bytes()))
    lines = run_device(micropython_command, folder).splitlines()
    assert lines[0].startswith("microshrub: starting fresh; ")
    assert words in lines[0]
    assert "the first 256 samples" in lines[0]
    assert lines[-1].endswith("stopped: the input has ended")


def test_a_state_of_another_version_is_named(
    folder: Path, micropython_command: tuple[str, ...]
) -> None:
    (folder / "learner.state").write_bytes(b"mshr\2" + bytes(400))
    output = run_device(micropython_command, folder)
    assert re.search("of version 2, .*version 1", output.splitlines()[0])


def test_a_fresh_board_observes_before_it_learns(
    folder: Path, micropython_command: tuple[str, ...]
) -> None:
    (folder / "learner.state").write_bytes(b"?")
    with Device(micropython_command, folder) as device, connected(device) as link:
        for k in range(256):
            assert link.ask(sample([k, k], 1)) == Prediction(0, 0, 0)
        link.ask(sample([1, 1], 1))
        status = link.ask(STATUS)
        assert isinstance(status, DeviceStatus)
        assert status.samples == 1


@pytest.mark.parametrize(("name", "damage", "words"), DAMAGE)
def test_a_reset_that_fails_forgets_nothing(
    name: str, damage: Any, words: str, link: HostLink, folder: Path
) -> None:
    first = crc32_of(link)
    for k in range(40):
        link.ask(sample([k, 100 - k], k // 5 % 2))
    learned, status = crc32_of(link), link.ask(STATUS)
    before = (folder / name).read_bytes()
    (folder / name).write_bytes(damage(before))
    with pytest.raises(RefusedError, match=words):
        link.ask(RESET)
    assert crc32_of(link) == learned != first
    after = link.ask(STATUS)
    assert isinstance(after, DeviceStatus)
    assert isinstance(status, DeviceStatus)
    assert (after.samples, after.right) == (status.samples, status.right) == (40, status.right)
    (folder / name).unlink()
    with pytest.raises(RefusedError, match=f"{name} cannot be read"):
        link.ask(RESET)
    assert crc32_of(link) == learned
    (folder / name).write_bytes(before)
    link.ask(RESET)
    assert crc32_of(link) == first


def test_a_reset_leaves_no_memory_behind(link: HostLink) -> None:
    used = []
    for _ in range(3):
        link.ask(RESET)
        link.ask(STATUS)
        status = link.ask(STATUS)
        assert isinstance(status, DeviceStatus)
        used.append(status.heap_used)
    assert used[1] == used[2]


def test_a_complete_but_invalid_state_leaves_nothing_half_loaded(
    folder: Path, micropython_command: tuple[str, ...]
) -> None:
    """The checksum is right, but a word is out of its range."""
    library: Any = loader.load("python")
    quantizer = library.Quantizer(2)  # not frozen, so a model cannot use it
    (folder / "quantizer.state").write_bytes(quantizer.save())
    output = run_device(micropython_command, folder)
    assert re.search(r"quantizer\.state: .*not frozen", output.splitlines()[0])
    assert "the first 256 samples" in output
    assert json.loads((folder / "config.json").read_text())["warmup"] == 0
