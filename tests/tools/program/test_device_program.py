"""The device's program, main.py, on a real 32-bit MicroPython behind a pty."""

from __future__ import annotations

import json
import re
import termios
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from device_support import (
    Device,
    configuration,
    connected,
    crc32_of,
    put_device,
    put_learner,
    run_device,
    status_of,
    until_saved,
)
from patience import PATIENCE
from tests_support import DATA

from microshrub_host.evaluation import prequential
from microshrub_host.library import library_files
from microshrub_host.library.learners import MODELS
from microshrub_host.streams.open_stream import open_stream
from microshrub_host.streams.stream import Stream
from microshrub_tools.link.board_names import read_configuration, version_note
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.frames import Frame, pack
from microshrub_tools.link.link_errors import RefusedError
from microshrub_tools.link.messages import (
    CHECKPOINT,
    RESET,
    STATUS,
    Counts,
    Prediction,
    configure,
    confusion,
    late_label,
    sample,
)
from microshrub_tools.link.serial_line import SerialLine

SAMPLES = 2000
PARAMETERS: dict[str, dict[str, Any]] = {
    "shrub": {"window": 16, "trees": 4, "depth": 4},
    "hoeffding": {"nodes": 31, "leaves": 8},
}
Start = Callable[..., Device]


@pytest.fixture(scope="session")
def stream() -> Stream:
    """2,000 samples of elec, or of a generator if there is no such file."""
    file = DATA / "elec.csv.gz"
    return open_stream(str(file) if file.exists() else "synth:agrawal_a", limit=SAMPLES)


def parameters(model: str, stream: Stream) -> dict[str, Any]:
    shape = {"features": stream.values.shape[1], "classes": len(stream.class_names)}
    return shape | PARAMETERS[model]


@pytest.fixture
def start(micropython_command: tuple[str, ...], tmp_path: Path) -> Iterator[Start]:
    """A function that starts a device that learns the stream; fields go to its config.json."""
    devices = []

    def start(
        stream: Stream, model: str = "shrub", *, heap: str = "128k", main: str = "", **fields: Any
    ) -> Device:
        put_learner(tmp_path, stream, MODELS[model], parameters(model, stream), **fields)
        if main:
            (tmp_path / "main.py").write_text(main)
        devices.append(Device(micropython_command, tmp_path, heap))
        return devices[-1]

    yield start
    for device in devices:
        device.close()


def requests(stream: Stream, begin: int = 0, end: int = SAMPLES) -> list[Any]:
    rows = stream.raw_rows()
    return [sample(rows[k].tolist(), int(stream.labels[k])) for k in range(begin, end)]


def learn(link: HostLink, stream: Stream, begin: int = 0, end: int = SAMPLES) -> list[int]:
    results = []
    for pending in link.stream(requests(stream, begin, end)):
        assert isinstance(pending.answer, Prediction)
        results.append(pending.answer.label)
    return results


@pytest.mark.parametrize("model", ["shrub", "hoeffding"])
def test_a_label_does_not_change_the_confidence_of_its_sample(
    model: str, stream: Stream, start: Start
) -> None:
    """This also holds where the sample replaces a subtree, which then predicts again."""
    rows = stream.raw_rows()
    with connected(start(stream, model)) as link:
        for k in range(SAMPLES // 2):
            unknown = link.ask(sample(rows[k]))
            turned = k // 250 % 2  # repeated drift
            known = link.ask(sample(rows[k], int(stream.labels[k]) ^ turned))
            assert isinstance(unknown, Prediction)
            assert isinstance(known, Prediction)
            assert (unknown.label, unknown.confidence) == (known.label, known.confidence), k


@pytest.mark.parametrize("model", ["shrub", "hoeffding"])
def test_predictions_and_state_match_the_simulator(
    model: str, stream: Stream, start: Start
) -> None:
    wanted = prequential.evaluate(stream, model, parameters(model, stream))
    with connected(start(stream, model)) as link:
        values = np.array(learn(link, stream))
        assert np.array_equal(values == stream.labels, wanted.right)
        assert crc32_of(link) == wanted.state_crc32
        status = status_of(link)
        assert (status.samples, status.right) == (SAMPLES, wanted.right.sum())
        assert status.kappa == pytest.approx(wanted.kappa * 1e4, abs=1)
        rows = [link.ask(confusion(label)) for label in range(len(stream.class_names))]
    for label, row in enumerate(rows):
        assert isinstance(row, Counts)
        of_label = values[stream.labels == label]
        assert list(row.counts) == np.bincount(of_label, minlength=len(rows)).tolist()


def test_frames_allocate_nothing(stream: Stream, start: Start) -> None:
    alarm = {"detector": "adwin", "hook": "forget"}
    with connected(start(stream, alarm=alarm)) as link:
        learn(link, stream, 0, 100)
        status_of(link)
        before = status_of(link)
        learn(link, stream, 100, 600)
        for request in requests(stream, 600, 850):
            answer = link.ask(type(request)(3, request.payload[1:]))
            assert isinstance(answer, Prediction)
            link.ask(late_label(answer.sample_id, 1))
        after = status_of(link)
    assert (before.samples, after.samples) == (100, 850)
    assert after.heap_used == before.heap_used


LOCKED = """
import micropython
from microshrub.device.hardware import Hardware
from microshrub.device.service import Service
from microshrub.device.hardware import Input
board = Hardware()
service = Service(board, "", Input(board.milliseconds), print)
micropython.kbd_intr(-1)
micropython.heap_lock()
service.serve()
"""


def test_the_program_serves_with_the_heap_locked(stream: Stream, start: Start) -> None:
    with connected(start(stream, main=LOCKED, text=True)) as link:
        wanted = learn(link, stream, 0, 1000)
        assert len(wanted) == 1000


def test_a_device_continues_from_its_checkpoint(stream: Stream, start: Start) -> None:
    wanted = prequential.evaluate(stream, "shrub", parameters("shrub", stream))
    device = start(stream, checkpoint={"path": "checkpoint", "seconds": 240})
    with connected(device) as link:
        learn(link, stream, 0, 900)
        until_saved(link)
        learn(link, stream, 900, 1000)
    device.kill()
    device.start()
    with connected(device) as link:
        done = status_of(link).samples
        assert done == 900
        assert status_of(link).checkpoint > 0
        learn(link, stream, done)
        assert crc32_of(link) == wanted.state_crc32
        link.ask(CHECKPOINT)
        assert status_of(link).unsaved == 0


def test_the_warm_up_is_observed_and_not_learned(stream: Stream, start: Start) -> None:
    rows = stream.raw_rows()
    wanted = prequential.evaluate(stream, "shrub", parameters("shrub", stream), warmup=256)
    with connected(start(stream, quantizer=None, warmup=256)) as link:
        for k in range(256):
            label = None if k % 2 else int(stream.labels[k])
            assert link.ask(sample(rows[k].tolist(), label)) == Prediction(0, 0, 0)
        assert status_of(link).samples == 0
        learn(link, stream)
        assert crc32_of(link) == wanted.state_crc32
        link.ask(RESET)
        assert link.ask(sample(rows[0].tolist())) == Prediction(0, 0, 0)


def test_late_labels_are_learned(stream: Stream, start: Start) -> None:
    rows = stream.raw_rows()
    with connected(start(stream, pending=4)) as link:
        ids = []
        for k in range(6):
            answer = link.ask(sample(rows[k].tolist()))
            assert isinstance(answer, Prediction)
            ids.append(answer.sample_id)
        assert ids == [1, 2, 3, 4, 5, 6]
        assert status_of(link).pending == 4
        link.ask(late_label(5, 1))
        for number, label, words in (
            (5, 1, "given its label before"),
            (1, 1, "there are only the last 4"),
            (6, 2, r"label has to be a whole number of 0\.\.1, not 2"),
        ):
            with pytest.raises(RefusedError, match=words):
                link.ask(late_label(number, label))
        status = status_of(link)
        assert (status.samples, status.pending) == (1, 3)
        with pytest.raises(RefusedError, match="label has to be"):
            link.ask(sample(rows[0].tolist(), 2))
        assert status_of(link).samples == 1


@pytest.mark.parametrize("hook", ["nothing", "reset", "forget"])
def test_a_drift_runs_the_hook(hook: str, stream: Stream, start: Start) -> None:
    alarm = {"detector": "page_hinkley", "hook": hook, "threshold": 10}
    rows = stream.raw_rows()
    states = []
    for options in (alarm, None):
        with connected(start(stream, alarm=options)) as link:
            learn(link, stream, 0, 400)
            wrong = (sample(rows[k].tolist(), k % 2) for k in range(300))
            for _ in link.stream(wrong):
                pass
            states.append(crc32_of(link))
            assert (status_of(link).drifts > 0) == (options is not None)
    assert (states[0] == states[1]) == (hook == "nothing")


NO_POLL = """
import microshrub.device.hardware
from microshrub.device.program import main
microshrub.device.hardware._poll = lambda: None  # as on a port without select
main()
"""


def test_a_port_that_cannot_poll(stream: Stream, start: Start) -> None:
    wanted = prequential.evaluate(stream, "shrub", parameters("shrub", stream))
    device = start(stream, main=NO_POLL)
    with connected(device) as link:
        learn(link, stream)
        assert crc32_of(link) == wanted.state_crc32
        link._line.write(b"\r\x03")
        assert device.process.wait(PATIENCE) == 0


def test_sources_work_like_compiled_files(
    stream: Stream, micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    config = configuration("HoeffdingTree", parameters("hoeffding", stream))
    put_device(tmp_path, config, compiled=False)
    output = run_device(micropython_command, tmp_path, heap="1m")
    assert output.splitlines()[0] == (
        "microshrub: starting fresh; the first 256 samples are only observed"
    )
    assert output.splitlines()[-1] == "microshrub: stopped: the input has ended"


def test_another_configuration_is_sent_over_the_link(stream: Stream, start: Start) -> None:
    config = configuration("HoeffdingTree", parameters("hoeffding", stream))
    text = json.dumps(config).encode()
    device = start(stream)
    with HostLink(SerialLine(device.port)) as link:
        before = link.connect()
        pieces = configure(b"{" + text, before.longest_payload - 1)
        with pytest.raises(RefusedError, match="not JSON"):
            list(link.stream(pieces))
        for piece in configure(text, before.longest_payload - 1):
            link.ask(piece)
        welcome = link.connect()
        assert welcome.configuration_hash == zlib.crc32(text) != before.configuration_hash
        link.ask(STATUS)
    device.kill()
    device.start()
    with HostLink(SerialLine(device.port)) as link:
        assert link.connect().configuration_hash == zlib.crc32(text)


# Output for people


def output_of(device: Device, typed: bytes = b"", seconds: float = PATIENCE) -> bytes:
    """Return a device's output until it has stopped."""
    line = SerialLine(device.port)
    line.write(typed)
    data = b""
    end = time.monotonic() + seconds
    while device.process.poll() is None and time.monotonic() < end:
        data += line.read(0.05)
    data += line.read(0.05)
    line.close()
    return data


@pytest.mark.parametrize("typed", [b"\x03", b"\r\x03", b"\x03\x03"])
def test_ctrl_c_stops_a_device_without_a_host(typed: bytes, stream: Stream, start: Start) -> None:
    device = start(stream, text=True)
    time.sleep(1.0)
    output = output_of(device, typed)
    assert b"microshrub: stopped: Ctrl-C" in output
    assert b"Traceback" not in output
    assert device.process.returncode == 0


def test_mpremote_stops_a_device_after_a_session(stream: Stream, start: Start) -> None:
    device = start(stream, checkpoint={"path": "checkpoint", "seconds": 240})
    with connected(device) as link:
        learn(link, stream, 0, 20)
        link._line.write(b"\x03")  # might be part of a frame
        link.poll(0.1)
        learn(link, stream, 20, 30)
        while device.process.poll() is None:  # Ctrl-C counts after a pause
            link.poll(0.1)
            link._line.write(b"\r\x03")
        termios.tcflush(device._master, termios.TCIFLUSH)  # the output after its end
    assert device.process.returncode == 0
    device.start()
    with connected(device) as link:
        assert status_of(link).samples == 30


def test_lines_for_a_plotter(stream: Stream, start: Start) -> None:
    text: list[bytes] = []
    names = ["day of", "x", *["y"] * (stream.values.shape[1] - 2)]
    device = start(stream, text=True, feature_names=names)
    with connected(device, on_text=text.append) as link:
        predicted = learn(link, stream, 0, 50)
        link.poll(0.1)
    lines = b"".join(text).decode().split("\r\n")
    rows = stream.raw_rows()
    right = sum(p == label for p, label in zip(predicted, stream.labels, strict=False))
    last = [line for line in lines if line.startswith("day_of:")][-1].split(" ")
    assert last[:2] == [f"day_of:{rows[49][0]}", f"x:{rows[49][1]}"]
    assert last[6:] == [
        f"label:{stream.labels[49]}", f"pred:{predicted[49]}", f"acc:{right * 1000 // 50}",
    ]  # fmt: skip


GOOD = configuration("ShrubEnsemble", {"features": 2, "classes": 2})
DEEP = b'{"version": 1, "learner": ' + 900 * b"[" + 900 * b"]" + b"}"
LARGE = {"features": 2, "classes": 2, "window": 512, "trees": 64}


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (b"", "config.json is damaged: it is not JSON"),
        (b"{\"version\": 1, \xff", "config.json is damaged"),
        (b"[1]", "it has to hold an object"),
        (b"{}", "it is of version None, this program reads version 1"),
        (GOOD | {"learner": "Forest"}, "learner has to be one of ShrubEnsemble, HoeffdingTree"),
        (GOOD | {"parameters": {"features": 2, "classes": 1}}, "classes has to be a whole number"),
        (GOOD | {"parameters": {"features": 2, "classes": 2, "widow": 3}}, "widow"),
        (GOOD | {"parameters": {"features": 2, "classes": 2, "window": 1}}, "window has to be"),
        (GOOD | {"sensor": {"kind": "sonar"}}, "the kind of the sensor has to be one of serial"),
        (GOOD | {"sensor": {"kind": "adc", "pins": [1]}}, "the sensor adc has no rate"),
        (GOOD | {"sensor": {"kind": "adc", "pins": [1, 2], "rate": 50}}, "has no machine.ADC"),
        (GOOD | {"quantizer": "gone.state"}, "gone.state cannot be read"),
        (GOOD | {"model": "gone.state"}, "gone.state cannot be read"),
        (GOOD | {"model": "../x.state"}, "model leaves the program's folder: '../x.state'"),
        (GOOD | {"checkpoint": {"path": "../microshrub.9"}}, "leaves the program's folder: '../m"),
        (GOOD | {"checkpoint": {"seconds": 0}}, "seconds has to be"),
        (DEEP, "too large, or nested too deeply"),
        (GOOD | {"alarm": {"detector": "dog"}}, "detector has to be one of page_hinkley, adwin"),
        (GOOD | {"watchdogs": 5}, "config.json: the file has no option watchdogs; there is: ver"),
        (GOOD | {"alarm": {"volume": 3}}, "alarm has no option volume; there is: detector"),
        (GOOD | {"feature_names": ["x"]}, "feature_names has to be a list of 2 texts"),
        (GOOD | {"watchdog": 1000}, "has no machine.WDT"),
        (GOOD | {"parameters": LARGE}, "the model: ShrubEnsemble takes"),
    ],
)  # fmt: skip
def test_an_invalid_configuration_is_named_in_one_line(
    config: Any, words: str, micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    put_device(tmp_path, config)
    output = run_device(micropython_command, tmp_path, heap="96k")
    assert words in output
    assert "Traceback" not in output
    assert len([line for line in output.splitlines() if "fresh" not in line]) == 1


def test_each_side_reports_its_version(
    micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    put_device(tmp_path, GOOD | {"program": "0.0.1 (12345678)"})
    with (
        Device(micropython_command, tmp_path) as device,
        HostLink(SerialLine(device.port), on_text=(text := []).append) as link,
    ):
        device.kill()  # output before the port was open is lost
        device.start()
        welcome = link.connect()
        for _ in range(2):
            link._line.write(pack(Frame(1, 5, 0, b"", version=7)))  # a PC of another version
        note = version_note(read_configuration(link, welcome))
    output = b"".join(text).decode()
    assert "microshrub: program 0.0.1 (12345678)" in output
    assert len(re.findall("speaks version 7 .*version 1", output)) == 1
    assert "0.0.1 (12345678)" in note
    assert "build and flash it again" in note
    assert not version_note({"program": library_files.version()})
    assert "an older microshrub" in version_note({})


def test_a_missing_configuration_is_named(
    micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    put_device(tmp_path, GOOD)
    (tmp_path / "config.json").unlink()
    output = run_device(micropython_command, tmp_path)
    assert output == (
        "microshrub: there is no config.json: flash the device with `microshrub flash`\n"
    )


@pytest.mark.parametrize("heap", [f"{size}k" for size in range(8, 60, 2)])
def test_too_little_memory_is_reported(
    heap: str, micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    put_device(tmp_path, GOOD | {"parameters": LARGE})
    output = run_device(micropython_command, tmp_path, heap=heap)
    assert "does not fit" in output
    assert "Traceback" not in output
