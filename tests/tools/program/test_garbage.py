"""The program leaves nothing on a heap that is not locked, so that it never collects.

With the heap locked, MicroPython puts frames of large functions on the C stack instead, so a
locked heap does not show temporary allocations; see test_device_program.py for locked heaps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from device_support import (
    Device,
    connected,
    put_learner,
)
from patience import PATIENCE
from recorded_board import observe

from microshrub_host import Stream, open_stream
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.messages import (
    STATUS,
    DeviceStatus,
    Prediction,
    anomaly,
    late_label,
    sample,
)

SAMPLES = 4000  # some periods of the rare events
PIECE = 500  # samples between two measurements of the heap
SHAPE: dict[str, Any] = {"features": 3, "classes": 2}
SHRUB = ("ShrubEnsemble", SHAPE | {"window": 8, "trees": 2, "depth": 2})
PROGRAMS: dict[str, tuple[tuple[str, dict[str, Any]], dict[str, Any]]] = {
    "thicket": (("Thicket", SHAPE | {"bytes": 12000}), {}),
    "PSRAM": (("Thicket", SHAPE | {"bytes": 1_048_576}), {}),
    "shrub, alarm, text": (SHRUB, {"alarm": {"detector": "adwin"}, "text": True}),
    "hoeffding": (("HoeffdingTree", SHAPE | {"nodes": 31, "leaves": 8}), {}),
    "anomaly": (SHRUB, {"anomaly": {"period": 1000, "window": 32, "reach": 4}}),
    "queries": (SHRUB, {"queries": {"labels": 1, "samples": 5}}),
    "spare_classes": (
        ("ShrubEnsemble", SHRUB[1] | {"classes": 4}),
        {"spare_classes": {"classes": 2, "room": 16}, "class_names": list("abcd")},
    ),
}
HEAPS = {"PSRAM": "4m"}
SENSOR = {
    "kind": "own",
    "module": "mine",
    "class": "Mine",
    "values": 3,
    "rate": 500,
    "options": {},
}
MINE = """
class Mine:
    names = ("x", "y", "z")

    def __init__(self, board):
        pass

    def read(self, values):
        values[0] = (values[0] + 37) % 1000
        values[1] = values[0] ^ 5
        values[2] = 7
        return True
"""
WATCHED = """
import gc
from microshrub.device import program, service

serve = service.Service.serve

def watched(served):
    try:
        return serve(served)
    finally:
        with open("threshold", "w") as file:
            file.write(str(gc.threshold()))

service.Service.serve = watched
program.main()
"""


@pytest.fixture(scope="module")
def stream() -> Stream:
    return open_stream("synth:sea_a", limit=3000)


@pytest.fixture
def put(
    micropython_command: tuple[str, ...], tmp_path: Path, stream: Stream
) -> Iterator[Callable[[str], Device]]:
    devices = []

    def put(name: str) -> Device:
        model, fields = PROGRAMS.get(name, (SHRUB, {"sensor": SENSOR, "text": False}))
        (tmp_path / "mine.py").write_text(MINE)
        put_learner(tmp_path, stream, *model, **fields)
        (tmp_path / "main.py").write_text(WATCHED)
        devices.append(Device(micropython_command, tmp_path, HEAPS.get(name, "256k")))
        return devices[-1]

    yield put
    for device in devices:
        device.close()


def used(link: HostLink) -> int:
    status = link.ask(STATUS)
    assert isinstance(status, DeviceStatus)
    return status.heap_used


def live(link: HostLink, stream: Stream, begin: int, end: int) -> None:
    """Send samples; most have a label, and the others get a late label."""
    rows = stream.raw_rows()
    places = [k % len(rows) for k in range(begin, end)]
    labelled = [sample(rows[k].tolist(), int(stream.labels[k])) for k in places[50:]]
    for _ in link.stream(labelled):
        pass
    for k in places[:50]:
        answer = link.ask(sample(rows[k].tolist()))
        assert isinstance(answer, Prediction)
        if answer.sample_id:
            link.ask(late_label(answer.sample_id, int(stream.labels[k])))


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_left_and_nothing_is_collected(
    name: str, put: Callable[[str], Device], stream: Stream, tmp_path: Path
) -> None:
    device = put(name)
    with connected(device) as link:
        live(link, stream, 0, PIECE)  # triggers the imports on first use
        first = used(link)
        results = []
        for begin in range(PIECE, SAMPLES + PIECE, PIECE):
            live(link, stream, begin, begin + PIECE)
            results.append(used(link))
        assert results == [first] * (SAMPLES // PIECE)
        link.poll(0.1)
        link._line.write(b"\r\x03")
        device.process.wait(PATIENCE)
    assert (tmp_path / "threshold").read_text() == "-1"


def test_status_leaves_nothing(put: Callable[[str], Device], stream: Stream) -> None:
    """A monitor requests the status every second."""
    with connected(put("anomaly")) as link:
        live(link, stream, 0, 3 * PIECE)
        link.ask(anomaly(True))
        first = used(link)
        for _ in range(300):
            link.ask(anomaly(True))
            assert used(link) == first


def test_a_sensor_with_a_monitor_leaves_nothing(put: Callable[[str], Device]) -> None:
    with connected(put("sensor")) as link:
        observe(link, 50)
        first = used(link)
        for _ in range(10):
            link.observed.clear()
            assert len(observe(link, 100)) == 100
            assert used(link) == first
