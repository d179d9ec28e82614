"""Makes the sensor that the configuration describes.

A program keeps this module in its RAM only while it makes the sensor. print_readings() needs no
program: it is for a first recording.
"""

from array import array

from ..learner import yes_or_no
from .config import ConfigurationError
from .hardware import Hardware
from .sensors import AnalogPins, periods


def make_sensor(configuration, board, say):
    """Make the board's sensor that the configuration describes. Raises ValueError.

    say(text) prints a line for people.
    """
    sensor = sensor_of(configuration.sensor, board, say)
    if configuration.extraction is not None:
        from .feature_extractor import ExtractingFifo, ExtractingSensor

        first = sensor.first if configuration.kind == "several" else sensor
        if hasattr(first, "gap"):
            sensor = ExtractingFifo(sensor, configuration.extraction, first)
        else:
            sensor = ExtractingSensor(sensor, configuration.extraction)
    if sensor.features != configuration.features:
        raise ConfigurationError(
            "config.json: the sensor %s gives %d features, the learner is for %d"
            % (configuration.kind, sensor.features, configuration.features)
        )
    return sensor


def sensor_of(options, board, say):
    """Make the sensor that options describe, without features of windows. Raises ValueError."""
    kind = options["kind"]
    if kind == "adc":
        return AnalogPins(options, board)
    if kind == "several":
        from .combined_sensor import CombinedSensor

        every = [_interval(each["rate"]) for each in options["sensors"]]
        sensors = [sensor_of(each, board, say) for each in options["sensors"]]
        return CombinedSensor(sensors, [max(each // every[0], 1) for each in every])
    if kind == "own":
        from .custom_sensor import CustomSensor

        return CustomSensor(options, board)
    if yes_or_no("fifo", options["fifo"]):
        from .motion_fifo import MotionFifo

        return MotionFifo(options, board, say)
    from .sensors import Motion

    return Motion(options, board)


def _interval(rate):
    """Return the microseconds from one reading to the next."""
    period, count = periods(rate)
    return period * count


def print_readings(sensor, names, board=None):
    """Print readings such as `left:512 right:77` until Ctrl-C. Raises ValueError.

    sensor is one as in config.json, or a list of them; names are those of a reading's values. A
    main.py for `microshrub record` and plotters, before there is any model:

        from microshrub.device.sensor_start import print_readings

        print_readings({"kind": "adc", "pins": [26, 27], "rate": 50}, "left right")
    """
    if isinstance(sensor, list):
        sensor = {"kind": "several", "sensors": sensor}
    made = sensor_of(sensor, board or Hardware(), _say)
    words = names.split()
    if len(words) != made.features:
        raise ValueError("%d names for %d values: %s" % (len(words), made.features, names))
    values = array("i", [0] * made.features)
    line = " ".join([word + ":%d" for word in words])
    while True:
        if made.pace.due() and made.read(values):
            print(line % tuple(values))


def _say(words):
    print("microshrub:", words)
