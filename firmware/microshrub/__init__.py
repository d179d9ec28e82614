"""Online learning on microcontrollers, sample by sample, in bytes that are known beforehand.

A part is loaded when it is first asked for, so a program has in RAM only what it uses:
`from microshrub import Quantizer, ShrubEnsemble`.
"""

__version__ = "0.1.0"
__all__ = (
    "LEVELS",
    "MISSING",
    "RAW_MAX",
    "Checkpoint",
    "DriftAlarm",
    "Grove",
    "HoeffdingTree",
    "Metrics",
    "NearestNeighbours",
    "Pending",
    "Quantizer",
    "ShrubEnsemble",
    "SoftmaxRegression",
    "Thicket",
    "explain",
)

_HOMES = (
    ("drift_alarm", ("DriftAlarm", "LEVELS")),
    ("checkpoint", ("Checkpoint",)),
    ("shrub.ensemble", ("ShrubEnsemble",)),
    ("explanation", ("explain",)),
    ("hoeffding.tree", ("HoeffdingTree",)),
    ("thicket.grove", ("Grove",)),
    ("thicket.neighbours", ("NearestNeighbours",)),
    ("thicket.softmax", ("SoftmaxRegression",)),
    ("thicket.thicket", ("Thicket",)),
    ("metrics", ("Metrics",)),
    ("pending", ("Pending",)),
    ("quantizer", ("Quantizer", "MISSING", "RAW_MAX")),
)


def __getattr__(name):
    for module, names in _HOMES:
        if name in names:
            return getattr(__import__(module, globals(), None, (name,), 1), name)
    raise AttributeError(name)
