"""The messages in the link's frames, as typed values; docs/reference/link.md has the bytes."""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from microshrub_host.library import loader

from .class_messages import ClassState, read_class_state
from .frames import Frame

_types: Any = loader.load("python").device.link
# A predicted class, without and with an anomaly score; a predicted number
_SHORT, _SCORED, _NUMBER = "<HBB", "<HBBBB", "<HBBiiB"
_FORMS = {struct.calcsize(form): form for form in (_SHORT, _SCORED, _NUMBER)}
UNKNOWN = 0xFFFF  # the code of an unknown label

HELLO: int = _types._HELLO
WELCOME: int = _types._WELCOME
AGAIN: int = _types._AGAIN
ERROR: int = _types._ERROR
OBSERVED: int = _types._OBSERVED
NO_SESSION: int = _types._NO_SESSION
USED_SESSION: int = _types._USED_SESSION


@dataclass(frozen=True)
class Request:
    """A request of the host."""

    kind: int
    payload: bytes = b""


STATUS = Request(_types._STATUS)
FINGERPRINT = Request(_types._FINGERPRINT)
CHECKPOINT = Request(_types._CHECKPOINT)
RESET = Request(_types._RESET)
_COMPANION: int = _types._WATCHERS
THIS_IS_NORMAL = Request(_types._ANOMALY, b"\2")  # with one more word in the answer
QUERIES = Request(_types._QUERIES)  # the newest query, and how many there were


def sample(values: Iterable[int], label: int | None = None) -> Request:
    """Return a request to predict a sample of raw 30-bit values and, with a label, learn it."""
    raw = array("i", values)
    if sys.byteorder == "big":
        raw.byteswap()
    if label is None:
        return Request(_types._SAMPLE, raw.tobytes())
    return Request(_types._LABELLED, bytes([label]) + raw.tobytes())


def late_label(sample_id: int, label: int) -> Request:
    """Return a request with the label of an earlier sample."""
    return Request(_types._LABEL, struct.pack("<HB", sample_id, label))


def configure(text: bytes, piece_bytes: int) -> list[Request]:
    """Return the requests with a configuration, in pieces of at most `piece_bytes`."""
    pieces = [text[i : i + piece_bytes] for i in range(0, len(text), piece_bytes)] or [b""]
    last = len(pieces) - 1
    return [Request(_types._CONFIGURE, bytes([i == last]) + p) for i, p in enumerate(pieces)]


def configuration(at: int) -> Request:
    """Return a request for the configuration's text from byte `at`, 0..65535, on."""
    return Request(_types._CONFIGURATION, struct.pack("<H", at))


def confusion(label: int, first: int = 0) -> Request:
    """Return a request for a label's row in the confusion matrix, from prediction `first` on."""
    return Request(_types._CONFUSION, bytes([label, first]))


def anomaly(scores: bool) -> Request:
    """Return a request for the anomaly score and alarms.

    From then on, predictions have scores if `scores` is true.
    """
    return Request(_types._ANOMALY, bytes([scores]))


def classes(payload: bytes) -> Request:
    """Return a request about the device's named classes, with a payload of class_messages.py."""
    return Request(_types._CLASSES, payload)


def companion_words(number: int) -> Request:
    """Return a request for a watcher's figures, by its place in the order of names, from 0 on."""
    return Request(_COMPANION, bytes([number]))


def regression(predictions: bool) -> Request:
    """Return a request for a regressor's errors.

    From then on, predictions have the predicted value if `predictions` is true.
    """
    return Request(_types._REGRESSION, bytes([predictions]))


@dataclass(frozen=True)
class Done:
    """The request was carried out."""


@dataclass(frozen=True)
class Welcome:
    """The device's answer to hello; `expected` is the sequence number that it waits for."""

    window: int
    configuration_hash: int
    features: int
    classes: int
    longest_payload: int
    expected: int


@dataclass(frozen=True)
class Prediction:
    """The prediction for a sample; confidence is 0..255.

    sample_id is 0 if the sample had a label, or if the device queries labels, but not this one. On
    request, score is how unusual the sample is, 0..255, and anomalous is 1 if the score is above
    the threshold.
    """

    sample_id: int
    label: int
    confidence: int
    score: int | None = None
    anomalous: int | None = None
    number: Number | None = None  # the predicted number, on request


@dataclass(frozen=True)
class Number:
    """A predicted number, raw."""

    predicted: int
    half: int  # half the width of the interval, -1 without one
    outcome: int  # 1 if the newest target is inside its interval, 2 outside, 0 unknown


@dataclass(frozen=True)
class RegressionErrors:
    """The last predicted number, raw, and the errors of predictions whose target is known."""

    predicted: int
    half: int  # half the width of the last one's interval, -1 without one
    scored: int
    high: int  # the sum of |prediction - target| is 2**29 * high + low
    low: int
    nochange_high: int  # the sum for predicting the last known target
    nochange_low: int
    inside: int  # targets that were inside their interval

    @property
    def mae(self) -> float:
        """Mean absolute error."""
        return ((self.high << 29) + self.low) / max(self.scored, 1)

    @property
    def mae_nochange(self) -> float:
        """Mean absolute error of predicting the last known target."""
        return ((self.nochange_high << 29) + self.nochange_low) / max(self.scored, 1)


@dataclass(frozen=True)
class DeviceStatus:
    """Ratios in millionths, heap in bytes, uptime in seconds; drift is 0, 1 (warning) or 2.

    missed counts readings of the board's sensor that were due while the board was busy; asleep is
    how many of the seconds of uptime the board slept. unsaved counts labels and the like that are
    not in flash yet, -1 if nothing is ever saved; saved_ago is the seconds since the last save, or
    since the start if the state was restored then, -1 without either.
    """

    samples: int
    right: int
    accuracy: int
    accuracy_nochange: int
    kappa: int
    kappa_temporal: int
    heap_used: int
    heap_free: int
    drift: int
    drifts: int
    uptime: int
    pending: int
    checkpoint: int
    damaged: int
    missed: int
    asleep: int
    unsaved: int
    saved_ago: int


@dataclass(frozen=True)
class AnomalyStatus:
    """The anomaly score of the last sample, the threshold, 0..255, and the alarms so far.

    While the device learns that a state is normal, `left` is how many samples that still takes.
    """

    score: int
    threshold: int
    alarms: int
    left: int | None = None


@dataclass(frozen=True)
class Query:
    """The newest label query, and how many there were.

    sample_id is 0, and label -1, if the query is answered.
    """

    sample_id: int
    label: int  # the predicted label
    asked: int
    seen: int  # samples so far; `asked` and `seen` are halved at 2**29
    saved: int  # queries allowed in a row


@dataclass(frozen=True)
class CompanionWords:
    """The figures of a watcher; its class on the PC interprets them."""

    words: tuple[int, ...]


@dataclass(frozen=True)
class Counts:
    """Counts of a row of the confusion matrix, as many as fit."""

    counts: tuple[int, ...]


@dataclass(frozen=True)
class Fingerprint:
    """The CRC32 of the model's state."""

    crc32: int


@dataclass(frozen=True)
class Piece:
    """Bytes of the configuration's text; none after its end."""

    data: bytes


@dataclass(frozen=True)
class Failure:
    """An error with the device's text; docs/reference/link.md lists the codes."""

    code: int
    words: str


@dataclass(frozen=True)
class Observed:
    """A sample of the device's own; label is None if unknown."""

    number: int
    prediction: Prediction
    label: int | None
    values: tuple[int, ...] = field(repr=False)


Answer = (
    Done
    | Welcome
    | Prediction
    | DeviceStatus
    | AnomalyStatus
    | Query
    | RegressionErrors
    | ClassState
    | CompanionWords
    | Counts
    | Fingerprint
    | Piece
    | Failure
)


def read_answer(frame: Frame) -> Answer | None:
    """Return the answer in a frame; None if the frame is not a valid answer."""
    try:
        return _read(frame)
    except (struct.error, TypeError, LookupError):
        return None


def _read(frame: Frame) -> Answer | None:
    kind, payload = frame.kind, frame.payload
    if kind == _types._DONE:
        return Done()
    if kind == _types._PREDICTION:
        return _prediction(payload)
    if kind == _types._STATE:
        return DeviceStatus(*_words(payload))
    if kind == _types._ANOMALY_STATUS:
        return AnomalyStatus(*_words(payload))
    if kind == _types._QUERY:
        return Query(*_words(payload))
    if kind == _types._ERRORS:
        return RegressionErrors(*_words(payload))
    if kind == _types._CLASS:
        return read_class_state(payload)
    if kind == _types._FIGURES:
        return CompanionWords(_words(payload))
    if kind == _types._COUNTS:
        return Counts(_words(payload))
    if kind == _types._CRC:
        return Fingerprint(*struct.unpack("<I", payload))
    if kind == _types._TEXT:
        return Piece(payload)
    if kind == WELCOME:
        return Welcome(frame.credits, *struct.unpack("<IHHHH", payload))
    if kind == ERROR:
        return Failure(payload[0], payload[1:].decode(errors="replace"))
    return None


def _prediction(payload: bytes) -> Prediction:
    form = _FORMS[len(payload)]
    sample_id, label, confidence, *more = struct.unpack(form, payload)
    if form == _NUMBER:
        return Prediction(sample_id, label, confidence, number=Number(*more))
    return Prediction(sample_id, label, confidence, *more)


def read_observed(frame: Frame) -> Observed | None:
    """Return the observation in a frame; None if the frame is not a valid observation.

    A label and whole words follow the prediction, so the length shows the prediction's form.
    """
    payload = frame.payload
    size = next((n for n in _FORMS if (len(payload) - n - 2) % 4 == 0), 0)
    if not size or len(payload) < size + 2:
        return None
    (label,) = struct.unpack_from("<H", payload, size)
    known = None if label == UNKNOWN else label
    return Observed(
        frame.sequence, _prediction(payload[:size]), known, _words(payload[size + 2 :])
    )


def _words(payload: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(payload) // 4}i", payload)
