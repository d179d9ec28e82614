"""`microshrub show`: text, picture and paths, and that they match the model."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from array import array
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from microshrub_host.cli.show import row_codes
from microshrub_host.evaluation import prequential
from microshrub_host.models import model_files, trees
from microshrub_host.models.trees import Leaf, Node, Split
from microshrub_host.streams.stream import Stream
from microshrub_tools.cli.main import main

MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "hoeffding": ("hoeffding", {"nodes": 31, "grace_period": 40, "split_confidence": 0.01,
                                "tie_threshold": 0.2, "leaf": "mc"}),
    "few slots": ("hoeffding", {"nodes": 31, "leaves": 2, "grace_period": 40,
                                "split_confidence": 0.01, "tie_threshold": 0.2}),
    "by position": ("shrub", {"window": 64, "trees": 4, "depth": 3}),
    "linked": ("shrub", {"window": 32, "trees": 8, "depth": 9, "leaf": "class"}),
    "narrow": ("shrub", {"window": 64, "trees": 4, "depth": 5, "feature_bits": 8}),
    "wide": ("shrub", {"window": 600, "trees": 3, "depth": 10, "train_every": 50}),
}  # fmt: skip
FEATURES, CLASSES = ("speed, m/s", "$heat$ <b>"), ("rest", "run & walk", "fall")


def stream() -> Stream:
    rng = np.random.default_rng(8)
    values = np.round(rng.normal(size=(800, 2)) * [2, 30] + [0, 5000], 2)
    labels = (values[:, 0] > 0.5).astype(int) + (values[:, 1] > 5010)
    labels = np.where(rng.random(800) < 0.1, rng.integers(0, 3, 800), labels)
    return Stream("walk.csv", values, labels.astype(np.uint8), FEATURES, CLASSES)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A saved model of each kind."""
    folder, data = tmp_path_factory.mktemp("models"), stream()
    results = {}
    for name, (model, parameters) in MODELS.items():
        shape = {"features": 2, "classes": 3}
        result = prequential.evaluate(data, model, shape | parameters)
        results[name] = folder / f"{name}.mshrub"
        model_files.write(results[name], model_files.of_run(result, data))
    return results


def show(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    assert main(["show", *map(str, words)]) == 0
    return capsys.readouterr().out


def splits(node: Node) -> list[Split]:
    if isinstance(node, Leaf):
        return []
    return [node, *splits(node.below), *splits(node.above)]


def leaf_of(node: Node, codes: array[int]) -> Leaf:
    while isinstance(node, Split):
        node = node.above if codes[node.feature] > node.threshold else node.below
    return node


def codes_of(model: model_files.OpenModel) -> list[array[int]]:
    raw = model.file.scale.apply(stream().values)
    results = []
    for row in raw:
        codes = array("H", [0, 0])
        model.quantizer.encode(array("i", row.tolist()), codes)
        results.append(codes)
    return results


@pytest.mark.parametrize("name", MODELS)
def test_the_trees_vote_like_the_model(files: dict[str, Path], name: str) -> None:
    model = model_files.open_model(files[name])
    voters = trees.trees_of(model)
    assert sum(tree.weight for tree in voters) == 1
    assert [t.weight for t in voters] == sorted((t.weight for t in voters), reverse=True)
    assert any(isinstance(tree.root, Split) for tree in voters)
    for codes in codes_of(model)[::3]:
        label = model.learner.predict(codes)
        reached = [(tree.weight, leaf_of(tree.root, codes)) for tree in voters]
        if model.file.learner == "HoeffdingTree":
            assert name != "hoeffding" or reached[0][1].label == label
            continue
        for c, votes in enumerate(model.learner.votes):
            sure = [(w, float(leaf.share)) for w, leaf in reached if leaf.label == c]
            # leaves of other classes give c at most the share that their own class leaves over
            least = sum(w * share for w, share in sure)
            most = least + sum(w * (1 - float(f.share)) for w, f in reached if f.label != c)
            assert least - 0.01 <= votes / (65536 * 255) <= most + 0.01


def test_samples_in_the_window_are_counted(files: dict[str, Path]) -> None:
    for name, window in (("by position", 64), ("linked", 32), ("narrow", 64), ("wide", 600)):
        model = model_files.open_model(files[name])
        last = codes_of(model)[-window:]
        for tree in trees.trees_of(model):
            reached = [leaf_of(tree.root, codes) for codes in last]
            for leaf in trees.leaves(tree.root):
                assert leaf.samples == sum(leaf is other for other in reached)
                assert leaf.note == f"{leaf.share}, {leaf.samples} of the last {window}"


def test_tests_have_the_units_of_the_column(files: dict[str, Path]) -> None:
    """The tests separate the stream's values as the thresholds separate the codes."""
    for path in files.values():
        model = model_files.open_model(path)
        codes = codes_of(model)
        for tree in trees.trees_of(model):
            for split in splits(tree.root):
                name, sign, limit = split.tests[0].rsplit(" ", 2)
                assert (name, sign) == (FEATURES[split.feature], "<=")
                assert split.tests[1] == f"{name} > {limit}"
                for row, x in zip(stream().values, codes, strict=True):
                    below = x[split.feature] <= split.threshold
                    assert (row[split.feature] <= float(limit)) == below


def test_the_text_of_a_tree_has_tests_and_leaves(
    files: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    lines = show(capsys, files["hoeffding"]).splitlines()
    root = trees.trees_of(model_files.open_model(files["hoeffding"]))[0].root
    accuracy = model_files.read(files["hoeffding"]).accuracy
    leaves = len(list(trees.leaves(root)))
    assert lines[0] == f"HoeffdingTree of walk.csv: 800 samples, accuracy {accuracy:.2f} %"
    assert lines[1] == f"{leaves} leaves, depth {trees.depth(root)}"
    assert len(lines) == 2 + 2 * len(splits(root))
    assert sum(" -> " in line for line in lines) == leaves
    for line in lines[2:]:
        assert re.fullmatch(
            r"(│  |   )*[├└]─ (speed, m/s|\$heat\$ <b>) (<=|>) -?[\d.]+"
            r"( -> (rest|run & walk|fall)( \([01]\.\d\d of \d+\))?)?",
            line,
        ), line


def test_depth_limits_the_text(files: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    root = trees.trees_of(model_files.open_model(files["hoeffding"]))[0].root
    assert isinstance(root, Split)
    lines = show(capsys, files["hoeffding"], "--depth", "1").splitlines()
    assert len(lines) == 4
    parts = [len(list(trees.leaves(child))) for child in (root.below, root.above)]
    for part, test, line in zip(parts, root.tests, lines[2:], strict=True):
        assert line[3:].startswith(f"{test} -> ")
        assert part == 1 or line.endswith(f" -> ... {part} leaves")
    assert show(capsys, files["hoeffding"], "--depth", "30") == show(capsys, files["hoeffding"])


def test_shrubs_are_shown_with_their_weights(
    files: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    every = trees.trees_of(model_files.open_model(files["linked"]))
    heavy = sum(tree.weight >= 0.05 for tree in every)
    output = show(capsys, files["linked"])
    heads = re.findall(r"^shrub (\d+) of (\d+): weight (0\.\d\d), ", output, re.MULTILINE)
    assert [int(place) for place, _, _ in heads] == list(range(1, max(heavy, 1) + 1))
    assert {int(number) for _, number, _ in heads} == {len(every)}
    last = show(capsys, files["linked"], "--tree", str(len(every))).splitlines()
    assert last[2].startswith(f"shrub {len(every)} of {len(every)}: ")
    assert last[3:] == trees.lines(every[-1].root)
    assert main(["show", str(files["linked"]), "--tree", str(len(every) + 1)]) == 2
    assert f"the model has {len(every)} trees" in capsys.readouterr().err


def test_a_row_has_a_path(files: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    model = model_files.open_model(files["hoeffding"])
    for speed, heat in ((-3.25, 4980.0), (1, 5040), (1e30, -1e30)):
        output = show(capsys, files["hoeffding"], f"--row={speed},{heat}")
        codes = row_codes(model, f"{speed}, {heat}")
        label = CLASSES[model.learner.predict(codes)]
        assert re.search(rf" -> {label} \([01]\.\d\d of \d+\)\n$", output)
        assert output.strip() == trees.path(trees.trees_of(model)[0].root, codes)
        for name, sign, limit in re.findall(
            r"(speed, m/s|\$heat\$ <b>) (<=|>) (-?[\d.]+)", output
        ):
            assert ((speed, heat)[FEATURES.index(name)] > float(limit)) == (sign == ">")
    missing = show(capsys, files["hoeffding"], "--row", ",5000")
    assert missing.count(" -> ") == 1


def test_a_row_has_paths_through_shrubs(
    files: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    model = model_files.open_model(files["by position"])
    codes = row_codes(model, "2,5050")
    lines = show(capsys, files["by position"], "--row", "2,5050").splitlines()
    assert re.fullmatch(
        re.escape(CLASSES[model.learner.predict(codes)]) + r" \([01]\.\d\d of the votes\)",
        lines[0],
    )
    first = trees.trees_of(model)[0]
    assert lines[1] == f"{first.weight:.2f} * {trees.path(first.root, codes)}"


WRONG = [
    (["--row", "1"], "--row has to have 2 values (speed, m/s,$heat$ <b>), not 1"),
    (["--row", ""], "--row has to have 2 values (speed, m/s,$heat$ <b>), not 0"),
    (["--row", "1,fast"], "--row: $heat$ <b> has to be a number, or empty if missing, not 'fast'"),
    (["--row", "1,inf"], "has to be a number, or empty if missing, not 'inf'"),
    (["--depth", "0"], "--depth has to be at least 1, not 0"),
    (["--tree", "0"], "--tree has to be at least 1, not 0"),
    (["--tree", "2"], "--tree 2: the model has 1 tree"),
    (["--plot", "x.bmp"], "--plot x.bmp: the name has to end in .png, .svg, .pdf"),
    (["--plot", "no/such/x.svg"], "--plot no/such/x.svg: there is no folder no/such"),
]


@pytest.mark.parametrize(("words", "message"), WRONG)
def test_wrong_options_are_refused(
    files: dict[str, Path], capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert main(["show", str(files["hoeffding"]), *words]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""


# The picture


@pytest.mark.parametrize("name", MODELS)
def test_an_svg_has_every_test(
    files: dict[str, Path], capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str
) -> None:
    path = tmp_path / "tree.svg"
    show(capsys, files[name], "--plot", path)
    root = trees.trees_of(model_files.open_model(files[name]))[0].root
    texts = [
        "".join(element.itertext())
        for element in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")
    ]
    assert sorted(text for text in texts if "<=" in text) == sorted(
        split.tests[0] for split in splits(root)
    )
    for words in (["yes", "no"], [leaf.note for leaf in trees.leaves(root) if leaf.note]):
        assert set(words) <= set(texts)
    assert texts.count("yes") == texts.count("no") == len(splits(root))
    names = [leaf.name for leaf in trees.leaves(root)]
    for label in CLASSES:
        assert texts.count(label) == names.count(label)
    before = path.read_bytes()
    show(capsys, files[name], "--plot", path)
    assert path.read_bytes() == before


def test_a_png_may_show_a_part_of_the_tree(
    files: dict[str, Path], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    whole, part = tmp_path / "whole.png", tmp_path / "part.png"
    show(capsys, files["hoeffding"], "--plot", whole)
    show(capsys, files["hoeffding"], "--plot", part, "--depth", "2")
    heights = [int.from_bytes(path.read_bytes()[20:24], "big") for path in (whole, part)]
    assert whole.read_bytes().startswith(b"\x89PNG")
    assert heights[0] > heights[1] > 100


# Models that are small or unusual


def test_a_terminal_without_line_characters_works(
    files: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    command = [sys.executable, "-m", "microshrub_tools.cli.main", "show", str(files["hoeffding"])]
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    lines = show(capsys, files["hoeffding"]).translate({0x251C: "|", 0x2514: "`", 0x2502: "|"})
    assert done.stdout == lines.replace("\u2500", "-")


def test_names_in_other_scripts_are_shown(
    files: dict[str, Path], tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    file = model_files.read(files["hoeffding"])
    path = tmp_path / "other.mshrub"
    model_files.write(path, replace(file, feature_names=("速度", "温度")))
    for ending in ("png", "svg"):
        assert main(["show", str(path), "--plot", str(tmp_path / f"x.{ending}")]) == 0
    assert "速度" in (tmp_path / "x.svg").read_text(encoding="utf-8")
    assert not [str(w.message) for w in recwarn]


def test_a_tree_without_a_test_is_shown(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rows = np.arange(20.0).reshape(-1, 1)
    labels = np.array([0, 1] * 10, dtype=np.uint8)
    data = Stream("short", rows, labels, ("\x1b[31mred\n",), ("a", "b"))
    for model, text in (("hoeffding", "a (0.50 of 20)"), ("shrub", "a ")):
        parameters = {"features": 1, "classes": 2}
        result = prequential.evaluate(data, model, parameters, engine="python")
        path = tmp_path / f"{model}.mshrub"
        model_files.write(path, model_files.of_run(result, data))
        output = show(capsys, path, "--plot", tmp_path / "x.svg")
        assert "\x1b" not in output
        assert text in output
        assert ElementTree.parse(tmp_path / "x.svg").getroot().tag.endswith("svg")
        assert show(capsys, path, "--row", "3")


def test_a_shrub_ensemble_without_shrubs_is_shown(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    data = Stream(
        "short", np.arange(4.0).reshape(-1, 1), np.array([0, 1] * 2, dtype=np.uint8), ("a",),
        ("x", "y"),
    )  # fmt: skip
    parameters = {"features": 1, "classes": 2, "train_every": 100}
    result = prequential.evaluate(data, "shrub", parameters, engine="python")
    path = tmp_path / "young.mshrub"
    model_files.write(path, model_files.of_run(result, data))
    assert len(show(capsys, path).splitlines()) == 1
    assert show(capsys, path, "--row", "3") == "x\n"
    assert main(["show", str(path), "--plot", str(tmp_path / "x.svg")]) == 2
    assert "no tree to draw" in capsys.readouterr().err


def test_a_thicket_shows_the_votes_of_its_members(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "thicket.mshrub"
    words = ["synth:sea_a", "--limit", "400", "--bytes", "4096", "--save", str(path)]
    assert main(["simulate", *words]) == 0
    lines = show(capsys, path).splitlines()
    assert "It cannot be shown as trees. Its state:" in lines
    vote_lines = [
        line for line in lines if re.search(r": \d+ % of the votes, lately \d+ % right$", line)
    ]
    members = [line.partition(":")[0].strip() for line in vote_lines]
    assert members == ["grove", "neighbours", "softmax", "shrubs", "last", "bayes"]
