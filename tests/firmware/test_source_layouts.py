"""Constants of the device library that more than one file repeats: all agree with their owner."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

import pytest
from source_support import FILES, POINTERS, constants, is_call_of, parse

from microshrub_host.engines import loader


def repeated(file: str, prefix: str) -> dict[str, int]:
    """The constants of the file that begin so, without that."""
    found = constants(parse(file))
    return {"_" + k[len(prefix) :]: v for k, v in found.items() if k.startswith(prefix)}


OWNERS = {
    "_W_": "shrub/window.py",
    "_P_": "shrub/pool.py",
    "_N_": "hoeffding/pool.py",
    "_O_": "hoeffding/histograms.py",
}


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize(("prefix", "owner"), OWNERS.items())
def test_repeated_layouts_agree_with_their_owner(file: str, prefix: str, owner: str) -> None:
    own = constants(parse(owner))
    for name, value in repeated(file, prefix).items():
        assert own.get(name) == value, f"{prefix}{name[1:]}"


def test_the_repeated_layouts_are_found() -> None:
    for file in ("shrub/cart.py", "shrub/splits.py", "shrub/weights.py"):
        assert repeated(file, "_W_")
        assert repeated(file, "_P_")
    assert repeated("shrub/ensemble.py", "_M_")
    for file in ("hoeffding/split_leaf.py", "hoeffding/svfdt.py"):
        assert repeated(file, "_N_")
        assert repeated(file, "_O_")
    assert repeated("hoeffding/leaf_votes.py", "_O_")
    assert repeated("hoeffding/tree.py", "_N_")


# The Hoeffding tree's files

TREE = [
    name.replace(".", "/") + ".py" for name in loader.closure(["hoeffding.tree", "hoeffding.hat"])
]
TREE_MODULES = {
    name: sys.modules[f"{loader.load('python').__name__}.{name}"]
    for name in (
        "hoeffding.tree",
        "hoeffding.pool",
        "hoeffding.histograms",
        "adwin",
        "hoeffding.svfdt",
    )
}


def indexing(file: str, bases: set[str]) -> dict[str, int]:
    """The constants with which the file indexes what it calls so: state[_TIE]."""
    found = constants(parse(file))
    names = {
        ast.unparse(node.slice)
        for node in ast.walk(parse(file))
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) in bases
    }
    return {name: value for name, value in found.items() if name in names}


def numbered(bases: set[str], files: list[str]) -> dict[int, str]:
    """The words of one layout, of which each has one number in all of the files."""
    found: dict[str, int] = {}
    for file in files:
        for name, value in indexing(file, bases).items():
            assert found.setdefault(name, value) == value, (file, name)
    assert len(set(found.values())) == len(found)
    return {value: name for name, value in sorted(found.items(), key=lambda item: item[1])}


def test_the_tree_knows_its_own_tuple() -> None:
    """The first part's buffers one by one, then the nodes, the slots and the windows."""
    tree = TREE_MODULES["hoeffding.tree"].HoeffdingTree
    model = tree(features=1, classes=2, adaptive=True)
    places = list(dict.fromkeys(name.split(".")[0] for name, _, _ in model.buffers()))
    called = {"tree": "nodes", "observers": "slots", "drift": "windows"}
    names = ["_" + called.get(name, name).upper() for name in places]
    assert numbered({"t", "self._nest"}, TREE) == dict(enumerate(names))


def test_the_tree_knows_its_state() -> None:
    found = numbered({"state", "ptr32(t[_STATE])"}, TREE)
    assert list(found) == list(range(constants(parse("hoeffding/tree.py"))["_WORDS"]))
    assert {found[2], found[9], found[14]} == {"_BOUND", "_TWIN", "_HOST"}
    here = indexing("hoeffding/tree.py", {"state"})
    assert list(here.values()) == list(range(len(here)))


def test_the_tree_knows_what_merits_leaves_behind() -> None:
    found = numbered(
        {"out", "found", "split"},
        ["hoeffding/histograms.py", "hoeffding/split_rules.py", "hoeffding/split_leaf.py"],
    )
    assert list(found) == list(range(TREE_MODULES["hoeffding.histograms"].MERIT_WORDS))
    assert found == numbered({"out"}, ["hoeffding/histograms.py"])


@pytest.mark.parametrize(
    "file", sorted(set(TREE) - {"hoeffding/pool.py", "hoeffding/histograms.py"})
)
def test_the_words_of_other_files_shapes_have_a_prefix(file: str) -> None:
    source = ast.unparse(parse(file))
    for prefix, pointer in (("_N_", "ptr32(n[0])"), ("_O_", "ptr32(o[0])")):
        bases = {pointer, "shape"} if f"shape = {pointer}" in source else {pointer}
        assert all(name.startswith(prefix) for name in indexing(file, bases))


def test_the_tree_knows_its_policies() -> None:
    policies = [name.upper() for name in TREE_MODULES["hoeffding.tree"]._POLICIES]
    for file in TREE:
        found = constants(parse(file))
        assert all(found.get("_" + name, i) == i for i, name in enumerate(policies)), file
    assert "_SVFDT2" in constants(parse("hoeffding/split_rules.py"))


def test_no_slot_has_one_number() -> None:
    found = {constants(parse(file)).get("_NO_SLOT") for file in TREE}
    assert found == {None, constants(parse("hoeffding/pool.py"))["_NO_SLOT"]}


def test_votes_have_one_unit() -> None:
    assert (
        constants(parse("hoeffding/learn.py"))["_VOTE"]
        == constants(parse("hoeffding/leaf_votes.py"))["_WHOLE"]
    )


def test_strict_has_three_words_for_each_of_its_statistics() -> None:
    found = constants(parse("hoeffding/svfdt.py"))
    starts = [found[name] for name in ("_LEAVES", "_ENTROPIES", "_GAINS", "_SAMPLES")]
    assert starts == list(range(0, TREE_MODULES["hoeffding.svfdt"].STRICT_WORDS, 3))


BUFFERS = {
    "n": TREE_MODULES["hoeffding.pool"].nodes_table(1, 1, True),
    "o": TREE_MODULES["hoeffding.histograms"].observers_table(1, 2, 1, [2], False),
    "d": TREE_MODULES["adwin"].windows_table(1),
}
BUFFERS |= {"t[_NODES]": BUFFERS["n"], "t[_SLOTS]": BUFFERS["o"], "t[_WINDOWS]": BUFFERS["d"]}
POINTER_TO = {"B": "ptr8", "H": "ptr16", "i": "ptr32"}


def pointers_to_parts(file: str) -> Iterator[tuple[str, str, str, int]]:
    """The name it gets or "", the kind of pointer, and which buffer of a part it points to."""
    named = {
        id(node.value): ast.unparse(node.targets[0])
        for node in ast.walk(parse(file))
        if isinstance(node, ast.Assign)
    }
    for node in ast.walk(parse(file)):
        if is_call_of(node, POINTERS) and isinstance(node, ast.Call):
            at = node.args[0]
            if isinstance(at, ast.Subscript) and isinstance(at.slice, ast.Constant):
                part, place = ast.unparse(at.value), at.slice.value
                yield named.get(id(node), ""), ast.unparse(node.func), part, int(place)


@pytest.mark.parametrize("file", TREE)
def test_the_tree_points_to_the_buffers_that_it_means(file: str) -> None:
    """feature = ptr8(n[1]): the table of the nodes calls it so, and says 'B'."""
    for name, pointer, part, place in pointers_to_parts(file):
        column, code, _ = BUFFERS[part][place]
        assert pointer == POINTER_TO[code], (name, part, place)
        column = column.partition(".")[2]
        assert name in ("", column, column + "s"), (name, part, place)


def test_the_pointers_to_buffers_are_found() -> None:
    assert ("alternate", "ptr16", "t[_NODES]", 9) in pointers_to_parts("hoeffding/hat.py")
    assert ("", "ptr16", "n", 6) in pointers_to_parts("hoeffding/pool.py")


# The ensemble's files


def test_the_ensemble_knows_the_members() -> None:
    weights = sys.modules[loader.load("python").__name__ + ".shrub.weights"]
    places = [name.split(".")[1] for name, _, _ in weights.members_table(1, 2)]
    own = constants(parse("shrub/weights.py"))
    for name, value in repeated("shrub/ensemble.py", "_M_").items():
        if name in own:
            assert own[name] == value, name  # a word of the shape
        else:
            assert places[value] == name[1:].lower()  # a buffer of the tuple


def test_the_ensemble_knows_its_own_tuple() -> None:
    model = loader.load("python").ShrubEnsemble(features=1, classes=2)
    names = dict.fromkeys(name.split(".")[0] for name, _, _ in model.buffers())
    found = constants(parse("shrub/ensemble.py"))
    assert [found["_" + name.upper()] for name in names] == list(range(len(names)))


def test_splits_and_cart_share_their_scratch() -> None:
    cart, splits = constants(parse("shrub/cart.py")), constants(parse("shrub/splits.py"))
    shared = cart.keys() & splits.keys()
    assert {"_MAX_FEATURES", "_CLOSED", "_FEATURE", "_THRESHOLD", "_FORK", "_MERIT"} <= shared
    assert {name: cart[name] for name in shared} == {name: splits[name] for name in shared}


@pytest.mark.parametrize("file", FILES)
def test_the_words_of_a_layout_are_numbered_one_by_one(file: str) -> None:
    names = list(constants(parse(file)).items())
    for i, (name, words) in enumerate(names):
        if name in ("_WORDS", "_FORK", "_NODE", "_SCORES"):
            before = [value for _, value in names[max(0, i - words) : i]]
            columns = list(range(words))
            # cart.py repeats only those columns of splits.py that it needs, and hoeffding.py
            # leaves the last words of the tree's state to the kernels
            partly = {"shrub/cart.py": ("_FORK", "_SCORES"), "hoeffding/tree.py": ("_WORDS",)}
            assert before == columns or name in partly.get(file, ())


def test_the_missing_value_is_the_public_one() -> None:
    library = loader.load("python")
    assert constants(parse("quantizer.py"))["_MISSING"] == library.MISSING == -library.RAW_MAX - 1
