"""Processes that another process has started, as Linux lists them."""

from __future__ import annotations

import re
from pathlib import Path


def children(process: int) -> dict[int, str]:
    """Return the command lines of all descendants of a process, by their process ids."""
    results: dict[int, str] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            line = re.fullmatch(r"(\d+) \(.*\) \w (\d+) .*\n", status.read_text())
            words = status.with_name("cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if line and int(line[2]) == process:
            results |= {int(line[1]): words} | children(int(line[1]))
    return results


def is_running(process: int) -> bool:
    """Whether the process exists and is not a zombie."""
    try:
        return ") Z " not in Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
