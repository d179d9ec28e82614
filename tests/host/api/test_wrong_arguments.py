"""What a notebook gives by mistake is refused with what to give instead; paths are taken."""

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
    found = tmp_path / "walk.csv"
    found.write_text(TEXT)
    return found


def test_a_path_is_a_source(path: Path) -> None:
    assert host.open_stream(path).values.tolist() == host.open_stream(str(path)).values.tolist()
    assert (
        host.open_numbers(path).columns.tolist() == host.open_numbers(str(path)).columns.tolist()
    )


@pytest.mark.parametrize("source", [np.zeros((3, 2)), [[1, 2]], None, 7])
@pytest.mark.parametrize("opener", [host.open_stream, host.open_numbers])
def test_arrays_are_no_source(opener: Callable[..., Any], source: object) -> None:
    with pytest.raises(TypeError, match=r"not \w+\. Of arrays, make a stream, Stream\("):
        opener(source)


@pytest.mark.parametrize("function", ["simulate", "parity", "extract_features", "save_model"])
def test_a_file_is_no_stream_yet(function: str, path: Path) -> None:
    more = {"extract_features": ("window=8",), "save_model": (None, None)}
    stream: Any = np.zeros(3) if function == "save_model" else str(path)
    with pytest.raises(TypeError, match=rf"{function}\(open_stream\("):
        getattr(host, function)(stream, *more.get(function, ()))


def test_tune_takes_streams_too(path: Path) -> None:
    with pytest.raises(TypeError, match=r"tune\(open_numbers\("):
        host.tune(str(path), "rpi_pico")  # type: ignore[arg-type]


@pytest.mark.parametrize("beside", [host.Guarantee(90), "guarantee", ["guarantee"], 90, [90]])
def test_beside_takes_a_list_of_companions(beside: Any, path: Path, tmp_path: Path) -> None:
    stream = host.open_stream(path)
    words = r"beside= takes a list of companions, such as \[Guarantee\(90\)\]"
    with pytest.raises(TypeError, match=words):
        host.simulate(stream, beside=beside)
    with pytest.raises(TypeError, match=words):
        host.parity(stream, beside=beside)
    with pytest.raises(TypeError, match=words):
        host.budget("thicket", "rpi_pico", features=1, classes=4, beside=beside)
    with pytest.raises(TypeError, match=words):
        host.tune(stream, "rpi_pico", beside=beside)
    model = tmp_path / "walk.mshrub"
    host.save_model(stream, host.simulate(stream, "shrub", window=8), model)
    with pytest.raises(TypeError, match=words):
        tools.build(model, "rpi_pico", output=tmp_path / "out", beside=beside)
    assert not (tmp_path / "out").exists()
