"""A toy companion in two files, which counts samples above a threshold; the rest is generic."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from device_support import Device, connected
from program_support import x86

from microshrub_host import (
    Companion,
    CompanionReport,
    CompanionRun,
    Option,
    Watcher,
    load_model,
    open_stream,
    register_companion,
)
from microshrub_host.library import library_files, loader
from microshrub_host.simulation import companion_registry
from microshrub_tools.cli.main import main
from microshrub_tools.cli.monitor import facts
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.messages import CompanionWords, companion_words, sample
from microshrub_tools.link.serial_line import SerialLine
from microshrub_tools.watch.device_watch import Watch

PART = Path(__file__).parents[2] / "support" / "above.py"
DATA = ("synth:sea_a", "--limit", "600")
MODEL = ("--model", "shrub", "--window", "8", "--trees", "2", "--depth", "2")
ABOVE = ("--above", "30000")


@dataclass(frozen=True)
class Above(Watcher):
    """A companion that counts samples whose first code is above a limit, 0..65535."""

    limit: int = 32768

    name = key = title = module = "above"
    kind = "Above"
    buffers = ("above.",)
    states = ("above",)
    options = (Option("--above", "count samples above N (default: off)", "N", kind=int),)

    @classmethod
    def of_options(cls, given: Mapping[str, Any], hertz: float | None) -> Companion | None:
        return None if given["above"] is None else cls(given["above"])

    def parameters(self) -> dict[str, int]:
        return {"limit": self.limit}

    def result(self, report: CompanionReport) -> CompanionRun:
        return AboveRun(self, int(report.outputs[0].sum()))

    @classmethod
    def monitor_rows(cls, words: Sequence[int], classes: Sequence[str]) -> list[tuple[str, str]]:
        return [("above", f"{words[0]:,} samples")]


@dataclass(frozen=True)
class AboveRun(CompanionRun):
    options: Above
    count: int

    def record(self) -> dict[str, Any]:
        return {"limit": self.options.limit, "count": self.count}

    def rows(self) -> list[tuple[str, str]]:
        return [("samples above", f"{self.count:,}")]

    def saved(self) -> dict[str, Any]:
        return {self.options.name: self.options.row}


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Registers the companion, and removes it after the test."""
    monkeypatch.setenv(library_files.COMPANIONS, "")
    monkeypatch.setattr(companion_registry, "_COMPANIONS", [*companion_registry.all_companions()])
    register_companion(Above, PART)
    yield
    loader.load.cache_clear()


@pytest.fixture
def count(capsys: pytest.CaptureFixture[str]) -> int:
    return int(record(capsys, "simulate", *DATA, *MODEL, *ABOVE)["above"]["count"])


def record(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main([*words, "--json", "-"]) == 0
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


def test_simulate_prints_and_saves_the_count(
    count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 100 < count < 500
    assert main(["simulate", *DATA, *MODEL, *ABOVE]) == 0
    assert re.search(rf"samples above +│ {count}", capsys.readouterr().out)
    plain = record(capsys, "simulate", *DATA, *MODEL)
    assert "above" not in plain


def test_budget_includes_the_companion(capsys: pytest.CaptureFixture[str]) -> None:
    shape = ("budget", "--features", "3", "--classes", "2", *MODEL)
    result, plain = (record(capsys, *shape, *more) for more in (ABOVE, ()))
    assert result["buffers"]["above.words"] == 4
    assert sum(result["code"].values()) > sum(plain["code"].values())
    assert result["ram_bytes"] > plain["ram_bytes"]
    alone = record(capsys, *shape, *ABOVE, "--own-program")
    assert alone["code"]["above"] > 0


def test_parity_includes_the_companion(capsys: pytest.CaptureFixture[str]) -> None:
    """The command compares four engines, among them the real MicroPython with a locked heap."""
    assert main(["parity", *DATA, *MODEL, *ABOVE]) == 0
    assert "engines are identical" in capsys.readouterr().out


def test_the_companion_is_saved_and_loaded(tmp_path: Path, count: int) -> None:
    path = tmp_path / "m.mshrub"
    assert main(["simulate", *DATA, *MODEL, *ABOVE, "--save", str(path)]) == 0
    part = load_model(path).companions["above"]
    assert part.limit == 30000
    words = np.zeros(15, np.int32)
    assert part.tell(words) == 1
    assert words[0] == count


def test_build_and_monitor_include_the_companion(
    tmp_path: Path, count: int, micropython_command: tuple[str, ...]
) -> None:
    """The program is merged into one module, as usual, and runs on the real MicroPython."""
    folder = tmp_path / "out"
    x86(tmp_path)
    board = str(tmp_path / "x86.toml")
    words = ["build", *DATA, *MODEL, *ABOVE, "--board", board, "--output", str(folder)]
    assert main([*words, "--warmup", "256"]) == 0
    config = json.loads((folder / "config.json").read_text())
    assert config["watchers"] == {"above": ["above", "Above", {"limit": 30000}]}
    stream = open_stream("synth:sea_a", limit=600)
    with Device(micropython_command, folder, "192k") as device:
        with connected(device) as link:
            rows = stream.scale.apply(stream.values).tolist()
            for row, label in zip(rows, stream.labels.tolist(), strict=True):
                link.ask(sample(row, label))
            assert link.ask(companion_words(0)) == CompanionWords((count,))
        with HostLink(SerialLine(device.port)) as link:
            watch = Watch(link)
            watch.ask()
            assert dict(facts(watch))["above"] == f"{count} samples"
