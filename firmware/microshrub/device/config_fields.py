"""Reads the fields of config.json, which config.py describes, and checks them.

A board keeps this module in its RAM only while it reads them. A program that has none of the
parts that only some programs have does without what checks these.
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
_SENSORS = (("serial", ()), ("adc", ("pins", "rate")),
    ("mpu6050", ("scl", "sda", "i2c", "address", "rate", "axes", "fifo")),
    ("own", ("module", "class", "values", "rate", "options")),
    ("several", ("sensors",)))  # fmt: skip
_EXTRACTION = ("window", "hop", "zero", "filters", "statistics", "bands", "plain",
    "relative", "tones", "turns", "lags")  # fmt: skip
_ANOMALY = ("period", "window", "reach", "normal", "pin", "states")
_QUERIES = ("labels", "samples", "led")
_SPARE = ("classes", "room", "pin", "led", "states", "period", "window", "reach", "collect")
_SLEEP = ("every", "window", "hold", "pin", "deep")
_MQTT = ("host", "port", "name", "settle", "events", "ca")
_TCP = ("port",)
_UDP = ("by", "port", "to")
_ESPNOW = ("by", "channel")
_SHARE = ("group", "name", "classes")
_LABEL_PIN = ("pin", "pressed", "released")
_REGRESSION = ("columns", "column", "ends", "horizon", "lags", "interval", "states")
_OF_CLASSES = ("alarm", "anomaly", "queries", "label_pin", "spare_classes", "watchers", "mqtt")


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
        take_regression(configuration, fields)
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
        check_parts(configuration)
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


def check_parts(configuration):
    """Check the sensor and the optional parts of a Configuration. Raises ValueError."""
    _check_sensors(configuration.sensor)
    for name, names, needed in (
        ("extraction", _EXTRACTION, _EXTRACTION[:7]),
        ("anomaly", _ANOMALY, ()),
        ("queries", _QUERIES, _QUERIES[:2]),
        ("spare_classes", _SPARE, _SPARE[:1]),
        ("label_pin", _LABEL_PIN, _LABEL_PIN),
        ("sleep", _SLEEP, _SLEEP[:3]),
        ("share", _SHARE, _SHARE),
    ):
        value = getattr(configuration, name)
        options(name, value, names)
        if value is not None:
            _need(name, value, needed)
    if configuration.sleep is not None:
        _check_sleep(configuration)
    if configuration.network is not None:
        _check_network(configuration.network)
    if configuration.share is not None:
        _check_share(configuration)
    if configuration.switches is not None:
        _check_switches(configuration.switches, configuration.classes)
    if configuration.switch_above is not None:
        _check_above(configuration.switch_above, configuration.switches)
    if configuration.watchers is not None:
        _check_watchers(configuration.watchers)
    classes = configuration.classes
    if configuration.spare_classes is not None:
        classes = _check_spare(configuration)
    if configuration.label_pin is not None:
        for name in _LABEL_PIN[1:]:
            label = configuration.label_pin[name]
            if label is not None:
                whole("label_pin's " + name, label, 0, classes - 1)


def _check_sleep(configuration):
    if configuration.kind == "serial":
        raise ValueError("sleep is for a sensor of the board's own")
    if configuration.sleep.get("deep") is None:
        return
    if configuration.checkpoint is None or configuration.extraction is not None:
        raise ValueError("sleep's deep needs a checkpoint, and no extraction")


def _check_network(network):
    for name, names, needed in (("mqtt", _MQTT, _MQTT[:5]), ("tcp", _TCP, _TCP)):
        if name in network:
            options(name, network[name], names)
            _need(name, network[name], needed)
    if "mqtt" in network:
        _check_mqtt(network["mqtt"])
    if "datagrams" in network:
        _check_datagrams(network["datagrams"])
    if "tcp" in network:
        whole("tcp's port", network["tcp"]["port"], 1, 65535)


def _check_mqtt(mqtt):
    for name in ("host", "name"):
        if not isinstance(mqtt[name], str) or not 0 < len(mqtt[name]) < 64:
            raise ValueError("mqtt's %s has to be a text of 1..63 letters" % name)
    whole("mqtt's port", mqtt["port"], 1, 65535)
    settle = mqtt["settle"]
    if not isinstance(settle, list) or len(settle) != 2:
        raise ValueError("mqtt's settle has to be a list of two numbers")


def _check_datagrams(datagrams):
    options("datagrams", datagrams, _UDP + _ESPNOW)
    _need("datagrams", datagrams, ("by",))
    by_udp = choice("datagrams' by", datagrams["by"], ("udp", "espnow")) == "udp"
    names = _UDP if by_udp else _ESPNOW
    options("datagrams", datagrams, names)
    _need("datagrams", datagrams, names)
    if not by_udp:
        whole("datagrams' channel", datagrams["channel"], 1, 13)
        return
    to = datagrams["to"]
    if not isinstance(to, list) or len(to) != 2 or not isinstance(to[0], str):
        raise ValueError("datagrams' to has to be a host and a port")
    whole("datagrams' port", datagrams["port"], 1, 65535)
    whole("datagrams' to", to[1], 1, 65535)


def _check_share(configuration):
    share = configuration.share
    if not any([name in (configuration.network or ()) for name in ("mqtt", "datagrams")]):
        raise ValueError("share needs mqtt or datagrams")
    if configuration.spare_classes is not None or configuration.regression is not None:
        raise ValueError("share is for classes that all have a name")
    for name in ("group", "name"):
        if not isinstance(share[name], str) or not 0 < len(share[name]) <= 32:
            raise ValueError("share's %s has to be a text of 1..32 letters" % name)
    if not isinstance(share["classes"], list):
        raise ValueError("share's classes have to be a list of numbers")
    for label in share["classes"]:
        whole("share's classes", label, 0, configuration.classes - 1)


def _check_watchers(watchers):
    if not isinstance(watchers, dict):
        raise ValueError("watchers has to be an object, not %r" % (watchers,))
    for name, row in watchers.items():
        right = isinstance(row, list) and 3 <= len(row) <= 4 and isinstance(row[2], dict)
        if not right or not all([isinstance(text, str) for text in row[:2] + row[3:]]):
            raise ValueError("watchers' %s has to be [module, class, options, state]" % name)


def _check_switches(rows, classes):
    right = isinstance(rows, list) and len(rows) <= classes
    if not right or not all([isinstance(row, list) for row in rows]):
        raise ValueError("switches has to be a list of pins for each class, not %r" % (rows,))
    for row in rows:
        for what in row:
            if isinstance(what, list):
                _check_shown(what)


def _check_above(above, rows):
    if not isinstance(above, list) or len(above) != len(rows or ()):
        raise ValueError("switch_above has to be a list with a number for each row of switches")
    for value in above:
        whole("switch_above", value, 0, 255)


def _check_shown(what):
    if len(what) == 2:
        whole("a tone's hertz", what[1], 20, 20000)
    elif len(what) == 4:
        for value in what[1:]:
            whole("a pixel's colour", value, 0, 255)
    elif len(what) != 1:  # a key, which switches.py looks at
        raise ValueError(
            "a pixel is [pin, red, green, blue], a tone [pin, hertz], and a key [usage], not %r"
            % (what,)
        )


def _need(name, value, needed):
    """Raise ValueError unless all the options needed are there."""
    for each in needed:
        if each not in value:
            raise ValueError("%s has no %s" % (name, each))


def _check_spare(configuration):
    """Check the spare classes; returns how many classes have names."""
    spare, classes = configuration.spare_classes, configuration.classes
    named = classes - whole("spare_classes' classes", spare["classes"], 1, classes - 1)
    if (configuration.model is None) != (spare.get("states") is None):
        raise ValueError("a model and the states of spare_classes belong together")
    return named


def _check_sensors(sensor):
    kinds = [name for name, _ in _SENSORS]
    kind = _check_sensor(sensor, kinds)
    several = sensor.get("sensors", ())
    if kind == "several" and (not isinstance(several, list) or not several):
        raise ValueError("the sensors have to be a list")
    for one in several:
        if not isinstance(one, dict):
            raise ValueError("a sensor has to be an object, not %r" % (one,))
        _check_sensor(one, kinds[1:-1])


def _check_sensor(sensor, kinds):
    """Check the options of a sensor; returns its "kind"."""
    chosen = choice("the kind of the sensor", sensor.get("kind"), kinds)
    for kind, names in _SENSORS:
        if kind == chosen:
            _need("the sensor " + kind, sensor, names)
            options("the sensor " + kind, sensor, ("kind",) + names)
    return chosen


def take_regression(configuration, fields):
    """Read the field `regression` of config.json, see regression_app.py. Raises ValueError.

    A sample then has the columns that the sensor gives, and the configuration has one class.
    """
    regression = options("regression", configuration.regression, _REGRESSION)
    for name in _OF_CLASSES:
        if fields.get(name) is not None:
            raise ValueError(name + " is for classes, and this program predicts a number")
    if "features" not in configuration.parameters:
        raise ValueError("the parameters have no features")
    _need("regression", regression, _REGRESSION[:2])
    if (fields.get("quantizer") is None) != (regression.get("ends") is None):
        raise ValueError("the quantizer and the ends of regression are both there, or neither is")
    configuration.features = whole("columns", regression["columns"], 1, 257)
    configuration.classes = 1
