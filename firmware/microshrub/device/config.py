"""config.json, the configuration of a program: read and checked before anything is made.

The file is an object:

    version       1
    program       the version of microshrub that built it, for people to read, or null
    learner       the name of its class, see learners.py; parameters: its constructor's arguments
    class_names, feature_names: a list of names each; units: [[offset, digits], ...] or null
    quantizer     a file beside this one with a quantizer's saved state; null: a fresh quantizer
    warmup        samples that a fresh quantizer observes before it freezes; null: the ranges grow
                  with the samples, see growing_ranges.py
    model         a learner's saved state to begin with, or null
    sensor        {"kind": "serial"}, or a sensor of the board, see config_fields.py
    extraction    {"window", "hop", ...}: features of windows of the sensor's readings, see
                  feature_extractor.py; null: a reading is a sample
    pending       how many samples may wait for their label
    checkpoint    {"path", "seconds"}, see Checkpoint, and optionally "led", the pin of a light
                  that is on while something learned is not saved yet; or null
    alarm         {"detector", "hook", ...}, see DriftAlarm, or null
    anomaly       {"period", "window", "reach", "normal"}, see AnomalyScore, optionally with a
                  "pin" and "states", see watchers.py; or null
    spare_classes {"classes", "room", ...}: the last classes have no name yet, see
                  novel_classes.py; or null
    queries       {"labels", "samples"} of a QueryStrategy, see active_learning.py; optionally
                  "led", the pin of a light that is on while a query waits for its label; or null
    watchers      {name: [module, class, options, state], ...}, see watchers.py; or null
    regression    {"columns", "column", ...}, see regression_app.py; or null
    label_pin     {"pin", "pressed", "released"}: classes while a button is pressed or not, each
                  null for no label; or null
    switches      [[pin, ...], ...]: for each class, the pins that are high while it is predicted,
                  NeoPixels with a colour, buzzers with a tone, and keys, see switches.py;
                  or null
    switch_above  for each class, the confidence, 0..255, below which its prediction switches
                  nothing; or null
    sleep         {"every", "window", "hold", "pin", "deep"}: it sleeps between the readings of its
                  sensor, see sleep.py; or null
    mqtt          {"host", "port", "name", "settle", "events", "ca"}: its MQTT broker, see
                  mqtt_companion.py; or null
    share         {"group", "name", "classes"}: it shares samples with other boards, by the MQTT
                  broker or by datagrams, see sharing.py; or null
    datagrams     {"by": "udp", "port", "to"} or {"by": "espnow", "channel"}:
                  sharing without a broker, see sharing_datagrams.py; or null
    tcp           {"port"}: the link runs over TCP, too, see tcp.py; or null
    watchdog      milliseconds after which a board that hangs restarts; 0: never
    text          whether to print a line for a plotter for every sample
"""

import gc
import json
import os
import sys
from binascii import crc32

from micropython import const

_ABSENT = const(2)  # ENOENT
_NAME = "config.json"
_NEW = "config.new"  # has come over the link, and is not in use yet
_TOO_LARGE = "config.json does not fit the memory: it is too large, or nested too deeply"
_OLD = "config.old"  # exists for a moment, where a rename cannot replace a file


class ConfigurationError(ValueError):
    """The configuration cannot be used; people read the message."""


class Configuration:
    """A config.json from its bytes, each field an attribute; `hash` is their CRC32.

    Raises ConfigurationError for damaged bytes and wrong fields.
    """

    def __init__(self, data):
        self.hash = crc32(data) & 0xFFFFFFFF
        try:
            fields = json.loads(str(data, "utf-8"))
        except (ValueError, UnicodeError):
            raise ConfigurationError("config.json is damaged: it is not JSON") from None
        from .config_fields import take

        try:
            take(self, fields)
        except ValueError as error:
            raise ConfigurationError("config.json: %s" % error) from None
        finally:
            forget("config_fields")


def forget(*names):
    """Free the RAM of modules; an import loads them again."""
    for name in names:
        unload(name)
    gc.collect()


def unload(name):
    """Free the RAM of a module once nothing of it is in use any more."""
    whole = "microshrub.device." + name
    if sys.implementation.name == "micropython" and whole in sys.modules:
        del sys.modules[whole]
        delattr(sys.modules["microshrub.device"], name)


def read_configuration(folder="", new=False):
    """Read the configuration in a folder, or the new one that came over the link.

    Raises ConfigurationError.
    """
    try:
        return Configuration(_of_file(folder, new, lambda file: file.read()))
    except (MemoryError, RuntimeError):  # RuntimeError: of the recursion
        raise ConfigurationError(_TOO_LARGE) from None


def read_text(at, buffer, folder="", new=False):
    """Copy the configuration's bytes from `at` on to a buffer; returns how many.

    Raises ConfigurationError.
    """

    def take(file):
        file.seek(at)
        return file.readinto(buffer)

    return _of_file(folder, new, take)


def _of_file(folder, new, take):
    """Return the result of take(), called with the open file."""
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
    """Append a piece of a new configuration."""
    with open(folder + _NEW, "wb" if first else "ab") as file:
        file.write(piece)


def adopt_new(folder):
    """Replace the old configuration by the new one; a power cut leaves one of them."""
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
