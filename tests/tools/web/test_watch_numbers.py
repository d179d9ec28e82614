"""The page watches a board that predicts a number, and shows the figures of `monitor`."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser_support import Browser
from cable_support import bridged
from device_support import Device, put_device
from program_support import blobs, number_program

from microshrub_tools.cli.monitor import facts
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.messages import sample
from microshrub_tools.link.serial_line import SerialLine
from microshrub_tools.watch.device_watch import Watch

CELLS = "[...document.querySelectorAll('#watch-numbers tr')].map((row) => "
CELLS += "[...row.children].map((cell) => cell.textContent))"


@pytest.mark.usefixtures("address")
def test_a_predicted_number_is_shown_with_its_errors(
    page: Browser, micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    program = number_program("linear-regressor", 1, 90)
    files = program.files()
    put_device(tmp_path, files["config.json"])
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    with (
        Device(micropython_command, tmp_path, "192k") as device,
        bridged(device.port) as bridge,
    ):
        with HostLink(SerialLine(device.port)) as link:
            link.connect()
            rows = blobs().values[:300].astype(int).tolist()
            for _ in link.stream(sample(row) for row in rows):
                pass
            watch = Watch(link)
            watch.ask()
            expected = dict(facts(watch))
        page.open(bridge.address)
        page.wait("!!document.querySelector('#start')")
        page.run("document.querySelector('#watch').click()")
        page.wait("document.querySelector('#watch-numbers').textContent")
        cells = dict(page.run(CELLS))
        assert cells["samples that came"] == "300"
        assert cells["predicted b"] == expected["predicted b"]
        error, _, scored = cells["mean absolute error"].partition(" of ")
        mean_error, _, number = expected["mean absolute error"].partition(" of ")
        assert (float(error), scored) == (float(mean_error), number)
        assert float(cells["NoChange: the last target"]) == float(expected["NoChange"])
        share = float(cells["inside the interval"].removesuffix(" %"))
        assert share == pytest.approx(float(expected["inside the interval"][:-2]), abs=0.06)
        assert page.run("document.querySelector('#watch-stream').hidden")
        assert page.run("document.querySelector('#watch-confusion').closest('section').hidden")
        assert page.run("document.querySelector('#watch-status').className") == ""
