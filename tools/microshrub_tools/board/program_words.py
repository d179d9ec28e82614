"""What words on the command line ask for, as settings of a program.

old_settings() takes those that Python programs wrote until these were classes.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from microshrub_host.base.errors import UserError
from microshrub_host.base.text import settings

from .program_settings import Checkpoint, DriftAlarm, LabelPin, Pending, Sleep


def drift_alarm(alarm: str | None, hook: str | None) -> DriftAlarm | None:
    """That of --alarm and --hook, None without them. Raises UserError."""
    words = {"detector": alarm, "hook": hook}
    asked = {name: word for name, word in words.items() if word is not None}
    return DriftAlarm(**asked) if asked else None


def checkpoint(samples: int, seconds: int | None) -> Checkpoint | None:
    """That of --checkpoint-samples and --checkpoint-seconds; None: nothing is saved."""
    return Checkpoint(samples, seconds) if samples else None


def label_pin(words: Sequence[str] | None) -> LabelPin | None:
    """The button that words such as 15 pressed=walk released=rest ask for. Raises UserError."""
    if not words:
        return None
    pin, *rest = words
    return LabelPin(pin, **settings("--label-pin", rest, {"pressed": 1, "released": 0}))


def sleep(words: Sequence[str] | None) -> Sleep | None:
    """That of words such as every=60 pin=15 deep=yes. Raises UserError."""
    if words is None:
        return None
    usual = {each.name: each.default for each in dataclasses.fields(Sleep)}
    found = settings("--sleep", words, usual | {"deep": "no"})
    pin, deep = found.pop("pin"), found.pop("deep")
    if deep not in ("yes", "no"):
        raise UserError(f"--sleep deep has to be yes or no, not {deep!r}")
    return Sleep(**found, pin=None if pin == "" else pin, deep=deep == "yes")


def switch(words: Sequence[str] | None) -> dict[str, tuple[str, ...]] | None:
    """The pins of each class that words such as walk=16 run=17+18 ask for. Raises UserError."""
    if not words:
        return None
    found: dict[str, tuple[str, ...]] = {}
    for word in words:
        name, equals, pins = word.rpartition("=")
        if not equals:
            raise UserError(
                f"--switch {word!r} is not a class and its pin, such as walk=16, walk=27:green or "
                "walk=28:880Hz"
            )
        found[name] = found.get(name, ()) + tuple(pin for pin in pins.split("+") if pin)
    return found


def of_words(given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that all these words ask for, by the names of ProgramOptions' fields.

    What is not given is not in it. Raises UserError.
    """
    found: dict[str, Any] = {}
    if {"alarm", "hook"} & given.keys():
        found["alarm"] = drift_alarm(given.get("alarm"), given.get("hook"))
    if {"checkpoint_samples", "checkpoint_seconds"} & given.keys():
        samples = given.get("checkpoint_samples", Checkpoint.samples)
        found["checkpoint"] = checkpoint(samples, given.get("checkpoint_seconds"))
    for name, made in (
        ("pending", Pending),
        ("label_pin", label_pin),
        ("switch", switch),
        ("sleep", sleep),
    ):
        if name in given:
            found[name] = made(given[name])
    return found


_NEW = {
    "alarm": "alarm=DriftAlarm('adwin')",
    "hook": "alarm=DriftAlarm(hook='reset')",
    "checkpoint_samples": "checkpoint=Checkpoint(samples=1000)",
    "checkpoint_seconds": "checkpoint=Checkpoint(seconds=3600)",
    "pending": "pending=Pending(32)",
    "label_pin": "label_pin=LabelPin(15, pressed='walk')",
    "switch": "switch={'walk': (16,)}",
    "sleep": "sleep=Sleep(every=60)",
}


def old_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """The same arguments, with settings for words, which warn: they go with the next release."""
    old = {name: given[name] for name in _NEW.keys() & given.keys() if _is_word(given[name])}
    for name in old:
        message = f"{name}= in words goes with the next release: write {_NEW[name]}"
        warnings.warn(message, DeprecationWarning, stacklevel=3)
    return {name: value for name, value in given.items() if name not in old} | of_words(old)


def _is_word(value: object) -> bool:
    return isinstance(value, (str, int, list, tuple))
