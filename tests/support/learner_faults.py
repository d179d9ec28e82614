"""tests/support/majority.py with one fault."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from microshrub_host.library import loader

_TABLE = "    def _table(self):\n"


def _learn(body: str) -> str:
    """Return a method `learn` with that body."""
    return f"    def learn(self, x, label):\n        {body}\n\n"


MAJORITY = Path(__file__).with_name("majority.py")
# The fault, a line, and its replacement
FAULTS = {
    "beyond a buffer": ("        votes[c] = 0\n", "        votes[5000] = 7\n"),
    "below a buffer": ("        votes[c] = 0\n", "        votes[c - 4] = 0\n"),
    "more than 32 bits": (
        "        c = labels[i]\n",
        "        c = labels[i] + ((held + 9999999) * 999 & 0)\n",
    ),
    "a float": ("    best = 0\n", "    best = 0\n    half = 0.5\n"),
    "a list": ("    best = 0\n", "    best = 0\n    those = [best]\n"),
    "an uncast call": (
        "predicted = int(predict(t, rows, at))",
        "predicted = predict(t, rows, at)",
    ),
    "another module": ("import micropython\n", "import micropython\nimport numpy\n"),
    "votes that do not add up": ("_ALL // held", "_ALL // (held + held)"),
    "a class that is not the one with most votes": ("    return best\n", "    return 0\n"),
    "a class that is none": ("    return best\n", "    return best + 3\n"),
    "another answer when asked twice": (
        "    best = 0\n",
        "    best = 0\n    labels[0] = (labels[0] + 1) % state[_CLASSES]\n",
    ),
    "a place behind a buffer, now and then": (
        "    labels[place] = label\n",
        "    labels[place] = label\n    if place + 1 == state[_WINDOW]:\n"
        "        labels[place + 1] = 0\n",
    ),
    "a loop without an end": (
        "    held = state[_HELD]\n",
        "    held = state[_HELD]\n    while held == 5:\n        c = held\n",
    ),
    "a shift by as many bits as there are": (
        "    held = state[_HELD]\n",
        "    held = state[_HELD]\n    c = 1 >> (held + 25)\n",
    ),
    "no viper": (
        "@micropython.viper\ndef learn(t, rows, at: int, label: int) -> int:\n",
        "def learn(t, rows, at, label):\n",
    ),
    "no votes": ("        return self._flat[_VOTES]\n", "        return ()\n"),
    "votes that raise": ("        return self._flat[_VOTES]\n", "        return self._vote\n"),
    "no kernel that learns": ("    _learn = staticmethod(learn)\n", ""),
    "no table": (_TABLE, "    def _buffers(self):\n"),
    "no answer": (_TABLE, _learn("super().learn(x, label)") + _TABLE),
    "a state of its own": (
        _TABLE,
        "    _count = 0\n\n"
        + _learn("self._count += 1\n        return super().learn(x, label)")
        + _TABLE,
    ),
    "a state in the module": (
        "class Majority(Learner):\n",
        "_COUNT = [0]\n\n\nclass Counting(Learner):\n"
        + _learn("_COUNT[0] += 1\n        return super().learn(x, label)")
        + "\nclass Majority(Counting):\n",
    ),
    "an allocation late": (
        _TABLE,
        "    _count = 0\n\n"
        + _learn(
            "self._count += 1\n        if self._count == 300:\n            bytearray(9)\n"
            "        return super().learn(x, label)"
        )
        + _TABLE,
    ),
    "one name of two buffers": ('("labels", "B"', '("votes", "B"'),
    "progress in parts": (
        '{"labels_held": self._flat[_STATE][_HELD]}',
        '{"labels_held": self._flat[_STATE][_HELD] / 2}',
    ),
    "no _is_sound": ("    def _is_sound(self):", "    def _was_sound(self):"),
    "an _is_sound that believes all": (
        "        return (\n            0 <= state",
        "        return True or (\n            0 <= state",
    ),
}


def faulty(fault: str, folder: Path) -> Path:
    """Write the file with that fault into a folder; return its path."""
    line, other = FAULTS[fault]
    source = MAJORITY.read_text(encoding="utf-8")
    assert source.count(line) >= 1, fault
    file = folder / "majority.py"
    file.write_text(source.replace(line, other, 1), encoding="utf-8")
    return file


@contextmanager
def registered_learners_forgotten() -> Iterator[None]:
    """Forget the learners that are registered within the block; the caller resets the variable."""
    before = loader.load("python").learners._LEARNERS
    try:
        yield
    finally:
        for name, module in sys.modules.items():
            if re.fullmatch(r"_microshrub_\w+\.learners", name):
                module._LEARNERS = before  # type: ignore[attr-defined]
        for module_name in ("majority", "mean_regressor"):
            loader.forget(module_name)
