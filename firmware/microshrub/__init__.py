"""Online learning on microcontrollers, sample by sample, in an amount of RAM known beforehand.

A part is loaded when it is first used, so a program only has in RAM what it needs:
`from microshrub import Quantizer, ShrubEnsemble`. The learners are those of learners.py.
"""

__version__ = "0.1.0"

# A module and what it gives, in one text: tuples would take three times the RAM on a board
_PARTS = """
anomaly AnomalyScore
asking Asking
checkpoint Checkpoint
class_names ClassNames
drift_alarm DriftAlarm LEVELS
explanation explain
forecaster Forecaster
guarantee Guarantee
interval Interval
outlook Outlook
metrics Metrics
newcomers Newcomers
number_metrics NumberMetrics
growing GrowingQuantizer
parcel Parcel
pending Pending
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
