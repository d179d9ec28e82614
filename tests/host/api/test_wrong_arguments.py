"""Wrong arguments from notebooks raise errors with the right ones; paths are accepted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import microshrub_host as host
import microshrub_tools as tools

TEXT = "x,y\n" + "".join(f"{i * 7 % 40},{i % 3 + i % 2}\n" for i in range(60))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "walk.csv"
    file.write_text(TEXT)
    return file


def test_a_path_is_a_source(path: Path) -> None:
    assert host.open_stream(path).values.tolist() == host.open_stream(str(path)).values.tolist()
    assert (
        host.open_numbers(path).columns.tolist() == host.open_numbers(str(path)).columns.tolist()
    )


@pytest.mark.parametrize("source", [np.zeros((3, 2)), [[1, 2]], None, 7])
@pytest.mark.parametrize("opener", [host.open_stream, host.open_numbers])
def test_arrays_are_not_a_source(opener: Callable[..., Any], source: object) -> None:
    with pytest.raises(TypeError, match=r"not \w+\. .* Stream\("):
        opener(source)


@pytest.mark.parametrize("function", ["simulate", "parity", "extract_features", "save_model"])
def test_a_file_name_is_not_an_open_stream(function: str, path: Path) -> None:
    more = {"extract_features": ("window=8",), "save_model": (None, None)}
    stream: Any = np.zeros(3) if function == "save_model" else str(path)
    with pytest.raises(TypeError, match=rf"{function}\(open_stream\("):
        getattr(host, function)(stream, *more.get(function, ()))


def test_tune_also_takes_only_open_streams(path: Path) -> None:
    with pytest.raises(TypeError, match=r"tune\(open_numbers\("):
        host.tune(str(path), "rpi_pico")  # type: ignore[arg-type]


@pytest.mark.parametrize("companions", [host.Guarantee(90), "guarantee", ["guarantee"], 90, [90]])
def test_companions_must_be_a_list(companions: Any, path: Path, tmp_path: Path) -> None:
    stream = host.open_stream(path)
    words = r"companions= takes a list of companions, such as \[Guarantee\(90\)\]"
    with pytest.raises(TypeError, match=words):
        host.simulate(stream, companions=companions)
    with pytest.raises(TypeError, match=words):
        host.parity(stream, companions=companions)
    with pytest.raises(TypeError, match=words):
        host.budget("thicket", "rpi_pico", features=1, classes=4, companions=companions)
    with pytest.raises(TypeError, match=words):
        host.tune(stream, "rpi_pico", companions=companions)
    model = tmp_path / "walk.mshrub"
    host.save_model(stream, host.simulate(stream, "shrub", window=8), model)
    with pytest.raises(TypeError, match=words):
        tools.build(model, "rpi_pico", output=tmp_path / "out", companions=companions)
    assert not (tmp_path / "out").exists()


def test_two_companions_of_one_kind_are_refused(path: Path) -> None:
    both = [host.Guarantee(90), host.LabelBudget(share=0.5), host.Guarantee(80)]
    with pytest.raises(host.UserError, match=r"two .* Guarantee\(percent=90\)"):
        host.simulate(host.open_stream(path), "shrub", window=8, companions=both)


WRONG: list[tuple[Callable[[], Any], str]] = [
    (lambda: host.Anomaly(often="1 per day"), "1 per day is not a share"),  # type: ignore[arg-type]
    (lambda: host.LabelBudget(share="10%"), "share has to be 0 to 1, not 10%"),  # type: ignore[arg-type]
    (lambda: host.LabelBudget(delay="5"), "samples, not '5'"),  # type: ignore[arg-type]
    (lambda: host.SpareClasses(2, new="walk"), "a list of names, not 'walk'"),  # type: ignore[arg-type]
    (lambda: host.SpareClasses(2, new=(3,)), "a list of names"),  # type: ignore[arg-type]
    (lambda: tools.Sensor.adc(pins=26), "pins has to be"),  # type: ignore[arg-type]
    (lambda: tools.Sensor.adc(pins="26,27"), "such as .26, 27., not '26,27'"),
]


@pytest.mark.parametrize(("make", "words"), WRONG)
def test_arguments_of_the_wrong_type_are_refused_at_once(
    make: Callable[[], Any], words: str
) -> None:
    with pytest.raises(host.UserError, match=words):
        make()


@pytest.mark.parametrize("names", ["python", (), ("c",)])
def test_parity_needs_two_engines_or_more(names: Any, path: Path) -> None:
    with pytest.raises(TypeError, match="takes two engines or more"):
        host.parity(host.open_stream(path), "shrub", window=8, engine_names=names)


def test_an_unknown_engine_is_reported_with_the_known_ones(path: Path) -> None:
    with pytest.raises(ValueError, match=r"'pyton'.* mean python\?.*llvm"):
        host.simulate(host.open_stream(path), "shrub", window=8, engine="pyton")


def test_only_companions_can_be_registered() -> None:
    with pytest.raises(TypeError, match="inherits from Companion"):
        host.register_companion(int)  # type: ignore[arg-type]


def test_options_for_only_classes_or_only_regression_are_refused(path: Path) -> None:
    numbers, classes = host.open_numbers(path, target="y"), host.open_stream(path)
    for run in (host.simulate, host.parity):
        with pytest.raises(host.UserError, match=r"Guarantee .* classes, not numbers"):
            run(numbers, "linear", companions=[host.Guarantee(90)])
    for options in ({"interval": 90}, {"ends": (0, 9)}):
        with pytest.raises(host.UserError, match="are for numbers"):
            host.simulate(classes, "shrub", window=8, **options)  # type: ignore[call-overload]
    with pytest.raises(host.UserError, match="'linear-regressor' predicts numbers, not classes"):
        host.simulate(classes, "linear-regressor")


@pytest.mark.parametrize("warmup", [-1, "x", 2.5])
def test_a_warm_up_is_a_number_of_samples(warmup: Any, path: Path) -> None:
    stream, numbers = host.open_stream(path), host.open_numbers(path, target="x")
    words = f"--warmup is {warmup!r}; it must be a whole number"
    for model in ("thicket", "shrub"):
        with pytest.raises(host.UserError, match=words):
            host.simulate(stream, model, warmup=warmup)
    with pytest.raises(host.UserError, match=words):
        host.parity(stream, "shrub", warmup=warmup)
    for function in (host.simulate, host.parity):
        with pytest.raises(host.UserError, match=words):
            function(numbers, "linear", warmup=warmup)


def test_the_ranges_of_numbers_do_not_grow(path: Path) -> None:
    numbers = host.open_numbers(path, target="x")
    for function in (host.simulate, host.parity):
        with pytest.raises(host.UserError, match=r"--warmup is 0; .* 1 or more: the ranges"):
            function(numbers, "linear", warmup=0)


def test_a_parameter_has_its_name_in_python(path: Path) -> None:
    words = r"^window has to be a whole number of 2\.\.1024, not 1$"
    with pytest.raises(host.UserError, match=words):
        host.simulate(host.open_stream(path), "shrub", window=1)
    with pytest.raises(host.UserError, match=words):
        host.budget("shrub", "rpi_pico", features=3, classes=2, window=1)
