"""Sensors of the board: each writes a sample's raw values when it is due.

A sensor has `features`, how many values it gives; `pace`, when it is to be read; and
`read(values)`, which is called when it is and says whether a sample is in values, array('i').
"""

from array import array

from ..learner import whole
from .config import ConfigurationError
from .features import MOST_ROWS, PER_AXIS, put_row, summarize
from .hardware import HardwareError
from .pace import Pace

_AXES = 6
_WAKE = 0x6B  # register: power management; 0 ends the sleep after power-on
_DATA = 0x3B  # acceleration x, y, z, temperature, rotation x, y, z; 16 bits each, big-endian
_DATA_BYTES = 14


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


class Motion:
    """An accelerometer and gyroscope of the MPU6050's class on an I2C bus, in windows.

    Options: scl, sda, i2c: pins and number of the bus; address; rate: readings a second;
    window: 2..1024 readings that the features are of; hop: readings between two samples,
    1..window. The features are those of features.py: acceleration x, y, z, then rotation x, y, z.
    """

    features = _AXES * PER_AXIS

    def __init__(self, options, board):
        self.window = whole("window", options["window"], 2, MOST_ROWS)
        self.hop = whole("hop", options["hop"], 1, self.window)
        self.pace = Pace(options["rate"], board.microseconds)
        self.failures = 0  # readings that the sensor did not answer, at most 2**29
        self._address = whole("address", options["address"], 8, 119)
        self._bus = board.i2c(options["i2c"], options["scl"], options["sda"])
        self._data = bytearray(_DATA_BYTES)
        self._ring = array("H", bytes(2 * _AXES * self.window))
        self._row = 0  # of the ring that is written next
        self._wait = self.window  # readings until the next sample
        try:
            self._bus.writeto_mem(self._address, _WAKE, b"\0")
        except OSError:
            raise HardwareError(
                "no sensor answers at I2C address %d: check the wiring and the pins in config.json"
                % self._address
            ) from None

    def read(self, values):
        """Take a reading; every `hop` of them, once the window is full, give a sample."""
        try:
            self._bus.readfrom_mem_into(self._address, _DATA, self._data)
        except OSError:
            self.failures = min(self.failures + 1, 1 << 29)
            return False
        put_row(self._data, 0, self._ring, self._row, _AXES, 2)  # 2: the temperature
        self._row = (self._row + 1) % self.window
        self._wait -= 1
        if self._wait:
            return False
        self._wait = self.hop
        for axis in range(_AXES):
            summarize(self._ring, self.window, self._row, _AXES, axis, values, PER_AXIS * axis)
        return True


class Button:
    """A label by hand: one class while a button is pressed, another one while it is not."""

    def __init__(self, options, board):
        self._pin = board.button(options["pin"])
        self._pressed = options["pressed"]
        self._released = options["released"]

    def label(self):
        """The class now."""
        return self._released if self._pin.value() else self._pressed


def make_sensor(configuration, board):
    """The sensor that the configuration names, if it is the board's. Raises ValueError."""
    kind = AnalogPins if configuration.kind == "adc" else Motion
    sensor = kind(configuration.sensor, board)
    if sensor.features != configuration.features:
        raise ConfigurationError(
            "config.json: the sensor %s gives %d features, the learner is for %d"
            % (configuration.kind, sensor.features, configuration.features)
        )
    return sensor
