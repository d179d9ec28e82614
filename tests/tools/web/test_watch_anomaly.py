"""The page shows a board's anomaly score, and tells it: this is normal."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from browser_support import Browser
from device_support import Device, configuration, connected, frozen_quantizer, learn, put_device

from microshrub_host.library.learners import MODELS
from microshrub_host.streams.open_stream import open_stream
from microshrub_tools.link.messages import AnomalyStatus, anomaly
from microshrub_tools.web.bridge import of_port

MODEL = {"features": 3, "classes": 2, "window": 8, "trees": 2, "depth": 2}
NOW = "document.querySelector('#anomaly').textContent"
NORMAL_TEXT = "document.querySelector('#normal-told').textContent"


@pytest.mark.usefixtures("address")
def test_the_page_tells_what_is_normal(
    page: Browser, micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    stream = open_stream("synth:sea_a", limit=300)
    options = {"period": 50, "window": 100, "normal": 100}
    put_device(
        tmp_path,
        configuration(MODELS["shrub"], MODEL, quantizer="quantizer.state", anomaly=options),
    )
    (tmp_path / "quantizer.state").write_bytes(frozen_quantizer(stream))
    device = Device(micropython_command, tmp_path, "192k")
    bridge = of_port(device.port, 115200, 0)
    thread = threading.Thread(target=bridge.run, daemon=True)
    try:
        with connected(device) as link:
            learn(link, stream, 0, 300)
            before = link.ask(anomaly(scores=False))
            assert isinstance(before, AnomalyStatus)
        thread.start()
        page.open(bridge.address)
        page.wait("!!document.querySelector('#start')")
        page.press("#watch")
        page.wait(f"{NOW}.startsWith('The last sample scores {before.score}; ')")
        page.wait(f"{NOW}.endsWith('Alarms so far: {before.alarms}.')")
        page.press("#normal")
        page.wait(f"{NORMAL_TEXT} === 'This is normal: the next 100 samples show it.'")
        page.press("#watch")
        page.wait("document.querySelector('#watch').textContent === 'Connect'")
    finally:
        bridge.stop()
        if thread.ident:
            thread.join()
        device.close()
