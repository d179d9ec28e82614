"""What simulate(), tune() and build() took in words, until settings became classes.

These keyword arguments go with the next release.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from ..beside import registry
from ..beside.companion import Beside, Companion

_NEW = {
    "anomaly": "beside=[Anomaly(often=0.001)]",
    "spare_classes": "beside=[SpareClasses(4)]",
    "label_budget": "beside=[LabelBudget(share=0.1)]",
    "label_delay": "beside=[LabelBudget(delay=50)]",
    "unanswered": "beside=[LabelBudget(unanswered=0.2)]",
}


def old_words(given: dict[str, Any]) -> dict[str, Any]:
    """The old ones of these keyword arguments, by the names of the options; given loses them."""
    words: dict[str, Any] = {}
    for name in _NEW.keys() & given.keys():
        value = given.pop(name)
        message = f"{name}= goes with the next release: write {_NEW[name]}"
        warnings.warn(message, DeprecationWarning, stacklevel=4)
        several = name in ("anomaly", "spare_classes")
        words[name] = [value] if several and isinstance(value, str) else value or None
    return words


def with_old(beside: Iterable[Companion], given: dict[str, Any]) -> Beside:
    """The companions in their order, with those that old keyword arguments ask for.

    These are taken out of given. Raises UserError.
    """
    words = old_words(given)
    return registry.in_order(beside, registry.of_options(words))
