"""Settings of a board's program besides its model, for Python programs.

program_words.py makes the settings from words like those of `microshrub build`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from microshrub_host.base.errors import UserError
from microshrub_host.base.text import did_you_mean
from microshrub_host.boards.board_files import Board

from .flash_memory import seconds_between
from .program_sensors import ProgramSensor
from .program_sensors import pin as sensor_pin

DETECTORS = ("page_hinkley", "adwin")
HOOKS = ("nothing", "reset", "forget")
_DAY = 86_400


@dataclass(frozen=True)
class DriftAlarm:
    """Watches the errors of a classifier: `build(..., alarm=DriftAlarm("adwin"))`.

    detector   "page_hinkley", "adwin", or "none" for no alarm
    hook       what the model does when a drift is detected: "nothing", "reset" or "forget"

    Raises UserError for other values.
    """

    detector: str = DETECTORS[0]
    hook: str = HOOKS[0]

    def __post_init__(self) -> None:
        for flag, value, known in (
            ("--alarm", self.detector, ("none", *DETECTORS)),
            ("--hook", self.hook, HOOKS),
        ):
            if value not in known:
                raise UserError(f"{flag} {value!r} is unknown. {did_you_mean(value, known)}")

    def config(self) -> dict[str, Any] | None:
        """Return the alarm's part of config.json."""
        if self.detector == "none":
            return None
        return {"detector": self.detector, "hook": self.hook}


@dataclass(frozen=True)
class Checkpoint:
    """Saves what the board learns to flash within seconds, or less often while labels keep coming.

    seconds   1..1,000,000 from one save to the next while labels keep coming; None: so many
              minutes that the board's flash lasts ten years
    led       the pin of a light that is on while anything is unsaved; None: no light

    Raises UserError for other values.
    """

    seconds: int | None = None
    led: int | str | None = None

    def __post_init__(self) -> None:
        if self.seconds is not None:
            _check("--checkpoint-seconds", self.seconds, 1, 1_000_000)

    def config(self, board: Board) -> dict[str, Any]:
        """Return the checkpoint's part of config.json."""
        seconds = seconds_between(board) if self.seconds is None else self.seconds
        part: dict[str, Any] = {"path": "checkpoint", "seconds": seconds}
        return part if self.led is None else part | {"led": sensor_pin(self.led, board)}


@dataclass(frozen=True)
class Pending:
    """How many samples may wait for a late label, 1..32,768. Raises UserError for other values."""

    samples: int = 32

    def __post_init__(self) -> None:
        _check("--pending", self.samples, 1, 32768)


@dataclass(frozen=True)
class LabelPin:
    """A button that gives the label: a class for pressed and for released; "" is no label."""

    pin: int | str
    pressed: str | int = 1
    released: str | int = 0

    @property
    def always(self) -> bool:
        """Whether the button gives every sample a label."""
        return "" not in (self.pressed, self.released)

    def config(self, classes: Sequence[str], board: Board) -> dict[str, Any]:
        """Return the button's part of config.json. Raises UserError."""
        return {
            "pin": sensor_pin(self.pin, board),
            "pressed": _class_of("pressed", self.pressed, classes),
            "released": _class_of("released", self.released, classes),
        }


@dataclass(frozen=True)
class Sleep:
    """The board sleeps between two readings of its sensor. Times are in seconds, at most a day.

    every    seconds: once in this time, the board listens to its line
    window   seconds of listening, fewer than `every`
    hold     how long the board stays awake after its start, and after input over the line
    pin      the pin of a button that wakes the board; None: no button
    deep     the board saves everything and restarts for each sample, which takes less energy
             where samples are rare enough

    Raises UserError for other values.
    """

    every: int = 60
    window: int = 2
    hold: int = 60
    pin: int | str | None = None
    deep: bool = False

    def __post_init__(self) -> None:
        for name, least in (("every", 1), ("window", 0), ("hold", 1)):
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= _DAY:
                raise UserError(
                    f"--sleep {name} has to be {least}..{_DAY:,} whole seconds, not {value!r}"
                )
        if self.window >= self.every:
            raise UserError(
                f"--sleep window={self.window} every={self.every} would never sleep: the window "
                "has to be shorter"
            )

    def config(self, board: Board, read: ProgramSensor | None = None) -> dict[str, Any]:
        """Return sleep's part of config.json; read is the sensor, if known. Raises UserError."""
        if read and read.kind == "serial":
            raise UserError(
                "--sleep is for a board that reads its own --sensor: one that waits for samples "
                "from its line would not hear them"
            )
        if board.currents and board.currents.sleep_ma is None:
            raise UserError(
                f"{board.name} cannot sleep: its MicroPython has no machine.lightsleep"
            )
        result: dict[str, Any] = {"every": self.every, "window": self.window, "hold": self.hold}
        if self.deep:
            result["deep"] = 1  # UNSETTLED in program_deep_sleep.py, which sets the seconds
        return result | ({} if self.pin is None else {"pin": sensor_pin(self.pin, board)})


def _check(flag: str, value: int, least: int, most: int) -> None:
    if type(value) is not int or not least <= value <= most:
        shown = f"{value:,}" if type(value) is int else repr(value)
        raise UserError(f"{flag} has to be {least:,}..{most:,}, not {shown}")


def _class_of(name: str, value: str | int, classes: Sequence[str]) -> int | None:
    """Return the number of a class; None for no label."""
    if value in classes:
        return list(classes).index(str(value))
    if value == "":
        return None
    if type(value) is not int or not 0 <= value < len(classes):
        hint = did_you_mean(str(value), classes)
        raise UserError(f"--label-pin {name} has no class {value!r}. {hint}")
    return value
