"""Online learning on microcontrollers, sample by sample, in an amount of RAM known beforehand.

A part is loaded when it is first used, so a program only has in RAM what it needs:
`from microshrub import Quantizer, ShrubEnsemble`. The learners are those of learners.py.
"""

__version__ = "0.1.0"
__all__ = (
    "LEVELS",
    "MISSING",
    "RAW_MAX",
    "AnomalyScore",
    "Checkpoint",
    "DriftAlarm",
    "Interval",
    "Metrics",
    "Pending",
    "Quantizer",
    "Target",
    "explain",
)

_HOMES = (
    ("anomaly", ("AnomalyScore",)),
    ("drift_alarm", ("DriftAlarm", "LEVELS")),
    ("checkpoint", ("Checkpoint",)),
    ("explanation", ("explain",)),
    ("interval", ("Interval",)),
    ("metrics", ("Metrics",)),
    ("pending", ("Pending",)),
    ("quantizer", ("Quantizer", "MISSING", "RAW_MAX")),
    ("target", ("Target",)),
)


def __getattr__(name):
    for module, names in _HOMES:
        if name in names:
            return getattr(__import__(module, globals(), None, (name,), 1), name)
    from .learners import learner_class, learner_names

    if name in learner_names():
        return learner_class(name)
    raise AttributeError(name)
