"""Late labels: the ring of pending samples compared with a dict, and ids that restart at 1."""

from __future__ import annotations

from array import array
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from locked_support import printed_on, printed_on_micropython
from property_support import examples

from microshrub_host.library import loader

library = loader.load("checked")
FEATURES, CLASSES, IDS = 2, 3, 65535  # ids are 1..65535


def codes(first: int, second: int) -> array[int]:
    return array("H", [first, second])


class AgainstADict(RuleBasedStateMachine):
    """The model: id -> (codes, predicted class, still pending) of the last K samples."""

    @initialize(
        samples=st.one_of(st.integers(1, 5), st.just(40)),
        last=st.one_of(st.just(0), st.integers(IDS - 9, IDS - 1)),
    )
    def start(self, samples: int, last: int) -> None:
        self.pending = library.Pending(FEATURES, CLASSES, samples)
        self.pending.buffers()[0][2][0] = last  # as if this many had come before
        self.next = last + 1
        self.samples = samples
        self.held: dict[int, tuple[list[int], int]] = {}
        self.waiting: set[int] = set()

    @rule(x=st.tuples(st.integers(0, 65535), st.integers(0, 65535)), y=st.integers(0, 2))
    def add(self, x: tuple[int, int], y: int) -> None:
        assert self.pending.add(codes(*x), y) == self.next
        self.held[self.next] = (list(x), y)
        self.waiting.add(self.next)
        if len(self.held) > self.samples:
            oldest = next(iter(self.held))
            del self.held[oldest]
            self.waiting.discard(oldest)
        self.next = self.next % IDS + 1

    @rule(back=st.integers(-2, 45))
    def take(self, back: int) -> None:
        number = (self.next - 2 - back) % IDS + 1
        before = self.pending.state_crc32()
        assert (number in self.pending) == (number in self.waiting)
        if number in self.waiting:
            x, y = self.held[number]
            assert self.pending.take(number) == y
            assert self.pending.x.tolist() == x
            self.waiting.remove(number)
            return
        with pytest.raises(ValueError, match=f"sample {number} w") as refusal:
            self.pending.take(number)
        assert ("before" in str(refusal.value)) == (number in self.held)
        assert self.pending.state_crc32() == before

    @rule()
    def power_cut(self) -> None:
        state = self.pending.save()
        self.pending = library.Pending(FEATURES, CLASSES, self.samples)
        self.pending.load(state)

    @invariant()
    def as_many_wait(self) -> None:
        if hasattr(self, "pending"):
            assert self.pending.waiting == len(self.waiting)


TestAgainstADict = AgainstADict.TestCase
TestAgainstADict.settings = settings(
    max_examples=examples(60), stateful_step_count=40, deadline=None
)


def test_ids_wrap_around_and_a_label_may_be_k_samples_late() -> None:
    pending = library.Pending(1, 2, samples=7)
    for i in range(2 * IDS + 5):
        assert pending.add(array("H", [i % 1000]), i % 2) == i % IDS + 1
        if i >= 6 and (i < 40 or i % 1000 == 0 or abs((i + 9) % IDS - 9) < 12):
            late = i - 6
            assert pending.take(late % IDS + 1) == late % 2
            assert pending.x[0] == late % 1000
            assert (late - 1) % IDS + 1 not in pending


def test_one_sample_is_the_smallest_size() -> None:
    pending = library.Pending(FEATURES, CLASSES, samples=1)
    with pytest.raises(ValueError, match="no sample 1 waits"):
        pending.take(1)
    first, second = pending.add(codes(1, 2), 0), pending.add(codes(3, 4), 2)
    with pytest.raises(ValueError, match=r"no sample 1 waits.* only"):
        pending.take(first)
    assert pending.take(second) == 2
    assert pending.x == codes(3, 4)
    with pytest.raises(ValueError, match=r"sample 2 .* before"):
        pending.take(second)
    pending.reset()
    assert pending.state_crc32() == library.Pending(FEATURES, CLASSES, 1).state_crc32()


def test_no_place_is_lost_where_ids_restart() -> None:
    pending = library.Pending(1, 2, samples=32)
    for i in range(IDS + 40):
        newest = pending.add(array("H", [i % 1000]), i % 2)
        assert newest
        if i >= IDS - 2:
            assert pending.waiting == 32
            assert all((newest - 1 - age) % IDS + 1 in pending for age in range(32))
        assert 0 not in pending


def test_a_sample_is_kept_unchanged() -> None:
    pending = library.Pending(FEATURES, CLASSES, samples=2)
    x = codes(7, 8)
    number = pending.add(x, 1)
    x[0] = 99
    pending.take(number)
    assert pending.x == codes(7, 8)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((0, 2, 1), "features has to be"),
        ((257, 2, 1), "features has to be"),
        ((1, 1, 1), "classes has to be"),
        ((1, 2, 0), "samples has to be"),
        ((1, 2, 32769), "samples has to be"),
        ((1, 2, 1.0), "samples has to be"),
    ],
)
def test_wrong_sizes(arguments: tuple[int, int, int], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        library.Pending(*arguments)


def test_wrong_samples_and_ids_change_nothing() -> None:
    pending = library.Pending(FEATURES, CLASSES, samples=2)
    pending.add(codes(1, 2), 1)
    before = pending.state_crc32()
    for x, predicted in ((array("H", [1]), 0), ([1, 2], 0), (codes(1, 2), 3), (codes(1, 2), None)):
        with pytest.raises(ValueError, match="has to be"):
            pending.add(x, predicted)
    for number in (-1, IDS + 1, None, "0", True):
        with pytest.raises(ValueError, match=r"id .* has to be"):
            pending.take(number)
    assert pending.state_crc32() == before


@given(st.integers(1, 256), st.integers(2, 256), st.integers(1, 300))
def test_nbytes_is_exact(features: int, classes: int, samples: int) -> None:
    pending = library.Pending(features, classes, samples)
    held = sum(len(bytes(memoryview(buffer))) for _, _, buffer in pending.buffers())
    assert held == library.Pending.nbytes(features, samples)
    assert held == 12 + 2 * features * (samples + 1) + 2 * samples


LOCKED = """
def go_on(pending, x, rounds):
    right = 0
    for i in range(rounds):
        x[0] = i & 65535
        number = pending.add(x, i % 3)
        back = i * 3 % 7
        late = (number - back - 1) % 65535 + 1
        if late in pending:
            guess = pending.take(late)
            right += guess == (i - back) % 3 and pending.x[0] == (i - back) & 65535
    return right

right = 0
pending = Pending(2, 3, 5)
x = array("H", [1, 2])
lock()
try:
    right = go_on(pending, x, 70000)
finally:
    unlock()
say(right, pending.waiting, pending.state_crc32() & 0xFFFFFFFF)
"""


def test_nothing_is_allocated_and_cpython_agrees(run_micropython: Callable[[str], str]) -> None:
    lines = printed_on("python", LOCKED, ("Pending",))
    assert printed_on_micropython(run_micropython, LOCKED, ("Pending",)) == lines
    assert int(lines[0].split()[0]) > 20000
