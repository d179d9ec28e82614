"""From which distance between two samples on deep sleep takes less than light sleep: an estimate.

Deep sleep keeps no RAM. So before each one the state is saved to flash, and behind it MicroPython
and the program start anew, which takes seconds awake; light sleep draws more all the while. With
T seconds from sample to sample both take as much where

    T x (light - deep) = awake x (wake + start + checkpoint + window)

`light` is with the windows in which a board in light sleep listens to its line; in deep sleep it
does so once a sample.
"""

from __future__ import annotations

from dataclasses import dataclass

from .currents import Currents
from .energy import amount, mean_power

START_S = 1.6  # from main.py's first line to the first reading, on an emulated Pico


@dataclass(frozen=True)
class DeepSleepTrade:
    """Milliwatts awake, with light and in deep sleep; seconds awake that each deep sleep costs."""

    awake: float
    light: float
    deep: float
    wake_s: float
    checkpoint_s: float
    window_s: float
    source: str

    @property
    def seconds(self) -> float:
        """From sample to sample, from which on deep sleep takes less."""
        return self.awake * self._awake_s / (self.light - self.deep)

    def milliwatts(self, period: float) -> float:
        """In the mean, with deep sleep, at so many seconds from sample to sample."""
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
    """With a checkpoint of so many seconds, and a window of window_s after each deep sleep, or in
    every every_s of light sleep; None where one of the two sleeps is not known, or light sleep
    draws no more."""
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
