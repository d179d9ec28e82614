"""Errors of the link."""

from __future__ import annotations

from microshrub_host.base.errors import UserError

from .messages import Failure


class LinkError(UserError):
    """The line does not work; the message is for people."""


class LostError(LinkError):
    """The device no longer answers."""


class StoppedError(LostError):
    """The device no longer answers, and shows MicroPython's prompt."""


class RestartedError(LinkError):
    """The device was reset: pending requests are lost, and learned samples may be."""

    def __init__(self) -> None:
        super().__init__(
            "the device was reset, or another program has connected to it: connect again"
        )


class RefusedError(LinkError):
    """The device refused a request; `failure` has the reason."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(f"the device says: {failure.words}")
        self.failure = failure
