"""The built page, served on a free port; skips the tests if the page was not built."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator

import pytest
from browser_support import Browser
from chromium_support import Chromium
from sensor_support import held_clock

from microshrub_host.library import loader
from microshrub_tools.web import site


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    if not (site.FOLDER / "main.js").exists():
        pytest.skip("the page was not built: make web")
    data = json.loads((site.FOLDER / "data.json").read_text(encoding="utf-8"))
    if data["library"] != loader.digest():
        pytest.skip("the page was built with another device library: make web")
    with site.server(0) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://localhost:{server.server_address[1]}/"
        server.shutdown()


@pytest.fixture(scope="module")
def page(chromium: Chromium) -> Iterator[Browser]:
    with chromium.tab() as tab:
        yield tab


@pytest.fixture
def playground(page: Browser, address: str) -> Browser:
    """The page, newly opened."""
    page.open(address)
    page.wait("!!document.querySelector('#start')")
    return page


@pytest.fixture
def held(page: Browser, address: str) -> Iterator[Browser]:
    """The page, newly opened, with a sensor that is read when the test asks for it."""
    with held_clock(page):
        page.open(address)
        page.wait("!!document.querySelector('#start')")
        yield page
