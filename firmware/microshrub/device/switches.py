"""Pins that follow what is predicted: lights, relays, the colours of an LED or a NeoPixel.

config.json's `switches` has a list for each class: of the pins that are high while it is the
newest prediction, and of NeoPixels, [pin, red, green, blue] with 0..255 of each. All other pins
are low, and all other pixels dark.
"""

_DARK = (0, 0, 0)


class _Pixel:
    """A NeoPixel and its colour for each class."""

    def __init__(self, pixel, classes):
        self._pixel = pixel
        self._shown = -1  # the class whose colour it has
        self.colours = [_DARK] * classes

    def show(self, c):
        if c != self._shown:
            self._shown = c
            self._pixel[0] = self.colours[c]
            self._pixel.write()


def follow(app, board):
    """Have an application's predictions switch the pins and pixels of its configuration."""
    rows = app.configuration.switches
    pins = []
    of_pixels = []  # their pins
    pixels = []
    for c in range(len(rows)):
        for what in rows[c]:
            if isinstance(what, list):
                if what[0] not in of_pixels:
                    of_pixels.append(what[0])
                    pixels.append(_Pixel(board.pixel(what[0]), app.classes))
                pixels[of_pixels.index(what[0])].colours[c] = tuple(what[1:])
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

    def paint(c):
        for k in range(len(pixels)):
            pixels[k].show(c)

    def predict_and_switch(label):
        predicted = predict(label)
        switch(predicted * len(lights))
        paint(predicted)
        return predicted

    app._predict = predict_and_switch
