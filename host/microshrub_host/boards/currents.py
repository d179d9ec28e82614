"""What a board draws, awake and asleep: the section [energy] of its file."""

from __future__ import annotations

from dataclasses import dataclass

from .toml_section import TomlSection


@dataclass(frozen=True)
class DeepSleepCurrent:
    """Milliamperes in machine.deepsleep(), which keeps no RAM, and the seconds from waking up to
    main.py's first line; where both are from."""

    ma: float
    wake_s: float
    source: str


@dataclass(frozen=True)
class Currents:
    """Milliamperes of the whole board at so many volts, its radio off, and where they are from.

    `awake_ma` is while its program runs or waits, `sleep_ma` in machine.lightsleep(); None if its
    MicroPython has none. `deep` is None where nothing is known of it.
    """

    source: str
    volts: float
    awake_ma: float
    sleep_ma: float | None = None
    deep: DeepSleepCurrent | None = None

    def __str__(self) -> str:
        asleep = "" if self.sleep_ma is None else f", {self.sleep_ma:g} mA in light sleep"
        return f"{self.awake_ma:g} mA awake{asleep}, at {self.volts:g} V: {self.source}"


def currents(table: TomlSection) -> Currents | None:
    """Those of a board's file, None if it has no such section. Raises BoardFileError."""
    if "energy" not in table.rest:
        return None
    section = table.section("energy")
    found = Currents(
        section.text("source"),
        section.amount("volts"),
        section.amount("awake_ma"),
        section.amount("sleep_ma") if "sleep_ma" in section.rest else None,
        _deep(section),
    )
    section.finish()
    if found.sleep_ma is not None and found.sleep_ma > found.awake_ma:
        section.fail("sleep_ma", f"is above awake_ma ({found.awake_ma:g})")
    return found


def _deep(section: TomlSection) -> DeepSleepCurrent | None:
    if "deep_ma" not in section.rest:
        return None
    amounts = section.amount("deep_ma"), section.amount("deep_wake_s")
    return DeepSleepCurrent(*amounts, section.text("deep_source"))
