"""`microshrub device` as a separate process, for the commands that use the board."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from patience import PATIENCE


@contextlib.contextmanager
def simulated_board(folder: Path, *words: str | Path) -> Iterator[str]:
    """The port of `microshrub device WORDS`, started in that folder."""
    log = folder / "device.log"
    command = [sys.executable, "-m", "microshrub_command", "device", *map(str, words)]
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=out, env=environment(folder)
        )
    assert process.stdout
    try:
        text = process.stdout.readline().decode()
        port = re.search(r"is at (\S+)\. Ctrl-C", text)
        assert port, text + log.read_text()
        yield port[1]
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)


def environment(folder: Path) -> dict[str, str]:
    """Return an environment in which boards of other tests are not visible."""
    return os.environ | {"TMPDIR": str(folder)}
