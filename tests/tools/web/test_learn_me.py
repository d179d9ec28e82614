"""The pointer as the sensor: it learns while it moves, and the simulator repeats it to the bit."""

from __future__ import annotations

import math
import time
from pathlib import Path

from browser_support import Browser
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
    stream = open_stream(
        str(recording), classes=("circle", 'the "line"', "left & right"), warmup=24
    )
    assert len(stream.labels) > 30
    run = simulate(stream, warmup=24, bytes=16384)
    assert run.state_crc32 == crc == load_model(model).learner.state_crc32()
    assert run.accuracy > 60


def test_without_a_motion_sensor_it_says_so(playground: Browser) -> None:
    playground.run("document.querySelector('#source').value = 'motion'")
    playground.run("document.querySelector('#learn-me').click()")
    playground.wait(STATUS + ".includes('tells this page nothing of its motion')")


def test_one_label_is_not_enough(playground: Browser) -> None:
    playground.run("document.querySelector('#names').value = 'circle, circle'")
    playground.run("document.querySelector('#learn-me').click()")
    playground.wait(STATUS + ".includes('Name two to 5 different labels')")
