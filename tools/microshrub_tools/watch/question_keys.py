"""Keys that answer a device's questions: one for each of the first classes."""

from __future__ import annotations

import string
from collections.abc import Sequence

from ..link.client import HostLink
from ..link.link_errors import RefusedError
from ..link.messages import Question, late_label

_KEYS = string.digits[1:] + string.ascii_lowercase


def keys_of(classes: Sequence[str]) -> dict[str, int]:
    """The key of each class, by the number of the class: 1 is the first one."""
    return dict(zip(_KEYS, range(len(classes)), strict=False))


def told(question: Question, classes: Sequence[str]) -> str:
    """The question in words, with the keys that answer it."""
    if not question.sample_id:
        return "none"
    keys = ", ".join(f"{key} {classes[label]}" for key, label in keys_of(classes).items())
    guess = classes[question.label]
    return f"what is sample {question.sample_id}? The guess is {guess}. Press {keys}"


def answer(link: HostLink, question: Question, classes: Sequence[str], pressed: str) -> bool:
    """Send the label of the first key that stands for a class; whether the device took it."""
    known = keys_of(classes)
    labels = [known[key] for key in pressed.lower() if key in known]
    if not labels or not question.sample_id:
        return False
    try:
        link.ask(late_label(question.sample_id, labels[0]))
    except RefusedError:  # it was answered before, or so many came since
        return False
    return True
