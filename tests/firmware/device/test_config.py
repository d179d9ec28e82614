"""Valid contents of config.json: anything else is refused with a message and no other effect."""

from __future__ import annotations

import json
import sys
import zlib
from typing import Any

import pytest
from device_support import configuration
from hypothesis import example, given
from hypothesis import strategies as st

from microshrub_host.library import loader

MODULE: Any = sys.modules[f"{loader.load('python').__name__}.device.config"]
GOOD = configuration(
    "HoeffdingTree",
    {"features": 2, "classes": 3},
    checkpoint={"path": "c", "seconds": 5},
    alarm={"detector": "adwin"},
    anomaly={"period": 1000, "window": 64, "reach": 1},
    queries={"labels": 1, "samples": 20, "led": "LED"},
    label_pin={"pin": "GP15", "pressed": 2, "released": 0},
    switches=[[16], [17, "LED", [5, 0, 64, 255], [6, 880]]],
    switch_above=[0, 204],
    units=[[0, 2], [-5, 0]],
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


def check(config: Any) -> None:
    """Check that the configuration is valid or refused in one line."""
    words = "config.json"
    try:
        read(config)
    except MODULE.ConfigurationError as error:
        words = str(error)
    assert words.startswith("config.json")
    assert "\n" not in words


def read(config: Any) -> Any:
    data = config if isinstance(config, bytes) else json.dumps(config).encode()
    return MODULE.Configuration(data)


def test_the_fields_and_the_hash() -> None:
    content = read(GOOD)
    assert content.hash == zlib.crc32(json.dumps(GOOD).encode())
    assert (content.features, content.classes, content.kind) == (2, 3, "serial")
    assert (content.warmup, content.pending, content.text) == (256, 32, False)
    assert content.units == ((0, 2), (-5, 0))
    assert content.label_pin["pin"] == "GP15"


def test_text_is_the_default_of_the_boards_sensors() -> None:
    config = {name: value for name, value in GOOD.items() if name != "text"}
    assert not read(config).text
    assert read(config | {"sensor": {"kind": "adc", "pins": [26, 27], "rate": 50}}).text


@given(st.sampled_from(sorted(GOOD)), ANYTHING)
@example("alarm", {"\n": None})
def test_a_wrong_field_is_refused_with_a_message(name: str, value: Any) -> None:
    check(GOOD | {name: value})


@given(st.data())
def test_a_damaged_file_is_refused_with_a_message(data: st.DataObject) -> None:
    text = bytearray(json.dumps(GOOD).encode())
    at = data.draw(st.integers(0, len(text) - 1))
    text[at] ^= data.draw(st.integers(1, 255))
    check(bytes(text))


@pytest.mark.parametrize("cut", [0, 1, 40, -1])
def test_a_file_that_was_cut_is_refused(cut: int) -> None:
    with pytest.raises(MODULE.ConfigurationError, match=r"config\.json is damaged"):
        read(json.dumps(GOOD).encode()[:cut])


@pytest.mark.parametrize("missing", ["version", "learner", "parameters", "sensor"])
def test_required_fields(missing: str) -> None:
    with pytest.raises(MODULE.ConfigurationError, match=missing):
        read({name: value for name, value in GOOD.items() if name != missing})
