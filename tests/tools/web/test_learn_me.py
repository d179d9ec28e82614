"""Pointer and motion as the sensor: it learns while they move, and the simulator repeats it."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_support import Browser
from patience import PATIENCE
from playground_support import take

from microshrub_host import load_model, open_stream, simulate

STATUS = "document.querySelector('#learn-me-status').textContent"


def press(page: Browser, text: str) -> None:
    found = (
        f"[...document.querySelectorAll('.labels button')].find(b => b.textContent === '{text}')"
    )
    page.run(f"{found}.click()")
    assert page.run(f"{found}.getAttribute('aria-pressed')") == "true"


def move(page: Browser, seconds: float, turns: float) -> None:
    """Move the pointer in a circle, or with turns 0 in a line."""
    box = page.run("(({x, y, width, height}) => [x, y, width, height])"
                   "(document.querySelector('.pad').getBoundingClientRect())")  # fmt: skip
    begin = time.monotonic()
    while (now := time.monotonic() - begin) < seconds:
        angle = 2 * math.pi * now * (turns or 1)
        x = box[0] + box[2] / 2 + 60 * math.cos(angle)
        y = box[1] + box[3] / 2 + (60 * math.sin(angle) if turns else 0)
        page.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        time.sleep(0.01)


def test_gestures_are_learned_and_the_simulator_comes_to_the_same_bits(
    playground: Browser, tmp_path: Path
) -> None:
    playground.run("document.querySelector('#names').value = 'circle, the \"line\", left & right'")
    playground.run("document.querySelector('#learn-me').click()")
    playground.wait("!!document.querySelector('.labels button')")
    playground.run("document.querySelector('.pad').scrollIntoView({block: 'center'})")
    for text, turns in (("circle", 1.5), ('the "line"', 0)) * 2:
        press(playground, text)
        move(playground, 4, turns)
    press(playground, "only predict")
    move(playground, 1, 1.5)
    playground.wait("document.querySelector('#said').textContent")
    playground.run("document.querySelector('#learn-me').click()")
    playground.wait("!!document.querySelector('#gestures-crc32')")
    crc = int(playground.run("document.querySelector('#gestures-crc32').textContent"), 16)

    recording, model = tmp_path / "gestures.csv", tmp_path / "gestures.mshrub"
    take(playground, "take-csv", recording)
    take(playground, "take-gestures", model)
    stream = open_stream(str(recording), classes=("circle", 'the "line"', "left & right"))
    assert len(stream.labels) > 30
    run = simulate(stream, bytes=16384)
    assert run.state_crc32 == crc == load_model(model).learner.state_crc32()
    assert run.accuracy > 60


@pytest.mark.long
def test_taught_in_blocks_it_knows_all_gestures_once_nobody_tells_labels(
    playground: Browser,
) -> None:
    playground.run("document.querySelector('#learn-me').click()")
    playground.wait("!!document.querySelector('.labels button')")
    playground.run("document.querySelector('.pad').scrollIntoView({block: 'center'})")
    gestures: list[tuple[str, float | None]] = [("circle", 1.5), ("line", 0), ("rest", None)]
    for text, turns in gestures * 3:
        press(playground, text)
        do(playground, 6, turns)
    press(playground, "only predict")
    right = asked = 0
    for text, turns in gestures * 2:
        do(playground, 1.5, turns)  # until a window holds nothing but this gesture
        for _ in range(10):
            do(playground, 0.3, turns)
            right += playground.run("document.querySelector('#said').textContent") == text
            asked += 1
    playground.run("document.querySelector('#learn-me').click()")
    assert right >= 0.9 * asked


def do(page: Browser, seconds: float, turns: float | None) -> None:
    """Make a gesture; None: let the pointer rest."""
    if turns is None:
        time.sleep(seconds)
    else:
        move(page, seconds, turns)


MOTION = ("accelerometer", "gyroscope", "linear-acceleration")
# As in Safari on a phone: permission is asked for, and only while a press is being handled
ASKS = """
DeviceMotionEvent.requestPermission = async () => {
  if (!navigator.userActivation.isActive) throw new DOMException("no press", "NotAllowedError");
  return "ANSWER";
};
"""


@pytest.fixture
def moving(playground: Browser) -> Iterator[Browser]:
    """A browser on a device that can be moved."""
    for kind in MOTION:
        playground.call("Emulation.setSensorOverrideEnabled", type=kind, enabled=True)
    yield playground
    for kind in MOTION:
        playground.call("Emulation.setSensorOverrideEnabled", type=kind, enabled=False)


def shake(page: Browser, seconds: float, turns: float) -> None:
    """Shake the device to and fro so many times a second; 0: let it lie."""
    begin = time.monotonic()
    while (now := time.monotonic() - begin) < seconds:
        push = 8 * math.sin(2 * math.pi * turns * now)
        linear = {"x": push, "y": 0.1 * push, "z": 0}
        readings = {
            "accelerometer": linear | {"z": 9.8},
            "linear-acceleration": linear,
            "gyroscope": {"x": 0, "y": 0, "z": push / 4},
        }
        for kind, xyz in readings.items():
            page.call("Emulation.setSensorOverrideReadings", type=kind, reading={"xyz": xyz})
        time.sleep(0.01)


def begin_with_motion(page: Browser) -> None:
    page.run("document.querySelector('#source').value = 'motion'")
    page.run("document.querySelector('#names').value = 'shake, rest'")
    shake(page, 0.1, 0)
    page.press("#learn-me")


def test_a_motion_is_learned_from_six_axes(moving: Browser, tmp_path: Path) -> None:
    moving.run(ASKS.replace("ANSWER", "granted"))
    begin_with_motion(moving)
    moving.wait("!!document.querySelector('.labels button')")
    assert moving.run("document.querySelector('.pad').hidden")
    for text, turns in (("shake", 3), ("rest", 0)) * 2:
        press(moving, text)
        shake(moving, 4, turns)
    press(moving, "only predict")
    for text, turns in (("shake", 3), ("rest", 0)):
        said, end = "", time.monotonic() + PATIENCE  # a slow machine is late
        while said != text:
            assert time.monotonic() < end, f"{said} and not {text}"
            shake(moving, 1, turns)
            said = moving.run("document.querySelector('#said').textContent")
    moving.run("document.querySelector('#learn-me').click()")
    moving.wait("!!document.querySelector('#gestures-crc32')")
    crc = int(moving.run("document.querySelector('#gestures-crc32').textContent"), 16)

    recording = tmp_path / "gestures.csv"
    take(moving, "take-csv", recording)
    stream = open_stream(str(recording), classes=("shake", "rest"))
    assert len(stream.feature_names) == 36
    assert {name.split()[0] for name in stream.feature_names} == {
        "ax", "ay", "az", "gx", "gy", "gz"
    }  # fmt: skip
    run = simulate(stream, bytes=16384)
    assert run.state_crc32 == crc
    assert run.accuracy > 60
    gravity = stream.values[:, stream.feature_names.index("az mean")].mean()
    assert gravity == pytest.approx(16384, rel=0.05)  # as an MPU-6050 at 2 g says 1 g


def test_a_user_who_refuses_is_told_so(moving: Browser) -> None:
    moving.run(ASKS.replace("ANSWER", "denied"))
    begin_with_motion(moving)
    moving.wait(STATUS + ".includes('You did not allow the motion sensor')")


def test_without_a_motion_sensor_it_says_so(playground: Browser) -> None:
    playground.run("document.querySelector('#source').value = 'motion'")
    playground.run("document.querySelector('#learn-me').click()")
    playground.wait(STATUS + ".includes('tells this page nothing of its motion')")


def test_one_label_is_not_enough(playground: Browser) -> None:
    playground.run("document.querySelector('#names').value = 'circle, circle'")
    playground.run("document.querySelector('#learn-me').click()")
    playground.wait(STATUS + ".includes('Name two to 5 different labels')")
