"""The longest time that tests wait for an event, and a function that waits."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 900.0  # seconds; long, so that only a missing event fails a test on a busy machine


def wait_until(holds: Callable[[], object]) -> None:
    """Wait until the condition holds; fail after `PATIENCE` seconds."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)
