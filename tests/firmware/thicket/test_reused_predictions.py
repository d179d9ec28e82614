"""A result that predict() stores for a sample is reused by learn(), with the same bits."""

from __future__ import annotations

import importlib
import random
from array import array
from collections.abc import Iterator
from typing import Any

import pytest

from microshrub_host.library import loader

STEPS = 1500


class Twins:
    """Two thickets with the same steps; one of them never reuses stored results."""

    def __init__(self, **parameters: Any) -> None:
        self.library = loader.load(loader.fastest())
        self.models = [self.library.Thicket(**parameters) for _ in range(2)]

    def learn(self, x: array[int], label: int) -> None:
        name, words = "neighbours.state", [dict_of(model) for model in self.models]
        words[1][name][constant("_N_COUNT")] = 0
        first, second = (model.learn(x, label) for model in self.models)
        assert first == second
        assert self.models[0].state_crc32() == self.models[1].state_crc32()


def dict_of(model: Any) -> dict[str, Any]:
    return {name: buffer for name, _, buffer in model.buffers()}


def constant(name: str) -> int:
    return loader.constant("thicket.neighbours", name)


def rows(features: int, steps: int, seed: int) -> Iterator[tuple[array[int], int]]:
    """Yield samples with few different codes, so that many are equal; classes may be in runs."""
    rng = random.Random(seed)
    label = 0
    for i in range(steps):
        if rng.random() < (0.7 if i // 300 % 2 else 0.05):
            label = rng.randrange(3)
        codes = (rng.choice((0, 9000, 9100, 30000)) + 10000 * label for _ in range(features))
        yield array("H", codes), label if i < steps // 2 else (label + 1) % 3


@pytest.mark.parametrize(("features", "size"), [(1, 2048), (3, 8192), (14, 65536), (2, 100_000)])
def test_any_steps_between_prediction_and_label_keep_the_bits(features: int, size: int) -> None:
    twins = Twins(features=features, classes=3, bytes=size)
    decide = importlib.import_module(f"{twins.library.__name__}.thicket.decide").decide
    shared_samples = importlib.import_module(f"{twins.library.__name__}.thicket.shared_samples")
    stores = [shared_samples.Store(model) for model in twins.models]
    rng = random.Random(size)
    waiting: list[tuple[array[int], int]] = []
    for x, label in rows(features, STEPS, features):
        before = waiting[-1][0] if waiting else x
        for model, store in zip(twins.models, stores, strict=True):
            state = rng.getstate()
            for action in rng.sample(range(8), rng.randrange(3)):
                if action < 2:
                    model.predict(x)
                elif action < 4:
                    model.predict_next(x)
                elif action == 4:
                    model.predict(before)
                elif action == 5:
                    decide(model, x)
                elif action == 6 and rng.random() < 0.1:
                    store.welcome(x, label, 128)
                elif action == 7 and rng.random() < 0.05:
                    model.move_codes(rng.randrange(features), 0, 1, 0)
            if model is twins.models[0]:
                rng.setstate(state)
        waiting.append((x, label))
        while len(waiting) > 3 or (waiting and rng.random() < 0.8):
            twins.learn(*waiting.pop())
