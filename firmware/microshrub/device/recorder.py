"""Prints a sensor's readings as lines of text, for `microshrub record` and plotters.

A main.py for a first recording, before there is any model:

    from microshrub.device.recorder import record

    record({"kind": "adc", "pins": [26, 27], "rate": 50}, "left right")

The first argument is a sensor as in config.json, or a list of sensors. The second one has the
names of a reading's values.
"""

from array import array

from .hardware import Hardware
from .sensor_start import sensor_of


def record(sensor, names, board=None):
    """Print readings such as `left:512 right:77` until Ctrl-C. Raises ValueError."""
    if isinstance(sensor, list):
        sensor = {"kind": "several", "sensors": sensor}
    made = sensor_of(sensor, board or Hardware(), _say)
    words = names.split()
    if len(words) != made.features:
        raise ValueError("%d names for %d values: %s" % (len(words), made.features, names))
    values = array("i", [0] * made.features)
    line = " ".join([word + ":%d" for word in words])
    while True:
        if made.pace.due() and made.read(values):
            print(line % tuple(values))


def _say(words):
    print("microshrub:", words)
