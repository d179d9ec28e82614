"""The worlds by their names, each of which has a folder in examples/."""

from __future__ import annotations

from ...base.errors import UserError
from ...base.text import did_you_mean
from .world import World


def worlds() -> dict[str, World]:
    """Return all worlds, in the order in which they are taught."""
    from . import home, motion

    result = (
        World(
            "gestures",
            "three gestures of a hand with an accelerometer, 100 readings a second",
            ("ax", "ay", "az"),
            0.01,
            motion.gestures,
        ),
        World(
            "fan",
            "a fan that is blocked or out of balance, 200 readings a second",
            ("ax", "ay", "az"),
            0.005,
            motion.fan,
        ),
        World(
            "washing",
            "what a washing machine does, from its current, once a second",
            ("milliampere",),
            1.0,
            home.washing,
        ),
        World(
            "room",
            "whether somebody is in the room, from light, CO2 and temperature",
            ("light", "co2", "temperature"),
            300.0,
            home.room,
        ),
        World(
            "soil",
            "the moisture of a pot of soil, to be forecast",
            ("moisture", "temperature", "humidity"),
            1800.0,
            home.soil,
            labelled=False,
        ),
        World(
            "keypad",
            "five places between four touch pads, a dozen touches each",
            ("pad0", "pad1", "pad2", "pad3"),
            0.1,
            home.keypad,
        ),
    )
    return {world.name: world for world in result}


def world(name: str) -> World:
    """Return the world with that name. Raises UserError."""
    known = worlds()
    if name not in known:
        raise UserError(f"the example {name!r} is unknown. {did_you_mean(name, known)}")
    return known[name]
