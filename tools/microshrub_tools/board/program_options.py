"""The parts of a board's program besides the model: sensor, labels, checkpoints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from microshrub_host.base.errors import UserError
from microshrub_host.boards.board_files import Board
from microshrub_host.boards.program_library import has_key, has_tone
from microshrub_host.library.learners import option
from microshrub_host.simulation import companion_registry
from microshrub_host.simulation.companion import Companions
from microshrub_host.simulation.feature_choice import Place
from microshrub_host.simulation.feature_options import FeatureOptions
from microshrub_host.streams.stream import Extraction

from .program_mqtt import MqttSettings
from .program_network import NetworkSettings, TcpSettings, WifiSettings
from .program_pins import check_pins
from .program_sensors import ProgramSensor, check_sensor, sensors
from .program_sensors import pin as sensor_pin
from .program_sensors import rate_of as sensor_rate
from .program_settings import (
    Checkpoint,
    DriftAlarm,
    LabelPin,
    Pending,
    Sleep,
)
from .program_share import ShareSettings
from .program_switches import above, switches

_SETTINGS: dict[str, type] = {
    "alarm": DriftAlarm,
    "checkpoint": Checkpoint,
    "label_pin": LabelPin,
    "pending": Pending,
    "sleep": Sleep,
}
_LEAST_WATCHDOG = 5000  # milliseconds


@dataclass(frozen=True)
class ProgramOptions:
    """The options of a program besides its model, as `microshrub build` takes them."""

    # the sensor's kind and settings, "adc", "pins=26,27", or a list of such for several sensors
    sensor: Sequence[str] | Sequence[Sequence[str]] = ("serial",)
    features: Sequence[str] | None = None  # from readings: "window=64", "bands=0.5-3,3-8"
    label_pin: LabelPin | None = None  # a button that gives the class
    led_pin: int | str | None = None  # pin of a light that is on while a query waits
    # By class: pins, "27:green", or "28:880Hz"
    switch: Mapping[str, Sequence[int | str]] | None = None
    switch_above: Mapping[str, float] | None = None  # percent of confidence, by class
    pending: Pending = field(default_factory=Pending)  # samples that wait for a late label
    # None: nothing is saved
    checkpoint: Checkpoint | None = field(default_factory=Checkpoint)
    alarm: DriftAlarm | None = None  # None: DriftAlarm() for classes, none for numbers
    companions: Companions = ()
    words: Mapping[str, Any] = field(default_factory=dict)  # companions' options by name
    sleep: Sleep | None = None  # between readings; None: no sleep
    wifi: WifiSettings | None = None  # the wireless network that the board joins
    mqtt: MqttSettings | None = None  # the broker that the board reports to
    tcp: TcpSettings | None = None  # the link over TCP, for clients with a key
    share: ShareSettings | None = None  # the group with which the board shares samples
    watchdog: int = 0  # milliseconds, 0: none
    text: bool = False  # plotter lines over serial, too

    def __post_init__(self) -> None:
        for name, settings_class in _SETTINGS.items():
            value = getattr(self, name)
            if value is not None and not isinstance(value, settings_class):
                raise UserError(f"{name}= has to be {settings_class.__name__}(...), not {value!r}")

    def config(
        self,
        board: Board,
        features: Sequence[str],
        classes: Sequence[str],
        extraction: Extraction | None = None,
    ) -> dict[str, Any]:
        """Return config.json except for the model's part; no classes: the program predicts
        numbers.

        extraction is how the features were made, if known. Raises UserError.
        """
        self._check(board)
        if not classes:
            self._refuse_classes()
        read = sensors(self.sensor, board)
        if read.kind == "serial":  # the features themselves come over the link
            if self.features is not None and extraction is None:
                raise UserError(
                    "--features needs a --sensor: what comes over the link is taken as features"
                )
            extraction = None
        else:
            extraction = extraction or self._extraction(read, features)
            check_sensor(read, features, extraction)
        hertz = read.rate and read.rate / (extraction.options["hop"] if extraction else 1)
        alarm = self.alarm or DriftAlarm("page_hinkley" if classes else "none")
        result = {
            "sensor": read.config,
            **({"extraction": extraction.options} if extraction else {}),
            "pending": self.pending.samples,
            "checkpoint": self.checkpoint and self.checkpoint.config(board),
            "alarm": alarm.config(),
            **self._companions(board, read, classes, hertz),
            "label_pin": self.label_pin and self.label_pin.config(classes, board),
            **self._switches(board, classes),
            **self._sleep(board, read),
            **self.network.config(board, tuple(classes), sleeps=self.sleep is not None),
            "watchdog": self.watchdog,
            "text": self.text or (read.kind != "serial" and self.sleep is None),
        }
        switched = result.get("switches", ())
        if self.sleep and (has_tone(switched) or has_key(switched)):
            what = "tones" if has_tone(switched) else "keys"
            raise UserError(f"--sleep stops the {what} of --switch: leave one out")
        check_pins(result, board)
        return result

    def _companions(
        self, board: Board, read: ProgramSensor, classes: Sequence[str], hertz: float | None
    ) -> dict[str, Any]:
        """Return the companions' part of config.json. Raises UserError."""
        asked = companion_registry.of_options(self.words, hertz)
        companions = companion_registry.in_order(self.companions, asked)
        result: dict[str, Any] = {}
        light = self.led_pin
        labelled = self.label_pin is not None and self.label_pin.always
        for each in companions:
            each.check_program(serial=read.kind == "serial", labelled=labelled)
            parts = each.program(classes)
            if not parts:
                raise UserError(f"{each.options[0].flag} is not for the program of a board")
            for name, part in parts.items():
                result[name] = {**result.get(name, {}), **part}
                if "pin" in part:
                    result[name]["pin"] = sensor_pin(part["pin"], board)
            if light is not None and each.has_light:  # one light for all queries
                result[each.name]["led"] = sensor_pin(light, board)
                light = None
        if light is not None:
            raise UserError(
                "--led-pin needs --label-budget or --spare-classes: its light is on for a query"
            )
        return result

    def _switches(self, board: Board, classes: Sequence[str]) -> dict[str, Any]:
        """Return the part of config.json with the pins that classes switch. Raises UserError."""
        if not self.switch:
            if self.switch_above:
                raise UserError("--switch-above needs --switch: nothing is switched")
            return {}
        result: dict[str, Any] = {"switches": switches(self.switch, classes, board)}
        if self.switch_above:
            result["switch_above"] = above(self.switch_above, classes)
        return result

    def _sleep(self, board: Board, read: ProgramSensor) -> dict[str, Any]:
        """Return the part of config.json about sleep, if the program sleeps. Raises UserError."""
        if self.sleep is None:
            return {}
        if self.text:
            raise UserError("--text prints lines all the time, which --sleep cuts: leave one out")
        return {"sleep": self.sleep.config(board, read)}

    @property
    def network(self) -> NetworkSettings:
        """The program's settings for a network."""
        return NetworkSettings(self.mqtt, self.tcp, self.wifi, self.share)

    def _check(self, board: Board) -> None:
        if self.share and self.checkpoint is None:
            raise UserError("--share needs checkpoints: without, a board forgets what it learns")
        most = board.watchdog_ms or 1 << 23
        if not 0 <= self.watchdog <= most:
            raise UserError(f"--watchdog has to be 0..{most:,}, not {self.watchdog:,}")
        if 0 < self.watchdog < _LEAST_WATCHDOG:
            raise UserError(
                f"--watchdog has to be 0, or at least {_LEAST_WATCHDOG:,}, which leaves the time "
                "to flash another program"
            )

    def sensor_files(self, board: Board) -> tuple[Path, ...]:
        """Return the files of the user's own sensors. Raises UserError."""
        return sensors(self.sensor, board).files

    def _extraction(self, read: ProgramSensor, features: Sequence[str]) -> Extraction | None:
        """Return how --features makes samples of readings; None without --features."""
        if self.features is None:
            return None
        names = read.channels
        options = FeatureOptions.of(self.features, Place(read.rate, names))
        result = options.names(names)
        if len(result) != len(features):
            raise UserError(
                f"--features makes {len(result)} features, and the model has {len(features)}"
            )
        for name, wanted in zip(result, features, strict=True):
            ending = name[name.rfind("_") :] if "_" in name else ""
            if not wanted.endswith(ending):
                raise UserError(
                    f"--features gives {name} where the model has learned {wanted}: give the "
                    "settings that its features were made with"
                )
        return options.extraction(names, read.rate, read.zero)

    def _refuse_classes(self) -> None:
        """Raise UserError for options that are useless for a program that predicts numbers."""
        for each in companion_registry.of_options(self.words, 1.0) + tuple(self.companions):
            flag = each.options[0].flag
            raise UserError(f"{flag} is for classes, and this model predicts numbers")
        alarm = self.alarm or DriftAlarm("none")
        given = {
            "label_pin": self.label_pin is not None,
            "led_pin": self.led_pin is not None,
            "switch": bool(self.switch),
            "switch_above": bool(self.switch_above),
            "pending": self.pending != Pending(),
            "hook": alarm.hook != "nothing",
            "alarm": alarm.detector != "none",
        }
        for name in (name for name, is_given in given.items() if is_given):
            raise UserError(f"{option(name)} is for classes, and this model predicts numbers")


def rate_of(config: dict[str, Any]) -> float | None:
    """Return the samples a second of a program with this config.json; None if the PC decides."""
    rate, extraction = sensor_rate(config["sensor"]), config.get("extraction")
    return rate / (extraction["hop"] if extraction else 1) if rate else None
