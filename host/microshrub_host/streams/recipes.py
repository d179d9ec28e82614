"""The synthetic streams by name: their concepts in turn, and their samples.

agrawal_a, agrawal_g, led_a, led_g, rbf_m, rbf_f, sea_a
                                concepts that take turns, and drifting centroids
agrawal_0 .. agrawal_9          one of Agrawal's functions, its categories as numbers
sea_0 .. sea_3                  one of SEA's thresholds: 8, 9, 7 and 9.5
sine_0 .. sine_3                one of Sine's functions, without irrelevant features
stagger_0 .. stagger_2          one of STAGGER's functions, its categories as numbers
clusters_0 .. clusters_3        five classes in 50 clusters, other clusters for each number
trees_0 .. trees_3              four classes that a random tree separates, by five numbers and
                                five categories, another tree for each number
bg1_0, bg1_1                    a conjunction of three of six binary features
led, hyper, rbf_10, rbf_50      River's generators unchanged (rbf: 10 and 50 features)
random_tree_C_V_S               C classes that the random tree number S separates without
                                noise, by five nominal features of V values
unseen_agrawal, unseen_led, unseen_rbf, unseen_rbf_drift, unseen_sea, unseen_sine,
unseen_clusters, unseen_hyperplane, unseen_mixed, unseen_random_tree, unseen_waveform
                                with another seed and other concepts, on which no constant of the
                                learners was chosen; concepts change at sample 25,000
changing_NAME                   five concepts of agrawal, sea, sine or stagger, 4,000 samples each
agrawal_8_to_2_at_50000         function 8, then 2: a gradual change at that sample, a tenth as
                                long as the part before it; also for the other numbered streams
NAME_irrelevant_40              any of these streams with 40 additional irrelevant features
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any

from ..base.errors import DataError
from ..base.text import did_you_mean
from .stream import MAX_CLASSES, MAX_FEATURES
from .unseen_settings import AGRAWAL_FEATURES, CHANGING, UNSEEN, UnseenSettings, numbered

PERIOD = 25_000  # samples from one change of concept to the next
WIDTH = 5_000  # samples that a gradual change takes
SEED = 1  # with it, naive Bayes scores as on the published streams
NOISE = 0.1  # LED: share of inverted segments; SEA and BG1: of inverted labels
PERTURBATION = 0.0  # Agrawal: River's default

Sample = tuple[Mapping[Any, Any], Any]  # River's: features by name, and the label


@dataclass(frozen=True)
class Recipe:
    """A synthetic stream: its concepts in turn, and the form of its samples."""

    concept: Callable[[int], Iterable[Sample]]
    concepts: int
    classes: int
    features: tuple[str, ...]  # as River yields them
    one_hot: Mapping[str, range] = field(default_factory=dict)  # values to one-hot encode
    width: int = 0  # samples that a change takes; 0: abrupt
    period: int = PERIOD
    again: bool = True  # whether concepts repeat; otherwise the last one stays
    irrelevant: int = 0  # additional irrelevant features
    binary: bool = False  # whether these have two values instead of all from 0 to 1


def take_turns(recipe: Recipe) -> Iterator[Sample]:
    """Yield the samples of a recipe's concepts in turn.

    Around a change at sample t, sample i is of the new concept with probability
    1 / (1 + exp(-4 (i - t) / width)), as in MOA's and River's ConceptDriftStream.
    """
    concepts = [iter(recipe.concept(turn)) for turn in range(recipe.concepts)]
    last = math.inf if recipe.again else recipe.concepts - 1
    rng = random.Random(SEED)
    i = 0
    while True:
        turn = min(i // recipe.period, last)
        if recipe.width:
            turn = min((i + recipe.period // 2) // recipe.period, last)  # the nearest change
            distance = i - turn * recipe.period
            is_new = rng.random() < 1 / (1 + math.exp(-4 * distance / recipe.width))
            turn -= turn > 0 and not is_new
        yield next(concepts[int(turn) % recipe.concepts])
        i += 1


def base_name(name: str) -> str:
    """Return the name without its suffix for irrelevant features, which are not River's."""
    return _IRRELEVANT.sub("", name)


def find(name: str) -> Recipe:
    """Return the recipe of a stream. Raises DataError, with possible names, if unknown."""
    base, more = base_name(name), _IRRELEVANT.search(name)
    recipe = NAMED.get(base) or _of_numbers(base)
    if recipe is None:
        raise DataError(
            f"There is no generated stream of classes called synth:{name}. "
            f"{did_you_mean(name, NAMED)}"
        )
    if more is None:
        return recipe
    columns = len(recipe.features) + sum(len(v) - 1 for v in recipe.one_hot.values())
    if columns + int(more[1]) > MAX_FEATURES:
        raise DataError(
            f"synth:{name} has {columns + int(more[1])} features; at most {MAX_FEATURES} are "
            f"possible, so {MAX_FEATURES - columns} irrelevant ones."
        )
    return replace(recipe, irrelevant=int(more[1]))


_IRRELEVANT = re.compile(r"_irrelevant_(\d+)$")
_CHANGE = re.compile(r"(\w+?)_(\d)_to_(\d)_at_(\d+)")
_RANDOM_TREE = re.compile(r"random_tree_(\d+)_(\d+)_(\d+)")


def _of_numbers(name: str) -> Recipe | None:
    """Return the recipe for a name with free numbers; None for any other name."""
    change = _CHANGE.fullmatch(name)
    if change and {f"{change[1]}_{change[2]}", f"{change[1]}_{change[3]}"} <= NAMED.keys():
        at = int(change[4])
        if at < 10:
            raise DataError(f"synth:{name}: the change has to be at sample 10 or later.")
        make, recipe = _NUMBERED[change[1]]
        turns = (int(change[2]), int(change[3]))
        return replace(
            recipe,
            concept=partial(_in_turn, make, turns),
            concepts=2,
            width=at // 10,
            period=at,
            again=False,
        )
    tree = _RANDOM_TREE.fullmatch(name)
    if tree is None:
        return None
    classes, values, seed = map(int, tree.groups())
    if not (2 <= classes <= MAX_CLASSES and values >= 2):
        raise DataError(f"synth:{name} needs 2 to {MAX_CLASSES} classes and 2 values or more.")
    return Recipe(partial(_random_tree, classes, values, seed), 1, classes, numbered(5))


# River's generators, and BG1, which River lacks; each is called with its turn


def _in_turn(
    make: Callable[[int, int], Iterable[Sample]], numbers: Sequence[int], turn: int
) -> Iterable[Sample]:
    return make(numbers[turn], turn)


def generated(generator: str, **settings: Any) -> Iterable[Sample]:
    """Yield the samples of River's generator with that name and these settings."""
    from river.datasets import synth

    yield from getattr(synth, generator)(**settings)


def _agrawal(function: int, turn: int) -> Iterable[Sample]:
    settings = {"classification_function": function, "perturbation": PERTURBATION}
    return generated("Agrawal", seed=SEED + turn, **settings)


def _sea(variant: int, turn: int) -> Iterable[Sample]:
    return generated("SEA", variant=variant, noise=NOISE, seed=SEED + turn)


def _sine(function: int, turn: int) -> Iterable[Sample]:
    return generated("Sine", classification_function=function, seed=SEED + turn)


def _stagger(function: int, turn: int) -> Iterable[Sample]:
    return generated("STAGGER", classification_function=function, seed=SEED + turn)


def _clusters(number: int, turn: int) -> Iterable[Sample]:
    seeds = {"seed_model": SEED + number, "seed_sample": SEED + turn}
    return generated("RandomRBF", n_classes=5, n_features=10, **seeds)


def _trees(number: int, turn: int) -> Iterable[Sample]:
    seeds = {"seed_tree": SEED + number, "seed_sample": SEED + turn}
    return generated("RandomTree", n_classes=4, **seeds)


def _bg1(variant: int, turn: int) -> Iterable[Sample]:
    """Yield samples labelled by whether three binary features are all 1.

    They are the first three, or in variant 1 the others. The paper does not define its noise; with
    a tenth of the labels inverted, no tree can be right in more than 90 %, and no tree of a former
    concept in more than 80 %, which are the paper's figures.
    """
    rng = random.Random(SEED + turn)
    while True:
        bits = [rng.getrandbits(1) for _ in range(6)]
        is_true = all(bits[3 * variant : 3 * variant + 3])
        yield dict(enumerate(bits)), int(is_true != (rng.random() < NOISE))


def _led(_: int) -> Iterable[Sample]:
    return generated("LED", seed=SEED, noise_percentage=NOISE, irrelevant_features=True)


def _led_drift(turn: int) -> Iterable[Sample]:
    led = generated(
        "LEDDrift",
        seed=SEED,  # also determines which features drift: each turn adds some
        noise_percentage=NOISE,
        irrelevant_features=True,
        n_drift_features=2 * turn + 1,
    )
    return islice(led, turn * PERIOD, None)  # so that turns do not repeat samples


def _rbf(features: int, _: int) -> Iterable[Sample]:
    return generated("RandomRBF", seed_model=SEED, seed_sample=SEED, n_features=features)


def _rbf_drift(change_speed: float, _: int) -> Iterable[Sample]:
    return generated(
        "RandomRBFDrift",
        seed_model=SEED,
        seed_sample=SEED,
        n_classes=5,
        n_features=10,
        n_centroids=50,
        n_drift_centroids=50,
        change_speed=change_speed,
    )


def _unseen(stream: UnseenSettings, turn: int) -> Iterable[Sample]:
    """Return the samples of a stream's generator with the settings of a turn."""
    return generated(stream.generator, **stream.turns[turn])


def _hyperplane(_: int) -> Iterable[Sample]:
    return generated("Hyperplane", seed=SEED)


def _random_tree(classes: int, values: int, seed: int, _: int) -> Iterable[Sample]:
    return generated(
        "RandomTree",
        seed_tree=seed,
        seed_sample=seed + 1,
        n_classes=classes,
        n_num_features=0,
        n_cat_features=5,
        n_categories_per_feature=values,
    )


_AGRAWAL_ONE_HOT = {"elevel": range(5), "car": range(1, 21), "zipcode": range(9)}
_FOUR = (0, 1, 2, 3)

_AGRAWAL = Recipe(partial(_in_turn, _agrawal, _FOUR), 4, 2, AGRAWAL_FEATURES, _AGRAWAL_ONE_HOT)
_SEA = Recipe(partial(_in_turn, _sea, _FOUR), 4, 2, numbered(3))
_LED = Recipe(_led_drift, 4, 10, numbered(24))
_RBF = Recipe(partial(_rbf_drift, 1e-4), 1, 5, numbered(10))

# Streams whose concepts are streams, too, by number, as are changes between two concepts
_NUMBERED = {
    "agrawal": (_agrawal, replace(_AGRAWAL, one_hot={})),
    "sea": (_sea, _SEA),
    "bg1": (_bg1, Recipe(partial(_bg1, 0), 1, 2, numbered(6), binary=True)),
    "sine": (_sine, Recipe(partial(_sine, 0), 1, 2, numbered(2))),
    "stagger": (_stagger, Recipe(partial(_stagger, 0), 1, 2, ("size", "color", "shape"))),
    "clusters": (_clusters, Recipe(partial(_clusters, 0), 1, 5, numbered(10))),
    "trees": (_trees, Recipe(partial(_trees, 0), 1, 4, numbered(10))),
}
_COUNTS = {"agrawal": 10, "sea": 4, "bg1": 2, "sine": 4, "stagger": 3, "clusters": 4, "trees": 4}

_SOON: Any = {"period": 4000, "again": False}

NAMED = {
    "agrawal_a": _AGRAWAL,
    "agrawal_g": replace(_AGRAWAL, width=WIDTH),
    "led_a": _LED,
    "led_g": replace(_LED, width=WIDTH),
    "rbf_m": _RBF,
    "rbf_f": replace(_RBF, concept=partial(_rbf_drift, 1e-3)),
    "sea_a": _SEA,
    **{
        f"{name}_{number}": replace(recipe, concept=partial(make, number), concepts=1)
        for name, (make, recipe) in _NUMBERED.items()
        for number in range(_COUNTS[name])
    },
    **{
        f"unseen_{name}": Recipe(
            partial(_unseen, each), len(each.turns), each.classes, each.features, again=False
        )
        for name, each in UNSEEN.items()
    },
    **{
        f"changing_{name}": replace(
            recipe, concept=partial(_in_turn, make, CHANGING[name]), concepts=5, **_SOON
        )
        for name, (make, recipe) in _NUMBERED.items()
        if name in CHANGING
    },
    "led": replace(_LED, concept=_led, concepts=1),
    "hyper": Recipe(_hyperplane, 1, 2, numbered(10)),
    "rbf_10": Recipe(partial(_rbf, 10), 1, 2, numbered(10)),
    "rbf_50": Recipe(partial(_rbf, 50), 1, 2, numbered(50)),
}
