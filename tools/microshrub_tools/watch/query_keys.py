"""Answers to a device's label queries: a key for each of the first classes, or a typed name."""

from __future__ import annotations

import shlex
import string
from collections.abc import Sequence
from dataclasses import replace

from ..link.client import HostLink
from ..link.link_errors import RefusedError
from ..link.messages import Query, late_label
from .device_watch import Watch

_KEYS = string.digits[1:] + string.ascii_lowercase


def keys_of(classes: Sequence[str]) -> dict[str, int]:
    """The key of each class, by the number of the class: 1 is the first one."""
    return dict(zip(_KEYS, range(len(classes)), strict=False))


def described(query: Query, classes: Sequence[str], *, typed: bool = False) -> str:
    """The query in words, and what answers it: keys, or a name that is typed."""
    if not query.sample_id:
        return "none"
    keys = ", ".join(f"{key} {classes[label]}" for key, label in keys_of(classes).items())
    how = "Type: answer NAME" if typed else f"Press {keys}"
    predicted = classes[query.label]
    return f"what is sample {query.sample_id}? Predicted: {predicted}. {how}"


def answer(link: HostLink, query: Query, classes: Sequence[str], pressed: str) -> bool:
    """Send the label of the first key that stands for a class; whether the device took it."""
    known = keys_of(classes)
    labels = [known[key] for key in pressed.lower() if key in known]
    if not labels or not query.sample_id:
        return False
    try:
        link.ask(late_label(query.sample_id, labels[0]))
    except RefusedError:  # it was answered before, or so many came since
        return False
    return True


def answer_name(watch: Watch, name: str) -> str:
    """Send the class of that name as the newest query's answer; what came of it, in words.

    If none has the name, the novel samples and the sample are of a new class that has it. Raises
    LinkError.
    """
    naming, query = watch.naming, watch.query
    if not naming or not query or not query.sample_id:
        return "No sample waits for a label"
    known = name in naming.names
    if not known:
        naming.do(shlex.join(["name", name]))
        if name not in naming.names:
            return naming.message  # why not
    try:
        naming.label(query.sample_id, name)
    except RefusedError as error:
        return str(error)
    watch.query = replace(query, sample_id=0)
    what = f"sample {query.sample_id}"
    return f"{what} is {name}" if known else f"{name} is a class now: it is what {what} was"
