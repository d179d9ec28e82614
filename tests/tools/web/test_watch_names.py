"""The page names novel classes of a board, and renames, merges and forgets classes."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from browser_support import Browser
from cable_support import bridged
from device_support import Device
from naming_support import SPARE, kinds, live, put_naming_device
from patience import PATIENCE

from microshrub_tools.link.client import HostLink
from microshrub_tools.link.serial_line import PortError, SerialLine
from microshrub_tools.watch.class_naming import Classes

BUTTONS = "[...document.querySelectorAll('#watch-part .labels button')]"
LABELS = f"{BUTTONS}.map((each) => each.textContent).join()"
PRESSED = f"{BUTTONS}.find((each) => each.ariaPressed === 'true').textContent"
STATUS = "document.querySelector('#watch-status').textContent"
MATRIX = "[...document.querySelectorAll('#watch-confusion th')].map((e) => e.textContent).join()"


def choose(page: Browser, selector: str, value: str) -> None:
    page.run(f"document.querySelector({selector!r}).value = {json.dumps(value)}")


def released_line(port: str) -> SerialLine:
    """Open the port as soon as the bridge has released it."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return SerialLine(port)
        except PortError:
            assert time.monotonic() < end
            time.sleep(0.1)


@pytest.mark.usefixtures("address")
def test_classes_get_their_names_in_the_page(
    page: Browser, micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    put_naming_device(tmp_path, spare_classes=SPARE)
    with (
        Device(micropython_command, tmp_path, "160k") as device,
        bridged(device.port) as bridge,
    ):
        with HostLink(SerialLine(device.port)) as link:
            link.connect()
            live(link, kinds(), 0, 120, label=True)
            live(link, kinds(), 120, 125, label=False)
        page.open(bridge.address)
        page.wait("!!document.querySelector('#start')")
        page.press("#watch")
        novel = "document.querySelector('#naming-novel').textContent"
        page.wait(f"{novel} === '5 novel samples wait for a name. What are they?'")
        page.wait(f"{LABELS}.startsWith('walk,rest,') && !{LABELS}.includes('spare')")
        choose(page, "#naming-class", "1")
        page.run(
            f"{BUTTONS}.find((each) => each.ariaPressed && each.textContent === 'rest').click()"
        )
        choose(page, "#naming-text", "stairz")
        page.press("#naming-name")
        page.wait(f"{LABELS}.startsWith('walk,rest,stairz,')")
        assert page.run(PRESSED) == "rest"  # with other buttons, too
        # The list has changed, but the choice of rest does not become walk
        assert page.run("document.querySelector('#naming-class').value") == "1"
        choose(page, "#naming-class", "2")
        choose(page, "#naming-into", "0")
        choose(page, "#naming-text", "Treppe \u2191")
        page.press("#naming-rename")
        page.wait(f"{LABELS}.startsWith('walk,rest,Treppe \u2191,')")
        page.press("#naming-merge")
        page.wait(f"{LABELS}.startsWith('walk,rest,') && !{LABELS}.includes('Treppe')")
        page.press("#naming-forget")  # a class that is gone
        page.wait(f"{STATUS} === 'Choose a class first.'")
        choose(page, "#naming-class", "1")
        page.press("#naming-forget")
        page.wait(f"{MATRIX} === 'walk,walk'")
        choose(page, "#naming-class", "0")
        page.press("#naming-forget")  # the last one
        page.wait(f"{STATUS}.includes('last class')")
        page.press("#watch")
        page.wait("document.querySelector('#watch').textContent === 'Connect'")
        with HostLink(released_line(device.port)) as link:
            states = Classes(link, link.connect().classes).all
        assert [state.state for state in states] == [1, 3, 2, 0, 0]
