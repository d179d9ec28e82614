"""`compare --set field`: Thicket of several sizes, our other learners, and the field's ensembles.

Ensembles of River and MOA have ten members, and otherwise the defaults of their systems.
"""

from __future__ import annotations

from microshrub_host.library.learners import DEFAULT, MODELS

from .catalogue import PEERS
from .contender import Contender
from .our_learners import ours

SYSTEMS = {"learner": "learner"}
SIZES = (16_384, 65_536, 262_144)
ENSEMBLES = (
    *("moa:ARF", "moa:SRP", "moa:SGBT", "moa:LeveragingBag"),
    *("river:ARF", "river:AMF"),
    *("moa:ARF+last-label", "moa:SRP+last-label", "river:ARF+last-label"),
)


def thicket(size: int, seed: int = 0) -> Contender:
    """Return a thicket of `size` bytes, named as in "thicket 64 KB"."""
    return ours(f"{DEFAULT} bytes={size} seed={seed}", name=f"{DEFAULT} {size >> 10} KB")


def field_rows() -> dict[str, dict[str, Contender]]:
    """Return the contenders by their names."""
    result = [thicket(size) for size in SIZES]
    result += [ours(model, name=f"ours:{model}") for model in MODELS if model != DEFAULT]
    result += [PEERS[name] for name in ("nochange", "majority", "neighbours", *ENSEMBLES)]
    return {contender.name: {"learner": contender} for contender in result}
