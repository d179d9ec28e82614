"""Prints a line of text for every sample, for people and plotters."""

import sys

_SHOWN = 6  # features in a line


class Plotter:
    """Lines such as `x:12 y:-3 label:1 pred:1 acc:934`, which Thonny and the Arduino IDE draw.

    names are the names of the features; the first six features are drawn. acc is in 1/1000.
    Companions add an anomaly score, anomaly:52, the id of a sample whose label is queried,
    asks:17, and how many samples wait for a name, unnamed:8. After the values, there is room for
    68 characters. Nothing is allocated.
    """

    def __init__(self, names):
        self._names = tuple([_plain(name) for name in names[:_SHOWN]])
        self._line = bytearray(sum([len(name) + 13 for name in self._names]) + 68)
        self._digits = bytearray(10)
        self._at = 0

    def show(self, values, label, predicted, metrics, plot=None):
        """Print a line; plot(plotter, label) adds to it. label is -1 if it is not known."""
        self.begin(values)
        if label >= 0:
            self.put(b"label", label)
        self.put(b"pred", predicted)
        self.put(b"acc", metrics.accuracy // 1000)
        if plot:
            plot(self, label)
        self.end()

    def begin(self, values):
        """Start a line with a sample's values."""
        self._at = 0
        for i in range(len(self._names)):
            self.put(self._names[i], values[i])

    def end(self):
        """Print the line."""
        line = self._line
        line[self._at - 1] = 13  # instead of the space
        line[self._at] = 10
        sys.stdout.buffer.write(line, self._at + 1)

    def put(self, name, value):
        """Add a name, bytes, and a value to the line."""
        for i in range(len(name)):
            self._add(name[i])
        self._add(58)  # colon
        if value < 0:
            self._add(45)  # minus
            value = -value
        n = 0
        while value or not n:
            self._digits[n] = 48 + value % 10
            value //= 10
            n += 1
        while n:
            n -= 1
            self._add(self._digits[n])
        self._add(32)

    def _add(self, byte):
        self._line[self._at] = byte
        self._at += 1


def _plain(name):
    """Return a name without the characters that have a meaning in a line."""
    text = "".join(["_" if c in " :,\t\r\n" else c for c in name])
    return text.encode()
