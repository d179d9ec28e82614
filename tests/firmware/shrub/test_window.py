"""The window: after any sequence of samples it holds the last B, in order by each feature."""

from __future__ import annotations

from array import array
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from property_support import examples

from microshrub_host.library import loader

WINDOWS = (2, 3, 5, 16, 255, 256, 257, 300)
NEVER = 32767  # train_every: no shrub grows, there is only the window
CLASSES = 5

Ints = NDArray[np.int64]


def draw_stream(seed: int, samples: int, features: int, values: int) -> tuple[Ints, Ints]:
    """Draw codes with that many different values per feature, so that many tie; and labels."""
    rng = np.random.default_rng(seed)
    pool = rng.integers(0, 65536, (values, features))
    pool[rng.random(pool.shape) < 0.2] = rng.choice([0, 255, 256, 65535])
    rows = pool[rng.integers(values, size=(samples, features)), np.arange(features)]
    if rng.random() < 0.3:  # with a trend, each sample moves through the whole order
        rows = np.sort(rows, axis=0)[:: rng.choice([1, -1])]
    return rows, rng.integers(CLASSES, size=samples)


def check_window(model: object, rows: Ints, labels: Ints, window: int, bits: int) -> None:
    """Check that every sample in the window is at its number modulo B, in both tables."""
    buffers = {name: buffer for name, _, buffer in model.buffers()}  # type: ignore[attr-defined]
    samples, features = rows.shape
    held = np.arange(max(0, samples - window), samples)
    wide = bits == 16
    codes = np.frombuffer(buffers["window.codes"], np.uint16 if wide else np.uint8)
    codes = codes.reshape(features, window)
    expected = rows[held] if wide else rows[held] >> 8
    assert (expected == codes[:, held % window].T).all()
    assert (np.frombuffer(buffers["window.labels"], np.uint8)[held % window] == labels[held]).all()
    order = np.frombuffer(buffers["window.order"], np.uint16 if window > 256 else np.uint8)
    if not len(order):
        return
    order = order.reshape(features, window)[:, : len(held)]
    for ranked, column in zip(order, codes, strict=True):
        assert sorted(ranked) == list(range(len(held)))
        assert (np.diff(column[ranked].astype(int)) >= 0).all()


def feed(model: object, rows: Ints, labels: Ints) -> None:
    codes = array("H", rows.ravel().tolist())
    model.run(codes, bytearray(labels.tolist()), bytearray(len(labels)))  # type: ignore[attr-defined]


@pytest.mark.parametrize("bits", [8, 16])
@settings(deadline=None, max_examples=examples(60))
@given(
    st.sampled_from(WINDOWS),
    st.integers(1, 3),
    st.integers(0, 2**32 - 1),
    st.sampled_from([1, 2, 5, 40, 5000]),
    st.lists(st.integers(1, 200), min_size=1, max_size=12),
    st.sampled_from(["best", "random"]),
)
def test_window_holds_the_last_samples_in_order(
    bits: int,
    window: int,
    features: int,
    seed: int,
    values: int,
    chunks: list[int],
    splitter: str,
) -> None:
    model = loader.load(loader.fastest()).ShrubEnsemble(
        features,
        CLASSES,
        window=window,
        trees=2,
        depth=2,
        splitter=splitter,
        feature_bits=bits,
        train_every=NEVER,
    )
    rows, labels = draw_stream(seed, sum(chunks), features, values)
    for end, size in zip(accumulate(chunks), chunks, strict=True):
        feed(model, rows[end - size : end], labels[end - size : end])
        check_window(model, rows[:end], labels[:end], window, bits)


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("window", [2, 7, 256, 257])
def test_window_after_every_single_sample(bits: int, window: int) -> None:
    """Every store is checked, and the window is examined as the ring fills and wraps around."""
    model = loader.load("checked").ShrubEnsemble(
        2, CLASSES, window=window, trees=2, depth=2, feature_bits=bits, train_every=NEVER
    )
    rows, labels = draw_stream(window, window + 40, 2, 9)
    for t in range(len(rows)):
        model.learn(array("H", rows[t].tolist()), int(labels[t]))
        if t < 20 or t >= window - 5:
            check_window(model, rows[: t + 1], labels[: t + 1], window, bits)


@pytest.mark.parametrize("window", [4, 300])
def test_random_splitter_keeps_no_order(window: int) -> None:
    """The random splitter needs no order, and saves its bytes."""
    library = loader.load(loader.fastest())
    sizes = [
        library.ShrubEnsemble.nbytes(features=3, classes=2, window=window, splitter=splitter)
        for splitter in ("best", "random")
    ]
    assert sizes[0] - sizes[1] == 3 * window * (2 if window > 256 else 1)
