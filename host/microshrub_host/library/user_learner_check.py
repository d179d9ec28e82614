"""Checks of a user's learner before any engine runs its kernels without bounds checks.

A kernel that writes beyond a buffer ends the process on the engines `c` and `llvm`, and corrupts
other memory on a board. So the kernel's source is checked, and a few samples run on the engine
`checked`. `microshrub check-learner` does this and more.
"""

from __future__ import annotations

import ast
import hashlib
import random
import traceback
from array import array
from pathlib import Path
from types import ModuleType
from typing import Any

from ..base.cache import cache_folder
from ..base.errors import UserError
from . import kernel_rules, library_files

_FOLDER = "checked"  # folder in the cache, with a mark for each file that has passed
_SAMPLES = 80
_VOTES = 65536 * 255
SHAPE = {"features": 3, "classes": 3}


class LearnerError(UserError):
    """A fault of a learner; the message names the kernel and the line, if known."""


def mark_of(path: Path, name: str, digest: str) -> Path:
    """Return the cache's file that marks that this class, with this library, has passed."""
    key = f"{digest} {path} {name} ".encode() + path.read_bytes()
    return cache_folder(_FOLDER) / hashlib.sha256(key).hexdigest()[:24]


def read_source(path: Path) -> None:
    """Raise LearnerError if a kernel has code that viper does not support."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    imported = {
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and library_files.PACKAGE in (node.module or "")
        for alias in node.names
    }
    defined = {kernel.name for kernel in kernel_rules.kernels(tree)}
    for node, kernel, rule in kernel_rules.broken(tree, defined | imported):
        line = getattr(node, "lineno", 0)
        raise LearnerError(
            f"{path.name}, line {line}, kernel {kernel}: {ast.unparse(node)!r} is not for "
            f"kernels ({rule})"
        )
    for function in kernel_rules.without_viper(tree):
        raise LearnerError(
            f"{path.name}, line {function.lineno}: {function.name} uses pointers, so it needs "
            "@micropython.viper"
        )
    for name, value in kernel_rules.constants(tree).items():
        if not -kernel_rules.SMALL <= value < kernel_rules.SMALL:
            raise LearnerError(f"{path.name}: {name} has to be within 30 bits, not {value}")
    for node in ast.walk(tree):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            modules = [node.module or ""]
        for module in modules:
            top = module.partition(".")[0]
            if top != library_files.PACKAGE and top not in kernel_rules.MODULES:
                raise LearnerError(
                    f"{path.name}, line {getattr(node, 'lineno', 0)}: a board's library does not "
                    f"import {module}"
                )


def learner_error(error: BaseException, path: Path) -> LearnerError:
    """Return the error for an exception in a kernel, with the last line in the learner's file."""
    all_frames = traceback.extract_tb(error.__traceback__)
    frames = [f for f in all_frames if f.filename == str(path)]
    what = f"{type(error).__name__}: {error}"
    if isinstance(error, NotImplementedError) and not str(error):
        what = f"it needs a {all_frames[-1].name}() of its own"
    if not frames:
        return LearnerError(f"{path.name}: {what}")
    last = frames[-1]
    return LearnerError(
        f"{path.name}, line {last.lineno}, kernel {last.name}: {last.line}: {what}"
    )


class Samples:
    """Rows of codes with labels: random rows, and rows with only the least or greatest codes."""

    def __init__(self, features: int, outcomes: int, seed: int = 1) -> None:
        self._chance = random.Random(seed)
        self._features = features
        self._outcomes = outcomes  # number of classes, or of codes of numbers

    def next(self) -> tuple[array[int], int]:
        """Return the next row, and its label."""
        low, high = self._chance.choice(((0, 0), (65535, 65535), (0, 65535)))
        codes = [self._chance.randint(low, high) for _ in range(self._features)]
        return array("H", codes), self._chance.randrange(self._outcomes)


def learn(learner: Any, samples: Samples, count: int) -> None:
    """Let a learner predict and learn `count` samples. Raises LearnerError for a wrong result."""
    outcomes = getattr(learner, "classes", 65536)
    for _ in range(count):
        row, label = samples.next()
        first = possible(learner.predict(row), outcomes)
        of_first = votes_of(learner, first)
        second = possible(learner.predict(row), outcomes)
        if first != second or of_first != votes_of(learner, second):
            raise LearnerError(f"predict() said {first}, and {second} when asked once more")
        possible(learner.learn(row, label), outcomes)


def possible(answer: Any, outcomes: int) -> int:
    """Return a learner's prediction. Raises LearnerError if it is impossible."""
    if type(answer) is not int or not 0 <= answer < outcomes:
        raise LearnerError(f"it predicted {answer}, and has 0..{outcomes - 1} to choose of")
    return answer


def votes_of(learner: Any, predicted: int) -> list[int]:
    """Return the votes of a prediction. Raises LearnerError if they are invalid."""
    if "classes" not in learner._SHAPE:
        return []  # a regressor has no votes
    votes = list(learner.votes)
    if len(votes) != learner.classes:
        raise LearnerError(
            f"votes has {len(votes)} places, and needs one for each of the {learner.classes} "
            "classes"
        )
    total = sum(votes)
    if min(votes) < 0 or not (total == 0 or abs(total - _VOTES) <= _VOTES // 50):
        raise LearnerError(f"votes have to add up to about 65536 * 255, or to 0, not to {total}")
    if total and votes[predicted] < max(votes):
        raise LearnerError(
            f"it predicted class {predicted}, and the most votes are for another one"
        )
    return votes


def make(library: ModuleType, name: str, shape: dict[str, int], **parameters: Any) -> Any:
    """Make a learner of that shape, for a regressor without the classes.

    Raises LearnerError if the name and the base class do not agree.
    """
    numbers, learner_class = (
        library.learners.is_regressor(name),
        library.learners.learner_class(name),
    )
    if issubclass(learner_class, library.regressor.Regressor) != numbers:
        base, does = ("Learner", "") if numbers else ("Regressor", "not ")
        raise LearnerError(
            f"{name} inherits from {base}, and its name does {does}end in Regressor: only "
            "learners of numbers inherit from Regressor, and all of their names end in it"
        )
    result = {k: v for k, v in shape.items() if k != "classes" or not numbers}
    return learner_class(**result, **parameters)


def quick(library: ModuleType, name: str, path: Path) -> None:
    """Run a learner on the library of the engine `checked`. Raises LearnerError for a fault."""
    read_source(path)
    try:
        learner = make(library, name, SHAPE)
        learn(learner, Samples(3, getattr(learner, "classes", 65536)), _SAMPLES)
        learner.reset()
    except LearnerError as error:
        raise LearnerError(f"{path.name}: {error}") from None
    except Exception as error:
        raise learner_error(error, path) from None
