"""The application of a regressor. config.json has

    regression  {"columns", "column", "ends", "horizon", "lags", "interval"}, as for Forecaster,
                and "states": the files of the saved states of the target's range, the interval
                and the naive forecasts, each null or a name

The target is one of a sample's values, so no sample has a label. On the link a prediction is of
class 0, unless a host has requested the predicted values, see docs/reference/link.md.
"""

from array import array

from micropython import const

from ..forecaster import Forecaster
from .application import Application
from .frames import HEADER, write_values

_REGRESSION = const(13)
_MOST = (1 << 29) - 1
_REFUSAL = "this program predicts a number, which it reads itself: it takes no labels"


class RegressionApp(Application):
    """An Application that predicts a number."""

    def _set_up(self, configuration):
        options = dict(configuration.regression)
        states = options.pop("states", None) or ()
        self.forecaster = forecaster = Forecaster(self.learner, **options)
        self.metrics = forecaster  # type: ignore[assignment]
        self.quantizer = forecaster.quantizer
        self.parts = forecaster.parts
        parts = (forecaster.target, forecaster.interval, forecaster.naive)
        self._states = tuple([pair for pair in zip(parts, states) if pair[0]])
        self._both = array("i", (0, 0))
        self.more[_REGRESSION] = self._answer_host

    def sample(self, label):
        """Learn the target that the sample in `values` has, and predict; returns class 0."""
        forecaster = self.forecaster
        if label >= 0:
            raise ValueError(_REFUSAL)
        self.settle()
        if forecaster.quantizer.frozen:
            forecaster.take(self.values)
            self.changed()
        else:
            forecaster.observe(self.values)
            self._seen += 1
            if self._seen >= self.configuration.warmup:
                forecaster.freeze()
        if self.plotter:
            show(self.plotter, self.values, forecaster)
        return 0

    def label(self, sample_id, label):
        """Refuse a label: there are no classes."""
        raise ValueError(_REFUSAL)

    def confusion(self, label, prediction):
        """Refuse: there are no classes."""
        raise ValueError(_REFUSAL)

    def _note(self, words):
        """Fill the words of the link's state that count samples."""
        for k in range(10):
            if not 6 <= k <= 7:  # the heap
                words[k] = 0
        words[0] = min(self.forecaster.samples, _MOST)
        words[11] = self.forecaster.waiting

    def _answer_host(self, link, to, body, n):
        """Put numbers behind each prediction from now on, or not; answer with the last prediction,
        half the width of its interval, and the words of RegressionMetrics.
        """
        link.extra = self if body[HEADER] else None
        return link.put_words(to, self._tell(link.words))

    def _tell(self, words):
        words[0] = self.forecaster.prediction
        words[1] = self.forecaster.half
        return self.forecaster.metrics.tell(words, 2)

    def put(self, body, at):
        """Write the prediction and half the width of its interval, i32, and where the sample's own
        target was: 1 inside its interval, 2 outside, 0 not known; returns where they end.
        """
        both = self._both
        both[0] = self.forecaster.prediction
        both[1] = self.forecaster.half
        write_values(body, at, both, 2)
        body[at + 8] = self.forecaster.outcome
        return at + 9


def show(plotter, values, forecaster):
    """A line for a plotter: the values, then `pred_mid:233 pred_low:221 pred_high:245`."""
    plotter.begin(values)
    prediction, half = forecaster.prediction, forecaster.half
    plotter.put(b"pred_mid", prediction)
    if half >= 0:
        plotter.put(b"pred_low", prediction - half)
        plotter.put(b"pred_high", prediction + half)
    plotter.end()
