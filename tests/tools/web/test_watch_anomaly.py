"""The page shows a board's anomaly score, and starts learning again what is normal."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser_support import Browser
from cable_support import bridged
from device_support import (
    Device,
    connected,
    learn,
    put_learner,
)

from microshrub_host.library.learners import MODELS
from microshrub_host.streams.open_stream import open_stream
from microshrub_tools.link.messages import AnomalyStatus, anomaly

MODEL = {"features": 3, "classes": 2, "window": 8, "trees": 2, "depth": 2}
NOW = "document.querySelector('#anomaly').textContent"
NORMAL_TEXT = "document.querySelector('#normal-told').textContent"


@pytest.mark.usefixtures("address")
def test_the_page_shows_the_score_and_has_a_button_for_normal_samples(
    page: Browser, micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    stream = open_stream("synth:sea_a", limit=300)
    options = {"period": 50, "window": 100, "normal": 100}
    put_learner(tmp_path, stream, MODELS["shrub"], MODEL, anomaly=options)
    with Device(micropython_command, tmp_path, "192k") as device:
        with connected(device) as link:
            learn(link, stream, 0, 300)
            before = link.ask(anomaly(scores=False))
            assert isinstance(before, AnomalyStatus)
        with bridged(device.port) as bridge:
            page.open(bridge.address)
            page.wait("!!document.querySelector('#start')")
            page.press("#watch")
            page.wait(f"{NOW}.startsWith('The last sample scores {before.score}; ')")
            page.wait(f"{NOW}.endsWith('Alarms so far: {before.alarms}.')")
            page.press("#normal")
            page.wait(f"{NORMAL_TEXT} === 'This is normal: the next 100 samples show it.'")
            page.press("#watch")
            page.wait("document.querySelector('#watch').textContent === 'Connect'")
