"""A learner with spare classes: named, learned step by step, merged, forgotten."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import pytest

from microshrub_host.library import loader

library = loader.load("c")
KINDS = [
    ("NearestNeighbours", {"window": 200}),
    ("SoftmaxRegression", {}),
    ("ShrubEnsemble", {"window": 30, "trees": 4, "depth": 4}),
    ("HoeffdingTree", {"grace_period": 10}),  # its votes change while it learns
    ("Thicket", {"bytes": 4096}),
]


class World:
    """A person who moves, and a device: walk, rest, and novel movements."""

    def __init__(self, class_name: str = "NearestNeighbours", **parameters: Any) -> None:
        model = getattr(library, class_name)(features=2, classes=5, **parameters)
        self.spare = library.SpareClasses(model, ("walk", "rest"), spare=3, window=48, collect=4)
        self._rng = np.random.default_rng(1)

    def sample(self, where: int) -> array[int]:
        centre = ((9000, 9000), (50000, 9000), (9000, 50000), (50000, 50000))[where]
        return array("H", [int(code) for code in self._rng.normal(centre, 700)])

    def live(self, where: int, samples: int, label: int = -1) -> list[str]:
        """Return the predicted names in these samples."""
        names = []
        for _ in range(samples):
            x = self.sample(where)
            predicted = self.spare.learn(x, label) if label >= 0 else self.spare.predict(x)
            self.spare.note(x, label)
            names.append(self.spare.names.name(predicted))
        return names

    def wonder(self, where: int) -> int:
        """Continue until there is a query; return the number of novel samples kept."""
        for _ in range(30):
            self.live(where, 1)
            if self.spare.novelty.is_ready:
                break
        assert self.spare.novelty.is_ready
        return int(self.spare.novelty.waiting)

    def learn_both(self) -> None:
        for _ in range(40):
            self.live(0, 2, 0)
            self.live(1, 2, 1)


@pytest.mark.parametrize(("class_name", "parameters"), KINDS)
def test_novel_samples_become_a_class(class_name: str, parameters: dict[str, Any]) -> None:
    world = World(class_name, **parameters)
    world.learn_both()
    novelty = world.spare.novelty
    assert set(world.live(2, 4)) <= {"walk", "rest"}
    world.wonder(2)
    stairs = world.spare.name("stairs")
    assert stairs == 2
    assert not novelty.is_ready
    world.live(2, 30, stairs)
    assert world.live(2, 20).count("stairs") >= 19
    assert world.live(0, 20).count("walk") >= 17


def test_each_call_learns_one_sample() -> None:
    world = World(window=300)
    world.learn_both()
    queries = world.wonder(2)
    stairs = world.spare.name("stairs")
    labels = next(b for name, _, b in world.spare.model.buffers() if name == "ring.labels")
    for learned in range(1, 9):
        world.live(0, 1)
        assert labels.count(stairs) == min(learned, queries)


def test_an_existing_name_gets_the_novel_samples() -> None:
    world = World(window=300)
    world.learn_both()
    labels = next(b for name, _, b in world.spare.model.buffers() if name == "ring.labels")
    before, queries = labels.count(1), world.wonder(2)
    assert world.spare.name("rest") == 1
    world.live(0, queries)
    assert labels.count(1) == before + queries
    assert world.spare.names.state(2) == 0


def test_a_merged_class_is_learned_and_predicted_as_the_other() -> None:
    world = World()
    world.learn_both()
    world.wonder(2)
    stairs = world.spare.name("stairs")
    world.spare.merge(stairs, 0)  # before any of its samples was learned
    world.live(2, 5)
    assert world.live(2, 10).count("walk") >= 9
    assert world.spare.names.learned_as(stairs) == 0
    assert world.live(1, 10).count("rest") == 10


def test_a_forgotten_class_is_never_predicted_and_novel_again() -> None:
    world = World()
    world.learn_both()
    world.wonder(2)
    stairs = world.spare.name("stairs")
    world.live(2, 10, stairs)
    assert world.live(2, 9).count("stairs") == 9
    world.spare.novelty.dismiss()
    world.spare.forget(stairs)
    assert "stairs" not in world.live(2, 9)
    world.wonder(2)
    with pytest.raises(ValueError, match="class 2 has no name"):
        world.spare.names.learned_as(stairs)
    assert world.spare.name("steps") == 3  # not 2, of which old samples remain


def test_the_whole_state_is_saved_and_continues(tmp_path: Any) -> None:
    first, second = World(), World()
    first.learn_both()
    first.wonder(2)
    first.spare.name("stairs")
    first.live(2, 2)
    stores = [
        library.Checkpoint(world.spare.parts, str(tmp_path / "c")) for world in (first, second)
    ]
    assert stores[0].save()
    assert stores[1].restore()
    second._rng = np.random.default_rng(9)
    first._rng = np.random.default_rng(9)
    assert first.live(2, 8) == second.live(2, 8)
    states = [[part.state_crc32() for part in world.spare.parts] for world in (first, second)]
    assert states[0] == states[1]
    assert second.spare.names.name(2) == "stairs"


def test_refuses_a_model_of_another_shape() -> None:
    model = library.SoftmaxRegression(features=2, classes=5)
    with pytest.raises(ValueError, match=r"classes .* 4, not 5"):
        library.SpareClasses(model, ("a", "b"), spare=2)
    with pytest.raises(ValueError, match=r"^model has to be"):
        library.SpareClasses(library.Metrics(5), ("a", "b"), spare=3)
