"""The board's sensors: each writes a sample's raw values when it is due.

A sensor has `features`, the number of its values; `pace`, which knows when to read it; and
`read(values)`, which is called then and returns whether values, array('i'), now has a sample.
"""

from ..learner import yes_or_no
from .config import ConfigurationError
from .pace import Pace, periods


class AnalogPins:
    """Voltages at pins, 0..65535 each: {"kind": "adc", "pins": [26, 27], "rate": 50}."""

    def __init__(self, options, board):
        pins = options["pins"]
        if not isinstance(pins, list) or not pins:
            raise ConfigurationError("the sensor adc: pins has to be a list of pins")
        self.pace = Pace(options["rate"], board.microseconds)
        self.features = len(pins)
        self.failures = 0
        self._inputs = [board.adc(pin) for pin in pins]

    def read(self, values):
        """Read all pins. Allocates nothing, if the port's read_u16() does not."""
        for i in range(self.features):
            values[i] = self._inputs[i].read_u16()
        return True


class Button:
    """Labels by hand: one class while a button is pressed, another class while it is not."""

    def __init__(self, options, board):
        self._pin = board.button(options["pin"])
        both = options["pressed"], options["released"]
        self._pressed, self._released = [-1 if c is None else c for c in both]

    def label(self):
        """Return the class of a sample taken now, -1 if it is not known."""
        return self._released if self._pin.value() else self._pressed


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
    from .motion import Motion

    return Motion(options, board)


def _interval(rate):
    """Return the microseconds from one reading to the next."""
    period, count = periods(rate)
    return period * count
