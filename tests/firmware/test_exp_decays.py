"""exp_decays() is exp_decay() of many numbers."""

from __future__ import annotations

import sys
from array import array

from microshrub_host.library import loader

NAME = loader.load("checked").__name__
fixed = sys.modules[f"{NAME}.fixed"]


def test_exp_decays_is_exp_decay_of_each() -> None:
    # all quotients of ln(2), their borders, what is 0, and what comes right before it
    borders = [k * 45426 + d for k in range(24) for d in (-1, 0, 1)]
    given = [*range(0, 1 << 20, 977), *borders[1:], (1 << 20) - 1, 1 << 20, (1 << 31) - 1]
    values = array("i", given)
    fixed.exp_decays(0, 0, len(values), fixed.generator_table(values), 0)
    assert list(values) == [fixed.exp_decay(x) for x in given]
