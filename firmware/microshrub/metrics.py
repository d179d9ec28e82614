"""Prequential evaluation on the device: accuracy, confusion matrix, and the simple baselines.

Kappa and kappa temporal are those of Bifet, de Francisci Morales, Read, Holmes and Pfahringer:
Efficient Online Evaluation of Big Data Stream Classifiers, KDD 2015.
"""

import micropython
from micropython import const

from .buffers import Buffers, address_table, table_bytes
from .learner import check_classes, whole

# From elsewhere, written by `make constants`:
# places of buffers
_METRICS_COUNTS = const(0)
_METRICS_CAME = const(1)
_METRICS_PREDICTIONS = const(2)
_METRICS_CONFUSION = const(3)
# (end)

_CLASSES = const(0)  # words of the counts
_SEEN = const(1)
_RIGHT = const(2)
_NO_CHANGE = const(3)  # right by predicting the last label
_MAJORITY = const(4)  # right by predicting the most frequent label so far
_LAST = const(5)  # the last label + 256 * how often all counts were halved
_MATRIX = const(6)  # classes if the confusion matrix is kept, else 0
_WORDS = const(7)
_MATRIX_CLASSES = const(32)  # the matrix of more classes would take more than 4 KB
_FULL = const(536870912)  # 2**29: all counts are halved there, which keeps their ratios


@micropython.viper
def note(t, labels, predictions, samples: int):
    """Count so many samples; confusion[label * classes + prediction], where it is kept."""
    address = ptr32(t)
    counts = ptr32(address[_METRICS_COUNTS])
    came = ptr32(address[_METRICS_CAME])
    predicted = ptr32(address[_METRICS_PREDICTIONS])
    matrix = ptr32(address[_METRICS_CONFUSION])
    truth = ptr8(labels)
    predicted_class = ptr8(predictions)
    kept = counts[_MATRIX]
    classes = counts[_CLASSES]
    for i in range(samples):
        label = truth[i]
        prediction = predicted_class[i]
        if counts[_SEEN] == _FULL:
            for k in range(_SEEN, _LAST):
                counts[k] = counts[k] >> 1
            counts[_LAST] = counts[_LAST] + 256  # < 2**29 for 2**49 samples
            for k in range(classes):
                came[k] = came[k] >> 1
                predicted[k] = predicted[k] >> 1
            for k in range(classes * kept):
                matrix[k] = matrix[k] >> 1
        majority = 0
        for k in range(classes):
            if came[k] > came[majority]:
                majority = k
        if counts[_SEEN] and label == counts[_LAST] & 255:
            counts[_NO_CHANGE] = counts[_NO_CHANGE] + 1
        if counts[_SEEN] and label == majority:
            counts[_MAJORITY] = counts[_MAJORITY] + 1
        if label == prediction:
            counts[_RIGHT] = counts[_RIGHT] + 1
        came[label] = came[label] + 1
        predicted[prediction] = predicted[prediction] + 1
        if kept:
            k = label * classes + prediction
            matrix[k] = matrix[k] + 1
        counts[_SEEN] = counts[_SEEN] + 1
        counts[_LAST] = (counts[_LAST] >> 8 << 8) + label


class Metrics(Buffers):
    """Counts of a stream of labels and predictions; classes is 2..256.

    All ratios are integers in millionths, computed on request. A confusion matrix is kept for up
    to 32 classes.
    """

    def __init__(self, classes):
        self.classes = whole("classes", classes, 2, 256)
        self._label = bytearray(1)
        self._prediction = bytearray(1)
        self._allocate()

    @classmethod
    def nbytes(cls, classes):
        """Bytes of the buffers for that many classes."""
        return table_bytes(_table(classes))

    def configuration(self):
        """The number of classes."""
        return "Metrics classes=%d" % self.classes

    def _table(self):
        return _table(self.classes)

    def _allocate(self):
        Buffers._allocate(self)
        self._addresses = address_table(self._flat)

    def _start(self):
        self._flat[0][_CLASSES] = self.classes
        self._flat[0][_MATRIX] = self.classes if len(self._flat[3]) else 0

    _FIXED = (("metrics.counts", (_CLASSES, _MATRIX)),)

    def _is_sound(self):
        for buffer in self._flat:
            if len(buffer) and (min(buffer) < 0 or max(buffer) > _FULL):
                return False
        return self._flat[0][_LAST] & 255 < self.classes

    def update(self, label, prediction):
        """Count one sample. Allocates nothing."""
        self._label[0] = self._class(label)
        self._prediction[0] = self._class(prediction)
        note(self._addresses, self._label, self._prediction, 1)

    def update_rows(self, labels, predictions):
        """Count many: two bytearrays of one length."""
        check_classes("labels", labels, self.classes)
        check_classes("predictions", predictions, self.classes)
        if len(labels) != len(predictions):
            raise ValueError("labels and predictions have to be of one length")
        if len(labels):
            note(self._addresses, labels, predictions, len(labels))

    def _class(self, c):
        return whole("a class", c, 0, self.classes - 1)

    def confusion(self, label, prediction):
        """How many samples with label got that prediction. ValueError above 32 classes."""
        if not len(self._flat[3]):
            raise ValueError(
                "there is no confusion matrix of more than %d classes" % _MATRIX_CLASSES
            )
        return self._flat[3][self._class(label) * self.classes + self._class(prediction)]

    @property
    def samples(self):
        """All samples so far, also those that halving took out of the counts."""
        counts = self._flat[0]
        return counts[_SEEN] + (counts[_LAST] >> 8) * (_FULL >> 1)

    @property
    def right(self):
        """How many of them were predicted correctly; above 2**29 samples, in proportion."""
        counts = self._flat[0]
        if counts[_LAST] < 256:
            return counts[_RIGHT]
        return counts[_RIGHT] * self.samples // counts[_SEEN]

    @property
    def accuracy(self):
        """The share of right predictions."""
        return self._ratio(_RIGHT)

    @property
    def accuracy_nochange(self):
        """The accuracy of always predicting the last label."""
        return self._ratio(_NO_CHANGE)

    @property
    def accuracy_majority(self):
        """The accuracy of always predicting the most frequent label so far."""
        return self._ratio(_MAJORITY)

    @property
    def kappa(self):
        """Cohen's kappa: how far the accuracy is above chance agreement; at most 1,000,000."""
        counts = self._flat[0]
        seen = counts[_SEEN]
        return _above(counts[_RIGHT] * seen, self.prior(), seen * seen)

    def prior(self):
        came, predicted = self._flat[1], self._flat[2]
        chance = 0
        for c in range(self.classes):
            chance += came[c] * predicted[c]
        return chance

    @property
    def kappa_temporal(self):
        """How far the accuracy is above NoChange's; at most 1,000,000."""
        counts = self._flat[0]
        return _above(counts[_RIGHT], counts[_NO_CHANGE], counts[_SEEN])

    def _ratio(self, word):
        counts = self._flat[0]
        return millionths(counts[word], max(counts[_SEEN], 1))


def _above(right, baseline, whole_count):
    """(right - baseline) / (whole - baseline) in millionths; 0 where the baseline is perfect."""
    if baseline >= whole_count:
        return 0
    return millionths(right - baseline, whole_count - baseline)


def millionths(part, whole_part):
    """part * 1,000,000 // whole_part, which is more than 0.

    Allocates nothing if both are within 2**29 and the result within 2**30.
    """
    if whole_part >= _FULL:
        return part * 1000000 // whole_part
    return part // whole_part * 1000000 + fraction(part % whole_part, whole_part, 1000000)


@micropython.viper
def fraction(part: int, of: int, times: int) -> int:
    """part * times // of, for 0 <= part < of < 2**29, times < 2**20: bit by bit of times."""
    rest = 0
    root = 0
    for k in range(20):
        rest = rest << 1  # < 2**30
        root = root << 1
        if rest >= of:
            rest -= of
            root += 1
        if times >> (19 - k) & 1:
            rest += part
            if rest >= of:
                rest -= of
                root += 1
    return root


def _table(classes):
    return [
        ("metrics.counts", "i", _WORDS),
        ("metrics.came", "i", classes),
        ("metrics.predictions", "i", classes),
        ("metrics.confusion", "i", classes * classes if classes <= _MATRIX_CLASSES else 0),
    ]
