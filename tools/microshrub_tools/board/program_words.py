"""Makes the settings of a program from words on the command line."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from microshrub_host.base.errors import UserError
from microshrub_host.base.text import settings

from .program_settings import Checkpoint, DriftAlarm, LabelPin, Pending, Sleep


def drift_alarm(alarm: str | None, hook: str | None) -> DriftAlarm | None:
    """Return the settings of --alarm and --hook, None without them. Raises UserError."""
    words = {"detector": alarm, "hook": hook}
    asked = {name: word for name, word in words.items() if word is not None}
    return DriftAlarm(**asked) if asked else None


def checkpoint(seconds: int | None, led: str | None) -> Checkpoint | None:
    """Return the settings of --checkpoint-seconds and --checkpoint-led; None: nothing is saved.

    Raises UserError.
    """
    if seconds != 0:
        return Checkpoint(seconds, led)
    if led is not None:
        raise UserError("--checkpoint-seconds 0 saves nothing: --checkpoint-led would stay on")
    return None


def label_pin(words: Sequence[str] | None) -> LabelPin | None:
    """Return the button for words such as 15 pressed=walk released=rest. Raises UserError."""
    if not words:
        return None
    pin, *rest = words
    return LabelPin(pin, **settings("--label-pin", rest, {"pressed": 1, "released": 0}))


def sleep(words: Sequence[str] | None) -> Sleep | None:
    """Return the settings of words such as every=60 pin=15 deep=yes. Raises UserError."""
    if words is None:
        return None
    usual = {each.name: each.default for each in dataclasses.fields(Sleep)}
    result = settings("--sleep", words, usual | {"deep": "no"})
    pin, deep = result.pop("pin"), result.pop("deep")
    if deep not in ("yes", "no"):
        raise UserError(f"--sleep deep has to be yes or no, not {deep!r}")
    return Sleep(**result, pin=None if pin == "" else pin, deep=deep == "yes")


def switch(words: Sequence[str] | None) -> dict[str, tuple[str, ...]] | None:
    """Return the pins of each class for words such as walk=16 run=17+18. Raises UserError."""
    if not words:
        return None
    result: dict[str, tuple[str, ...]] = {}
    for word in words:
        name, equals, pins = word.rpartition("=")
        if not equals:
            raise UserError(
                f"--switch {word!r} is not a class and its pin, such as walk=16, walk=27:green, "
                "walk=28:880Hz or walk=key:Space"
            )
        result[name] = result.get(name, ()) + tuple(pin for pin in pins.split("+") if pin)
    return result


def switch_above(words: Sequence[str] | None) -> dict[str, float] | None:
    """Return the percent of each class for words such as walk=80%. Raises UserError."""
    if not words:
        return None
    result: dict[str, float] = {}
    for word in words:
        name, _, share = word.rpartition("=")
        try:
            result[name] = float(share.removesuffix("%"))
        except ValueError:
            name = ""
        if not name:
            raise UserError(
                f"--switch-above {word!r} is not a class and a confidence, such as walk=80%"
            ) from None
    return result


def of_words(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings for all these words, by the names of ProgramOptions' fields.

    Options that are not given are left out. Raises UserError.
    """
    result: dict[str, Any] = {}
    if {"alarm", "hook"} & given.keys():
        result["alarm"] = drift_alarm(given.get("alarm"), given.get("hook"))
    if {"checkpoint_seconds", "checkpoint_led"} & given.keys():
        words = given.get("checkpoint_seconds"), given.get("checkpoint_led")
        result["checkpoint"] = checkpoint(*words)
    for name, made in (
        ("pending", Pending),
        ("label_pin", label_pin),
        ("switch", switch),
        ("switch_above", switch_above),
        ("sleep", sleep),
    ):
        if name in given:
            result[name] = made(given[name])
    return result
