"""Model files: even a damaged file gives the saved model, or is refused."""

from __future__ import annotations

import io
import json
import os
import re
import zipfile
from array import array
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests_support import make_blobs

from microshrub_host.base import files
from microshrub_host.base.errors import UserError
from microshrub_host.evaluation import prequential
from microshrub_host.models import model_files
from microshrub_host.simulation import engines
from microshrub_host.streams.stream import Stream
from microshrub_tools.cli.main import main

PARAMETERS: dict[str, dict[str, Any]] = {
    "shrub": {"window": 8, "trees": 2, "depth": 2, "step": 1.0},
    "hoeffding": {"nodes": 5, "leaves": 3, "bins": 4, "grace_period": 20, "tie_threshold": 0.5},
}
PARTS = ["config.json", "learner.state", "quantizer.state"]


def blobs() -> Stream:
    rows, labels = make_blobs(300)
    return Stream("blobs", rows / 100 + [0, 10**6], labels, ("a", "b"), ("no", "yes"))


def learned(model: str, engine: str = "python") -> model_files.ModelFile:
    """Return a model that has learned the blobs."""
    stream = blobs()
    parameters = {"features": 2, "classes": 2, **PARAMETERS[model]}
    return model_files.of_run(
        prequential.evaluate(stream, model, parameters, engine=engine), stream
    )


def saved(path: Path, model: str) -> Path:
    model_files.write(path, learned(model))
    return path


def identity(model: model_files.OpenModel) -> tuple[Any, ...]:
    """Return all properties of a model, comparable."""
    file = model.file
    states = [part.state_crc32() for part in (model.learner, model.quantizer)]
    texts = (file.learner, str(file.parameters), file.feature_names, file.class_names, file.stream)
    numbers = (file.samples, file.accuracy, file.scale.units(), file.states)
    return (*texts, *numbers, *states)


@pytest.mark.parametrize("model", ["shrub", "hoeffding"])
def test_models_of_all_engines_are_read_as_saved(
    tmp_path: Path, model: str, micropython_command: tuple[str, ...]
) -> None:
    files = []
    for engine in ("python", "llvm", "micropython"):
        run = learned(model, engine)
        path = tmp_path / f"{engine}.mshrub"
        model_files.write(path, run)
        files.append(path.read_bytes())
        opened = model_files.open_model(path)
        assert opened.learner.save() == run.states.learner
        assert opened.quantizer.save() == run.states.quantizer
        assert opened.file.feature_names == ("a", "b")
        assert opened.file.class_names == ("no", "yes")
        assert opened.file.scale.units() == [(0, 2), (1000001, 2)]
        assert (opened.file.stream, opened.file.samples) == ("blobs", 300)
        assert opened.file.accuracy == run.accuracy > 70
        assert identity(
            model_files.OpenModel(model_files.read(path), opened.learner, opened.quantizer)
        ) == identity(opened)
    assert files[0] == files[1] == files[2]


@pytest.mark.parametrize("model", ["shrub", "hoeffding"])
def test_an_opened_model_continues_like_the_saved_one(tmp_path: Path, model: str) -> None:
    stream, file = blobs(), learned(model)
    rows = stream.raw_rows()
    with engines.start("llvm", file.learner, file.parameters) as run:
        prequential.fit(run, rows, 256)
        run.run(rows, stream.labels)
        path = tmp_path / "m.mshrub"
        model_files.write(path, replace(file, states=run.saved()))
        expected = run.run(rows[:100], stream.labels[:100])
        crc = run.status().state_crc32
    opened = model_files.open_model(path)
    raw = opened.file.scale.apply(stream.values[:100])
    codes, predicted = array("H", bytes(400)), bytearray(100)
    opened.quantizer.encode(array("i", raw.ravel().tolist()), codes)
    opened.learner.run(codes, bytearray(stream.labels[:100].tobytes()), predicted)
    assert predicted == expected.tobytes()
    assert opened.learner.state_crc32() == crc


@pytest.mark.parametrize(("model", "flip"), [("shrub", 0x10), ("hoeffding", 0xFF)])
def test_no_flipped_byte_gives_another_model(tmp_path: Path, model: str, flip: int) -> None:
    path = saved(tmp_path / "m.mshrub", model)
    whole = path.read_bytes()
    before = identity(model_files.open_model(path))
    refusals = []
    for k in range(len(whole)):
        path.write_bytes(whole[:k] + bytes([whole[k] ^ flip]) + whole[k + 1 :])
        try:
            after = identity(model_files.open_model(path))
        except UserError as error:
            refusals.append(str(error))
        else:
            assert after == before, k
    assert all(text.startswith(f"{path}: ") and "\n" not in text for text in refusals)
    # a zip has times and other bytes that are not part of a model
    assert len(whole) - 200 < len(refusals) < len(whole)


def test_a_cut_file_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path / "m.mshrub", "hoeffding")
    whole = path.read_bytes()
    for length in (*range(0, len(whole), 37), len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(UserError, match="damaged"):
            model_files.open_model(path)


def test_a_recording_instead_of_a_model_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "gestures.csv"
    path.write_text("a,label\n1,x\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"simulate .*gestures\.csv --save gestures\.mshrub"):
        model_files.open_model(path)


def test_a_source_that_is_not_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no file"):
        model_files.open_model(tmp_path / "none.mshrub")
    with pytest.raises(UserError, match="read: Is a directory"):
        model_files.open_model(tmp_path)
    path = tmp_path / "text.mshrub"
    path.write_text("speed,heat,class\n")
    with pytest.raises(UserError, match="not a model file"):
        model_files.open_model(path)


# Forged files: every part is checked


def remade(path: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """Replace the file's config.json; all checksums of the zip are right."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    config = json.loads(parts["config.json"])
    change(config)
    parts["config.json"] = json.dumps(config).encode()
    return zipped(path, parts)


def zipped(path: Path, parts: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return path


CHANGES: list[tuple[dict[str, Any], str]] = [
    ({"format": 2}, "version 2, .* has 1"),
    ({"format": None}, "format is version None"),
    ({"learner": "Quantizer"}, "learner .* ShrubEnsemble, HoeffdingTree"),
    ({"learner": "Majority"}, "say where it is: MICROSHRUB_LEARNERS=FILE.py:Majority"),
    ({"learner": "__class__"}, "learner .* ShrubEnsemble, HoeffdingTree"),
    ({"learner": ["ShrubEnsemble"]}, "config.json has no valid learner"),
    ({"learner": "ShrubEnsemble"}, "ShrubEnsemble has no parameter bins"),
    ({"parameters": []}, "config.json has no valid parameters"),
    ({"parameters": {}}, "config.json names 2 features"),
    ({"feature_names": ["a"]}, "config.json names 1 features"),
    ({"feature_names": ["a", 1]}, "config.json has no valid feature_names"),
    ({"class_names": ["a", "b", "c"]}, "config.json names 3 classes"),
    ({"offset": [0.0]}, "a unit for each feature"),
    ({"offset": [0.0, float("nan")]}, "config.json has no valid offset"),
    ({"offset": [0, 10**400]}, "too large"),
    ({"digits": [0, 0.5]}, "config.json has no valid digits"),
    ({"digits": [0, 10**9]}, "config.json has no valid digits"),
    ({"samples": -1}, "config.json has no valid samples"),
    ({"accuracy": "high"}, "config.json has no valid accuracy"),
    ({"stream": 5}, "config.json has no valid stream"),
    ({"state_crc32": 5}, "state's checksum .* config.json"),
    ({"state_crc32": "5"}, "config.json has no valid state_crc32"),
]


@pytest.mark.parametrize(("change", "message"), CHANGES)
def test_a_wrong_config_is_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = remade(saved(tmp_path / "m.mshrub", "hoeffding"), lambda c: c.update(change))
    with pytest.raises(UserError) as caught:
        model_files.open_model(path)
    assert re.search(message, str(caught.value))


PARAMETER_CHANGES: list[tuple[dict[str, Any], str]] = [
    ({"nodes": -1}, "nodes .* 1..65535, not -1"),
    ({"leaf": "best"}, "leaf .* mc, nb, nba, not 'best'"),
    ({"two_valued": 3}, "two_valued .* features, not 3"),
    ({"leaves": 65534, "bins": 255, "nodes": 65535}, "too short for the parameters"),
    ({"grace_period": 21}, "state is of HoeffdingTree features=2"),
    ({"colour": "red"}, "HoeffdingTree has no parameter colour"),
]


@pytest.mark.parametrize(("change", "message"), PARAMETER_CHANGES)
def test_wrong_parameters_are_refused(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    path = saved(tmp_path / "m.mshrub", "hoeffding")
    remade(path, lambda config: config["parameters"].update(change))
    with pytest.raises(UserError) as caught:
        model_files.open_model(path)
    assert re.search(message, str(caught.value))


def test_wrong_parts_are_refused(tmp_path: Path) -> None:
    path = saved(tmp_path / "m.mshrub", "shrub")
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in PARTS}
    state, other = parts["learner.state"], parts["quantizer.state"]
    damaged = state[:-9] + bytes([state[-9] ^ 1]) + state[-8:]
    fresh = model_files.open_model(path).quantizer
    fresh.reset()
    for changes, message in (
        ({"learner.state": damaged}, "state is damaged: its checksum"),
        ({"learner.state": other}, "too short"),
        ({"learner.state": other * 100}, "damaged"),
        ({"quantizer.state": state}, "state is of ShrubEnsemble"),
        ({"quantizer.state": fresh.save()}, "quantizer has no ranges"),
        ({"config.json": b"{}"}, "version None"),
        ({"config.json": b"[" * 100_000}, "damaged"),
        ({"config.json": b"[]"}, "an object"),
        ({"more": b""}, "damaged"),
    ):
        zipped(path, parts | changes)
        with pytest.raises(UserError) as caught:
            model_files.open_model(path)
        assert re.search(message, str(caught.value)), changes
    zipped(path, parts)
    assert model_files.open_model(path).learner.trees_used


# Writing


def test_a_failed_write_keeps_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(tmp_path / "m.mshrub", "shrub")
    before = path.read_bytes()
    run = learned("hoeffding")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(UserError, match=r"m\.mshrub: .* No space left"):
            model_files.write(path, run)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["m.mshrub"]
    model_files.write(path, run)
    assert model_files.read(path).learner == "HoeffdingTree"
    assert os.listdir(tmp_path) == ["m.mshrub"]


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link = tmp_path / "link.mshrub"
    link.symlink_to(tmp_path / "there" / "m.mshrub")
    saved(link, "shrub")
    assert link.is_symlink()
    assert os.listdir(tmp_path / "there") == ["m.mshrub"]


def test_a_full_disk_is_reported_before_the_run(tmp_path: Path) -> None:
    path = tmp_path / "m.mshrub"
    files.check_room("--save", path, 1000)
    with pytest.raises(UserError, match=r"--save .*m\.mshrub: .* bytes"):
        files.check_room("--save", path, 1 << 60)


# The command


def simulate_command(tmp_path: Path, target: str | Path, *words: str) -> int:
    data = tmp_path / "blobs.csv"
    rows, labels = make_blobs(300)
    lines = [f"{a / 10},{b},{'ny'[c]}" for (a, b), c in zip(rows, labels, strict=True)]
    data.write_text("a,b,class\n" + "\n".join(lines))
    small = [
        "--model",
        "shrub",
        "--window",
        "8",
        "--trees",
        "2",
        "--depth",
        "2",
        "--engine",
        "python",
    ]
    return main(["simulate", str(data), *small, "--save", str(target), *words])


def test_simulate_saves_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = tmp_path / "one.mshrub", tmp_path / "other.mshrub"
    assert simulate_command(tmp_path, one, "--json", "-") == 0
    captured = capsys.readouterr()
    record = json.loads(captured.out)
    assert "written to" in captured.err
    file = model_files.read(one)
    assert file.stream == record["stream"] == "blobs.csv"
    assert list(file.class_names) == record["class_names"]
    assert file.accuracy == record["accuracy"]
    assert model_files.open_model(one).learner.state_crc32() == record["state_crc32"]
    with zipfile.ZipFile(io.BytesIO(one.read_bytes())) as archive:
        assert archive.namelist() == PARTS
    assert simulate_command(tmp_path, other) == 0
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_device_file_is_not_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert simulate_command(tmp_path, "/dev/full") == 2
    assert "/dev/full: cannot be written" in capsys.readouterr().err
    assert Path("/dev/full").is_char_device()


def test_the_number_of_missing_values_is_saved(tmp_path: Path) -> None:
    stream = blobs()
    values = stream.values.copy()
    values[::7, 0] = np.nan
    gaps = Stream("gaps", values, stream.labels, stream.feature_names, stream.class_names)
    parameters = {"features": 2, "classes": 2, **PARAMETERS["shrub"]}
    result = prequential.evaluate(gaps, "shrub", parameters, engine="python")
    path = tmp_path / "m.mshrub"
    model_files.write(path, model_files.of_run(result, gaps))
    assert model_files.open_model(path).quantizer.missing == 43
