"""The sensors that `build` configures: what words such as adc pins=26,27 rate=50 ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from microshrub_host.base.errors import UserError
from microshrub_host.base.text import count, did_you_mean, number_or_name, settings
from microshrub_host.boards.board_files import Board
from microshrub_host.streams.stream import Extraction

from . import own_sensors

USUAL_RATE = 50  # readings a second, if nobody says another
# What the sensors are told, and what they are told by default; None has to be given.
SENSORS: dict[str, dict[str, Any]] = {
    "serial": {},
    "adc": {"pins": None, "rate": USUAL_RATE},
    "mpu6050": {
        "scl": None, "sda": None, "i2c": 0, "address": 104, "rate": 100, "axes": 6, "fifo": "no",
    },
}  # fmt: skip
_AXES = ("ax", "ay", "az", "gx", "gy", "gz")  # of an MPU6050
_MIDDLE = 32768  # of the readings of a pin, 0..65535
_MOST_RATE = 1000  # readings a second
_DAY = 86_400  # seconds
_DRIVERS = Path(__file__).with_name("drivers")  # files as those of the user's own
_LEAST_FIFO = 4  # of them that the chip can take by itself
_SHOWN = 12  # names of features


@dataclass(frozen=True)
class ProgramSensor:
    """A sensor, or several; `config` is for config.json."""

    config: dict[str, Any]
    channels: tuple[str, ...] = ()  # names of a reading's values
    zero: tuple[int, ...] = ()  # what each of them is about
    own: tuple[Path, ...] = ()  # the user's files that it needs

    @property
    def kind(self) -> str:
        """What config.json calls it."""
        return str(self.config["kind"])

    @property
    def rate(self) -> float | None:
        """Readings a second; None if the PC decides."""
        return rate_of(self.config)

    @property
    def name(self) -> str:
        """As the user calls it."""
        if self.kind == "several":
            return "the sensors together"
        module = self.config.get("module")
        if not module:
            return f"--sensor {self.kind}"
        return f"--sensor {module}" if module in drivers() else f"--sensor {module}.py"


def rate_of(config: Mapping[str, Any]) -> float | None:
    """Readings a second of what config.json says of a sensor, None without one."""
    rate = config.get("sensors", [config])[0].get("rate")
    return 1 / int(rate[2:]) if isinstance(rate, str) else rate


def drivers() -> dict[str, Path]:
    """The sensors that are one file each, and come with this package."""
    return {path.stem: path for path in sorted(_DRIVERS.glob("*.py"))}


def sensors(words: Sequence[str] | Sequence[Sequence[str]], board: Board) -> ProgramSensor:
    """The sensor of such words; of several lists of them, those sensors together.

    Raises UserError.
    """
    lists = [words] if not words or isinstance(words[0], str) else words
    found = [_sensor(list(each), board) for each in lists]  # type: ignore[arg-type]
    if len(found) == 1:
        return found[0]
    for one in found:
        if one.kind == "serial":
            raise UserError("--sensor serial is what comes over the link: it has to be alone")
        if one.config.get("fifo") and one is not found[0]:
            raise UserError(f"{one.name} with fifo=yes sets the pace: put it first")
        if (one.rate or 0) > (found[0].rate or 0):
            raise UserError(
                f"{one.name} rate={one.config['rate']}: the first sensor sets the pace, with rate="
                f"{found[0].config['rate']}, so put the faster one first"
            )
    return ProgramSensor(
        {"kind": "several", "sensors": [one.config for one in found]},
        _apart([name for one in found for name in one.channels]),
        tuple(zero for one in found for zero in one.zero),
        tuple(path for one in found for path in one.own),
    )


def check_sensor(
    sensor: ProgramSensor, features: Sequence[str], extraction: Extraction | None
) -> None:
    """Raise UserError if the sensor does not give what the model takes."""
    given = len(sensor.channels)
    values = f"{sensor.name} give{'s' * (sensor.kind != 'several')} {count(given, 'value')}"
    if extraction is None:
        if given != len(features):
            more = ", ..." if len(features) > _SHOWN else ""
            raise UserError(
                f"{values}, and the model has {count(len(features), 'feature')}: "
                f"{', '.join(features[:_SHOWN])}{more}. Use a recording from the board, and leave "
                "out what the sensor does not give: --drop COLUMN. --features makes more of its "
                "readings."
            )
        return
    wanted = len(extraction.channels)
    if given != wanted:
        raise UserError(
            f"{values}, and the features were made of {wanted}: {', '.join(extraction.channels)}"
        )
    if extraction.rate not in (None, sensor.rate):
        raise UserError(
            f"{sensor.name} rate={sensor.rate:g}: the features were made for {extraction.rate:g} "
            f"readings a second, so write rate={extraction.rate:g}"
        )


def pin(text: int | str, board: Board) -> int | str:
    """A pin by its number or name. Raises UserError for a number that the board does not have."""
    found = number_or_name(str(text))
    if isinstance(found, int) and found > board.pins.last:
        raise UserError(
            f"There is no pin {found}: the last one of the {board.name} is {board.pins.last}"
        )
    return found


def _sensor(words: list[str], board: Board) -> ProgramSensor:
    kind, *rest = words
    if kind.endswith(".py"):
        found = _own(Path(kind), rest)
    elif kind in SENSORS:
        found = _known(kind, rest, board)
    elif kind in drivers():
        found = _own(drivers()[kind], rest)
    else:
        raise UserError(
            f"--sensor {kind!r} is unknown. {did_you_mean(kind, [*SENSORS, *drivers()])} One of "
            "your own is the name of its file, such as my_sensor.py"
        )
    rate = found.config.get("rate", 1)
    if not (_is_slow(rate) or (type(rate) is int and 1 <= rate <= _MOST_RATE)):
        raise UserError(
            f"{found.name} rate has to be a whole number of 1..{_MOST_RATE:,}, or like 1/60 for a "
            f"reading a minute, not {rate!r}"
        )
    return found


def _is_slow(rate: object) -> bool:
    """Is it one such as 1/300?"""
    if not isinstance(rate, str):
        return False
    one, _, seconds = rate.partition("/")
    return one == "1" and seconds.isdecimal() and 1 <= int(seconds) <= _DAY


def _own(path: Path, words: Sequence[str]) -> ProgramSensor:
    own = own_sensors.read(path)
    called = f"--sensor {path.stem if path in drivers().values() else path}"
    found = settings(called, words, own.settings | {"rate": USUAL_RATE})
    missing = [name for name, value in found.items() if value is own_sensors.REQUIRED]
    if missing:
        raise UserError(f"{called} needs {missing[0]}=")
    rate = found.pop("rate")
    config = {"kind": "own", "module": path.stem, "class": own.name, "values": len(own.names)}
    given = {name: _number(value) for name, value in found.items() if value != own.settings[name]}
    return ProgramSensor(
        config | {"rate": rate, "options": given}, own.names, (0,) * len(own.names), (path,)
    )


def _number(value: Any) -> Any:
    """A number for a text that is one, such as 0.5 or -3."""
    for kind in (int, float):
        try:
            return kind(value)
        except (ValueError, TypeError):
            pass
    return value


def _known(kind: str, words: Sequence[str], board: Board) -> ProgramSensor:
    if any(word.startswith(("window=", "hop=")) for word in words):
        raise UserError(f"--sensor {kind} has no window: write --features window=64 hop=32")
    found = settings(f"--sensor {kind}", words, SENSORS[kind])
    if kind == "adc":
        pins = str(board.pins.adc if found["pins"] is None else found["pins"]).split(",")
        found["pins"] = [pin(text, board) for text in pins]
    if kind == "mpu6050":
        found |= _motion(found)
    for name, value in found.items():
        if value is None:
            raise UserError(f"--sensor {kind} needs {name}=, the number of a pin")
        if name in ("scl", "sda"):
            found[name] = pin(value, board)
        elif name not in ("pins", "fifo") and (type(value) is not int or value < 0):
            raise UserError(f"--sensor {kind} {name} has to be a whole number, not {value!r}")
    made = ProgramSensor({"kind": kind, **found})
    if kind == "adc":
        pins = found["pins"]
        return replace(
            made, channels=tuple(f"pin{one}" for one in pins), zero=(_MIDDLE,) * len(pins)
        )
    axes = found.get("axes", 0)
    return replace(made, channels=_AXES[:axes], zero=(0,) * axes)


def _motion(found: dict[str, Any]) -> dict[str, Any]:
    """The settings of an MPU6050 that are not just numbers. Raises UserError."""
    axes, fifo, rate = found["axes"], found["fifo"], found["rate"]
    if axes not in (3, 6):
        raise UserError(
            f"--sensor mpu6050 axes has to be 6, or 3 for the acceleration alone, not {axes!r}"
        )
    if fifo not in ("yes", "no"):
        raise UserError(f"--sensor mpu6050 fifo has to be yes or no, not {fifo!r}")
    if fifo == "yes" and (type(rate) is not int or rate < _LEAST_FIFO or _MOST_RATE % rate):
        raise UserError(
            f"--sensor mpu6050 rate={rate}: with fifo=yes the chip keeps the time, and can take "
            "1000, 500, 250, 200, 125, 100, 50, 40, 25, 20, 10, 8, 5 or 4 readings a second"
        )
    return {"fifo": fifo == "yes"}


def _apart(names: Sequence[str]) -> tuple[str, ...]:
    """The names, those that come again with a number behind them."""
    found: list[str] = []
    for name in names:
        again = names[: len(found)].count(name)
        found.append(f"{name}_{again + 1}" if again else name)
    return tuple(found)
