"""The program with its kernels in a native module, as `build` makes it: heap, power, states."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from device_support import (
    Device,
    configuration,
    connected,
    crc32_of,
    frozen_quantizer,
    learn,
    put_device,
    status_of,
)

from microshrub_host import Stream, open_stream
from microshrub_host.evaluation import prequential
from microshrub_host.library import loader
from microshrub_tools.link.messages import CHECKPOINT
from microshrub_tools.state_fuzz.altered_states import targets
from microshrub_tools.state_fuzz.fuzz import NATIVE, fuzz

pytestmark = pytest.mark.long

SAMPLES = 4000
FIRST = 500  # samples in which all imports on first use happen
SHAPE: dict[str, Any] = {"features": 3, "classes": 2}
LEARNERS = {
    "thicket": ("Thicket", SHAPE | {"bytes": 12000}),
    "shrub": ("ShrubEnsemble", SHAPE | {"window": 16, "trees": 4, "depth": 4}),
    "hoeffding": ("HoeffdingTree", SHAPE | {"nodes": 31, "leaves": 8}),
}


@pytest.fixture(scope="module")
def stream() -> Stream:
    return open_stream("synth:sea_a", limit=SAMPLES + FIRST)


@pytest.fixture
def start(
    micropython_command: tuple[str, ...],
    native_tools_for: Callable[[str], object],
    tmp_path: Path,
    stream: Stream,
) -> Iterator[Callable[..., Device]]:
    native_tools_for("x86")
    devices = []

    def start(name: str, **fields: Any) -> Device:
        ranges = {"warmup": None} if name == "thicket" else {"quantizer": "quantizer.state"}
        put_device(tmp_path, configuration(*LEARNERS[name], **ranges | fields), native=True)
        (tmp_path / "quantizer.state").write_bytes(frozen_quantizer(stream))
        devices.append(Device(micropython_command, tmp_path, "192k"))
        return devices[-1]

    yield start
    for device in devices:
        device.close()


def wanted(name: str, samples: int) -> int:
    """Return the CRC of the simulator's model."""
    stream = open_stream("synth:sea_a", limit=samples)
    return prequential.evaluate(stream, name, LEARNERS[name][1]).state_crc32


@pytest.mark.parametrize("name", LEARNERS)
def test_thousands_of_samples_leave_nothing_on_the_heap(
    name: str, start: Callable[..., Device], stream: Stream
) -> None:
    with connected(start(name)) as link:
        learn(link, stream, 0, FIRST)
        first = status_of(link).heap_used
        learn(link, stream, FIRST, SAMPLES + FIRST)
        status = status_of(link)
        assert (status.samples, status.heap_used) == (SAMPLES + FIRST, first)
        assert crc32_of(link) == wanted(name, SAMPLES + FIRST)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", ["thicket", "shrub"])
def test_power_cuts_leave_a_valid_state(
    name: str, seed: int, start: Callable[..., Device], stream: Stream
) -> None:
    """This also holds for power cuts while a checkpoint is written."""
    rng = random.Random(seed)
    device = start(name, checkpoint={"path": "checkpoint", "seconds": 240})
    saved = 0
    for _ in range(12):
        with connected(device) as link:
            done = status_of(link).samples
            assert done >= saved
            learn(link, stream, done, done + rng.randrange(1, 200))
            link.ask(CHECKPOINT)
            saved = status_of(link).samples
            learn(link, stream, saved, saved + rng.randrange(1, 50))
            if rng.randrange(2):
                link.post(CHECKPOINT)
                link.poll(rng.random() / 200)
        device.kill()
        device.start()
    with connected(device) as link:
        learn(link, stream, status_of(link).samples, 3000)
        assert crc32_of(link) == wanted(name, 3000)


@pytest.mark.parametrize("number", range(len(targets(loader.load("python")))))
def test_altered_states_are_refused_or_serve(
    number: int, micropython_command: tuple[str, ...], native_tools_for: Callable[[str], object]
) -> None:
    native_tools_for("x86")
    refused, used = fuzz(NATIVE, number, 13, 50)
    assert refused + used >= 50
