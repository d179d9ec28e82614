"""Estimates of a board's current, the energy of a sample, and the life of a battery.

A board draws about the same current whatever it computes, so a sample's energy is the board's
power while awake times the time of a sample. Waiting costs as much, unless the board sleeps. The
energy of waking up is not included, nor are losses of a regulator or an old battery.

Deep sleep keeps no RAM. So before each sleep the state is saved to flash, and after it MicroPython
and the program start again, which takes seconds awake; light sleep draws more current all the
time. With T seconds from sample to sample, both take the same energy if

    T x (light - deep) = awake x (wake + start + checkpoint + window)

`light` includes the windows in which a board in light sleep listens to its line; in deep sleep,
there is one such window for each sample.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ..base.errors import UserError
from .toml_section import TomlSection


@dataclass(frozen=True)
class DeepSleepCurrent:
    """The current of machine.deepsleep(), which keeps no RAM, in milliamperes.

    `wake_s` is the time from waking up to main.py's first line, in seconds, and `source` names the
    source of both figures.
    """

    ma: float
    wake_s: float
    source: str


@dataclass(frozen=True)
class Currents:
    """Currents of the whole board at a voltage, with the radio off, in milliamperes; their source.

    `awake_ma` is the current while the program runs or waits, `sleep_ma` the current in
    machine.lightsleep(); None if MicroPython has no light sleep there. `deep` is None if unknown.
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
    """Return the currents in a board's file, None if there are none. Raises BoardFileError."""
    if "energy" not in table.rest:
        return None
    section = table.section("energy")
    figures = Currents(
        section.text("source"),
        section.amount("volts"),
        section.amount("awake_ma"),
        section.amount("sleep_ma") if "sleep_ma" in section.rest else None,
        _deep(section),
    )
    section.finish()
    if figures.sleep_ma is not None and figures.sleep_ma > figures.awake_ma:
        section.fail("sleep_ma", f"is above awake_ma ({figures.awake_ma:g})")
    return figures


def _deep(section: TomlSection) -> DeepSleepCurrent | None:
    if "deep_ma" not in section.rest:
        return None
    amounts = section.amount("deep_ma"), section.amount("deep_wake_s")
    return DeepSleepCurrent(*amounts, section.text("deep_source"))


LEAST_US = 10_000  # shortest sleep: the program stays awake for a shorter wait, see sleep.py
VOLTS = 3.7  # nominal voltage of a lithium-ion cell
_BATTERY = re.compile(r"(\d+(?:\.\d+)?)(mAh|Ah|mWh|Wh)(?:@(\d+(?:\.\d+)?)V)?")


@dataclass(frozen=True)
class Battery:
    """A battery as the user wrote it, and its energy."""

    text: str
    milliwatt_hours: float

    def days(self, milliwatts: float) -> float:
        """Return the battery's life at this power, in days."""
        return self.milliwatt_hours / milliwatts / 24


def battery(text: str) -> Battery:
    """Parse "2000mAh", at 3.7 V, "2000mAh@3.0V" or "7.4Wh". Raises UserError."""
    match = _BATTERY.fullmatch(text.replace(" ", ""))
    amount = float(match[1]) if match else 0.0
    volts = float(match[3]) if match and match[3] else VOLTS
    if not match or not amount or not volts or (match[3] and "W" in match[2]):
        raise UserError(
            f"--battery has to be 2000mAh, 2000mAh@3.0V (without it: {VOLTS} V), or 7.4Wh, not "
            f"{text!r}"
        )
    amount *= 1 if match[2].startswith("m") else 1000
    return Battery(text, amount * (1 if "W" in match[2] else volts))


@dataclass(frozen=True)
class Energy:
    """Estimates of energy and power.

    `predict`, `learn` and `sample`, a labelled sample with the whole program, are medians in
    microjoules. The rest are milliwatts at `rate` samples a second.

    `awake` is the power of a board that never sleeps, `asleep` of a board that sleeps between
    samples, None if it cannot sleep; `learning` is the learner's part of both.
    """

    predict: float
    learn: float
    sample: float
    rate: float
    awake: float
    asleep: float | None
    learning: float
    currents: Currents
    battery: Battery | None = None
    words: str = ""  # text: what a sample includes besides the program

    def record(self) -> dict[str, Any]:
        """Return the figures for --json."""
        figures: dict[str, Any] = {
            "estimate": True,
            "predict_uj": self.predict,
            "learn_uj": self.learn,
            "sample_uj": self.sample,
            "samples_per_second": self.rate,
            "awake_mw": self.awake,
            "asleep_mw": self.asleep,
            "learning_mw": self.learning,
            "source": self.currents.source,
        }
        if self.battery:
            figures["battery"] = self.battery.text
            figures["days_awake"] = self.battery.days(self.awake)
            figures["days_asleep"] = self.asleep and self.battery.days(self.asleep)
        return figures

    def rows(self) -> list[tuple[str, str]]:
        """Return the rows of a table: names and values."""
        estimates = [
            (
                "microjoules of a sample, an estimate",
                f"{amount(self.predict)} to predict, {amount(self.learn)} to learn, "
                f"{amount(self.sample)} with {self.words}the program around it",
            ),
            (
                f"milliwatts at {self.rate:.3g} a second, an estimate",
                f"{self.between(self.awake, self.asleep)}; {amount(self.learning)} of them are "
                "the learner's",
            ),
        ]
        return [*estimates, *self.days_rows(), ("  estimated from", str(self.currents))]

    def days_rows(self) -> list[tuple[str, str]]:
        """Return the row of the battery, if one is given."""
        if not self.battery:
            return []
        asleep = self.asleep and self.battery.days(self.asleep)
        days = self.between(self.battery.days(self.awake), asleep)
        return [(f"days on {self.battery.text}, an estimate", days)]

    def between(self, awake: float, asleep: float | None) -> str:
        """Return text with the two amounts, without and with sleep between samples."""
        if not asleep:
            return f"{amount(awake)}; the board cannot sleep"
        if amount(awake) == amount(asleep):
            return f"{amount(awake)}; at this rate, the board has no time to sleep"
        return f"{amount(awake)} without sleep, {amount(asleep)} asleep between samples"


def estimate(
    currents: Currents,
    predict_us: float,
    learn_us: float,
    sample_us: float,
    rate: float,
    battery: Battery | None = None,
    listening: float = 0.0,
    looks: float = 0.0,
    look_us: float = 0.0,
) -> Energy:
    """Estimate the energy of samples from their times and their rate.

    sample_us includes the program. listening is the share of the time in which a sleeping board is
    awake to listen to its line. If a sample is made of several readings, the board wakes `looks`
    times a second for them, each for look_us, which sample_us includes.
    """
    awake = currents.volts * currents.awake_ma  # milliwatts
    share = min(1.0, rate * sample_us / 1e6 + listening)  # of time awake, if the board sleeps
    if not sleeps(looks or rate, look_us if looks else sample_us):
        share = 1.0
    asleep = None if currents.sleep_ma is None else mean_power(currents, share)
    return Energy(
        predict=awake * predict_us / 1000,
        learn=awake * learn_us / 1000,
        sample=awake * sample_us / 1000,
        rate=rate,
        awake=awake,
        asleep=asleep,
        learning=min(1.0, rate * learn_us / 1e6) * awake,
        currents=currents,
        battery=battery,
    )


def sleeps(looks: float, look_us: float) -> bool:
    """Return whether a board that wakes at this rate, and works this long, ever sleeps."""
    return 1e6 / looks - look_us >= LEAST_US


def mean_power(currents: Currents, share: float) -> float:
    """Return the milliwatts of a board that is awake for a share of the time, 0..1."""
    asleep = currents.sleep_ma or 0.0
    return currents.volts * (share * currents.awake_ma + (1 - share) * asleep)


def amount(value: float) -> str:
    """Return a number with three significant digits, as text."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:,.1f}" if value >= 10 else f"{value:,.2f}"


START_S = 1.6  # seconds from main.py's first line to the first reading, on an emulated Pico


@dataclass(frozen=True)
class DeepSleepTrade:
    """Milliwatts awake, in light and in deep sleep; seconds awake that each deep sleep costs."""

    awake: float
    light: float
    deep: float
    wake_s: float
    checkpoint_s: float
    window_s: float
    source: str

    @property
    def seconds(self) -> float:
        """The seconds between samples from which deep sleep takes less energy."""
        return self.awake * self._awake_s / (self.light - self.deep)

    def milliwatts(self, period: float) -> float:
        """Return the mean power with deep sleep, for `period` seconds between samples."""
        return self.deep + self.awake * self._awake_s / period

    @property
    def _awake_s(self) -> float:
        return self.wake_s + START_S + self.checkpoint_s + self.window_s

    def __str__(self) -> str:
        return (
            f"deep sleep takes less than light sleep from one sample in {self.seconds:,.0f} "
            f"seconds on: {amount(self.awake)} mW x ({self.wake_s:g} s to wake up + {START_S:g} s "
            f"to start + {self.checkpoint_s:.2g} s for a checkpoint + {self.window_s:g} s to "
            f"listen) / ({amount(self.light)} mW - {self.deep:.2g} mW), estimated from "
            f"{self.source}"
        )


def trade(
    currents: Currents, checkpoint_s: float, window_s: float = 0.0, every_s: float = 60.0
) -> DeepSleepTrade | None:
    """Compare deep sleep with light sleep.

    A checkpoint takes checkpoint_s; there is a window of window_s after each deep sleep, and in
    every every_s of light sleep. Returns None if the current of one of the two sleeps is unknown,
    or if light sleep draws no more than deep sleep.
    """
    deep, light = currents.deep, currents.sleep_ma
    if deep is None or light is None or light <= deep.ma:
        return None
    return DeepSleepTrade(
        awake=currents.volts * currents.awake_ma,
        light=mean_power(currents, window_s / every_s),
        deep=currents.volts * deep.ma,
        wake_s=deep.wake_s,
        checkpoint_s=checkpoint_s,
        window_s=window_s,
        source=deep.source,
    )
