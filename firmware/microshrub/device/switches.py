"""Switches lights, relays, NeoPixels, buzzers and keys by the prediction.

config.json's `switches` has a list for each class: the pins that are high while the class is the
newest prediction, NeoPixels as [pin, red, green, blue] with 0..255 of each colour, buzzers as
[pin, hertz] with 20..20000 hertz, and keys as [usage], of the keyboard's page of USB HID: 4..115,
and 224..231 for the keys that are held with others. All other pins are low, other pixels dark,
other buzzers silent, and other keys up. After the program has ended, for whatever reason, all
buzzers are silent.

`switch_above` has the lowest confidence for each class, 0..255: a prediction below it switches
nothing.
"""

from micropython import const

_DARK = (0, 0, 0)
_SILENT = (0,)
_HALF = const(32768)  # of 65536: high and low for equal times, which is loudest
_FIRST = const(440)  # hertz, never heard: without it, some ports would sound their default


class _Pixel:
    """A NeoPixel and its colour for each class."""

    def __init__(self, pixel, classes):
        self._pixel = pixel
        self._shown = -1  # the class whose colour it shows
        self.of_class = [_DARK] * (classes + 1)  # the last one: for no class

    def show(self, c):
        if c != self._shown:
            self._shown = c
            self._pixel[0] = self.of_class[c]
            self._pixel.write()


class Buzzer:
    """A passive buzzer and its tone for each class, by machine.PWM."""

    def __init__(self, board, pin, classes):
        pin = board.of_machine("Pin")(pin)
        self._pwm = board.of_machine("PWM")(pin, freq=_FIRST, duty_u16=0)
        self._sounds = 0  # the present tone in hertz; 0: silent
        self.of_class = [_SILENT] * (classes + 1)  # the last one: for no class

    def show(self, c):
        hertz = self.of_class[c][0]
        if hertz != self._sounds:
            self._sounds = hertz
            if hertz:
                self._pwm.freq(hertz)
            self._pwm.duty_u16(_HALF if hertz else 0)

    def silence(self):
        """Fall silent."""
        self.show(-1)


class Switches:
    """Switches what the configuration names with each prediction."""

    def __init__(self, app, board):
        self._app = app
        rows = app.configuration.switches
        self._above = bytearray(app.classes)
        self._above[: len(rows)] = bytes(app.configuration.switch_above or len(rows))
        pins = []
        shown = []  # pixels and buzzers,
        of_shown = []  # the pins of those pixels and buzzers
        keyboard = None
        for c in range(len(rows)):
            for what in rows[c]:
                if isinstance(what, list) and len(what) == 1:
                    keyboard = keyboard or UsbKeyboard(board, app.classes)
                    keyboard.add(c, what[0])
                elif isinstance(what, list):
                    if what[0] not in of_shown:
                        of_shown.append(what[0])
                        shown.append(_shown(board, what, app.classes))
                    shown[of_shown.index(what[0])].of_class[c] = tuple(what[1:])
                elif what not in pins:
                    pins.append(what)
        if keyboard:
            keyboard.start()
            shown.append(keyboard)
        self._shown = shown
        self._lights = [board.light(pin) for pin in pins]
        # [class * pins + pin]: 1 if the pin is high; the last row, for no class, is all 0
        self._high = high = bytearray((app.classes + 1) * len(pins))
        for c in range(len(rows)):
            for k in range(len(pins)):
                high[c * len(pins) + k] = pins[k] in rows[c]

    def show(self, predicted, _):
        """Switch to the pins, pixels and buzzers of the class that was predicted."""
        if self._app.confidence < self._above[predicted]:
            predicted = len(self._above)  # no class
        self._switch(predicted * len(self._lights))
        for k in range(len(self._shown)):
            self._shown[k].show(predicted)

    def _switch(self, at):
        for k in range(len(self._lights)):
            self._lights[k].value(self._high[at + k])

    def end(self):
        """Silence the buzzers, and let go of the keys."""
        for each in self._shown:
            if hasattr(each, "silence"):
                each.silence()


def _shown(board, what, classes):
    if len(what) == 2:
        return Buzzer(board, what[0], classes)
    return _Pixel(board.pixel(what[0]), classes)


# --- Keys ----------------------------------------------------------------------------------------

_HELD = const(224)  # the first key of those in a report's first byte, a bit each
_KEYS = const(8)  # bytes of a report: those bits, 0, and up to six keys
_TICKS = const(1073741823)
_COMES = const(2000)  # milliseconds for the PC to find the keyboard
_GOES = const(100)  # milliseconds for it to take the last report
_SETUP = const(1)  # the stage of a request in which it is answered
_REPORT = const(0x22)  # a kind of description

# What a report is: eight keys that are held, a bit each; a byte of 0; six keys of 0..115
_DESCRIPTION = (
    b"\x05\x01\x09\x06\xa1\x01"
    b"\x05\x07\x19\xe0\x29\xe7\x15\x00\x25\x01\x75\x01\x95\x08\x81\x02"
    b"\x75\x08\x95\x01\x81\x01"
    b"\x19\x00\x29\x73\x15\x00\x25\x73\x75\x08\x95\x06\x81\x00"
    b"\xc0"
)


def _interface(number, endpoint):
    """Describe the keyboard: its interface, what its reports are, and where they come from."""
    what = bytes((9, 0x21, 0x11, 1, 0, 1, _REPORT, len(_DESCRIPTION), 0))
    come = bytes((7, 5, 0x80 | endpoint, 3, _KEYS, 0, 8))  # asked for each 8 ms
    return bytes((9, 4, number, 0, 1, 3, 1, 1, 0)) + what + come


class UsbKeyboard:
    """The keys of each class, by machine.USBDevice beside the board's serial port.

    The keys of a class are down while it is the newest prediction, and go up when it goes or the
    program ends. Nothing waits for the PC: while it does not ask for keys, it misses them, and
    gets the present ones when it asks again.

    The serial port goes away and comes back when the keyboard comes, see start().
    """

    def __init__(self, board, classes):
        self._milliseconds = board.milliseconds
        self._usb = board.of_machine("USBDevice")()
        self._none = bytes(_KEYS)
        self._of_class = [self._none] * (classes + 1)  # reports; the last one: of no class
        self._wanted = self._down = classes  # of which class the keys are to be down, and are
        self._is_asked = False  # the PC has found the keyboard
        self._is_sending = False

    def add(self, c, usage):
        """Have a key down while class c is predicted; up to six, beside those that are held.

        Raises ValueError.
        """
        if type(usage) is not int or not (4 <= usage <= 115 or _HELD <= usage < _HELD + 8):
            raise ValueError("a key is 4..115 or 224..231, not %r" % (usage,))
        report = bytearray(self._of_class[c])
        at = 0 if usage >= _HELD else 2
        while at and report[at]:
            at += 1
            if at == _KEYS:
                raise ValueError("a class has at most six keys")
        report[at] |= usage if at else 1 << (usage - _HELD)
        self._of_class[c] = bytes(report)

    def start(self):
        """Show the keyboard to the PC, which takes the board for unplugged and plugged in again.

        Waits until the PC has found it: what is printed then comes to whoever opens the port anew.
        """
        usb = self._usb
        port = usb.BUILTIN_DEFAULT
        self._number = port.itf_max
        self._endpoint = 0x80 | port.ep_max
        whole = bytearray(port.desc_cfg) + _interface(port.itf_max, port.ep_max)
        whole[2], whole[3] = len(whole) & 255, len(whole) >> 8
        whole[4] = port.itf_max + 1
        self._is_asked = bool(usb.active())  # with a configuration before this one
        if not self._is_asked:
            usb.builtin_driver = port
        called = self._opened, self._lost, self._answer, self._sent
        self._kept = whole, called  # which MicroPython keeps: so they count as the program's
        usb.config(port.desc_dev, whole, None, *called)
        usb.active(True)
        began = self._milliseconds()
        while usb.active() and not self._is_asked:
            if (self._milliseconds() - began) & _TICKS >= _COMES:
                break

    def show(self, c):
        """Have the keys of class c down, and no others."""
        if c != self._wanted:
            self._wanted = c
            self._send()

    def silence(self):
        """Let go of all keys."""
        self.show(len(self._of_class) - 1)
        began = self._milliseconds()
        while self._is_asked and (self._is_sending or self._down != self._wanted):
            if (self._milliseconds() - began) & _TICKS >= _GOES:
                break

    def _send(self):
        if self._is_asked and not self._is_sending and self._down != self._wanted:
            self._is_sending = True
            self._down = self._wanted
            if not self._usb.submit_xfer(self._endpoint, self._of_class[self._down]):
                self._lost()

    # What MicroPython calls

    def _opened(self, _):
        self._is_asked = True
        self._send()

    def _lost(self):
        """The PC starts anew, or the cable is out: no key is down there."""
        self._is_asked = self._is_sending = False
        self._down = len(self._of_class) - 1

    def _sent(self, _, __, ___):
        self._is_sending = False
        self._send()

    def _answer(self, stage, request):
        """Answer a request to the keyboard: what to send, True for nothing, False to refuse it."""
        if stage != _SETUP:
            return True
        kind, what = request[0], request[1]
        if request[4] != self._number:
            return False
        if kind == 0x81 and what == 6:  # standard: a description
            return _DESCRIPTION if request[3] == _REPORT else False
        if kind == 0xA1 and what == 1:  # of keyboards: the present report
            return self._of_class[self._down]
        # Send only what is new, and as a simple keyboard or not, which here is the same
        return kind == 0x21 and (what == 10 or what == 11)
