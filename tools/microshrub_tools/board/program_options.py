"""What surrounds the model in a board's program: its sensor, its labels, its checkpoints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from microshrub_host.base.errors import UserError
from microshrub_host.base.settings import number_or_name, settings
from microshrub_host.base.text import count, did_you_mean
from microshrub_host.boards.board_files import Board
from microshrub_host.engines.anomaly_options import AnomalyOptions
from microshrub_host.engines.feature_options import FeatureOptions
from microshrub_host.engines.learners import option
from microshrub_host.streams.extraction import Extraction

# What the sensors are told, and what they are told by default; None has to be given.
SENSORS: dict[str, dict[str, Any]] = {
    "serial": {},
    "adc": {"pins": None, "rate": 50},
    "mpu6050": {"scl": None, "sda": None, "i2c": 0, "address": 104, "rate": 100},
}  # fmt: skip
_AXES = ("ax", "ay", "az", "gx", "gy", "gz")  # of an MPU6050
_MIDDLE = 32768  # of the readings of a pin, 0..65535
DETECTORS = ("page_hinkley", "adwin")
HOOKS = ("nothing", "reset", "forget")
_LEAST_WATCHDOG = 5000  # milliseconds


@dataclass(frozen=True)
class ProgramOptions:
    """What a program does besides predicting and learning, as `microshrub build` takes it."""

    sensor: Sequence[str] = ("serial",)  # its kind and its settings: "adc", "pins=26,27"
    features: Sequence[str] | None = None  # of its readings: "window=64", "bands=0.5-3,3-8"
    label_pin: Sequence[str] | None = None  # a pin and two classes: "15", "pressed=walk"
    pending: int = 32  # samples that may wait for a late label
    checkpoint_samples: int = 1000  # between two, 0: none
    checkpoint_seconds: int = 60  # at least
    alarm: str | None = None  # of classes "page_hinkley", if not "adwin" or "none"
    anomaly: Sequence[str] | None = None  # "1 per day", "reach=1"; None: no anomaly score
    hook: str = "nothing"  # what a drift does: "nothing", "reset" or "forget"
    watchdog: int = 0  # milliseconds, 0: none
    text: bool = False  # plotter lines over serial, too

    def config(
        self,
        board: Board,
        features: Sequence[str],
        classes: Sequence[str],
        extraction: Extraction | None = None,
    ) -> dict[str, Any]:
        """The part of config.json that is not the model's; no classes: it predicts numbers.

        extraction is what the features were made by, where that is known. Raises UserError.
        """
        self._check(board)
        if not classes:
            self._refuse_classes()
        read = sensor(self.sensor, board)
        if read["kind"] == "serial":  # the features themselves come over the link
            extraction = None
        else:
            extraction = extraction or self._extraction(read, features)
            check_sensor(read, features, extraction)
        checkpoint = {
            "path": "checkpoint",
            "samples": self.checkpoint_samples,
            "seconds": self.checkpoint_seconds,
        }
        anomaly = (
            self.anomaly and AnomalyOptions.of(self.anomaly, _hertz(read, extraction)).parameters()
        )
        detector = self.alarm or ("page_hinkley" if classes else "none")
        alarm = {"detector": detector, "hook": self.hook}
        return {
            "sensor": read,
            **({"extraction": extraction.options} if extraction else {}),
            "pending": self.pending,
            "checkpoint": checkpoint if self.checkpoint_samples else None,
            "alarm": None if detector == "none" else alarm,
            **({"anomaly": anomaly} if anomaly else {}),
            "label_pin": self.label_pin and label_pin(self.label_pin, classes, board),
            "watchdog": self.watchdog,
            "text": self.text or read["kind"] != "serial",
        }

    def _check(self, board: Board) -> None:
        for name, least, most in (
            ("pending", 1, 32768),
            ("checkpoint_samples", 0, 1 << 29),
            ("checkpoint_seconds", 0, 1_000_000),
            ("watchdog", 0, board.watchdog_ms or 1 << 23),
        ):
            value = getattr(self, name)
            if not least <= value <= most:
                raise UserError(f"{option(name)} has to be {least:,}..{most:,}, not {value:,}")
        if 0 < self.watchdog < _LEAST_WATCHDOG:
            raise UserError(
                f"--watchdog has to be 0, or at least {_LEAST_WATCHDOG:,}, which leaves the time "
                "to flash another program"
            )
        for name, known in (("alarm", (None, "none", *DETECTORS)), ("hook", HOOKS)):
            value = getattr(self, name)
            if value not in known:
                raise UserError(
                    f"{option(name)} {value!r} is unknown. "
                    f"{did_you_mean(value, [word for word in known if word])}"
                )

    def _extraction(self, read: Mapping[str, Any], features: Sequence[str]) -> Extraction | None:
        """What --features makes of the sensor's readings, if it makes these features."""
        if not self.features:
            return None
        names, zero = channels(read)
        options = FeatureOptions.of(self.features)
        found = options.names(names)
        if len(found) != len(features):
            raise UserError(
                f"--features makes {len(found)} features, and the model has {len(features)}"
            )
        for name, wanted in zip(found, features, strict=True):
            ending = name[name.rfind("_") :] if "_" in name else ""
            if not wanted.endswith(ending):
                raise UserError(
                    f"--features gives {name} where the model has learned {wanted}: give the "
                    "settings that its features were made with"
                )
        return options.extraction(names, read["rate"], zero)

    def _refuse_classes(self) -> None:
        """Raise UserError for what is of no use to a program that predicts numbers."""
        usual = ProgramOptions()
        for name in ("label_pin", "pending", "anomaly", "hook"):
            if getattr(self, name) != getattr(usual, name):
                raise UserError(f"{option(name)} is for classes, and this model predicts numbers")
        if self.alarm not in (None, "none"):
            raise UserError("--alarm is for classes, and this model predicts numbers")


def _hertz(sensor: Mapping[str, Any], extraction: Extraction | None) -> float | None:
    """Samples a second of the sensor; None if the PC decides."""
    hop = extraction.options["hop"] if extraction else 1
    return sensor["rate"] / hop if "rate" in sensor else None


def channels(sensor: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The names of a reading's values, and what each of them is about."""
    if sensor["kind"] == "adc":
        pins = sensor["pins"]
        return tuple(f"pin{pin}" for pin in pins), (_MIDDLE,) * len(pins)
    return _AXES, (0,) * len(_AXES)


def check_sensor(
    sensor: Mapping[str, Any], features: Sequence[str], extraction: Extraction | None
) -> None:
    """Raise UserError if the sensor does not give what the model takes."""
    given = len(channels(sensor)[0])
    values = count(given, "value")
    kind = f"--sensor {sensor['kind']}"
    if extraction is None:
        if given != len(features):
            raise UserError(
                f"{kind} gives {values}, and the model has {len(features)} features. Use a "
                "recording from the board; --features makes more of its readings."
            )
        return
    wanted = len(extraction.channels)
    if given != wanted:
        raise UserError(
            f"{kind} gives {values}, and the features were made of {wanted}: "
            f"{', '.join(extraction.channels)}"
        )
    if extraction.rate not in (None, sensor["rate"]):
        raise UserError(
            f"{kind} rate={sensor['rate']}: the features were made for {extraction.rate:g} "
            f"readings a second, so write rate={extraction.rate:g}"
        )


def sensor(words: Sequence[str], board: Board) -> dict[str, Any]:
    """The sensor that words such as adc pins=26,27 rate=50 ask for. Raises UserError."""
    kind, *rest = words
    if kind not in SENSORS:
        raise UserError(f"--sensor {kind!r} is unknown. {did_you_mean(kind, SENSORS)}")
    if any(word.startswith(("window=", "hop=")) for word in rest):
        raise UserError(f"--sensor {kind} has no window: write --features window=64 hop=32")
    found = settings(f"--sensor {kind}", rest, SENSORS[kind])
    if kind == "adc":
        pins = str(board.pins.adc if found["pins"] is None else found["pins"]).split(",")
        found["pins"] = [_pin(pin, board) for pin in pins]
    for name, value in found.items():
        if value is None:
            raise UserError(f"--sensor {kind} needs {name}=, the number of a pin")
        if name in ("scl", "sda"):
            found[name] = _pin(value, board)
        elif name != "pins" and (type(value) is not int or value < 0):
            raise UserError(f"--sensor {kind} {name} has to be a whole number, not {value!r}")
    return {"kind": kind, **found}


def label_pin(words: Sequence[str], classes: Sequence[str], board: Board) -> dict[str, Any]:
    """The button that words such as 15 pressed=walk released=rest ask for."""
    pin, *rest = words
    found = settings("--label-pin", rest, {"pressed": 1, "released": 0})
    for name, value in found.items():
        if value in classes:
            found[name] = list(classes).index(value)
        elif type(value) is not int or not 0 <= value < len(classes):
            known = ", ".join(classes)
            raise UserError(f"--label-pin {name} has to be a class of {known}, not {value!r}")
    return {"pin": _pin(pin, board), **found}


def _pin(text: int | str, board: Board) -> int | str:
    """A pin by its number or name. Raises UserError for a number that the board does not have."""
    pin = number_or_name(str(text))
    if isinstance(pin, int) and pin > board.pins.last:
        raise UserError(
            f"There is no pin {pin}: the last one of the {board.name} is {board.pins.last}"
        )
    return pin
