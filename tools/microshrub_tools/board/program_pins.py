"""The pins that a program uses: each for one purpose that the pin can serve.

The page of `microshrub web` has the same rules and texts, in tools/web/src/board/pins.ts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from microshrub_host.base.errors import UserError
from microshrub_host.boards.board_files import Board
from microshrub_host.simulation import companion_registry

from .program_sensors import pin as existing_pin
from .program_switches import is_key

Pin = int | str
_BUS = ("scl", "sda")  # pins that several sensors can share
_ASKED = "light of a query", "--led-pin"
_SAVED = "light of what is not saved", "--checkpoint-led"
_BOTH_WAYS = (*_BUS, "button", "switch", _ASKED[0], _SAVED[0])
RP2_ADC = (26, 27, 28, 29)


def check_pins(config: Mapping[str, Any], board: Board) -> None:
    """Raise UserError if a pin does not exist, has two purposes, or cannot serve its purpose.

    Buttons may share a pin, and classes may switch the same pin: neither does harm.
    """
    tasks: dict[Pin, tuple[str, str]] = {}
    for pin, task, option in _tasks(config):
        existing_pin(pin, board)
        _check_free(pin, task, option, board)
        first, name = tasks.setdefault(pin, (task, option))
        if first != task:
            raise UserError(
                f"pin {pin} is for two things: {name} and {option}. Give one of them another pin"
            )
    if board.pins.layout == "rp2":
        for one in _sensors(config["sensor"]):
            _check_rp2(one)


def _check_free(pin: Pin, task: str, option: str, board: Board) -> None:
    """Check that a pin belongs to no other chip of the board, and can do more than read."""
    if pin in board.pins.taken:
        raise UserError(
            f"{option}: pin {pin} of the {board.name} belongs to {board.pins.taken_by}. Take "
            "another pin"
        )
    if pin in board.pins.inputs and task in _BOTH_WAYS:
        raise UserError(
            f"{option}: pin {pin} of the {board.name} can only read, without a pull-up. Take "
            "another pin"
        )


def _tasks(config: Mapping[str, Any]) -> Iterator[tuple[Pin, str, str]]:
    """Yield each pin, its purpose, and its option; uses of one purpose may share a pin."""
    for place, one in enumerate(_sensors(config["sensor"])):
        for name, pin in _pins_of(one):
            task = name if name in _BUS else f"{name} of sensor {place}"
            yield pin, task, f"--sensor {_name(one)} {name}"
    flags = companion_flags()
    for name, part in config.items():
        if name == "sensor" or not isinstance(part, Mapping):
            continue
        if "pin" in part:
            yield part["pin"], "button", f"the button of {flags.get(name, _flag(name))}"
        if "led" in part:
            yield part["led"], *(_SAVED if name == "checkpoint" else _ASKED)
    for row in config.get("switches") or ():
        for what in row:
            if not is_key(what):
                yield what[0] if isinstance(what, list) else what, "switch", "--switch"


def companion_flags() -> dict[str, str]:
    """Return the option of each companion, by its name in config.json."""
    return {
        companion.name: companion.options[0].flag
        for companion in companion_registry.all_companions()
    }


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _sensors(config: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return config["sensors"] if config["kind"] == "several" else [config]


def _name(sensor: Mapping[str, Any]) -> str:
    return str(sensor.get("module", sensor["kind"]))


def _pins_of(sensor: Mapping[str, Any]) -> Iterator[tuple[str, Pin]]:
    """Yield the pins of a sensor with the names of its settings."""
    for name, value in {**sensor, **sensor.get("options", {})}.items():
        if name == "pins":
            yield from ((name, pin) for pin in value)
        elif name in ("pin", *_BUS):
            yield name, value


def _check_rp2(sensor: Mapping[str, Any]) -> None:
    """Check the rules of RP2040 and RP2350 for a pin (ports/rp2/machine_i2c.c, machine_adc.c)."""
    given = {**sensor, **sensor.get("options", {})}
    if sensor["kind"] == "adc":
        for pin in given["pins"]:
            if isinstance(pin, int) and pin not in RP2_ADC:
                raise UserError(
                    f"--sensor adc: pin {pin} is not analog; {', '.join(map(str, RP2_ADC))} are"
                )
    scl, sda, bus = given.get("scl"), given.get("sda"), given.get("i2c", 0)
    if not isinstance(scl, int) or not isinstance(sda, int):
        return
    if scl % 2 == 0 or sda % 2 or scl // 2 % 2 != sda // 2 % 2:
        raise UserError(
            f"--sensor {_name(sensor)}: pins {scl} and {sda} cannot be scl and sda of one bus. On "
            "this chip they are two like sda=0 scl=1, sda=4 scl=5 (i2c=0) or sda=2 scl=3, "
            "sda=6 scl=7 (i2c=1)"
        )
    if scl // 2 % 2 != bus:
        raise UserError(
            f"--sensor {_name(sensor)}: scl={scl} sda={sda} are pins of bus {scl // 2 % 2}: add "
            f"i2c={scl // 2 % 2}"
        )
