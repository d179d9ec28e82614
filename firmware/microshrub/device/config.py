"""config.json: what the device's program is made of, read and checked before anything is made.

The file is an object:

    version       1
    program       the version of microshrub that built it, a text for people, or null
    learner       the name of its class, see learners.py; parameters: its constructor's, by name
    class_names, feature_names: a text for each; units: [[offset, digits], ...] or null
    quantizer     a frozen quantizer's saved state, a file beside this one; null: observe the first
                  `warmup` samples, then freeze
    model         a learner's saved state to begin with, or null
    sensor        {"kind": "serial"}, or that of a module of its own: see config_parts.py
    extraction    {"window", "hop", ...}, how samples are made of the sensor's readings, see
                  extractor.py; null: a reading is a sample
    pending       samples that may wait for their label
    checkpoint    {"path", "samples", "seconds"} or null
    alarm         {"detector", "hook", ...}, see DriftAlarm, or null
    anomaly       {"period", "window", "reach"}, see AnomalyScore, or null
    spare         {"classes", "room", ...}, of the last classes, which have no name yet, see
                  naming.py; or null
    asking        {"labels", "samples"} of an Asking, see asking.py, and perhaps "led", the pin of
                  a light that is on while a question waits for its answer; or null
    numbers       {"columns", "column", ...} where a number is predicted, see numbers.py
    label_pin     {"pin", "pressed", "released"}: classes while a button is pressed or not, each
                  null for no label; or null
    watchdog      milliseconds after which a board that hangs starts anew; 0: never
    text          whether to print a line for a plotter with every sample
"""

import json
import os
from binascii import crc32

from micropython import const

from ..learner import choice, whole, yes_or_no
from ..learners import learner_names

VERSION = 1
OPTIONAL = ("extraction", "anomaly", "asking", "spare", "label_pin")
_ABSENT = const(2)  # ENOENT
_NAME = "config.json"
_NEW = "config.new"  # came over the link, and was not in use yet
_OLD = "config.old"  # for a moment, where a file cannot take another one's place at once


class ConfigurationError(ValueError):
    """The configuration cannot be used; the message is for people."""


class Configuration:
    """What the bytes of a config.json say, each field an attribute; `hash` is their CRC32.

    Raises ConfigurationError for what is damaged or cannot be.
    """

    def __init__(self, data):
        self.hash = crc32(data) & 0xFFFFFFFF
        try:
            fields = json.loads(str(data, "utf-8"))
        except (ValueError, UnicodeError):
            raise ConfigurationError("config.json is damaged: it is not JSON") from None
        try:
            self._take(fields)
        except ValueError as error:
            raise ConfigurationError("config.json: %s" % error) from None

    def _take(self, fields):
        if not isinstance(fields, dict):
            raise ValueError("it has to hold an object")
        if fields.get("version") != VERSION:
            raise ValueError(
                "it is of version %r, this program reads version %d: build and flash the board "
                "with one microshrub" % (fields.get("version"), VERSION)
            )
        self.program = fields.get("program")
        self.learner = choice("learner", wanted(fields, "learner"), learner_names())
        self.parameters = part("parameters", wanted(fields, "parameters"))
        self.numbers = fields.get("numbers")
        if self.numbers is None:
            for name in ("features", "classes"):
                if name not in self.parameters:
                    raise ValueError("the parameters have no %s" % name)
            self.features = whole("features", self.parameters["features"], 1, 256)
            self.classes = whole("classes", self.parameters["classes"], 2, 256)
        else:
            from .numbers import take

            take(self, fields)
        self.feature_names = _names(fields, "feature_names", self.features)
        self.class_names = _names(fields, "class_names", self.classes)
        self.units = _units(fields.get("units"), self.features)
        self.quantizer = _file(fields, "quantizer")
        least = int(self.quantizer is None)
        self.warmup = whole("warmup", fields.get("warmup", 256), least, 1 << 29)
        self.model = _file(fields, "model")
        self.pending = whole("pending", fields.get("pending", 32), 1, 32768)
        names = ("path", "samples", "seconds")
        self.checkpoint = options("checkpoint", fields.get("checkpoint"), names)
        if self.checkpoint is not None and not isinstance(self.checkpoint.get("path", ""), str):
            raise ValueError("the path of the checkpoint has to be a text")
        drift = ("detector", "hook", "threshold", "delta", "horizon", "grace")
        self.alarm = options("alarm", fields.get("alarm"), drift)
        self.sensor = part("sensor", wanted(fields, "sensor"))
        self.kind = self.sensor.get("kind")
        for name in OPTIONAL:
            setattr(self, name, fields.get(name))
        plain = self.kind == "serial" and len(self.sensor) == 1
        if not plain or any([getattr(self, name) is not None for name in OPTIONAL]):
            from .config_parts import check_parts

            check_parts(self, options)
        self.watchdog = whole("watchdog", fields.get("watchdog", 0), 0, 1 << 23)
        self.text = yes_or_no("text", fields.get("text", self.kind != "serial"))


def read_configuration(folder="", new=False):
    """The configuration in a folder, or the new one that came there over the link.

    Raises ConfigurationError.
    """
    return Configuration(_of_file(folder, new, lambda file: file.read()))


def read_text(at, buffer, folder="", new=False):
    """Copy the bytes of that configuration from `at` on to a buffer; returns how many.

    Raises ConfigurationError.
    """

    def take(file):
        file.seek(at)
        return file.readinto(buffer)

    return _of_file(folder, new, take)


def _of_file(folder, new, take):
    """What take() gives of the open file."""
    names = (_NEW,) if new else (_NAME, _OLD)
    for name in names:
        try:
            with open(folder + name, "rb") as file:
                return take(file)
        except OSError as error:
            if error.args[0] != _ABSENT:
                raise ConfigurationError("%s cannot be read: %s" % (name, error)) from None
    raise ConfigurationError(
        "there is no %s: flash the device with `microshrub flash`" % (folder + names[0])
    )


def keep_piece(piece, folder, first):
    """Write a piece of a new configuration behind those before."""
    with open(folder + _NEW, "wb" if first else "ab") as file:
        file.write(piece)


def adopt_new(folder):
    """Have the new configuration take the old one's place; a cut leaves one of them there."""
    try:
        os.rename(folder + _NEW, folder + _NAME)
    except OSError:  # FAT does not overwrite
        _remove(folder + _OLD)
        os.rename(folder + _NAME, folder + _OLD)
        os.rename(folder + _NEW, folder + _NAME)
    _remove(folder + _OLD)


def _remove(path):
    try:  # noqa: SIM105  (MicroPython has no contextlib)
        os.remove(path)
    except OSError:  # it is not there
        pass


def wanted(fields, name):
    """The field of that name. Raises ValueError if there is none."""
    if name not in fields:
        raise ValueError("there is no %s" % name)
    return fields[name]


def part(name, value):
    """The value if it is an object. Raises ValueError."""
    if not isinstance(value, dict):
        raise ValueError("%s has to be an object, not %r" % (name, value))
    return value


def known(what, value, names):
    """Raise ValueError for an option that is not one of the names."""
    for name in value:
        if name not in names:
            name = repr(name)[1:-1]  # on one line, whatever it is
            raise ValueError("%s has no option %s; there is: %s" % (what, name, ", ".join(names)))


def options(name, value, names):
    """The value if it is an object with no other names, or None."""
    if value is not None:
        known(name, part(name, value), names)
    return value


def _names(fields, name, count):
    value = fields.get(name)
    if value is None:
        return tuple([str(i) for i in range(count)])
    texts = isinstance(value, list) and all([isinstance(text, str) for text in value])
    if not texts or len(value) != count:
        raise ValueError("%s has to be a list of %d texts" % (name, count))
    return tuple(value)


def _file(fields, name):
    value = fields.get(name)
    if value is not None and (not isinstance(value, str) or not value):
        raise ValueError("%s has to be the name of a file or null, not %r" % (name, value))
    return value


def _units(value, count):
    if value is None:
        return None
    right = isinstance(value, list) and len(value) == count
    for pair in value if right else ():
        right = right and isinstance(pair, list) and len(pair) == 2
    if not right:
        raise ValueError("units has to be a list of %d pairs [offset, digits]" % count)
    return tuple([tuple(pair) for pair in value])
