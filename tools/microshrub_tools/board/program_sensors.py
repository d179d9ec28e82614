"""The sensors that `build` configures, from words such as: adc pins=26,27 rate=50."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from microshrub_host.base.errors import UserError
from microshrub_host.base.text import count, did_you_mean, number_or_name, settings
from microshrub_host.boards.board_files import Board
from microshrub_host.streams.stream import Extraction

from . import custom_sensors
from .custom_sensors import drivers

USUAL_RATE = 50  # readings a second, unless the user gives another rate
# The settings of the sensors, and their defaults; None: required.
SENSORS: dict[str, dict[str, Any]] = {
    "serial": {},
    "adc": {"pins": None, "rate": USUAL_RATE},
    "mpu6050": {
        "scl": None, "sda": None, "i2c": 0, "address": 104, "rate": 100, "axes": 6, "fifo": "no",
    },
}  # fmt: skip
# Seconds between two readings of the sensors that take long, from their data sheets
SECONDS = {"dht22": 2, "scd41": 5}
_AXES = ("ax", "ay", "az", "gx", "gy", "gz")  # the axes of an MPU6050
_MIDDLE = 32768  # the middle of the readings of a pin, 0..65535
_MOST_RATE = 1000  # readings a second
_DAY = 86_400  # seconds
_LEAST_FIFO = 4  # fewest readings a second that the chip can time
_SHOWN = 12  # names of features in a message


@dataclass(frozen=True)
class ProgramSensor:
    """A sensor, or several; `config` is for config.json."""

    config: dict[str, Any]
    channels: tuple[str, ...] = ()  # names of a reading's values
    zero: tuple[int, ...] = ()  # the resting value of each
    files: tuple[Path, ...] = ()  # the user's files that the sensor needs

    @property
    def kind(self) -> str:
        """The sensor's name in config.json."""
        return str(self.config["kind"])

    @property
    def rate(self) -> float | None:
        """Readings a second; None if the PC decides."""
        return rate_of(self.config)

    @property
    def name(self) -> str:
        """The sensor's name for the user."""
        if self.kind == "several":
            return "the sensors together"
        module = self.config.get("module")
        if not module:
            return f"--sensor {self.kind}"
        return f"--sensor {module}" if module in drivers() else f"--sensor {module}.py"


def rate_of(config: Mapping[str, Any]) -> float | None:
    """Return the readings a second of a sensor of config.json, None without one."""
    rate = config.get("sensors", [config])[0].get("rate")
    return 1 / int(rate[2:]) if isinstance(rate, str) else rate


def sensors(words: Sequence[str] | Sequence[Sequence[str]], board: Board) -> ProgramSensor:
    """Return the sensor that words describe; several lists of words make several sensors.

    Raises UserError.
    """
    lists = [words] if not words or isinstance(words[0], str) else words
    result = [_sensor(list(each), board) for each in lists]  # type: ignore[arg-type]
    if len(result) == 1:
        return result[0]
    for one in result:
        if one.kind == "serial":
            raise UserError("--sensor serial is what comes over the link: it has to be alone")
        if one.config.get("fifo") and one is not result[0]:
            raise UserError(f"{one.name} with fifo=yes sets the pace: put it first")
        if (one.rate or 0) > (result[0].rate or 0):
            raise UserError(
                f"{one.name} rate={one.config['rate']}: the first sensor sets the pace, with rate="
                f"{result[0].config['rate']}, so put the faster one first"
            )
    return ProgramSensor(
        {"kind": "several", "sensors": [one.config for one in result]},
        _apart([name for one in result for name in one.channels]),
        tuple(zero for one in result for zero in one.zero),
        tuple(path for one in result for path in one.files),
    )


def check_sensor(
    sensor: ProgramSensor, features: Sequence[str], extraction: Extraction | None
) -> None:
    """Raise UserError if the sensor's values do not match the model's features."""
    given = len(sensor.channels)
    taken = tuple(features) if extraction is None else tuple(extraction.channels)
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
    elif given != len(taken):
        raise UserError(
            f"{values}, and the features were made of {len(taken)}: {', '.join(taken)}"
        )
    _check_order(sensor, taken)
    if extraction is None:
        return
    if extraction.scale_chosen:
        raise UserError(
            f"The recording's readings were multiplied ({extraction.multiplied}), and "
            f"{sensor.name} gives whole numbers in its own unit. Say with --features scale=N "
            "how many of them are 1 of the recording: of an MPU6050 at 2 g, 1 m/s² is "
            "16384 / 9.80665, so scale=1670.7. Or record with `microshrub record`."
        )
    if extraction.rate not in (None, sensor.rate):
        raise UserError(
            f"{sensor.name} rate={sensor.rate:g}: the features were made for {extraction.rate:g} "
            f"readings a second, so write rate={extraction.rate:g}"
        )


def _check_order(sensor: ProgramSensor, taken: Sequence[str]) -> None:
    """Raise UserError if a value of the sensor has the name of another value of the recording."""
    names = dict(zip(sensor.channels, taken, strict=True))
    if any(name != other and name in taken for name, other in names.items()):
        raise UserError(
            f"{sensor.name}: a reading is {', '.join(sensor.channels)}, in this order, and the "
            f"model was made for {', '.join(taken)}. Put the columns of the recording, or the "
            "sensors, in the same order"
        )


def pin(text: int | str, board: Board) -> int | str:
    """Return a pin by number or name. Raises UserError for a number beyond the board's last."""
    result = number_or_name(str(text))
    if isinstance(result, int) and result > board.pins.last:
        raise UserError(
            f"There is no pin {result}: the last one of the {board.name} is {board.pins.last}"
        )
    return result


def _sensor(words: list[str], board: Board) -> ProgramSensor:
    kind, *rest = words
    if kind.endswith(".py"):
        sensor = _from_file(kind, Path(kind), rest)
    elif kind in SENSORS:
        sensor = _known(kind, rest, board)
    elif kind in drivers():
        sensor = _from_file(kind, custom_sensors.driver(kind), rest)
    else:
        raise UserError(
            f"--sensor {kind!r} is unknown. {did_you_mean(kind, [*SENSORS, *drivers()])} One of "
            "your own is the name of its file, such as my_sensor.py"
        )
    rate = sensor.config.get("rate", 1)
    if not (_is_slow(rate) or (type(rate) is int and 1 <= rate <= _MOST_RATE)):
        slow = "" if kind in SENSORS else ", or like 1/60 for a reading a minute"
        raise UserError(
            f"{sensor.name} rate has to be a whole number of 1..{_MOST_RATE:,}{slow}, not {rate!r}"
        )
    seconds = SECONDS.get(kind, 0)
    if seconds and (sensor.rate or 0) * seconds > 1:
        raise UserError(
            f"{sensor.name} rate={rate}: this sensor has a reading only every {seconds} seconds. "
            f"Write rate=1/{seconds}, or slower"
        )
    return sensor


def _is_slow(rate: object) -> bool:
    """Return whether a rate is like 1/300."""
    if not isinstance(rate, str):
        return False
    one, _, seconds = rate.partition("/")
    return one == "1" and seconds.isdecimal() and 1 <= int(seconds) <= _DAY


def _from_file(kind: str, path: Path, words: Sequence[str]) -> ProgramSensor:
    sensor_file = custom_sensors.read(path)
    called = f"--sensor {kind}"
    usual = f"1/{SECONDS[kind]}" if kind in SECONDS else USUAL_RATE
    result = settings(called, words, sensor_file.settings | {"rate": usual})
    missing = [name for name, value in result.items() if value is custom_sensors.REQUIRED]
    if missing:
        raise UserError(f"{called} needs {missing[0]}=")
    rate = result.pop("rate")
    config = {
        "kind": "own",
        "module": path.stem,
        "class": sensor_file.name,
        "values": len(sensor_file.names),
    }
    given = {
        name: _number(value)
        for name, value in result.items()
        if value != sensor_file.settings[name]
    }
    return ProgramSensor(
        config | {"rate": rate, "options": given},
        sensor_file.names,
        (0,) * len(sensor_file.names),
        (path,),
    )


def _number(value: Any) -> Any:
    """Return the number for a text such as 0.5 or -3; any other value as it is."""
    for number_type in (int, float):
        try:
            return number_type(value)
        except (ValueError, TypeError):
            pass
    return value


def _known(kind: str, words: Sequence[str], board: Board) -> ProgramSensor:
    if any(word.startswith(("window=", "hop=")) for word in words):
        raise UserError(f"--sensor {kind} has no window: write --features window=64 hop=32")
    result = settings(f"--sensor {kind}", words, SENSORS[kind])
    if kind == "adc":
        pins = str(board.pins.adc if result["pins"] is None else result["pins"]).split(",")
        result["pins"] = [pin(text, board) for text in pins]
    if kind == "mpu6050":
        result |= _motion(result)
    for name, value in result.items():
        if value is None:
            raise UserError(f"--sensor {kind} needs {name}=, the number of a pin")
        if name in ("scl", "sda"):
            result[name] = pin(value, board)
        elif name not in ("pins", "fifo") and (type(value) is not int or value < 0):
            raise UserError(f"--sensor {kind} {name} has to be a whole number, not {value!r}")
    made = ProgramSensor({"kind": kind, **result})
    if kind == "adc":
        pins = result["pins"]
        return replace(
            made, channels=tuple(f"pin{one}" for one in pins), zero=(_MIDDLE,) * len(pins)
        )
    axes = result.get("axes", 0)
    return replace(made, channels=_AXES[:axes], zero=(0,) * axes)


def _motion(options: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of an MPU6050 that are not just numbers. Raises UserError."""
    axes, fifo, rate = options["axes"], options["fifo"], options["rate"]
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
    """Return the names, with a number after each name that repeats."""
    result: list[str] = []
    for name in names:
        again = names[: len(result)].count(name)
        result.append(f"{name}_{again + 1}" if again else name)
    return tuple(result)
