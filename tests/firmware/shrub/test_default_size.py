"""The shrubs' default size fits 16 KB; a given window is used as it is."""

from __future__ import annotations

import pytest

from microshrub_host.library import loader

SHRUB = loader.load("python").ShrubEnsemble


@pytest.mark.parametrize(("features", "classes"), [(3, 2), (14, 2), (40, 3), (128, 6), (10, 40)])
def test_the_default_fits_16_kb(features: int, classes: int) -> None:
    plan = SHRUB.plan(features=features, classes=classes)
    assert plan.table_bytes() <= 16384
    assert plan.train_every == max(1, plan.window // 16)
    most = max(128, 8 * classes)
    larger = SHRUB.nbytes(features=features, classes=classes, window=plan.window + 1)
    assert plan.window == most or larger > 16384


def test_where_no_size_fits_the_window_is_small() -> None:
    plan = SHRUB.plan(features=256, classes=256)
    assert (plan.window, plan.train_every) == (16, 1)


def test_a_given_window_has_a_shrub_after_each_sample() -> None:
    plan = SHRUB.plan(features=3, classes=2, window=64)
    assert (plan.window, plan.train_every) == (64, 1)


def test_the_configuration_names_the_chosen_size() -> None:
    text = SHRUB.plan(features=14, classes=2).configuration()
    assert " window=128 " in text
    assert " train_every=8 " in text
