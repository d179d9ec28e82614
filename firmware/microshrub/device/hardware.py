"""The board as the program sees it: pins and buses, clock and watchdog.

Everything from MicroPython's module `machine` is made here. Tests give the program another object
with these methods.
"""


class HardwareError(ValueError):
    """The board does not have what the configuration asks for; the message is for people."""


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
        kind = _of_machine("Pin")
        return kind(pin, kind.IN, kind.PULL_UP)

    def light(self, pin):
        """An output: value(True) switches it on."""
        kind = _of_machine("Pin")
        return kind(pin, kind.OUT, value=0)

    def pixel(self, pin):
        """A NeoPixel: after pixel[0] = (red, green, blue) and write() it has that colour."""
        try:
            import neopixel
        except ImportError:
            raise HardwareError("this board's MicroPython has no module neopixel") from None
        return neopixel.NeoPixel(self.light(pin), 1)

    def watchdog(self, milliseconds):
        """Restarts the board if feed() is not called for so long."""
        return _of_machine("WDT")(timeout=milliseconds)

    def of_machine(self, name):
        """The attribute with that name of MicroPython's module machine. Raises HardwareError."""
        return _of_machine(name)

    def wake_by(self, button, deeper="SLEEP"):
        """Have a press of that button end a light sleep and a deeper one, if this port can."""
        try:
            if hasattr(button, "WAKE_LOW"):  # esp32
                wake = _of_machine("SLEEP") | _of_machine(deeper)
                button.irq(trigger=button.WAKE_LOW, wake=wake)
            else:
                button.irq(_nothing, button.IRQ_FALLING)
        except (AttributeError, TypeError, ValueError):  # the button is polled, see sleep.py
            pass

    def station(self):
        """The radio as a member of a wireless network; None where the system has its own."""
        try:
            import network
        except ImportError:
            return None
        return network.WLAN(network.STA_IF)


def _nothing(_):
    """rp2 only wakes for a pin that has a handler."""


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
