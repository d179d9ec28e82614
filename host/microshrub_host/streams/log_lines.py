"""Lines that a serial monitor, a boot loader or a reset leaves between the samples of a log.

Colours and the monitor's clock are removed from a line. Lines that are then no samples are counted
by kind, with the first line of each kind.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..base.text import count

_COLOUR = re.compile("\x1b\\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\x1b")
MONITOR_CLOCK = re.compile(r"\s*\[?\d{1,2}:\d\d:\d\d(?:[.,:]\d{1,6})?\]?\s*->\s?")

# A board's messages when it starts or stops, by their beginnings
BOOT_LINE = re.compile(
    r"ets [A-Z][a-z]{2}\s+\d+ \d{4}|ESP-ROM:|Build:[A-Z][a-z]{2} |rst:0x|configsip:|clk_drv:|"
    r"mode:[A-Z]+, clock div|load:0x|entry 0x|SPIWP:|csum |ho \d+ tail|chksum |tail \d+|"
    r"[EWIDV] \(\d+\) \w|Brownout detector|Guru Meditation|Backtrace:|Core\s+\d register dump|"
    r"Rebooting\.\.\.|waiting for host|boot: |cpu_start:|~ld|Fatal exception|abort\(\) was|"
    r"ELF file SHA|wdt reset|Soft WDT reset|flash read err|invalid header: 0x|Saved PC:0x"
)
PROMPT_LINE = re.compile(
    r"MicroPython v|CircuitPython |Adafruit CircuitPython|Type \"help\(\)\"|>>>|MPY: |"
    r"soft reboot|raw REPL|Traceback \(most|  File \"|KeyboardInterrupt|code\.py output|"
    r"paste mode|=== |\w*Error: |Press any key to enter the REPL"
)

BOOT, PROMPT, TEXT = "of a board that starts", "of MicroPython's prompt", "of text"
CALLED = "called "  # prefix of kinds that are values, not lines
HEADER, CUT, UNITS = "the header again", "cut in half", "of units"


def cleaned(line: str) -> str:
    """Return the line without colours and line ends."""
    line = line.rstrip("\r\n")
    return _COLOUR.sub("", line) if "\x1b" in line else line


def board_message(line: str) -> str:
    """Return the kind of a line that a board prints about itself; "" if it may be a sample."""
    text = line.lstrip()
    if BOOT_LINE.match(text):
        return BOOT
    return PROMPT if PROMPT_LINE.match(line) or PROMPT_LINE.match(text) else ""


@dataclass
class LinesLeftOut:
    """The lines that are left out: the number of each kind, and the place of its first."""

    counts: dict[str, int] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)

    def add(self, kind: str, where: str) -> None:
        """Count one more; `where` describes its place."""
        self.counts[kind] = self.counts.get(kind, 0) + 1
        self.first.setdefault(kind, where)

    def add_all(self, other: LinesLeftOut, name: str) -> None:
        """Add the lines left out of one of several files, with its name."""
        for kind, number in other.counts.items():
            self.counts[kind] = self.counts.get(kind, 0) + number
            self.first.setdefault(kind, f"{name}, {other.first[kind]}")

    def notes(self, name: str) -> list[str]:
        """Return notes on the lines left out."""
        if not self.counts:
            return []
        of_values = [kind for kind in self.counts if kind.startswith(CALLED)]
        of_lines = [kind for kind in self.counts if kind not in of_values]
        result = [
            f"{name}: {count(self.counts[kind], 'value')} left out, {kind} ({self._place(kind)})."
            for kind in of_values
        ]
        if of_lines:
            total = sum(self.counts[kind] for kind in of_lines)
            parts = ", ".join(
                f"{self.counts[kind]:,} {kind} ({self._place(kind)})" for kind in of_lines
            )
            result.insert(0, f"{name}: {count(total, 'line')} left out: {parts}.")
        return result

    def _place(self, kind: str) -> str:
        return f"{'the first is ' if self.counts[kind] > 1 else ''}{self.first[kind]}"
