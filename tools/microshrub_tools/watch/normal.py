"""Marks the present samples as normal for the anomaly score of a device."""

from __future__ import annotations

from microshrub_host.base.text import count

from ..link.client import HostLink
from ..link.link_errors import RefusedError
from ..link.messages import THIS_IS_NORMAL, AnomalyStatus

KEY, COMMAND = "n", "normal"


def this_is_normal(link: HostLink) -> str:
    """Mark the present as normal on the device; return a message. Raises LinkError."""
    try:
        answer = link.ask(THIS_IS_NORMAL)
    except RefusedError as error:
        return str(error)
    if not isinstance(answer, AnomalyStatus) or answer.left is None:
        return "The board's program cannot be told what is normal: build and flash it again"
    if answer.left:
        return f"This is normal: the next {count(answer.left, 'sample')} show it"
    return "This is normal: what the board has in mind stays so"
