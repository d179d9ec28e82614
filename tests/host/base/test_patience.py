"""Timeouts for a silent line, on a PC that is busy."""

from __future__ import annotations

import pytest

from microshrub_host.base.child_process import VARIABLE, patience
from microshrub_host.base.errors import UserError
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.link_errors import LostError


class Silence:
    """A line that never receives anything, on which only time passes."""

    now = 0.0

    def read(self, seconds: float) -> bytes:
        self.now += seconds
        return b""

    def write(self, data: bytes) -> None:
        pass

    def reopen(self, seconds: float) -> None:
        pass

    def close(self) -> None:
        pass


@pytest.mark.parametrize(("text", "wanted"), [("", 10), ("0", 10), ("2.5", 10), ("600", 600)])
def test_patience_can_be_lengthened(
    text: str, wanted: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, text)
    assert patience(10) == wanted
    line = Silence()
    with pytest.raises(LostError, match="does not answer"):
        HostLink(line, clock=lambda: line.now).connect()
    assert wanted < line.now < wanted + 2


def test_a_requested_timeout_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "600")
    line = Silence()
    with pytest.raises(LostError):
        HostLink(line, clock=lambda: line.now, patience=3).connect()
    assert 3 < line.now < 5


@pytest.mark.parametrize("text", ["long", "-1", "nan", "inf"])
def test_a_value_that_is_no_number_of_seconds_is_refused(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, text)
    with pytest.raises(UserError, match=f"{VARIABLE} .* seconds, not '{text}'"):
        patience(10)
