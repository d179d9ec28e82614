"""The built page, served on a free port; skips the tests where it was not built."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from browser_support import Browser, browser

from microshrub_tools.web import site


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    if not (site.FOLDER / "main.js").exists():
        pytest.skip("the page was not built: make web")
    with site.server(0) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://localhost:{server.server_address[1]}/"
        server.shutdown()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as found:
        yield found
