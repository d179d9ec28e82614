"""config.json as `build` makes it of its options: sensor, features, anomaly, queries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest

from microshrub_host.base.errors import UserError
from microshrub_host.boards import board_files
from microshrub_host.simulation.feature_options import FeatureOptions
from microshrub_host.simulation.label_budget import LabelBudget
from microshrub_host.simulation.spare_classes import SpareClasses
from microshrub_tools.board import keyboard_keys, program_words
from microshrub_tools.board.program_options import ProgramOptions
from microshrub_tools.board.program_settings import (
    Checkpoint,
    DriftAlarm,
    LabelPin,
    Pending,
    Sleep,
)
from microshrub_tools.board.program_switches import COLOURS

PICO = board_files.load("rpi_pico")
ADC = ("adc", "pins=26,27", "rate=5")
MOTION = ("mpu6050", "scl=1", "sda=0", "rate=100")
HOP = ("window=64", "hop=50")
AXES = ("ax", "ay", "az", "gx", "gy", "gz")


@pytest.mark.parametrize(
    ("sensor", "features", "names", "period"),
    [
        (ADC, None, ("a", "b"), 5 * 86400),
        (MOTION, HOP, FeatureOptions.of(HOP).names(AXES), 2 * 86400),
    ],
)
def test_alarms_per_day_become_alarms_per_samples(
    sensor: tuple[str, ...], features: tuple[str, ...] | None, names: list[str], period: int
) -> None:
    options = ProgramOptions(
        sensor=sensor, features=features, words={"anomaly": ("1 per day", "reach=1")}
    )
    config = options.config(PICO, names, ["no", "yes"])
    assert config["anomaly"] == {"period": period, "window": 0, "reach": 1, "normal": 0}


def test_over_the_link_the_rate_has_to_be_given() -> None:
    with pytest.raises(UserError, match=r"--anomaly .*at 50 Hz"):
        ProgramOptions(words={"anomaly": ("1 per day",)}).config(PICO, ["a"], ["no", "yes"])
    options = ProgramOptions(words={"anomaly": ("1 per day at 2 Hz",)})
    assert options.config(PICO, ["a"], ["no", "yes"])["anomaly"]["period"] == 2 * 86400


def test_without_the_option_the_configuration_has_no_anomaly() -> None:
    assert "anomaly" not in ProgramOptions().config(PICO, ["a"], ["no", "yes"])


def test_spare_classes_and_their_button() -> None:
    options = ProgramOptions(
        sensor=ADC,
        words={"spare_classes": ("4", "pin=15")},
        led_pin="25",
        label_pin=LabelPin(14, pressed="no", released=""),
    )
    config = options.config(PICO, ["a", "b"], ["no", "yes"])
    assert config["spare_classes"] == {
        "classes": 4, "period": 100, "window": 256, "reach": 4, "collect": 5, "room": 16,
        "pin": 15, "led": 25,
    }  # fmt: skip
    assert config["label_pin"] == {"pin": 14, "pressed": 0, "released": None}
    assert "spare_classes" not in ProgramOptions().config(PICO, ["a"], ["no", "yes"])


@pytest.mark.parametrize(
    ("sensor", "words", "message"),
    [
        (("serial",), "4 pin=15", "whoever sends the samples names novel classes"),
        (ADC, "4 pin=99", "There is no pin 99"),
        (ADC, "4 new=no", "new= is for simulations"),
        (ADC, "0", "the number of them has to be"),
    ],
)
def test_wrong_spare_classes(sensor: tuple[str, ...], words: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        ProgramOptions(sensor=sensor, words={"spare_classes": words.split()}).config(
            PICO, ["a", "b"], ["no", "yes"]
        )
    with pytest.raises(UserError, match="at most 48 bytes"):
        ProgramOptions(companions=[SpareClasses(1)]).config(PICO, ["a"], ["no", "y" * 49])


def config(sensor: tuple[str, ...], names: Sequence[str], words: str, made: str = "") -> Any:
    """Return config.json for a model of these features; `made` are their options, if known."""
    known = FeatureOptions.of(made.split()).extraction(("a", "b"), zero=(9,)) if made else None
    options = ProgramOptions(sensor=sensor, features=words.split() or None)
    return options.config(PICO, names, ["no", "yes"], known)


def test_the_models_own_features_are_configured() -> None:
    made = "window=32 bands=0.4-1 rate=5 high-pass=0.1 zero=32768,32760"
    extraction = config(ADC, [], "", made)["extraction"]
    assert extraction == FeatureOptions.of(made.split()).extraction(("a", "b")).options
    assert (extraction["bands"], extraction["zero"]) == ([[3, 6]], [32768, 32760])
    assert "extraction" not in config(ADC, ["a", "b"], "")
    assert "extraction" not in config(("serial",), ["a", "b"], "", made)
    with pytest.raises(UserError, match="--features needs a --sensor"):
        config(("serial",), ["a", "b"], "window=4")


def test_the_features_of_a_recording_are_recognised() -> None:
    words = "window=32 hop=1 statistics=none bands=0.4-1,1-2.5"
    names = ["left_0.4-1Hz", "left_1-2.5Hz", "right_0.4-1Hz", "right_1-2.5Hz"]
    extraction = config(ADC, names, words)["extraction"]
    assert (extraction["zero"], extraction["bands"]) == ([32768, 32768], [[3, 6], [7, 16]])
    with pytest.raises(UserError, match="learned left_2"):
        config(ADC, ["left_0.4-1Hz", "left_2-2.5Hz", *names[2:]], words)
    with pytest.raises(UserError, match=r"4 features, .* has 3"):
        config(ADC, names[:3], words)


@pytest.mark.parametrize(
    ("sensor", "made", "words"),
    [
        (MOTION, "window=64", "gives 6 values, and the features were made of 2: a, b"),
        (ADC, "window=32 bands=1-9 rate=50", "made for 50 readings a second, so write rate=50"),
    ],
)
def test_a_sensor_that_does_not_match_the_recording_is_refused(
    sensor: tuple[str, ...], made: str, words: str
) -> None:
    with pytest.raises(UserError, match=words):
        config(sensor, [], "", made)


def test_a_label_budget_is_configured_with_its_light() -> None:
    options = ProgramOptions(sensor=ADC, words={"label_budget": "30 per minute"}, led_pin="25")
    queries = options.config(PICO, ["a", "b"], ["no", "yes"])["queries"]
    assert queries == {"labels": 1, "samples": 10, "led": 25}
    assert "queries" not in ProgramOptions().config(PICO, ["a"], ["no", "yes"])


def test_a_button_for_some_labels_leaves_queries_for_the_others() -> None:
    """A button that gives only one label does not exclude a label budget."""
    button = program_words.label_pin(["15", "pressed=yes", "released="])
    options = ProgramOptions(sensor=ADC, words={"label_budget": "10%"}, label_pin=button)
    config = options.config(PICO, ["a", "b"], ["no", "yes"])
    assert config["label_pin"] == {"pin": 15, "pressed": 1, "released": None}
    assert config["queries"] == {"labels": 1, "samples": 10}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"led_pin": "25"}, "--led-pin needs --label-budget"),
        ({"words": {"label_budget": "1 per hour"}}, "Write '1 per hour at 50 Hz'"),
        ({"words": {"label_budget": "10%"}, "led_pin": "99"}, "There is no pin 99"),
        ({"companions": [LabelBudget(0.1)], "label_pin": LabelPin(15)}, "leave one of them out"),
    ],
)
def test_an_invalid_label_budget_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        ProgramOptions(**options).config(PICO, ["a"], ["no", "yes"])
    with pytest.raises(UserError, match="is for classes"):
        ProgramOptions(companions=[LabelBudget(0.1)]).config(PICO, ["a"], [])


def test_each_class_switches_its_pins() -> None:
    options = ProgramOptions(switch=program_words.switch(("a=b=16", "walk=17+LED", "rest=")))
    config = options.config(PICO, ["x"], ["rest", "walk", "a=b", "run"])
    assert config["switches"] == [[], [17, "LED"], [16], []]
    assert "switches" not in ProgramOptions().config(PICO, ["x"], ["rest", "walk"])


def test_each_class_has_its_colours() -> None:
    options = ProgramOptions(
        switch=program_words.switch(("a=16:green+2:102030", "rest=16:#a0b0c0+3"))
    )
    config = options.config(PICO, ["x"], ["rest", "a"])
    assert config["switches"] == [
        [[16, 0xA0, 0xB0, 0xC0], 3],
        [[16, *COLOURS["green"]], [2, 0x10, 0x20, 0x30]],
    ]


def test_each_class_has_its_tone() -> None:
    options = ProgramOptions(switch={"a": ("16:880Hz", 3), "rest": ("16:20hz",)})
    config = options.config(PICO, ["x"], ["rest", "a"])
    assert config["switches"] == [[[16, 20]], [[16, 880], 3]]


def test_each_class_has_its_keys() -> None:
    words = ("a=key:ArrowUp", "b=key:z+key:SHIFTleft+key:0+16", "rest=key:F24")
    options = ProgramOptions(switch=program_words.switch(words))
    config = options.config(PICO, ["x"], ["rest", "a", "b"])
    assert config["switches"] == [[[115]], [[82]], [[29], [225], [39], 16]]


def test_keys_are_numbered_as_usb_numbers_them() -> None:
    """The numbers are those of Linux (hid-input), for an American English keyboard."""
    known = {"a": 4, "z": 29, "1": 30, "0": 39, "Enter": 40, "Space": 44, "Slash": 56, "F1": 58}
    known |= {"F12": 69, "Delete": 76, "ArrowRight": 79, "ArrowUp": 82, "F13": 104, "F24": 115}
    known |= {"ControlLeft": 224, "MetaLeft": 227, "ControlRight": 228, "AltRight": 230}
    assert {name: keyboard_keys.usage(name) for name in known} == known
    assert len(set(keyboard_keys.KEYS.values())) == len(keyboard_keys.KEYS)


@pytest.mark.parametrize("key", ["esp32", "esp32c3", "pyboard", "nrf52840_dk"])
def test_a_board_without_usb_keyboard_is_refused(key: str) -> None:
    board = board_files.load(key)
    options = ProgramOptions(switch={"a": ("key:a",)})
    with pytest.raises(UserError, match=f"{re.escape(board.name)} cannot press keys"):
        options.config(board, ["x"], ["rest", "a"])


@pytest.mark.parametrize(("shown", "what"), [("16:880Hz", "tones"), ("key:a", "keys")])
def test_no_tone_or_key_is_possible_in_sleep(shown: str, what: str) -> None:
    options = ProgramOptions(sensor=[ADC], sleep=Sleep(), switch={"a": (shown,)})
    with pytest.raises(UserError, match=f"--sleep stops the {what} of --switch: leave one out"):
        options.config(PICO, ["x", "y"], ["rest", "a"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("walk",), "not a class and its pin"),
        (("wlak=16",), "no class wlak. Did you mean walk"),
        (("walk=30",), "There is no pin 30"),
        (("walk=30:red",), "There is no pin 30"),
        (("walk=16:pink",), "knows no colour 'pink': red, orange"),
        (("walk=16:red+16:blue",), "walk has two colours for the NeoPixel at pin 16"),
        (("walk=16:red", "rest=16"), "pin 16 for a light and for a NeoPixel"),
        (("walk=30:880Hz",), "There is no pin 30"),
        (("walk=16:19Hz",), "20 to 20,000 hertz, such as 880Hz, not '19Hz'"),
        (("walk=16:20001hz",), "20 to 20,000 hertz"),
        (("walk=16:4.5Hz",), "a whole number of 20 to"),
        (("walk=16:Hz",), "a whole number of 20 to"),
        (("walk=16:880",), "A buzzer's tone is 880Hz"),
        (("walk=key:Spcae",), "no key 'Spcae'. Did you mean Space"),
        (("walk=key:",), "no key ''"),
        (("walk=key:a+key:A",), "walk has one key twice"),
        (("walk=" + "+".join(f"key:{i}" for i in range(7)),), "walk has more than 6 keys"),
        (("walk=16:440Hz+16:880Hz",), "walk has two tones for the buzzer at pin 16"),
        (("walk=16:880Hz", "rest=16"), "pin 16 for a light and for a buzzer"),
        (("walk=16:880Hz", "rest=16:red"), "pin 16 for a NeoPixel and for a buzzer"),
        (("walk=16:880Hz", "rest=18:440Hz"), "buzzers at pins 18 and 16: a program has one"),
    ],
)
def test_wrong_switches(words: tuple[str, ...], message: str) -> None:
    with pytest.raises(UserError, match=message):
        ProgramOptions(switch=program_words.switch(words)).config(PICO, ["x"], ["rest", "walk"])


def test_a_class_switches_above_a_confidence() -> None:
    words = {"switch": ("walk=16",), "switch_above": ("walk=80%",)}
    config = ProgramOptions(**program_words.of_words(words)).config(PICO, ["x"], ["rest", "walk"])
    assert config["switch_above"] == [0, 204]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("walk",), "not a class and a confidence, such as walk=80%"),
        (("walk=much",), "not a class and a confidence"),
        (("wlak=80%",), "no class wlak. Did you mean walk"),
        (("walk=101%",), "walk has to be 0% to 100%, not 101%"),
        (("walk=nan",), "walk has to be 0% to 100%"),
    ],
)
def test_wrong_confidences_of_switches(words: tuple[str, ...], message: str) -> None:
    given = {"switch": ("walk=16",), "switch_above": words}
    with pytest.raises(UserError, match=message):
        ProgramOptions(**program_words.of_words(given)).config(PICO, ["x"], ["rest", "walk"])


def test_a_confidence_without_a_switch_is_refused() -> None:
    with pytest.raises(UserError, match="--switch-above needs --switch"):
        ProgramOptions(switch_above={"walk": 80}).config(PICO, ["x"], ["rest", "walk"])


def test_a_program_of_numbers_switches_nothing() -> None:
    with pytest.raises(UserError, match="--switch is for classes"):
        ProgramOptions(switch={"walk": (16,)}).config(PICO, ["x"], ())


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        ({"alarm": "adwin", "hook": "forget"}, {"alarm": DriftAlarm("adwin", "forget")}),
        ({"alarm": "none"}, {"alarm": DriftAlarm("none")}),
        ({"hook": "reset"}, {"alarm": DriftAlarm(hook="reset")}),
        ({"checkpoint_seconds": 0}, {"checkpoint": None}),
        ({"checkpoint_seconds": 5}, {"checkpoint": Checkpoint(seconds=5)}),
        ({"pending": 7}, {"pending": Pending(7)}),
        ({"label_pin": ("15", "pressed=yes")}, {"label_pin": LabelPin(15, pressed="yes")}),
        ({"switch": ("yes=16+17",)}, {"switch": {"yes": (16, 17)}}),
        ({"sleep": ("every=90", "pin=15")}, {"sleep": Sleep(every=90, pin=15)}),
    ],
)
def test_words_and_settings_give_the_same_configuration(
    words: dict[str, Any], settings: dict[str, Any]
) -> None:
    def config_of(options: dict[str, Any]) -> dict[str, Any]:
        made = ProgramOptions(**{"sensor": ADC} | options)
        return made.config(board_files.load("esp32"), ["a", "b"], ["no", "yes"])

    assert config_of(program_words.of_words(words)) == config_of(settings)


@pytest.mark.parametrize(
    "given",
    [{"alarm": "adwin"}, {"pending": 7}, {"label_pin": ["15"]}, {"sleep": ["every=90"]}],
)
def test_words_in_place_of_settings_are_refused(given: dict[str, Any]) -> None:
    (name,) = given
    with pytest.raises(UserError, match=f"{name}= has to be "):
        ProgramOptions(**given)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DriftAlarm("adwn"), "--alarm 'adwn' is unknown. Did you mean adwin"),
        (lambda: DriftAlarm(hook="stop"), "--hook 'stop' is unknown"),
        (lambda: Checkpoint(0), r"has to be 1\.\.1,000,000, not 0"),
        (lambda: Pending(32769), r"has to be 1\.\.32,768, not 32,769"),
        (lambda: Pending("many"), "not 'many'"),
        (lambda: Sleep(every=2), "would never sleep"),
        (lambda: Sleep(hold=0), "--sleep hold has to be 1"),
    ],
)
def test_invalid_settings_are_refused_when_they_are_made(make: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        make()
