"""Checks every message of a board before it is used: answers, observations, config.json.

Damage on the line is no concern, as frames have a checksum. But the board may run other software,
have faulty memory, or be hostile.
"""

from __future__ import annotations

import json
from typing import Any, TypeGuard

from microshrub_host.base.text import whole
from microshrub_host.simulation.watcher import CONFIG

from .class_messages import ClassState
from .link_errors import LinkError
from .messages import (
    CHECKPOINT,
    FINGERPRINT,
    QUERIES,
    RESET,
    STATUS,
    AnomalyStatus,
    Answer,
    CompanionWords,
    Counts,
    DeviceStatus,
    Done,
    Fingerprint,
    Observed,
    Piece,
    Prediction,
    Query,
    RegressionErrors,
    Request,
    Welcome,
    anomaly,
    classes,
    companion_words,
    configuration,
    configure,
    confusion,
    late_label,
    regression,
    sample,
)

# The answer to each kind of request, besides a Failure
_ANSWERS: dict[int, type] = {
    STATUS.kind: DeviceStatus,
    FINGERPRINT.kind: Fingerprint,
    CHECKPOINT.kind: Done,
    RESET.kind: Done,
    QUERIES.kind: Query,
    sample([]).kind: Prediction,
    sample([], 0).kind: Prediction,
    late_label(0, 0).kind: Done,
    configure(b"", 1)[0].kind: Done,
    configuration(0).kind: Piece,
    confusion(0).kind: Counts,
    anomaly(scores=False).kind: AnomalyStatus,
    classes(b"").kind: ClassState,
    regression(predictions=False).kind: RegressionErrors,
    companion_words(0).kind: CompanionWords,
}
_MOST_DIGITS = 40  # decimal places, or zeros before the point: more are no unit
_LARGEST = 1 << 62  # the largest offset


class BoardError(LinkError):
    """The board sends an impossible message."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"the board says what cannot be: {what}. Is microshrub's program running on it? Build "
            "and flash it again."
        )


def check_welcome(welcome: Welcome) -> None:
    """Raise BoardError for a board without valid classes and features."""
    if not 1 <= welcome.classes <= 256:
        raise BoardError(f"it has {welcome.classes} classes")
    if not welcome.features:
        raise BoardError("it has no features")


def check_answer(request: Request, answer: Answer, welcome: Welcome) -> None:
    """Raise BoardError if the answer does not fit the request, or has impossible values."""
    wanted = _ANSWERS.get(request.kind)
    if wanted and not isinstance(answer, wanted):
        raise BoardError(f"{type(answer).__name__} where {wanted.__name__} was asked for")
    if isinstance(answer, Prediction):
        _check_class(answer.label, welcome)
    elif isinstance(answer, Query):
        if answer.sample_id:
            _check_class(answer.label, welcome)
    elif isinstance(answer, ClassState):
        _check_class(answer.number, welcome)
        _check_class(answer.stands_for, welcome)
        asked = request.payload[1] if request.payload[:1] == b"\0" else answer.number
        if answer.number != asked:
            raise BoardError(f"class {answer.number} where {asked} was asked for")
    elif isinstance(answer, Counts):
        if len(answer.counts) > welcome.classes - request.payload[1]:
            raise BoardError(f"{len(answer.counts)} counts in a row of {welcome.classes} classes")
        _check_counts("the confusion matrix", *answer.counts)
    elif isinstance(answer, DeviceStatus):
        _check_counts("its status", answer.samples, answer.right, answer.drifts, answer.uptime)
        _check_counts("its heap", answer.heap_used, answer.heap_free)
    elif isinstance(answer, AnomalyStatus):
        _check_counts("anomalies", answer.score, answer.threshold, answer.alarms, answer.left or 0)


def check_observed(observed: Observed, welcome: Welcome) -> None:
    """Raise BoardError if the board cannot have made this observation."""
    _check_class(observed.prediction.label, welcome)
    _check_class(observed.label or 0, welcome)
    if len(observed.values) != welcome.features:
        raise BoardError(f"{len(observed.values)} values of {welcome.features} features")


def _check_class(label: int, welcome: Welcome) -> None:
    if not 0 <= label < welcome.classes:
        raise BoardError(f"class {label} of {welcome.classes}")


def _check_counts(what: str, *numbers: int) -> None:
    if min(numbers, default=0) < 0:
        raise BoardError(f"{min(numbers)} in {what}")


def fields_of(text: bytes, welcome: Welcome) -> dict[str, Any]:
    """Return the fields of a config.json that a PC needs; invalid ones are left out.

    class_names, feature_names: lists of texts, one for each class or feature. units: (offset,
    digits) of each feature. column: the value that is predicted. program: a text. spare_classes,
    anomaly, queries, extraction: True. watchers: the names of the watchers, in order.
    """
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(given, dict):
        return {}
    result: dict[str, Any] = {
        name: True
        for name in ("spare_classes", "anomaly", "queries", "extraction")
        if given.get(name)
    }
    for name, number in (("class_names", welcome.classes), ("feature_names", welcome.features)):
        texts = given.get(name)
        if _is_list(texts, number) and all(isinstance(each, str) for each in texts):
            result[name] = [whole(each) for each in texts]
    if _is_list(given.get("units"), welcome.features):
        result["units"] = [_unit(pair) for pair in given["units"]]
    if isinstance(given.get(CONFIG), dict):
        result[CONFIG] = sorted(given[CONFIG])
    numbers = given.get("regression")
    column = numbers.get("column") if isinstance(numbers, dict) else None
    if type(column) is int and 0 <= column < welcome.features and welcome.classes == 1:
        result["column"] = column
    if isinstance(given.get("program"), str):
        result["program"] = whole(given["program"])
    return result


def _is_list(value: Any, length: int) -> TypeGuard[list[Any]]:
    return isinstance(value, list) and len(value) == length


def _unit(pair: Any) -> tuple[int, int]:
    offset, digits = pair if _is_list(pair, 2) else (0, 0)
    right = type(offset) is int and type(digits) is int
    right = right and abs(digits) <= _MOST_DIGITS and abs(offset) <= _LARGEST
    return (offset, digits) if right else (0, 0)
