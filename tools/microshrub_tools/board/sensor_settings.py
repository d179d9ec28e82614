"""The sensors that a Python program gives to build(); program_sensors.py interprets them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from microshrub_host.base.errors import UserError

Words = tuple[str, ...]  # the words of `build --sensor`


@dataclass(frozen=True)
class Sensor:
    """A sensor that a board reads: `build(..., sensor=Sensor.adc(pins=(26, 27), rate=50))`.

    Give several sensors as a list, the fastest first. rate is in readings a second, 1 to 1000.
    `words` are the words of `build --sensor`.
    """

    words: Words

    @classmethod
    def adc(cls, pins: Sequence[int | str] | None = None, *, rate: int = 50) -> Sensor:
        """Return analog pins, by number or name; None: the pins in the board's file.

        Raises UserError if they are no list.
        """
        if pins is not None and (isinstance(pins, str) or not isinstance(pins, Sequence)):
            raise UserError(f"pins has to be a list of pins, such as (26, 27), not {pins!r}")
        given = {} if pins is None else {"pins": ",".join(map(str, pins))}
        return _sensor("adc", given | {"rate": rate})

    @classmethod
    def mpu6050(
        cls,
        *,
        scl: int | str,
        sda: int | str,
        i2c: int = 0,
        address: int = 104,
        rate: int = 100,
        axes: int = 6,
        fifo: bool = False,
    ) -> Sensor:
        """Return an MPU6050 on an I2C bus at these pins: acceleration (axes=3), rotation (6).

        With fifo, the chip's own clock sets the times of readings.
        """
        return _sensor(
            "mpu6050",
            {"scl": scl, "sda": sda, "i2c": i2c, "address": address, "rate": rate, "axes": axes}
            | {"fifo": "yes" if fifo else "no"},
        )

    @classmethod
    def driver(
        cls, name: str | Path, *, rate: int | Fraction | None = None, **settings: float | str
    ) -> Sensor:
        """Return a driver that microshrub includes, or a file of your own such as `my_sensor.py`.

        `settings` are the arguments of the driver's class; a rate of Fraction(1, 60) is once a
        minute. Without a rate it is 50, or as often as a slow sensor has a reading.
        """
        return _sensor(str(name), settings if rate is None else {**settings, "rate": rate})


def _sensor(kind: str, settings: Mapping[str, object]) -> Sensor:
    return Sensor((kind, *(f"{name}={value}" for name, value in settings.items())))


def words_of(given: Sensor | Sequence[Sensor]) -> list[Words]:
    """Return the words of each sensor. Raises UserError for any other object."""
    several = [given] if isinstance(given, Sensor) else given
    for each in several:
        if not isinstance(each, Sensor):
            raise UserError(
                f"sensor= has to be a Sensor, such as Sensor.adc(pins=(26, 27)), not {each!r}"
            )
    return [each.words for each in several]
