"""What a program uses of its board: pins and buses, clock and watchdog, and standard input.

Everything from MicroPython's module `machine` is made here. Tests give the program another object
with these methods.
"""

import sys
from array import array

import micropython
from micropython import const

_PAUSE = const(50)  # milliseconds of silence, before and after Ctrl-C
_PIECE = const(64)  # bytes, at most, that the link is fed at once
_TICKS = const(1073741823)
_CTRL_C = const(3)
_RETURN = const(13)

_RUN = const(0)  # words of the state: bytes after a pause that may be Ctrl-C; -1: not after one
_PRESSED = const(1)  # 1: one of them is Ctrl-C
_ENOUGH = const(2)  # this many of them stop the program at once
_BLIND = const(3)  # 1: the port cannot tell whether a byte has come
_ENDED = const(4)  # 1: the input has ended
_WORDS = const(5)


class HardwareError(ValueError):
    """The board lacks something that the configuration names; people read the message."""


class Hardware:
    """The board that the program runs on."""

    def __init__(self):
        self._time = _clock()

    def milliseconds(self):
        """A clock of 0..2**30 - 1, which wraps around; 0 where there is none, as on QEMU."""
        return self._time.ticks_ms() if self._time else 0

    def microseconds(self):
        """A clock of 0..2**30 - 1, which wraps around; 0 where there is none."""
        return self._time.ticks_us() if self._time else 0

    def adc(self, pin):
        """An analog input: read_u16() gives 0..65535."""
        return _of_machine("ADC")(_of_machine("Pin")(pin))

    def i2c(self, number, scl, sda):
        """A bus of 400 kHz: readfrom_mem_into(address, register, buffer), writeto_mem."""
        pin = _of_machine("Pin")
        return _of_machine("I2C")(number, scl=pin(scl), sda=pin(sda), freq=400000)

    def button(self, pin):
        """A button between a pin and ground: value() is 0 while it is pressed."""
        pin_class = _of_machine("Pin")
        return pin_class(pin, pin_class.IN, pin_class.PULL_UP)

    def light(self, pin):
        """An output: value(True) switches it on."""
        pin_class = _of_machine("Pin")
        return pin_class(pin, pin_class.OUT, value=0)

    def pixel(self, pin):
        """A NeoPixel: after pixel[0] = (red, green, blue) and write() it has that colour."""
        try:
            import neopixel
        except ImportError:
            raise HardwareError("this board's MicroPython has no module neopixel") from None
        return neopixel.NeoPixel(self.light(pin), 1)

    def watchdog(self, milliseconds):
        """A watchdog that restarts the board if feed() is not called for that long."""
        return _of_machine("WDT")(timeout=milliseconds)

    def of_machine(self, name):
        """Return an attribute of MicroPython's module machine. Raises HardwareError."""
        return _of_machine(name)

    def wake_by(self, button, deeper="SLEEP"):
        """Let a press of the button end a light sleep, or a deeper one, if this port can do so."""
        try:
            if hasattr(button, "WAKE_LOW"):  # esp32
                wake = _of_machine("SLEEP") | _of_machine(deeper)
                button.irq(trigger=button.WAKE_LOW, wake=wake)
            else:
                button.irq(_nothing, button.IRQ_FALLING)
        except (AttributeError, TypeError, ValueError):  # the button is polled, see sleep.py
            pass

    def station(self):
        """Return the radio as a Wi-Fi station; None where the system has its own network."""
        try:
            import network
        except ImportError:
            return None
        return network.WLAN(network.STA_IF)


def _nothing(_):
    """Do nothing: rp2 wakes only for a pin that has a handler."""


def _clock():
    try:
        import time
    except ImportError:
        return None
    return time


def _of_machine(name):
    try:
        import machine

        return getattr(machine, name)
    except (ImportError, AttributeError):
        raise HardwareError("this board's MicroPython has no machine.%s" % name) from None


@micropython.viper
def gather(came, read, byte, piece, state) -> int:
    """Read the bytes that have arrived, up to _PIECE of them; returns how many.

    came(0) returns an iterator of one item or none, and read(byte) fills a bytearray of 1. Bytes
    are read one at a time, as most ports wait until all requested bytes have arrived, and cannot
    tell how many have (issue 8772 of MicroPython). After a Ctrl-C that stops the program, nothing
    more is read: the rest is for the REPL.
    """
    s = ptr32(state)
    out = ptr8(piece)
    one = ptr8(byte)
    n = 0
    while n < _PIECE:
        there = 0
        for _ in came(0):
            there = 1
            break
        if not there:
            return n
        if not int(read(byte)):
            s[_ENDED] = 1
            return n
        c = one[0]
        out[n] = c
        n += 1
        if s[_RUN] >= 0:
            if int(c == _CTRL_C) | int(c == _RETURN):
                s[_RUN] = s[_RUN] + 1
                s[_PRESSED] = s[_PRESSED] | int(c == _CTRL_C)
                if s[_PRESSED] and s[_RUN] >= s[_ENOUGH]:
                    return n
            else:
                s[_RUN] = -1
                s[_PRESSED] = 0
        if s[_BLIND] and not c:
            s[_RUN] = 0
            return n
    return n


class Input:
    """The standard input, without waiting and without allocation.

    A frame may contain Ctrl-C, and a cable that is plugged in delivers any part of a frame. So
    Ctrl-C stops the program only between two pauses, alone or with more Ctrl-C and carriage
    returns, as mpremote sends them; once a host has said hello, it takes two such bytes. Three of
    them need no pause after them. For a port that cannot tell when the line is silent, a zero byte
    is a pause. Bytes that came before the program first reads count as after a pause.
    """

    def __init__(self, clock):
        self._clock = clock  # milliseconds
        poll = _poll()
        self._came = poll.ipoll if poll else _always
        self._read = sys.stdin.buffer.readinto
        self._byte = bytearray(1)
        self._piece = bytearray(_PIECE)
        self._state = array("i", [0] * _WORDS)
        self._state[_ENOUGH] = 3 if poll else 2
        self._state[_BLIND] = int(not poll)
        self._last = clock()  # when the last byte came

    def take(self, link, milliseconds):
        """Feed the link with the bytes that have arrived; wait `milliseconds` for the first one.

        Raises KeyboardInterrupt, and EOFError at the end of the input.
        """
        n = self._receive(milliseconds, 1 + int(link.is_open()))
        if n:
            link.feed(self._piece, n)
        elif self._state[_ENDED]:
            raise EOFError("the input has ended")
        return n

    def skip(self):
        """Skip the bytes that have arrived. Raises KeyboardInterrupt if they are Ctrl-C."""
        while not self._state[_BLIND] and self._receive(0, 1):
            pass
        if self._state[_PRESSED]:
            raise KeyboardInterrupt

    def _receive(self, milliseconds, least):
        """Read into the piece; returns how many bytes. Ctrl-C takes `least` bytes, and a pause."""
        state = self._state
        came = not state[_BLIND] and self._wait(milliseconds)
        pause = (self._clock() - self._last) & _TICKS >= _PAUSE
        if not came and not (state[_BLIND] and milliseconds):
            if pause and state[_PRESSED] and state[_RUN] >= least:
                raise KeyboardInterrupt
            return 0
        if pause and state[_RUN] < 0:
            state[_RUN] = 0
        n = self._look()
        self._last = self._clock()
        if state[_PRESSED] and state[_RUN] >= state[_ENOUGH]:
            raise KeyboardInterrupt
        return n

    def _look(self):
        return gather(self._came, self._read, self._byte, self._piece, self._state)

    def _wait(self, milliseconds):
        """Return whether a byte has arrived, or arrives within that many milliseconds."""
        came = False
        for _ in self._came(milliseconds):
            came = True
        return came


def _always(_):
    """Pretend that a byte has arrived, for a port that cannot tell."""
    return _ONE


_ONE = (1,)


def _poll():
    """Make a poll of the input; None where the port cannot tell if a byte is there, as on QEMU."""
    try:
        import select
    except ImportError:
        return None
    poll = select.poll()
    poll.register(sys.stdin, select.POLLIN)
    for _ in poll.ipoll(0):  # the first time allocates
        pass
    return poll
