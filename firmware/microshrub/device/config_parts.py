"""The parts of a configuration that few programs have; imported where there is one of them."""

from ..learner import choice, whole
from .config import options, part

_SENSORS = (("serial", ()), ("adc", ("pins", "rate")),
    ("mpu6050", ("scl", "sda", "i2c", "address", "rate", "axes", "fifo")),
    ("own", ("module", "class", "values", "rate", "options")),
    ("several", ("sensors",)))  # fmt: skip
_EXTRACTION = ("window", "hop", "zero", "filters", "statistics", "bands", "plain")
_ANOMALY = ("period", "window", "reach")
_ASKING = ("labels", "samples", "led")
_SPARE = ("classes", "room", "pin", "led", "states", "period", "window", "reach", "collect")
_LABEL_PIN = ("pin", "pressed", "released")


def check_parts(configuration):
    """Check what a Configuration says of the sensor and of the rest. Raises ValueError."""
    _check_sensors(configuration.sensor)
    _check("extraction", configuration.extraction, _EXTRACTION, _EXTRACTION)
    _check("anomaly", configuration.anomaly, _ANOMALY)
    _check("asking", configuration.asking, _ASKING, _ASKING[:2])
    _check("spare", configuration.spare, _SPARE, _SPARE[:1])
    _check("label_pin", configuration.label_pin, _LABEL_PIN, _LABEL_PIN)
    classes = configuration.classes
    if configuration.spare is not None:
        classes = _check_spare(configuration)
    if configuration.label_pin is not None:
        for name in _LABEL_PIN[1:]:
            label = configuration.label_pin[name]
            if label is not None:
                whole("label_pin's " + name, label, 0, classes - 1)


def _check(name, value, names, needed=()):
    """Raise ValueError unless the value is None, or an object with names that it may have."""
    options(name, value, names)
    for each in needed if value is not None else ():
        if each not in value:
            raise ValueError("%s has no %s" % (name, each))


def _check_spare(configuration):
    """Returns how many classes have names."""
    spare, classes = configuration.spare, configuration.classes
    named = classes - whole("spare's classes", spare["classes"], 1, classes - 1)
    if (configuration.model is None) != (spare.get("states") is None):
        raise ValueError("a model and the states of spare belong together")
    if configuration.asking is not None:
        raise ValueError("with spare classes, asking has to be null")
    return named


def _check_sensors(sensor):
    kinds = [name for name, _ in _SENSORS]
    kind = _check_sensor(sensor, kinds)
    several = sensor.get("sensors", ())
    if kind == "several" and (not isinstance(several, list) or not several):
        raise ValueError("the sensors have to be a list")
    for one in several:
        _check_sensor(part("a sensor", one), kinds[1:-1])


def _check_sensor(sensor, kinds):
    """Look at what a sensor is told; returns its kind."""
    found = choice("the kind of the sensor", sensor.get("kind"), kinds)
    for kind, names in _SENSORS:
        if kind == found:
            _check("the sensor " + kind, sensor, ("kind",) + names, names)
    return found
