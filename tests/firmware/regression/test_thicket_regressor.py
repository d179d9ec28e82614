"""The mixture of regressors: its shares, and the target that each member knows at a time."""

from __future__ import annotations

from array import array

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from property_support import examples
from regression_support import held, learn

from microshrub_host.library import loader

LIBRARY = loader.load(loader.fastest())


def test_members_are_mixed_by_their_recent_errors() -> None:
    """The shares are exp(-50 * (error - least error) / least error), in floating point."""
    model = LIBRARY.ThicketRegressor(3, bytes=3000)
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 65536, (600, 3))
    targets = np.clip(codes[:, 0] // 2 + rng.integers(0, 9000, 600), 0, 65535)
    for x, y in zip(codes, targets, strict=True):
        error = held(model)["thicket.error"]
        predicted = model.predict(array("H", x.tolist()))
        opinions = held(model)["thicket.predictions"]
        shares = np.exp(-50 * (error - error.min()) / (error.min() + 1))
        mixture = float(shares @ opinions / shares.sum())
        assert predicted == pytest.approx(mixture, abs=0.01 * np.ptp(opinions) + 2)
        model.learn(array("H", x.tolist()), int(y))


@pytest.mark.parametrize("late", [0, 1, 6])
def test_the_last_target_is_the_last_one_known_at_a_sample(late: int) -> None:
    model = LIBRARY.ThicketRegressor(1, bytes=2000, late=late)
    targets = np.random.default_rng(4).integers(0, 65536, 60)
    for i, y in enumerate(targets):
        model.predict(array("H", [5]))
        assert held(model)["thicket.predictions"][0] == (targets[i - 1] if i else 32767)
        model.learn(array("H", [5]), int(y))
        before = i - 1 - late
        assert held(model)["thicket.predictions"][0] == (targets[before] if before >= 0 else 32767)


@settings(max_examples=examples(20))
@given(st.integers(0, 2**32 - 1), st.integers(0, 65535), st.integers(0, 65535))
def test_predictions_are_within_the_targets_seen(seed: int, low: int, high: int) -> None:
    rng = np.random.default_rng(seed)
    low, high = sorted((low, high))
    model = LIBRARY.ThicketRegressor(2, bytes=2500)
    targets = rng.integers(low, high + 1, 200)
    predicted = learn(model, rng.choice([0, 300, 65535], (200, 2)), targets)
    assert (predicted[1:] >= np.minimum.accumulate(targets)[:-1]).all()
    assert (predicted[1:] <= np.maximum.accumulate(targets)[:-1]).all()


def test_it_is_nearly_as_accurate_as_its_best_member_on_each_stream() -> None:
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 65536, (4000, 3))
    walk = np.clip(32768 + np.cumsum(rng.integers(-50, 51, 4000)), 0, 65535)
    line = codes[:, 0] // 3 + codes[:, 1] // 2
    steps = (codes[:, 0] > 30000) * 20000 + (codes[:, 1] > 50000) * 9000
    both = np.clip(line // 2 + steps, 0, 65535)
    for targets, single in ((walk, None), (line, "LinearRegressor"), (steps, "ShrubRegressor")):
        mixed = learn(LIBRARY.ThicketRegressor(3), codes, targets)
        alone = np.concatenate([[0], targets[:-1]])
        if single:
            alone = learn(getattr(LIBRARY, single)(3), codes, targets)
        ours, its = (np.abs(predictions - targets)[500:].mean() for predictions in (mixed, alone))
        assert ours < 1.5 * its + 30
    errors = [
        np.abs(learn(getattr(LIBRARY, learner)(3), codes, both) - both)[500:].mean()
        for learner in ("ThicketRegressor", "ShrubRegressor", "LinearRegressor")
    ]
    assert errors[0] < min(errors[1:])


def test_too_few_bytes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^bytes .* 200 features"):
        LIBRARY.ThicketRegressor(200, bytes=1024)
