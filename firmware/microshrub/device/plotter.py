"""Lines of text with every sample, for people and plotters."""

import sys

_SHOWN = 6  # features in a line


class Plotter:
    """Lines such as `x:12 y:-3 label:1 pred:1 acc:934`, which Thonny and the Arduino IDE draw.

    names are those of the features, of which the first six are drawn; acc is in 1/1000. With an
    AnomalyScore, its score follows: anomaly:52; with spare classes, how many samples wait for a
    name: unnamed:8; where the label is asked for, the sample's id: asks:17. Behind the values is
    room for up to 68 characters.
    Nothing is allocated.
    """

    def __init__(self, names):
        self._names = tuple([_plain(name) for name in names[:_SHOWN]])
        self._line = bytearray(sum([len(name) + 13 for name in self._names]) + 68)
        self._digits = bytearray(10)
        self._at = 0
        self.extra = None  # extra(plotter) adds what few programs have to a line

    def show(self, values, label, predicted, metrics, anomaly=None):
        """Print a line; label is -1 if it is not known."""
        self.begin(values)
        if label >= 0:
            self.put(b"label", label)
        self.put(b"pred", predicted)
        self.put(b"acc", metrics.accuracy // 1000)
        if anomaly:
            self.put(b"anomaly", anomaly.score)
        if self.extra:
            self.extra(self)
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
        """Add a name, bytes, and its value to the line."""
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
    """A name without what means something in a line."""
    text = "".join(["_" if c in " :,\t\r\n" else c for c in name])
    return text.encode()
