"""The steps of the page's playground, as a person does them."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path

from browser_support import Browser

from microshrub_host import open_stream

RUN = 180.0  # seconds for a stream
ERROR = "document.querySelector('#status.bad')?.textContent"


def start(page: Browser) -> None:
    page.run("document.querySelector('#start').click()")


def choose(page: Browser, name: str, value: str) -> None:
    element = f"document.querySelector('#{name}')"
    page.run(
        f"{element}.value = {json.dumps(value)}; {element}.dispatchEvent(new Event('change'))"
    )
    assert page.run(f"{element}.value") == value


def set_option(page: Browser, name: str, value: object) -> None:
    page.run(f"document.querySelector('#option-{name}').value = {json.dumps(str(value))}")


def choose_quick(page: Browser) -> None:
    """Choose a stream of the page, and a learner that takes two seconds for its 2,000 samples."""
    choose(page, "stream", "led")
    choose(page, "learner", "hoeffding")
    set_option(page, "depth", 0)
    set_option(page, "leaf", "mc")


def crc_of_run(page: Browser) -> int:
    """Run the stream, and return the checksum at its end."""
    start(page)
    page.wait(f"!!document.querySelector('#page-crc32') || {ERROR}", RUN)
    assert page.run(ERROR) is None
    return int(page.run("document.querySelector('#page-crc32').textContent"), 16)


def csv_of(source: str, samples: int) -> str:
    """Return the first samples of a generated stream as CSV."""
    made = open_stream(source, limit=samples)
    head = ",".join([*made.feature_names, "class"])
    rows = [
        ",".join([*map(repr, values.tolist()), made.class_names[label]])
        for values, label in zip(made.values, made.labels, strict=True)
    ]
    return "\n".join([head, *rows, ""])


def give_csv(page: Browser, path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    page.give_file("#file", path)
    page.wait("document.querySelector('#label').options.length || " + ERROR)


def take(page: Browser, button: str, path: Path) -> bytes:
    """Press a button that saves a file, and move the file to that path.

    A browser reports a file before it is complete: Firefox begins with an empty file, and sets its
    permissions at the end. So the browser saves into a folder of its own, and a copy is read.
    """
    folder = Path(tempfile.mkdtemp(prefix="taken-", dir=path.parent))
    taken = folder / path.name
    page.take_files(folder)
    page.press(f"#{button}")
    deadline = time.monotonic() + RUN
    while not (taken.exists() and taken.stat().st_size):
        assert time.monotonic() < deadline, f"{path.name} did not come"
        page.run("new Promise((resolve) => setTimeout(resolve, 100))")
    content = taken.read_bytes()
    path.write_bytes(content)
    return content
