"""Saving and loading: a saved state continues unchanged, and any other data is refused."""

from __future__ import annotations

import random
from array import array
from binascii import crc32
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from property_support import examples

from microshrub_host.library import loader

library = loader.load("python")
CLASSES = ("ShrubEnsemble", "Quantizer", "Metrics")
ITEM_BYTES = {"B": 1, "H": 2, "i": 4}
VERSION_AT = 4  # in a saved state, after b"mshr"

CONFIGURATIONS = st.fixed_dictionaries(
    {
        "features": st.integers(1, 20),
        "classes": st.one_of(st.integers(2, 8), st.just(256)),
        "window": st.one_of(st.integers(2, 40), st.sampled_from((255, 256, 257, 1024))),
        "trees": st.integers(1, 6),
        "depth": st.one_of(st.integers(1, 11), st.just(30)),
        "step": st.sampled_from((0.01, 0.5, 64)),
        "loss": st.sampled_from(("mse", "cross_entropy")),
        "splitter": st.sampled_from(("best", "random")),
        "max_features": st.integers(0, 1),
        "leaf": st.sampled_from(("proba", "class")),
        "train_every": st.integers(1, 9),
        "trigger": st.sampled_from(("sample", "error")),
        "feature_bits": st.sampled_from((8, 16)),
        "seed": st.integers(0, 2**30 - 1),
    }
)


def make(class_name: str, source: Any = library) -> Any:
    """Return a small object of that class, with 2 features and 3 classes."""
    if class_name == "ShrubEnsemble":
        return source.ShrubEnsemble(features=2, classes=3, window=4, trees=2, depth=2)
    return getattr(source, class_name)({"Quantizer": 2, "Metrics": 3}[class_name])


def feed(target: Any, seed: int, steps: int = 12) -> list[int]:
    """Feed some samples, the same for the same seed; return all results."""
    rng = random.Random(seed)
    answers = []
    for _ in range(steps):
        row = [rng.randrange(-3000, 3000) for _ in range(getattr(target, "features", 2))]
        label = rng.randrange(min(3, getattr(target, "classes", 3)))
        if hasattr(target, "learn"):
            codes = array("H", [x % 65536 for x in row])
            answers += [target.learn(codes, label), target.predict(codes), *target.votes]
        elif hasattr(target, "observe"):
            codes = array("H", bytes(2 * len(row)))
            if target.frozen:
                target.encode(array("i", row), codes)
            else:
                target.observe(array("i", row))
            answers += codes
        else:
            target.update(label, rng.randrange(3))
            answers.append(target.kappa)
    if hasattr(target, "freeze"):
        target.freeze()
    return answers


def used(class_name: str, source: Any = library) -> Any:
    target = make(class_name, source)
    feed(target, 1)
    return target


def with_checksum(body: bytes) -> bytes:
    return body + crc32(body).to_bytes(4, "little")


def rebuilt(text: bytes, buffers: bytes, stated_size: int | None = None) -> bytes:
    """Return a well-formed saved state with that configuration and these buffers."""
    size = len(buffers) if stated_size is None else stated_size
    head = b"mshr\x01" + len(text).to_bytes(2, "little") + text
    return with_checksum(head + size.to_bytes(4, "little") + buffers)


def check_refused(target: Any, data: bytes | bytearray, words: str | None = None) -> None:
    before = target.state_crc32()
    lengths = [len(buffer) for _, _, buffer in target.buffers()]
    with pytest.raises(ValueError, match=words):
        target.load(data)
    assert target.state_crc32() == before
    assert [len(buffer) for _, _, buffer in target.buffers()] == lengths


# Round trips


@pytest.mark.parametrize("class_name", CLASSES)
def test_a_loaded_state_equals_the_saved_one_and_has_the_same_future(class_name: str) -> None:
    saved = used(class_name)
    loaded = make(class_name)
    assert loaded.state_crc32() != saved.state_crc32()
    loaded.load(saved.save())
    assert loaded.state_crc32() == saved.state_crc32()
    assert feed(loaded, 2, 30) == feed(saved, 2, 30)
    assert loaded.state_crc32() == saved.state_crc32()


@settings(deadline=None, max_examples=examples(25))
@given(CONFIGURATIONS, st.integers(0, 99))
def test_round_trips_of_many_configurations(parameters: dict[str, Any], seed: int) -> None:
    library = loader.load(loader.fastest())
    saved, loaded = (library.ShrubEnsemble(**parameters) for _ in range(2))
    feed(saved, seed, 30)
    feed(loaded, seed + 1, 20)
    loaded.load(saved.save())
    assert loaded.save() == saved.save()
    assert feed(loaded, seed + 2, 20) == feed(saved, seed + 2, 20)
    assert loaded.state_crc32() == saved.state_crc32()


@pytest.mark.parametrize("class_name", CLASSES)
def test_saving_changes_nothing_and_bytearrays_load(class_name: str) -> None:
    target = used(class_name)
    before = target.state_crc32()
    data = target.save()
    assert isinstance(data, bytes)
    assert target.state_crc32() == before
    target.load(bytearray(data))
    assert target.state_crc32() == before
    assert target.save() == data


def test_loading_keeps_the_buffers_where_they_are() -> None:
    target = used("ShrubEnsemble")
    votes = target.votes
    target.load(make("ShrubEnsemble").save())
    assert target.votes is votes
    assert not any(votes)


def test_a_quantizer_saved_before_it_was_frozen_freezes_equally() -> None:
    saved = library.Quantizer(2)
    saved.observe(array("i", [0, 10, 800, 90]))
    loaded = library.Quantizer(2, [(0, 1), (0, 1)])
    loaded.load(saved.save())
    saved.freeze()
    loaded.freeze()
    assert loaded.state_crc32() == saved.state_crc32()


def test_the_ranges_of_a_quantizer_are_saved_with_it() -> None:
    saved, loaded = library.Quantizer(1, [(-50, 50)]), library.Quantizer(1)
    loaded.load(saved.save())
    codes = [array("H", bytes(8)) for _ in range(2)]
    for quantizer, out in zip((saved, loaded), codes, strict=True):
        quantizer.encode(array("i", [-60, -50, 7, 99]), out)
    assert codes[0] == codes[1]


@pytest.mark.parametrize("class_name", CLASSES)
def test_reset_equals_a_fresh_object(class_name: str) -> None:
    target = used(class_name)
    fresh = make(class_name)
    target.reset()
    assert target.state_crc32() == fresh.state_crc32()
    assert feed(target, 3) == feed(fresh, 3)


@settings(deadline=None, max_examples=examples(25))
@given(CONFIGURATIONS)
def test_reset_of_many_configurations(parameters: dict[str, Any]) -> None:
    library = loader.load(loader.fastest())
    target = library.ShrubEnsemble(**parameters)
    fresh = target.save()
    feed(target, 4)
    target.reset()
    assert target.save() == fresh == library.ShrubEnsemble(**parameters).save()


# Refusals


@pytest.mark.parametrize("class_name", CLASSES)
def test_every_flipped_bit_is_refused(class_name: str) -> None:
    data = bytearray(used(class_name).save())
    target = make(class_name)
    feed(target, 5)
    for bit in range(8 * len(data)):
        data[bit // 8] ^= 1 << bit % 8
        check_refused(target, data)
        data[bit // 8] ^= 1 << bit % 8
    target.load(data)


@pytest.mark.parametrize("class_name", CLASSES)
def test_every_truncation_is_refused(class_name: str) -> None:
    data = used(class_name).save()
    target = make(class_name)
    for length in range(len(data)):
        check_refused(target, data[:length])
    for more in (b"\0", b"\xff", data):
        check_refused(target, data + more)


@pytest.mark.parametrize("class_name", CLASSES)
@pytest.mark.parametrize("other", CLASSES)
def test_another_class_is_refused(class_name: str, other: str) -> None:
    if class_name != other:
        check_refused(
            make(class_name), used(other).save(), f"state is of {other} .* this is {class_name} "
        )


CHANGES = {
    "features": 3, "classes": 4, "window": 5, "trees": 3, "depth": 3, "step": 0.25,
    "loss": "cross_entropy", "splitter": "random", "max_features": 1, "leaf": "class",
    "train_every": 2, "trigger": "error", "feature_bits": 8, "seed": 2,
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_another_configuration_is_refused(name: str) -> None:
    parameters = {"features": 2, "classes": 3, "window": 4, "trees": 2, "depth": 2}
    other = library.ShrubEnsemble(**(parameters | {name: CHANGES[name]}))
    check_refused(used("ShrubEnsemble"), other.save(), f" {name}=")
    assert other.configuration() != make("ShrubEnsemble").configuration()


@pytest.mark.parametrize("class_name", ["Quantizer", "Metrics"])
def test_another_size_is_refused(class_name: str) -> None:
    check_refused(
        used(class_name), getattr(library, class_name)(7).save(), "state is of .*=7, this is "
    )


@pytest.mark.parametrize("class_name", CLASSES)
def test_another_version_is_refused(class_name: str) -> None:
    target = used(class_name)
    data = bytearray(target.save()[:-4])
    for version in (0, data[VERSION_AT] + 1, 255):
        data[VERSION_AT] = version
        check_refused(target, with_checksum(bytes(data)), f"of version {version}")


@pytest.mark.parametrize("class_name", CLASSES)
def test_buffers_of_another_length_are_refused(class_name: str) -> None:
    # The buffers of a state with the same configuration, but another layout.
    target = used(class_name)
    text, size = target.configuration().encode(), sum(map(len, as_bytes(target)))
    buffers = b"".join(as_bytes(target))
    assert rebuilt(text, buffers) == target.save()
    for wrong in (b"", buffers[:-1], buffers[:-4], buffers + b"\0", buffers + bytes(4)):
        check_refused(target, rebuilt(text, wrong), "length")
        check_refused(target, rebuilt(text, wrong, stated_size=size), "length")
    check_refused(target, rebuilt(text, buffers, stated_size=size + 1), "length")


@given(st.binary(max_size=400))
def test_random_bytes_are_refused(data: bytes) -> None:
    for class_name in CLASSES:
        check_refused(make(class_name), data)


@given(st.binary(max_size=60), st.binary(max_size=60))
def test_random_bytes_with_a_good_frame_are_refused(text: bytes, rest: bytes) -> None:
    for class_name in CLASSES:
        check_refused(make(class_name), rebuilt(text, rest))
        check_refused(make(class_name), with_checksum(b"mshr\x01" + text))


def test_a_configuration_that_ends_within_the_checksum_is_refused() -> None:
    target = make("Metrics")
    text = target.configuration().encode()
    for cut in range(len(text) + 1):
        head = b"mshr\x01" + len(text).to_bytes(2, "little") + text[:cut]
        check_refused(target, with_checksum(head))


# Sizes


def as_bytes(target: Any) -> list[bytes]:
    return [bytes(memoryview(buffer)) for _, _, buffer in target.buffers()]


def check_sizes(target: Any, size: int) -> None:
    assert size == sum(map(len, as_bytes(target)))
    for name, typecode, buffer in target.buffers():
        assert len(bytes(memoryview(buffer))) == ITEM_BYTES[typecode] * len(buffer), name
        assert (typecode == "B") == isinstance(buffer, bytearray), name
    names = [name for name, _, _ in target.buffers()]
    assert len(set(names)) == len(names)


@settings(deadline=None)
@given(CONFIGURATIONS)
def test_nbytes_is_exact(parameters: dict[str, Any]) -> None:
    check_sizes(library.ShrubEnsemble(**parameters), library.ShrubEnsemble.nbytes(**parameters))


@given(st.integers(1, 256), st.integers(2, 256))
def test_nbytes_of_quantizers_and_metrics(features: int, classes: int) -> None:
    check_sizes(library.Quantizer(features), library.Quantizer.nbytes(features))
    check_sizes(library.Metrics(classes), library.Metrics.nbytes(classes))


@settings(deadline=None)
@given(CONFIGURATIONS)
def test_a_saved_state_is_the_buffers_and_a_short_header(parameters: dict[str, Any]) -> None:
    model = library.ShrubEnsemble(**parameters)
    head = len(model.configuration()) + 15
    assert len(model.save()) == model.nbytes(**parameters) + head


# MicroPython and CPython read each other's states


def board_script(states: list[tuple[str, bytes]]) -> str:
    """Return a script that loads states, feeds samples, and prints hashes and the last state."""
    rng = random.Random(6)
    rows = [[rng.randrange(65536) for _ in range(2)] for _ in range(12)]
    return f"""
from array import array
from binascii import hexlify
import microshrub
rows = {rows}

def make(kind):
    if kind == "ShrubEnsemble":
        return microshrub.ShrubEnsemble(features=2, classes=3, window=4, trees=2, depth=2)
    return getattr(microshrub, kind)(2 if kind == "Quantizer" else 3)

def go_on(kind, target):
    for i in range(len(rows)):
        if kind == "ShrubEnsemble":
            target.learn(array("H", rows[i]), i % 3)
        elif kind == "Quantizer":
            target.encode(array("i", rows[i]), array("H", rows[i]))
        else:
            target.update(rows[i][0] % 3, rows[i][1] % 3)

for kind, state in {states!r}:
    target = make(kind)
    print(target.state_crc32())
    target.load(state)
    print(target.state_crc32())
    go_on(kind, target)
    print(target.state_crc32())
    say(kind, target)
"""


def test_states_round_trip_through_micropython(run_micropython: Callable[[str], str]) -> None:
    states = [(class_name, used(class_name).save()) for class_name in CLASSES]
    # The same script runs on both: there the state is printed, here it is kept.
    script = board_script(states)
    there = run_micropython(
        "def say(kind, target):\n    print(kind, str(hexlify(target.save()), 'ascii'))\n" + script
    ).splitlines()
    printed: list[object] = []
    kept: dict[str, Any] = {}
    body = script.replace("import microshrub\n", "")
    names = {"microshrub": library, "print": printed.append, "say": kept.__setitem__}
    exec(body, names)
    hashes = [line for line in there if line.isdigit()]
    assert hashes == [str(crc) for crc in printed]
    returned = dict(line.split() for line in there if not line.isdigit())
    for class_name in CLASSES:
        data = bytes.fromhex(returned[class_name])
        assert data == kept[class_name].save()
        target = make(class_name)
        target.load(data)
        assert target.state_crc32() == kept[class_name].state_crc32()
        assert feed(target, 7) == feed(kept[class_name], 7)
