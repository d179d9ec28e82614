"""Pins that follow what is predicted: lights, relays, the colours of an LED or a NeoPixel.

config.json's `switches` has a list for each class: of the pins that are high while it is the
newest prediction, of NeoPixels, [pin, red, green, blue] with 0..255 of each, and of buzzers,
[pin, hertz], see buzzer.py. All other pins are low, other pixels dark, and other buzzers silent.
"""

_DARK = (0, 0, 0)


class _Pixel:
    """A NeoPixel and its colour for each class."""

    def __init__(self, pixel, classes):
        self._pixel = pixel
        self._shown = -1  # the class whose colour it has
        self.of_class = [_DARK] * classes

    def show(self, c):
        if c != self._shown:
            self._shown = c
            self._pixel[0] = self.of_class[c]
            self._pixel.write()


def _buzzer(service, board, pin):
    from .buzzer import Buzzer

    buzzer = Buzzer(board, pin, service._app.classes)
    buzzer.silent_after(service)
    return buzzer


def follow(service, board):
    """Have a service's predictions switch the pins, pixels and buzzers of its configuration."""
    app = service._app
    rows = app.configuration.switches
    pins = []
    of_shown = []  # their pins
    shown = []  # pixels and buzzers
    for c in range(len(rows)):
        for what in rows[c]:
            if isinstance(what, list):
                if what[0] not in of_shown:
                    of_shown.append(what[0])
                    shown.append(
                        _buzzer(service, board, what[0])
                        if len(what) == 2
                        else _Pixel(board.pixel(what[0]), app.classes)
                    )
                shown[of_shown.index(what[0])].of_class[c] = tuple(what[1:])
            elif what not in pins:
                pins.append(what)
    lights = [board.light(pin) for pin in pins]
    high = bytearray(app.classes * len(pins))  # [class * pins + pin]; none of a class without name
    for c in range(len(rows)):
        for k in range(len(pins)):
            high[c * len(pins) + k] = pins[k] in rows[c]
    predict = app._predict

    # Two of them, as a longer one would put its frame on the heap
    def switch(at):
        for k in range(len(lights)):
            lights[k].value(high[at + k])

    def show(c):
        for k in range(len(shown)):
            shown[k].show(c)

    def predict_and_switch(label):
        predicted = predict(label)
        switch(predicted * len(lights))
        show(predicted)
        return predicted

    app._predict = predict_and_switch
