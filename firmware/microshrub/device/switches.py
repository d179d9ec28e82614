"""Switches lights, relays, NeoPixels, buzzers and keys by the prediction.

config.json's `switches` has a list for each class: the pins that are high while the class is the
newest prediction, NeoPixels as [pin, red, green, blue] with 0..255 of each colour, buzzers as
[pin, hertz] with 20..20000 hertz, and keys as [usage], see keyboard.py. All other pins are low,
other pixels dark, other buzzers silent, and other keys up. After the program has ended, for
whatever reason, all buzzers are silent.

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
                    keyboard = keyboard or _keyboard(board, app.classes)
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


def _keyboard(board, classes):
    from .keyboard import UsbKeyboard

    return UsbKeyboard(board, classes)
