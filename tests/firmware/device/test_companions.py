"""The companions of an application are called one after the other."""

from __future__ import annotations

from microshrub_host.library import loader


def test_a_message_keeps_no_companion_from_its_turn() -> None:
    called = []

    def button(milliseconds: int, passed: int) -> str:
        called.append(("button", milliseconds, passed))
        return "this is normal"

    def broker(milliseconds: int, passed: int) -> None:
        called.append(("broker", milliseconds, passed))

    both = loader.load("python").device.companion.both
    assert both(button, broker)(70, 7) == "this is normal"
    assert both(broker, button)(80, 10) == "this is normal"
    assert called == [("button", 70, 7), ("broker", 70, 7), ("broker", 80, 10), ("button", 80, 10)]
