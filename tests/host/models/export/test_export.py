"""`microshrub export`: refused options, replaced files, and formats for other programs."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from export_support import (
    BAYES,
    CLASSES,
    FEATURES,
    MODELS,
    TREE,
    export,
    predictions_and_votes,
    rows,
    save,
    stream,
)

from microshrub_host.evaluation import prequential
from microshrub_host.models import model_files, trees
from microshrub_tools.cli.main import main

FITS = ("two classes, majority", "majority", "few slots", "one leaf", "boosted", "one shrub")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return save(tmp_path_factory.mktemp("models"))


def refused(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    assert main(["export", *map(str, words)]) == 2
    return capsys.readouterr().err


# --- The command ---------------------------------------------------------------------------------


def test_an_unknown_format_is_named(
    files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "model.txt"
    text = refused(capsys, files["linked"], "--format", "emlern", "-o", target)
    assert "'emlern' is unknown" in text
    assert "Did you mean emlearn?" in text
    assert not target.exists()


def test_a_file_is_replaced_completely_or_kept(
    files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "model"
    target.write_text("f,1")
    bayes = (files["bayes"], "--format", "emlearn", "-o", target)
    assert "naive Bayes" in refused(capsys, *bayes)
    assert "is of another kind" in refused(capsys, files["linked"], "--format", "c", "-o", target)
    assert target.read_text() == "f,1"
    target.unlink()
    first = export(files["linked"], "c", target)
    assert export(files["linked"], "c", target) == first
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_the_model_is_not_overwritten(
    files: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    before = files["linked"].read_bytes()
    text = refused(capsys, files["linked"], "--format", "c", "-o", files["linked"])
    assert "MODEL is the same file" in text
    assert files["linked"].read_bytes() == before


def test_a_missing_folder_is_reported(
    files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = refused(capsys, files["linked"], "--format", "c", "-o", tmp_path / "no" / "model.h")
    assert "there is no folder" in text


# --- emlearn -------------------------------------------------------------------------------------


def read_emlearn(text: str, raw: np.ndarray) -> list[int]:
    """Return the classes with the most votes, by an independent reader of emlearn's format."""
    cells = [line.split(",") for line in text.split("\r\n") if line]
    assert [row[0] for row in cells[:3]] == ["f", "c", "lb"]
    nodes = [tuple(map(int, row[1:])) for row in cells if row[0] == "n"]
    leaves = [int(row[1]) for row in cells if row[0] == "l"]
    roots = [int(row[1]) for row in cells if row[0] == "r"]
    results = []
    for sample in raw.tolist():
        votes = [0] * int(cells[1][1])
        for root in roots:
            node = root
            while node >= 0:
                feature, value, below, above = nodes[node]
                child = below if sample[feature] < value else above
                node = node + child if child >= 0 else child
            votes[leaves[-1 - node]] += 1
        results.append(votes.index(max(votes)))
    return results


@pytest.mark.parametrize("name", FITS)
def test_emlearn_predicts_like_the_model(
    files: dict[str, Path], name: str, tmp_path: Path
) -> None:
    text = export(files[name], "emlearn", tmp_path / "model.csv").decode()
    raw = rows(2000, far=False)
    assert read_emlearn(text, raw) == predictions_and_votes(files[name], raw)[0]


@pytest.mark.parametrize(
    ("name", "why"),
    [(name, "use naive Bayes") for name in BAYES] + [("by position", "different weights")],
)
def test_emlearn_refuses_models_that_its_format_cannot_hold(
    files: dict[str, Path], name: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = refused(capsys, files[name], "--format", "emlearn", "-o", tmp_path / "m.csv")
    assert why in " ".join(text.split())
    assert "--format c" in " ".join(text.split())


def test_emlearn_refuses_values_of_more_than_16_bits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, shape = stream(heat=5000), {"features": 3, "classes": 3}
    result = prequential.evaluate(
        data, "hoeffding", shape | TREE | {"leaf": "mc"}, engine="python"
    )
    model_files.write(tmp_path / "far.mshrub", model_files.of_run(result, data))
    before = sorted(tmp_path.iterdir())
    text = refused(
        capsys, tmp_path / "far.mshrub", "--format", "emlearn", "-o", tmp_path / "far.csv"
    )
    assert re.search(r"16 bits, and a test of \$heat\$ .* is at the raw value 50\d,\d+", text)
    assert sorted(tmp_path.iterdir()) == before


def test_a_model_without_a_tree_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, shape = stream(), {"features": 3, "classes": 3, "train_every": 1000}
    result = prequential.evaluate(data, "shrub", shape, engine="python")
    model_files.write(tmp_path / "young.mshrub", model_files.of_run(result, data))
    for format_name in ("c-frozen", "emlearn", "onnx", "graphviz"):
        text = refused(
            capsys, tmp_path / "young.mshrub", "--format", format_name, "-o", tmp_path / "young"
        )
        assert "has no tree yet" in text


# --- ONNX ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in MODELS if name not in BAYES])
def test_onnx_predicts_like_the_model(files: dict[str, Path], name: str, tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="onnx comes with microshrub[export]")
    runtime = pytest.importorskip(
        "onnxruntime", reason="onnxruntime comes with microshrub[export]"
    )
    data = export(files[name], "onnx", tmp_path / "model.onnx")
    onnx.checker.check_model(data, full_check=True)
    raw = rows(2000)
    raw = raw[(raw > -(2**29)).all(axis=1)].clip(max=2**29 - 1)
    session = runtime.InferenceSession(data, providers=["CPUExecutionProvider"])
    predicted, scores = session.run(None, {"raw": raw.astype(np.float64)})
    labels, votes = predictions_and_votes(files[name], raw)
    assert predicted.tolist() == labels
    assert np.abs(scores - np.array(votes)).max() <= (1 if MODELS[name][0] == "hoeffding" else 0)


def test_without_onnx_the_error_says_what_to_install(
    files: dict[str, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)  # as if it were not installed
    text = refused(capsys, files["linked"], "--format", "onnx", "-o", tmp_path / "model.onnx")
    assert "pip install 'microshrub[export]'" in text
    assert not list(tmp_path.iterdir())


# --- Graphviz ------------------------------------------------------------------------------------

_STRING = r'"(?:[^"\\]|\\.)*"'
_ATTRIBUTES = rf"\[\w+=(?:\w+|{_STRING})(?:, \w+=(?:\w+|{_STRING}))*\]"
_LINE = re.compile(
    rf"digraph \w+ {{|  subgraph \w+ {{|(?:  )?}}|\s+label={_STRING};|\s+\w+ {_ATTRIBUTES};"
    rf"|\s+\w+ -> \w+ {_ATTRIBUTES};"
)


@pytest.mark.parametrize("name", MODELS)
def test_graphviz_has_every_test_and_leaf(
    files: dict[str, Path], name: str, tmp_path: Path
) -> None:
    text = export(files[name], "graphviz", tmp_path / "model.dot").decode()
    assert all(_LINE.fullmatch(line) for line in text.splitlines())
    assert text.count("{") - text.count("}") == 0
    every = trees.trees_of(model_files.open_model(files[name]))
    leaves = sum(1 for tree in every for _ in trees.leaves(tree.root))
    assert text.count("style=rounded") == leaves
    assert text.count("->") == 2 * (leaves - len(every))
    assert text.count("subgraph") == len(every)


def test_graphviz_has_units_and_escaped_names(files: dict[str, Path], tmp_path: Path) -> None:
    text = export(files["majority"], "graphviz", tmp_path / "model.dot").decode()
    assert re.search(rf'label="{re.escape(FEATURES[0])} <= -?\d+\.\d+"', text)
    assert CLASSES[2].replace("\\", "\\\\").replace('"', '\\"') in text
