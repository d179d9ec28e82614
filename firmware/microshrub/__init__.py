"""Online learning on microcontrollers, sample by sample, in an amount of RAM known beforehand.

A name's module is loaded when the name is first used, so a program only has in RAM what it needs:
`from microshrub import Quantizer, ShrubEnsemble`. learners.py lists the learners.
"""

__version__ = "0.1.0"

# A module and its names on each line, as one text: tuples would take three times the RAM
_PARTS = """
anomaly AnomalyScore
active_learning QueryStrategy
checkpoint Checkpoint
class_names ClassNames
drift_alarm DriftAlarm LEVELS
explanation explain
forecaster Forecaster
prediction_sets Guarantee
prediction_interval Interval
naive_forecasts NaiveForecasts
metrics Metrics
novelty_detection NoveltyDetector
regression_metrics RegressionMetrics
growing_ranges GrowingQuantizer
sample_packet SamplePacket
delayed_labels Pending
quantizer MISSING Quantizer RAW_MAX
spare_classes SpareClasses
target Target
thicket.rehearsal Rehearsal
thicket.sharing Sharing
"""


def __getattr__(name):
    try:
        return _part(name)
    except ImportError as error:
        if "'micropython'" not in str(error):
            raise
        words = "this is for boards. On a PC: microshrub_host.load('python').%s" % name
        raise ImportError(words) from None


def _part(name):
    parts = [line.split() for line in _PARTS.split("\n")]
    if name == "__all__":
        return sorted([name for part in parts for name in part[1:]])
    for part in parts:
        if name in part[1:]:
            return getattr(__import__(part[0], globals(), None, (name,), 1), name)
    from .learners import learner_class, learner_names

    if name in learner_names():
        return learner_class(name)
    raise AttributeError(name)
