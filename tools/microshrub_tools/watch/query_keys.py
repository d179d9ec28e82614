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
    """Return the number of the class for each key; key 1 is the first class."""
    return dict(zip(_KEYS, range(len(classes)), strict=False))


def described(query: Query, classes: Sequence[str], *, typed: bool = False) -> str:
    """Return the query's text, with how to answer: by keys, or by a typed name."""
    if not query.sample_id:
        return "none"
    keys = ", ".join(f"{key} {classes[label]}" for key, label in keys_of(classes).items())
    how = "Type: answer NAME" if typed else f"Press {keys}"
    predicted = classes[query.label]
    return f"what is sample {query.sample_id}? Predicted: {predicted}. {how}"


def answer(link: HostLink, query: Query, classes: Sequence[str], pressed: str) -> bool:
    """Send the class of the first valid key as the label; return whether the device accepts it."""
    known = keys_of(classes)
    labels = [known[key] for key in pressed.lower() if key in known]
    if not labels or not query.sample_id:
        return False
    try:
        link.ask(late_label(query.sample_id, labels[0]))
    except RefusedError:  # the query was answered before, or has expired
        return False
    return True


def answer_name(watch: Watch, name: str) -> str:
    """Answer the newest query with the class of that name; return a message.

    If no class has the name, the novel samples and the sample form a new class of that name.
    Raises LinkError.
    """
    naming, query = watch.naming, watch.query
    if not naming or not query or not query.sample_id:
        return "No sample waits for a label"
    known = name in naming.names
    if not known:
        naming.do(shlex.join(["name", name]))
        if name not in naming.names:
            return naming.message  # the reason
    try:
        naming.label(query.sample_id, name)
    except RefusedError as error:
        return str(error)
    watch.query = replace(query, sample_id=0)
    what = f"sample {query.sample_id}"
    return f"{what} is {name}" if known else f"{name} is a class now: it is what {what} was"
