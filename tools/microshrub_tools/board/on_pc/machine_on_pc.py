"""The module `machine` of a board made of software: its sensors play a recording.

The file that Machine() gets is JSON: `rows`, a file of 32-bit whole numbers, so many `columns` in
a row and behind them the number of its label; `period`, the microseconds from one row to the
next; `press`, by the pin, the label at which that button is pressed. The recording begins when the
board starts, and begins again at its end.

Analog pins have the columns in the order in which they are made. An MPU-6050 answers at every I2C
bus, with the first three or six columns.
"""

import json
import sys
import time
from array import array

import mpu6050_chip

_SIMULATED = "microshrub simulated"  # in sys.modules: this board is no real one


class Recording:
    def __init__(self, path):
        with open(path) as file:
            told = json.load(file)
        self.columns = told["columns"]
        self.period = told["period"]
        self.press = told["press"]
        self._bytes = bytearray(4 * (self.columns + 1))
        self._size = len(self._bytes)
        self._file = open(told["rows"], "rb")
        self._rows = self._file.seek(0, 2) // self._size
        self._begin = time.time_ns()
        self._last = -1
        self.row = array("i", [0] * (self.columns + 1))

    def elapsed(self):
        """Microseconds since the board was switched on."""
        return (time.time_ns() - self._begin) // 1000

    def now(self):
        """The row that plays now."""
        return self.at(self.elapsed() // self.period)

    def at(self, number):
        """The row of that number."""
        number %= self._rows
        if number != self._last:
            self._last = number
            self._file.seek(number * self._size)
            self._file.readinto(self.row)
        return self.row


class ADC:
    def __init__(self, recording, column):
        self._recording = recording
        self._column = column

    def read_u16(self):
        value = self._recording.now()[self._column] if self._column >= 0 else 0
        return min(max(value, 0), 65535)


class Pin:
    IN = 0
    OUT = 1
    OPEN_DRAIN = 2
    PULL_UP = 1
    PULL_DOWN = 2

    recording = None

    def __init__(self, number, mode=0, pull=None, value=None):
        self.number = number
        self._mode = mode
        self._pull = pull
        self._level = value or 0

    def value(self, level=None):
        if level is not None:
            self._level = level
            return None
        if self._mode == Pin.OUT:
            return self._level
        wanted = Pin.recording.press.get(str(self.number), -1)
        is_pressed = wanted >= 0 and Pin.recording.now()[-1] == wanted
        return (not is_pressed) if self._pull == Pin.PULL_UP else int(is_pressed)

    def on(self):
        self._level = 1

    def off(self):
        self._level = 0

    __call__ = value


class _Clock:
    """Real time, for the chip's model, which would move its own on."""

    def __init__(self, recording):
        self._recording = recording

    @property
    def now(self):
        return self._recording.elapsed()

    @now.setter
    def now(self, _):
        pass


class I2C(mpu6050_chip.Chip):
    """A bus with an MPU-6050."""

    def __init__(self, recording):
        super().__init__(_Clock(recording), self._reading)
        self._recording = recording
        self._is_read = False  # now: what is read in one transfer is of one moment

    def _reading(self, number):
        row = self._recording.at(number * self.period() // self._recording.period)
        count = min(self._recording.columns, 6)
        values = [row[k] if k < count else 0 for k in range(6)]
        values.insert(3, 0)  # the temperature
        return values

    def run(self):
        """Only for the FIFO every reading is taken; else the one that is due now."""
        if self._is_read:
            return
        if not self.registers[0x6A] & 0x40:
            self.next = self.clock.now - self.period()
            self.taken = self.next // self.period()
        super().run()

    def readfrom_mem_into(self, address, register, buffer):
        self.run()
        self._is_read = True
        try:
            super().readfrom_mem_into(address, register, buffer)
        finally:
            self._is_read = False

    def readfrom_mem(self, address, register, count):
        data = bytearray(count)
        self.readfrom_mem_into(address, register, data)
        return bytes(data)

    def scan(self):
        return [mpu6050_chip.ADDRESS]


class WDT:
    def __init__(self, timeout=5000):
        pass

    def feed(self):
        pass


class Machine:
    """What `import machine` gives."""

    Pin = Pin
    WDT = WDT

    def __init__(self, path):
        self._recording = Pin.recording = Recording(path)
        self._made = {}
        self.is_reset = False
        # As attributes, since `from machine import I2C` refuses methods
        self.ADC, self.I2C, self.reset = self._adc, self._i2c, self._reset
        sys.modules[_SIMULATED] = True

    def _adc(self, pin):
        number = pin.number if isinstance(pin, Pin) else pin
        column = self._made.setdefault(number, len(self._made))
        return ADC(self._recording, column if column < self._recording.columns else -1)

    def _i2c(self, number=0, scl=None, sda=None, freq=400000):
        return I2C(self._recording)

    def _reset(self):
        self.is_reset = True
        raise SystemExit
