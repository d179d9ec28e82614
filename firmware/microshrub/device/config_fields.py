"""Reads the fields of config.json, which config.py describes, and checks them.

A board keeps this module in its RAM only while it reads them.
"""

from ..learner import choice, whole, yes_or_no
from ..learners import learner_names

VERSION = 1
OPTIONAL = (
    "extraction", "anomaly", "queries", "spare_classes", "label_pin", "switches", "switch_above",
    "sleep", "watchers", "share"
)  # fmt: skip
NETWORK = ("mqtt", "tcp", "datagrams")
COMPANIONS = ("anomaly", "queries", "spare_classes", "watchers", "share")  # see companions.py
_USUAL = (
    "version", "program", "learner", "parameters", "regression", "feature_names", "class_names",
    "units", "quantizer", "warmup", "model", "pending", "checkpoint", "alarm", "sensor",
    "watchdog", "text"
)  # fmt: skip


def take(configuration, fields):
    """Set the fields of a file as a Configuration's attributes. Raises ValueError."""
    if not isinstance(fields, dict):
        raise ValueError("it has to hold an object")
    if fields.get("version") != VERSION:
        raise ValueError(
            "it is of version %r, this program reads version %d: build and flash the board "
            "with one microshrub" % (fields.get("version"), VERSION)
        )
    known("the file", fields, _USUAL + OPTIONAL + NETWORK)
    configuration.program = fields.get("program")
    configuration.learner = choice("learner", wanted(fields, "learner"), learner_names())
    configuration.parameters = part("parameters", wanted(fields, "parameters"))
    configuration.regression = fields.get("regression")
    if configuration.regression is None:
        for name in ("features", "classes"):
            if name not in configuration.parameters:
                raise ValueError("the parameters have no %s" % name)
        configuration.features = whole("features", configuration.parameters["features"], 1, 256)
        configuration.classes = whole("classes", configuration.parameters["classes"], 2, 256)
    else:
        from .config_parts import take_regression

        take_regression(configuration, fields, options)
    configuration.feature_names = _names(fields, "feature_names", configuration.features)
    configuration.class_names = _names(fields, "class_names", configuration.classes)
    configuration.units = _units(fields.get("units"), configuration.features)
    configuration.quantizer = _file(fields, "quantizer")
    configuration.warmup = fields.get("warmup", 256)
    if configuration.warmup is not None:
        least = int(configuration.quantizer is None)
        whole("warmup", configuration.warmup, least, 1 << 29)
    configuration.model = _file(fields, "model")
    configuration.pending = whole("pending", fields.get("pending", 32), 1, 32768)
    names = ("path", "seconds", "led")
    configuration.checkpoint = options("checkpoint", fields.get("checkpoint"), names)
    if configuration.checkpoint is not None:
        _check_checkpoint(configuration.checkpoint)
    drift = ("detector", "hook", "threshold", "delta", "horizon", "grace")
    configuration.alarm = options("alarm", fields.get("alarm"), drift)
    configuration.sensor = part("sensor", wanted(fields, "sensor"))
    configuration.kind = configuration.sensor.get("kind")
    for name in OPTIONAL:
        setattr(configuration, name, fields.get(name))
    configuration.companions = any([fields.get(name) is not None for name in COMPANIONS])
    used = [name for name in NETWORK if fields.get(name) is not None]
    configuration.network = {name: fields[name] for name in used} if used else None
    plain = configuration.kind == "serial" and len(configuration.sensor) == 1 and not used
    if not plain or any([getattr(configuration, name) is not None for name in OPTIONAL]):
        from .config_parts import check_parts

        check_parts(configuration, options)
    configuration.watchdog = whole("watchdog", fields.get("watchdog", 0), 0, 1 << 23)
    configuration.text = yes_or_no("text", fields.get("text", configuration.kind != "serial"))


def wanted(fields, name):
    """Return the field of a name. Raises ValueError if there is none."""
    if name not in fields:
        raise ValueError("there is no %s" % name)
    return fields[name]


def part(name, value):
    """Return the value, which has to be an object. Raises ValueError."""
    if not isinstance(value, dict):
        raise ValueError("%s has to be an object, not %r" % (name, value))
    return value


def known(what, value, names):
    """Raise ValueError if an option has a name that is not among these."""
    for name in value:
        if name not in names:
            name = repr(name)[1:-1]  # so that it takes one line, whatever it holds
            raise ValueError("%s has no option %s; there is: %s" % (what, name, ", ".join(names)))


def options(name, value, names):
    """Return the value, which has to be None or an object with no other names."""
    if value is not None:
        known(name, part(name, value), names)
    return value


def _check_checkpoint(checkpoint):
    path = checkpoint.get("path", "")
    if not isinstance(path, str):
        raise ValueError("the path of the checkpoint has to be a text")
    _check_inside("the path of the checkpoint", path)
    whole("the checkpoint's seconds", checkpoint.get("seconds", 60), 1, 1000000)


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
    _check_inside(name, value or "")
    return value


def _check_inside(what, path):
    if ".." in path.split("/") or path[:1] == "/":
        raise ValueError("%s leaves the program's folder: %r" % (what, path))


def _units(value, count):
    if value is None:
        return None
    right = isinstance(value, list) and len(value) == count
    for pair in value if right else ():
        right = right and isinstance(pair, list) and len(pair) == 2
    if not right:
        raise ValueError("units has to be a list of %d pairs [offset, digits]" % count)
    return tuple([tuple(pair) for pair in value])
