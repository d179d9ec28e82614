"""`microshrub stream` against the real program on a real MicroPython."""

from __future__ import annotations

import json
import os
import select
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from device_support import (
    Device,
    configuration,
    power_cuts,
    put_device,
    put_learner,
)
from line_support import Cable, Damaged, Ends

from microshrub_host.base.errors import UserError
from microshrub_host.evaluation import prequential
from microshrub_host.evaluation.classes import Result
from microshrub_host.simulation.engines import start as start_engine
from microshrub_host.streams.open_stream import open_stream
from microshrub_host.streams.stream import Stream
from microshrub_host.streams.units import Scale
from microshrub_tools.board.ports import chosen_port
from microshrub_tools.board.simulated_device import Twin, find_twin
from microshrub_tools.cli.main import main
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.serial_line import SerialLine
from microshrub_tools.watch.streaming import DeviceRun, Figures

SAMPLES = 900
SOURCE = "synth:agrawal_a"
PARAMETERS = {"window": 16, "trees": 4, "depth": 4}


@pytest.fixture(scope="module")
def stream() -> Stream:
    return open_stream(SOURCE, limit=SAMPLES)


@pytest.fixture(scope="module")
def wanted(stream: Stream) -> Result:
    return prequential.evaluate(stream, "shrub", parameters(stream))


def parameters(stream: Stream) -> dict[str, Any]:
    shape = {"features": stream.values.shape[1], "classes": len(stream.class_names)}
    return shape | PARAMETERS


@pytest.fixture
def start(micropython_command: tuple[str, ...], stream: Stream, tmp_path: Path) -> Iterator[Any]:
    """A function that starts a device in tmp_path, where the PC finds the configuration, too."""
    devices = []

    def start(**fields: Any) -> Device:
        names = {"feature_names": stream.feature_names, "class_names": stream.class_names}
        put_learner(tmp_path, stream, "ShrubEnsemble", parameters(stream), **names | fields)
        devices.append(Device(micropython_command, tmp_path))
        return devices[-1]

    yield start
    for device in devices:
        device.close()


def command(device: Device, folder: Path, *options: str) -> int:
    return main(
        ["stream", SOURCE, "--limit", str(SAMPLES), "--port", device.port,
         "--build", str(folder), *options]
    )  # fmt: skip


def test_a_stream_is_learned_on_both(
    start: Any, tmp_path: Path, wanted: Result, capsys: pytest.CaptureFixture[str]
) -> None:
    device = start()
    assert command(device, tmp_path) == 0
    captured = capsys.readouterr()
    assert f"{wanted.state_crc32:08x}" in captured.out
    assert captured.out.count(f"{wanted.accuracy:.2f} %") == 2
    assert "agree: 900 samples" in captured.out
    assert "p99" in captured.out
    assert command(device, tmp_path, "--limit", "100") == 2  # it has learned 900 samples
    assert "with --reset" in capsys.readouterr().err
    assert command(device, tmp_path, "--limit", "100", "--rate", "400", "--reset") == 0


def test_a_device_without_ranges_gets_the_warm_up(
    start: Any, tmp_path: Path, wanted: Result, capsys: pytest.CaptureFixture[str]
) -> None:
    device = start(quantizer=None)
    assert command(device, tmp_path, "--limit", "300") == 0
    assert command(device, tmp_path) == 0  # continues
    assert f"{wanted.state_crc32:08x}" in capsys.readouterr().out


def test_the_first_difference_is_named(
    start: Any, stream: Stream, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    device = start()
    with HostLink(SerialLine(device.port)) as link:
        link.connect()  # the device has its ranges now; the PC gets others
    with start_engine("python", "ShrubEnsemble", parameters(stream)) as engine:
        prequential.fit(engine, stream.raw_rows()[:4] // 50, 4)
        (tmp_path / "quantizer.state").write_bytes(engine.saved().quantizer)
    assert command(device, tmp_path) == 2
    err = capsys.readouterr().err
    assert ": the device predicted class " in err
    assert "the simulator class" in err


def run_of(link: HostLink, folder: Path, stream: Stream, **options: Any) -> DeviceRun:
    twin = find_twin(link.connect().configuration_hash, folder)
    rows = twin.raw_rows(stream)
    twin.prepare(rows)
    return DeviceRun(link, twin, rows, stream.labels, **options)


def test_a_power_cut_in_mid_stream(
    start: Any, stream: Stream, tmp_path: Path, wanted: Result
) -> None:
    alarm = {"detector": "adwin", "hook": "nothing"}
    saved = {"path": "checkpoint", "seconds": 240}
    device = start(checkpoint=saved, alarm=alarm)
    cuts = [250, 600]

    with HostLink(SerialLine(device.port)) as link:
        run = run_of(link, tmp_path, stream, progress=power_cuts(device, cuts))
        assert run.run() == wanted.state_crc32
    assert not cuts
    assert run.figures.restarts >= 2
    assert run.figures.right == np.sum(wanted.right)


def test_a_device_that_loses_all_state_starts_again(
    start: Any, stream: Stream, tmp_path: Path, wanted: Result
) -> None:
    device = start()

    def cut(figures: Figures) -> None:
        if figures.samples == 300 and not figures.restarts:
            device.kill()
            device.start()

    with HostLink(SerialLine(device.port)) as link:
        assert run_of(link, tmp_path, stream, progress=cut).run() == wanted.state_crc32


def test_a_pulled_cable_is_waited_for(
    start: Any, stream: Stream, tmp_path: Path, wanted: Result
) -> None:
    device = start()
    pulls = [200, 500]

    def pull(figures: Figures) -> None:
        if pulls and figures.samples >= pulls[0]:
            pulls.pop(0)
            cable.pull()

    with (
        Cable(tmp_path / "port", Ends(device.port)) as cable,
        HostLink(SerialLine(str(tmp_path / "port")), timeout=0.2) as link,
    ):
        run = run_of(link, tmp_path, stream, progress=pull)
        assert run.run() == wanted.state_crc32
        assert (run.figures.restarts, pulls) == (0, [])


def test_a_damaged_line_changes_nothing(start: Any, stream: Stream, tmp_path: Path) -> None:
    some = Stream(
        stream.name, stream.values[:40], stream.labels[:40], stream.feature_names,
        stream.class_names,
    )  # fmt: skip
    with start_engine("python", "ShrubEnsemble", parameters(stream)) as engine:
        rows = stream.raw_rows()
        prequential.fit(engine, rows, 256)
        engine.run(rows[:40], stream.labels[:40])
        crc32 = engine.status().state_crc32
    device = start(units=[list(unit) for unit in Scale.fit(stream.values).units()])
    line = Damaged(SerialLine(device.port), 7)
    with HostLink(line, timeout=0.03) as link:
        run = run_of(link, tmp_path, some)
        assert run.run() == crc32
        assert run.figures.status is not None
        assert min(link.resent, run.figures.status.damaged) > 0
        assert run.figures.restarts == 0


def test_a_trained_model_continues(
    start: Any, stream: Stream, tmp_path: Path, wanted: Result
) -> None:
    with start_engine("python", "ShrubEnsemble", parameters(stream)) as engine:
        rows = stream.raw_rows()
        prequential.fit(engine, rows, 256)
        engine.run(rows[:400], stream.labels[:400])
        (tmp_path / "learner.state").write_bytes(engine.saved().learner)
    rest = Stream(
        stream.name, stream.values[400:], stream.labels[400:], stream.feature_names,
        stream.class_names,
    )  # fmt: skip
    units = [list(unit) for unit in Scale.fit(stream.values).units()]
    device = start(model="learner.state", units=units)
    with HostLink(SerialLine(device.port)) as link:
        assert run_of(link, tmp_path, rest).run() == wanted.state_crc32


def test_a_socket_is_a_port(
    start: Any, tmp_path: Path, wanted: Result, capsys: pytest.CaptureFixture[str]
) -> None:
    """An example is an emulated board's port: socket://HOST:PORT."""
    line = Ends(start().port).stdin
    ends = line.fileno()
    server = socket.create_server(("127.0.0.1", 0))

    def carry() -> None:
        connection, _ = server.accept()
        with connection:
            while True:
                ready, _, _ = select.select([connection, ends], [], [])
                if connection in ready:
                    data = connection.recv(4096)
                    if not data:
                        return
                    os.write(ends, data)
                if ends in ready:
                    connection.sendall(os.read(ends, 4096))

    thread = threading.Thread(target=carry)
    thread.start()
    address = f"socket://127.0.0.1:{server.getsockname()[1]}"
    options = ["--limit", str(SAMPLES), "--port", address, "--build", str(tmp_path)]
    assert main(["stream", SOURCE, *options]) == 0
    assert f"{wanted.state_crc32:08x}" in capsys.readouterr().out
    thread.join()
    server.close()
    line.close()


@pytest.mark.parametrize("hook", ["reset", "forget"])
def test_the_alarms_hook_runs_on_both(
    hook: str, start: Any, stream: Stream, tmp_path: Path
) -> None:
    device = start(alarm={"detector": "page_hinkley", "hook": hook, "threshold": 5})
    labels = stream.labels.copy()
    labels[450:] ^= 1
    flipped = Stream(stream.name, stream.values, labels, stream.feature_names, stream.class_names)
    with HostLink(SerialLine(device.port)) as link:
        run = run_of(link, tmp_path, flipped)
        run.run()
        assert run.figures.status is not None
        assert run.figures.status.drifts > 0


def test_another_configuration_is_refused(
    start: Any, tmp_path: Path, stream: Stream, capsys: pytest.CaptureFixture[str]
) -> None:
    device = start()
    config = json.loads((tmp_path / "config.json").read_text())
    other = tmp_path / "other"
    other.mkdir()
    (other / "config.json").write_text(json.dumps(config | {"pending": 5}))
    assert command(device, other) == 2
    assert "a different configuration" in capsys.readouterr().err
    assert command(device, tmp_path / "none") == 2
    assert "there is no config.json in" in capsys.readouterr().err


def test_builds_in_this_folder_are_found(
    tmp_path: Path, stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    hashes = {}
    for name, window in (("a", 8), ("b", 9)):
        folder = tmp_path / "build" / name
        folder.mkdir(parents=True)
        config = configuration("ShrubEnsemble", parameters(stream) | {"window": window})
        hashes[window] = put_device(folder, config)
    twin = find_twin(hashes[9], None)
    assert (twin.hash, twin.warmup) == (hashes[9], 256)
    assert twin.configuration.parameters["window"] == 9


def test_a_stream_of_another_shape_is_refused(tmp_path: Path) -> None:
    config = configuration("ShrubEnsemble", {"features": 3, "classes": 2})
    put_device(tmp_path, config)
    with pytest.raises(UserError, match="device's model 3"):
        Twin(tmp_path).raw_rows(open_stream(SOURCE, limit=50))


@pytest.mark.usefixtures("no_virtual_board")
def test_without_a_board_a_port_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stream", SOURCE, "--limit", "300"]) == 2
    err = capsys.readouterr().err
    assert "--port" in err
    assert chosen_port("/dev/x") == "/dev/x"


@pytest.mark.parametrize("rate", ["0", "-3", "fast", "nan"])
def test_an_invalid_rate_is_refused(rate: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["stream", SOURCE, "--port", "x", f"--rate={rate}"])
    assert "--rate: has to be" in capsys.readouterr().err
