"""Measures the page's speed: time to the first prediction, samples per second, frames per second.

    python tests/support/page_speed.py elec.csv.gz

needs the built page and a Chromium. Prints a table, and the load of the machine, which has to be
low for meaningful figures.
"""

from __future__ import annotations

import argparse
import gzip
import os
import tempfile
import threading
import time
from pathlib import Path

from chromium_support import Chromium, chromium
from playground_support import choose, crc_of_run, give_csv, set_option, start

from microshrub_tools.web import site

SAMPLES = 4000
SMALL = {"window": 16, "trees": 4, "depth": 4, "step": 8}
# The rates that the page shows, and the frames that it draws at the same time
_COUNT = """
window.rates = [];
window.pictures = [];
const show = (now) => { pictures.push(now); requestAnimationFrame(show); };
requestAnimationFrame(show);
new MutationObserver(() => {
  const rate = /([\\d,]+) a second/.exec(document.querySelector('#status').textContent)?.[1];
  if (rate) rates.push([performance.now(), Number(rate.replaceAll(',', ''))]);
}).observe(document.querySelector('#status'), { childList: true });
"""
_PICTURES = """(() => {
  const [first, last] = [rates[0][0], rates.at(-1)[0]];
  const shown = pictures.filter((time) => time >= first && time <= last).length;
  return (1000 * shown) / (last - first);
})()"""


def first_prediction(page: Chromium, address: str) -> float:
    """Return the seconds from opening the page, with an empty cache, to a prediction."""
    page.call("Network.clearBrowserCache")
    began = time.monotonic()
    page.open(address)
    page.wait("!!document.querySelector('#start')")
    start(page)
    page.wait("document.querySelector('#newest').textContent")
    return time.monotonic() - began


def rates(page: Chromium, address: str, table: Path, learner: str) -> tuple[int, float]:
    """Return samples and frames per second."""
    page.open(address)
    page.wait("!!document.querySelector('#start')")
    give_csv(page, table, table.read_text(encoding="utf-8"))
    choose(page, "learner", learner)
    for name, value in SMALL.items() if learner == "shrub" else ():
        set_option(page, name, value)
    page.run(_COUNT)
    crc_of_run(page)
    return page.run("rates.at(-1)[1]"), page.run(_PICTURES)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="How fast the page is.")
    parser.add_argument("stream", type=Path, help="a CSV file packed with gzip")
    arguments = parser.parse_args()
    with gzip.open(arguments.stream, "rt", encoding="utf-8") as file:
        lines = [file.readline() for _ in range(SAMPLES + 1)]
    with tempfile.TemporaryDirectory() as folder, site.server(0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://localhost:{server.server_address[1]}/"
        table = Path(folder) / "stream.csv"
        table.write_text("".join(lines), encoding="utf-8")
        with chromium(Path(folder) / "profile") as browser, browser.tab() as page:
            seconds = first_prediction(page, address)
            rates_of = {name: rates(page, address, table, name) for name in ("shrub", "thicket")}
        server.shutdown()
    print(
        f"| first {SAMPLES:,} of {arguments.stream.name} | samples a second | pictures a second |"
    )
    print("|---|---:|---:|")
    print("| shrub, 16 samples, 4 trees of depth 4 | {:,} | {:.0f} |".format(*rates_of["shrub"]))
    print("| the default learner, as large as the board allows | {:,} | {:.0f} |".format(
        *rates_of["thicket"]))  # fmt: skip
    print(f"\n{seconds:.1f} s from opening the page to the first prediction; ", end="")
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
