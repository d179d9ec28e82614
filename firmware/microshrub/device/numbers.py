"""What config.json says where a number is predicted, and what a device does with its samples.

    numbers  {"columns", "column", "ends", "horizon", "lags", "interval"}: those of Forecaster,
             and "states": the files of the saved states of the target's range, the interval and
             the outlook, each a name or null

The target is one of a sample's values, so no sample has a label. On the link a prediction is of
class 0, unless a host has asked for numbers, see docs/reference/link.md.
"""

from array import array

from micropython import const

from ..forecaster import Forecaster
from ..learner import whole
from .frames import write_values
from .ways import answer_of

_NUMBERS = const(13)
_NAMES = ("columns", "column", "ends", "horizon", "lags", "interval", "states")
_OF_CLASSES = ("alarm", "anomaly", "asking", "label_pin", "spare", "beside", "mqtt")
_MOST = (1 << 29) - 1
_REFUSAL = "this program predicts a number, which it reads itself: it takes no labels"


def take(configuration, fields):
    """Take what the fields of config.json say of numbers. Raises ValueError.

    A sample of the configuration then has the columns that the sensor gives, and one class.
    """
    numbers = configuration.numbers
    if not isinstance(numbers, dict):
        raise ValueError("numbers has to be an object, not %r" % (numbers,))
    for name in numbers:
        if name not in _NAMES:
            raise ValueError("numbers has no option %s; there is: %s" % (name, ", ".join(_NAMES)))
    for name in _OF_CLASSES:
        if fields.get(name) is not None:
            raise ValueError(name + " is for classes, and this program predicts a number")
    if "features" not in configuration.parameters:
        raise ValueError("the parameters have no features")
    if "columns" not in numbers or "column" not in numbers:
        raise ValueError("numbers has no columns or no column")
    if (fields.get("quantizer") is None) != (numbers.get("ends") is None):
        raise ValueError("the quantizer and the ends of numbers are either both there, or none is")
    configuration.features = whole("columns", numbers["columns"], 1, 257)
    configuration.classes = 1


class _Numbers:
    """The part of an application, see device_model.py, that is another one for numbers."""

    def __init__(self, app):
        options = dict(app.configuration.numbers)
        states = options.pop("states", None) or ()
        self._app = app
        self.forecaster = Forecaster(app.learner, **options)
        forecaster = self.forecaster
        parts = (forecaster.target, forecaster.interval, forecaster.outlook)
        self.states = tuple([pair for pair in zip(parts, states) if pair[0]])

    def sample(self, label):
        """Learn what the sample in app.values tells, and predict; returns class 0."""
        app, forecaster = self._app, self.forecaster
        if label >= 0:
            raise ValueError(_REFUSAL)
        if forecaster.quantizer.frozen:
            forecaster.take(app.values)
        else:
            forecaster.observe(app.values)
            app._seen += 1
            if app._seen >= app.configuration.warmup:
                forecaster.freeze()
        if app.plotter:
            show(app.plotter, app.values, forecaster)
        return 0

    def refuse(self, *_):
        """There are no classes."""
        raise ValueError(_REFUSAL)

    def note(self, words):
        """Fill the words of the link's state that count samples."""
        for k in range(10):
            if not 6 <= k <= 7:  # the heap
                words[k] = 0
        words[0] = min(self.forecaster.samples, _MOST)
        words[11] = self.forecaster.waiting


def configure(app):
    """Have an application that has a learner predict numbers."""
    numbers = _Numbers(app)
    forecaster = app.forecaster = app.metrics = numbers.forecaster
    app.quantizer = forecaster.quantizer
    app.parts = forecaster.parts
    app._states = numbers.states
    app.sample = numbers.sample
    app.label = app.confusion = numbers.refuse
    app._note = numbers.note
    app.more[_NUMBERS] = answer_of(ways)


def show(plotter, values, forecaster):
    """A line for a plotter: the values, then `pred_mid:233 pred_low:221 pred_high:245`."""
    plotter.begin(values)
    said, half = forecaster.said, forecaster.half
    plotter.put(b"pred_mid", said)
    if half >= 0:
        plotter.put(b"pred_low", said - half)
        plotter.put(b"pred_high", said + half)
    plotter.end()


def ways(put, app, body):
    """(put, put with numbers, tell), as in scores.py.

    Behind what put writes stand the prediction and half the width of its interval, i32, and what
    the sample's own target was: 1 inside its interval, 2 outside, 0 not known. tell(words) fills
    the last prediction, half its interval's width, and the words of NumberMetrics.
    """
    forecaster = app.forecaster
    said = array("i", (0, 0))

    def put_number(to, prediction):
        size = put(to, prediction)
        put_said(to + size)
        return size + 9

    def put_said(at):
        said[0] = forecaster.said
        said[1] = forecaster.half
        write_values(body, at, said, 2)
        body[at + 8] = forecaster.outcome

    def tell(words):
        words[0] = forecaster.said
        words[1] = forecaster.half
        return forecaster.metrics.tell(words, 2)

    return put, put_number, tell
