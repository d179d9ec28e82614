"""The page shows the query of a board with a label budget, and sends the answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser_support import Browser
from cable_support import bridged
from device_support import Device
from naming_support import SPARE, kinds, live, put_naming_device

from microshrub_tools.link.client import HostLink
from microshrub_tools.link.messages import QUERIES, STATUS, DeviceStatus, Query
from microshrub_tools.link.serial_line import SerialLine

QUERY = "document.querySelector('#query').textContent"
COUNT = "document.querySelector('#query-count').textContent"
NUMBERS = "document.querySelector('#watch-numbers').textContent"
ANSWERS = "[...document.querySelectorAll('#query-labels button')].map((e) => e.textContent)"


@pytest.mark.usefixtures("address")
def test_a_query_is_answered_in_the_page(
    page: Browser, micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    """The budget allows ten queries at once; with spare classes, only names are offered."""
    put_naming_device(tmp_path, spare_classes=SPARE, queries={"labels": 1, "samples": 10})
    with Device(micropython_command, tmp_path, "192k") as device:
        with HostLink(SerialLine(device.port)) as link:
            link.connect()
            live(link, kinds(), 0, 15, label=False)
            before = link.ask(QUERIES)
            assert isinstance(before, Query)
            assert before.sample_id
            predicted = ("walk", "rest")[before.label]
        with bridged(device.port) as bridge:
            page.open(bridge.address)
            page.wait("!!document.querySelector('#start')")
            page.press("#watch")
            query = f"What is sample {before.sample_id}? Predicted: {predicted}."
            page.wait(f"{QUERY} === {query!r}")
            page.wait(f"{COUNT}.startsWith('{before.asked} of 15 samples were asked for, ')")
            page.wait(f"{ANSWERS}.join() === 'walk,rest'")
            page.press("#query-labels button:nth-child(2)")
            page.wait(f"{QUERY} === 'No sample waits for its label.'")
            page.wait("document.querySelector('#watch-numbers').textContent.includes('label')")
            assert "%" not in page.run(NUMBERS), "of one class all is right"
            page.press("#watch")
            page.wait("document.querySelector('#watch').textContent === 'Connect'")
        with HostLink(SerialLine(device.port)) as link:
            link.connect()
            now, status = link.ask(QUERIES), link.ask(STATUS)
        assert isinstance(now, Query)
        assert isinstance(status, DeviceStatus)
        assert (now.sample_id, now.asked) == (0, before.asked)
        assert status.samples == 1, "the one that was answered"
