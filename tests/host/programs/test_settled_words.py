"""Kernels of one learner: conditions on its configuration are decided at build time."""

from __future__ import annotations

import ast

import pytest

from microshrub_host.programs.settled_words import settled, with_words

CONSTANTS = {"_RING_SHAPE": 0, "_R_WIDE": 0, "_R_LENGTH": 1, "_R_HELD": 2, "_FEW": 64}
WORDS = {"_RING_SHAPE": {0: 0, 1: 300}}  # not wide, 300 entries


def folded(body: str) -> str:
    """Return a kernel with this body after its first lines."""
    lines = [
        "def kernel(t, n: int) -> int:",
        "address = ptr32(t)",
        "shape = ptr32(address[_RING_SHAPE])",
        *body.strip().splitlines(),
    ]
    kernel = ast.parse("\n    ".join(lines)).body[0]
    assert isinstance(kernel, ast.FunctionDef)
    made = with_words(kernel, WORDS, CONSTANTS)
    return "\n".join(map(ast.unparse, made.body))


def test_a_branch_that_is_never_taken_is_removed_with_its_variables() -> None:
    body = """
codes8 = ptr8(address[1])
codes16 = ptr16(address[1])
wide = shape[_R_WIDE]
limit = 0
if wide:
    limit = 256
if limit:
    n += 1
if not wide and n > 2:
    n = codes16[n] if wide else codes8[n]
elif wide:
    n += far(t)
return n
"""
    assert folded(body) == (
        "address = ptr32(t)\ncodes8 = ptr8(address[1])\nif n > 2:\n    n = codes8[n]\nreturn n"
    )


def test_conditions_on_the_state_stay() -> None:
    body = """
held = shape[_R_HELD]
last = shape[_R_LENGTH] - 1
while held < last and shape[_R_LENGTH] > _FEW:
    held += 1
for i in range(shape[_R_WIDE]):
    held += i
shape[_R_HELD] = held
return int(held and shape[_R_WIDE])
"""
    expected = """
address = ptr32(t)
shape = ptr32(address[_RING_SHAPE])
held = shape[_R_HELD]
last = 299
while held < last:
    held += 1
shape[_R_HELD] = held
return int(held and 0)
"""
    assert folded(body) == expected.strip()


def test_calls_with_possible_effects_stay() -> None:
    body = """
if int(draw(t)) and shape[_R_WIDE]:
    n = 1
drawn = int(draw(t))
less = n // shape[_R_WIDE]
while shape[_R_WIDE]:
    n = 2
return n
"""
    expected = """
if int(draw(t)) and 0:
    n = 1
drawn = int(draw(t))
less = n // 0
return n
"""
    assert folded(body) == expected.strip()


def test_a_variable_with_several_meanings_is_not_constant() -> None:
    body = """
if n:
    shape = ptr32(address[1])
n = shape[_R_WIDE]
return n
"""
    assert "n = shape[_R_WIDE]" in folded(body)


def test_a_kernel_that_writes_a_settled_word_is_refused() -> None:
    with pytest.raises(ValueError, match="kernel writes a word"):
        folded("shape[_R_WIDE] = 1\nreturn 0")


def test_the_constants_are_those_of_the_learner() -> None:
    words = settled("Thicket", {"features": 3, "classes": 4, "bytes": 9000})
    assert words.configuration == "Thicket features=3 classes=4 bytes=9000 prior=even seed=0"
    ring = words.words["_RING_SHAPE"]
    assert (ring[1], ring[2]) == (3, 4)
    assert set(words.words["_WINDOW_SHAPE"].values()) >= {12, 3}
