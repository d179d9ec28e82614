"""The module `machine` of a virtual board: its sensors play a recording.

The file that Machine() gets is JSON: `rows`, a file of 32-bit integers, each row with one for each
name in `columns` and then the number of the row's label; `period`, the microseconds from one row
to the next; `press`, by pin, the label at which the button is pressed; `speed`, how many times
faster than real time the board's clock runs. The recording begins when the board starts, and
repeats from its end.

Analog pins play the columns in the order in which the pins are made; the sensor at a pin is the
one whose driver the program has imported. An MPU-6050 answers on every I2C bus, with the first
three or six columns; the chips of bus_chips.py and bme280_chip.py answer if there are columns of
their names.
"""

import json
import sys
from array import array

import bme280_chip
import bus_chips
import mpu6050_chip
from board_clock import BoardClock, BoardSelect, BoardTime
from sleep_on_pc import LightSleep

_SIMULATED = "microshrub simulated"  # in sys.modules of a board that is not real


class Recording:
    def __init__(self, path):
        with open(path) as file:
            settings = json.load(file)
        self.columns = settings["columns"]
        self.period = settings["period"]
        self.press = settings["press"]
        self.clock = BoardClock(settings["speed"])
        self._size = 4 * (len(self.columns) + 1)
        self._file = open(settings["rows"], "rb")
        self._rows = self._file.seek(0, 2) // self._size
        self._last = -1
        self.row = array("i", [0] * (len(self.columns) + 1))

    def elapsed(self):
        """Return the microseconds since the board was switched on."""
        return self.clock.now()

    def now(self):
        """Return the current row."""
        return self.at(self.elapsed() // self.period)

    def play(self, name):
        """Return the current value of the column."""
        return self.now()[self.columns.index(name)]

    def at(self, number):
        """Return the row of that number; after the last row, the first one follows."""
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
        for driver, counts in bus_chips.AT_A_PIN.items():
            if driver in sys.modules:
                value = counts(value, self._recording.elapsed())
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
    """The recording's clock for the chip's model, which cannot set it."""

    def __init__(self, recording):
        self._recording = recording

    @property
    def now(self):
        return self._recording.elapsed()

    @now.setter
    def now(self, _):
        pass


class _Motion(mpu6050_chip.Chip):
    """An MPU-6050 that plays the recording."""

    def __init__(self, recording):
        super().__init__(_Clock(recording), self._reading)
        self._recording = recording
        self._is_read = False  # during a transfer, whose values are of one moment

    def _reading(self, number):
        row = self._recording.at(number * self.period() // self._recording.period)
        count = min(len(self._recording.columns), 6)
        values = [row[k] if k < count else 0 for k in range(6)]
        values.insert(3, 0)  # the temperature
        return values

    def run(self):
        """Take every reading for the FIFO; without FIFO, only the reading that is due now."""
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


class I2C:
    """A bus with all the chips for which the recording has columns."""

    def __init__(self, recording):
        self._motion = _Motion(recording)
        self._chips = {}
        for chip in bus_chips.CHIPS + (bme280_chip.Bme280Chip,):
            if all([name in recording.columns for name in chip.names]):
                self._chips[chip.address] = chip(recording.play)

    def scan(self):
        return sorted([mpu6050_chip.ADDRESS] + list(self._chips))

    def readfrom_mem(self, address, register, count):
        data = bytearray(count)
        self.readfrom_mem_into(address, register, data)
        return bytes(data)

    def readfrom_mem_into(self, address, register, buffer):
        if address == mpu6050_chip.ADDRESS:
            self._motion.readfrom_mem_into(address, register, buffer)
        else:
            self._at(address).readfrom_mem_into(register, buffer)

    def writeto_mem(self, address, register, data):
        if address == mpu6050_chip.ADDRESS:
            self._motion.writeto_mem(address, register, data)
        else:
            self._at(address).writeto_mem(register, data)

    def readfrom_into(self, address, buffer):
        self._at(address).readfrom_into(buffer)

    def writeto(self, address, data):
        self._at(address).writeto(bytes(data))

    def _at(self, address):
        if address not in self._chips:
            raise OSError(5)
        return self._chips[address]


class NeoPixel:
    """The class of the module neopixel; `colours` are the colours written last."""

    def __init__(self, pin, count):
        self._next = [(0, 0, 0)] * count
        self.colours = tuple(self._next)

    def __setitem__(self, k, colour):
        self._next[k] = colour

    def write(self):
        self.colours = tuple(self._next)


class _Pixels:
    """The module for `import neopixel`."""

    NeoPixel = NeoPixel


class PWM:
    """A pin with pulse-width modulation; `hertz` is its frequency, `high` its duty cycle."""

    def __init__(self, pin, freq=0, duty_u16=0):
        self.hertz = freq
        self.high = duty_u16

    def freq(self, hertz):
        self.hertz = hertz

    def duty_u16(self, high):
        self.high = high


class _Port:
    """The USB device of a board without a program."""

    desc_dev, desc_cfg, itf_max, ep_max = bytes(18), bytes(75), 2, 3


class USBDevice:
    """The chip's USB, with a PC that polls at once; `report` has the keys that are down."""

    BUILTIN_DEFAULT = _Port

    def __init__(self):
        self.report = b""
        self._is_active = False

    def config(self, _, __, ___, opened, lost, answer, sent):
        self._opened, self._sent = opened, sent

    def active(self, wanted=None):
        if wanted and not self._is_active:
            self._opened(b"")
        self._is_active = self._is_active if wanted is None else wanted
        return self._is_active

    def submit_xfer(self, endpoint, report):
        self.report = report
        self._sent(endpoint, 0, len(report))
        return True


class WDT:
    def __init__(self, timeout=5000):
        pass

    def feed(self):
        pass


class Machine:
    """The module for `import machine`."""

    PWM = PWM
    Pin = Pin
    USBDevice = USBDevice
    WDT = WDT

    def __init__(self, path):
        self._recording = Pin.recording = Recording(path)
        self._made = {}
        self.is_reset = False
        # As attributes, since `from machine import I2C` refuses methods
        self.ADC, self.I2C, self.reset = self._adc, self._i2c, self._reset
        sys.modules[_SIMULATED] = True
        sys.modules["neopixel"] = _Pixels
        clock = self._recording.clock
        sys.modules["time"], sys.modules["select"] = BoardTime(clock), BoardSelect(clock)
        self.lightsleep = LightSleep(lambda milliseconds: clock.sleep(1000 * milliseconds))

    def _adc(self, pin):
        number = pin.number if isinstance(pin, Pin) else pin
        column = self._made.setdefault(number, len(self._made))
        return ADC(self._recording, column if column < len(self._recording.columns) else -1)

    def dht_readinto(self, pin, buffer):
        """Fill the buffer with a DHT22's 40 bits, as MicroPython reads them."""
        if "humidity" not in self._recording.columns:
            raise OSError(110)
        play = self._recording.play
        buffer[:] = bus_chips.dht22_bytes(play("temperature"), play("humidity"))

    def _i2c(self, number=0, scl=None, sda=None, freq=400000):
        return I2C(self._recording)

    def _reset(self):
        self.is_reset = True
        raise SystemExit
