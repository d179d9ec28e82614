"""exp_decays() equals exp_decay() of each number."""

from __future__ import annotations

import sys
from array import array

from microshrub_host.library import loader

NAME = loader.load("checked").__name__
fixed = sys.modules[f"{NAME}.fixed"]


def test_exp_decays_equals_exp_decay_of_each() -> None:
    # all quotients of ln(2), their borders, arguments with result 0, and the last ones before them
    borders = [k * 45426 + d for k in range(24) for d in (-1, 0, 1)]
    given = [*range(0, 1 << 20, 977), *borders[1:], (1 << 20) - 1, 1 << 20, (1 << 31) - 1]
    values = array("i", given)
    fixed.exp_decays(0, 0, len(values), fixed.generator_table(values), 0)
    assert list(values) == [fixed.exp_decay(x) for x in given]
