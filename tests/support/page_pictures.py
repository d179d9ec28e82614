"""Takes the pictures of the page in docs/images: python tests/support/page_pictures.py."""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path

from chromium_support import Chromium, chromium
from playground_support import RUN, start
from sensor_support import held_clock, settle
from teach_support import do, taught

from microshrub_tools.web import site

IMAGES = Path(__file__).parents[2] / "docs" / "images"
UNSEEN = "document.querySelector('#unseen .figure')"
AHEAD = "/^On/.test(document.querySelector('#ahead').textContent)"


def teach(page: Chromium, address: str) -> None:
    """Take the page with three gestures, taught in two rounds: on a desktop, on a dark phone."""
    with held_clock(page):
        for name, width, height, dark in (
            ("page-teach", 1280, 900, False),
            ("page-phone", 390, 844, True),
        ):
            page.open(address, width=width, dark=dark)
            page.look(width, dark, height=height)
            page.wait("!!document.querySelector('#start')")
            taught(page, rounds=2, seconds=4)
            page.wait(f"!!{UNSEEN}", RUN)
            do(page, "line", 120)
            settle(page)
            page.run("scrollTo(0, 0); new Promise((done) => setTimeout(done, 500))")
            page.run("document.getAnimations().forEach((each) => each.finish())")  # bars move
            page.picture(IMAGES / f"{name}.png")


def learn(page: Chromium, address: str) -> None:
    """Take the playground with a stream that has a drift."""
    page.open(address)
    page.wait("!!document.querySelector('#start')")
    start(page)
    page.wait(AHEAD, 2 * RUN)
    page.run("document.querySelector('#playground').scrollIntoView()")
    page.picture(IMAGES / "page.png")


def main() -> None:
    """Take all pictures."""
    with tempfile.TemporaryDirectory() as folder, site.server(0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://localhost:{server.server_address[1]}/"
        with chromium(Path(folder) / "profile") as browser, browser.tab() as page:
            teach(page, address)
            learn(page, address)
        server.shutdown()


if __name__ == "__main__":
    main()
