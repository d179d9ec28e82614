"""Checkpoints: wherever the power fails, the last or the previous one is read, never a mix."""

from __future__ import annotations

import errno
import io
import itertools
import random
import re
import sys
from array import array
from binascii import crc32
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from property_support import examples

from microshrub_host.library import loader

library = loader.load("python")
module = sys.modules[library.__name__ + ".checkpoint"]
TICKS = 1 << 30
States = tuple[int, ...]


class PowerCut(BaseException):
    """A power cut: the program ends here."""


class Disk:
    """Files in memory that fail at a given step: an opening, a truncation, a byte, a close.

    The current write leaves its beginning (`clean`), its beginning and garbage (`torn`), or
    garbage and its end (`holes`: a disk that writes in another order).
    """

    def __init__(self, room: int = 1 << 20) -> None:
        self.files: dict[str, bytearray] = {}
        self.steps = 0  # so far
        self.cut_at = 0  # 0: never
        self.damage = "clean"
        self.room = room
        self.short = False  # a full disk writes less than it was given, without an error
        self.fail_read_at = 0
        self.reads = 0

    def cut(self, at: int, damage: str = "clean") -> None:
        self.steps, self.cut_at, self.damage = 0, at, damage

    @property
    def dead(self) -> bool:
        return 0 < self.cut_at <= self.steps

    def step(self, steps: int = 1) -> int:
        """Return how many of these steps happen; raises PowerCut when none is left."""
        if self.dead:
            raise PowerCut
        done = min(steps, self.cut_at - self.steps - 1) if self.cut_at else steps
        self.steps += done
        if done < steps:
            self.steps = self.cut_at
        return done

    def remove(self, path: str) -> None:
        if self.step() < 1:
            raise PowerCut
        if self.files.pop(path, None) is None:
            raise OSError(errno.ENOENT, "no such file")

    def open(self, path: str, mode: str) -> OpenFile:
        if mode == "rb":
            if path not in self.files:
                raise OSError(errno.ENOENT, "no such file")
            return OpenFile(self, path)
        assert mode == "wb"
        if self.step() < 1:
            raise PowerCut
        if self.step() < 1:  # the file exists, with its old content
            self.files.setdefault(path, bytearray())
            raise PowerCut
        self.files[path] = bytearray()
        return OpenFile(self, path)


class OpenFile:
    def __init__(self, disk: Disk, path: str) -> None:
        self.disk, self.path, self.at = disk, path, 0

    def __enter__(self) -> OpenFile:
        return self

    def __exit__(self, error_class: object, *_: object) -> None:
        if not isinstance(error_class, type) and self.disk.step() < 1:
            raise PowerCut

    def write(self, data: Any) -> int:
        disk, raw = self.disk, bytes(memoryview(data).cast("B"))
        held = disk.files[self.path]
        left = disk.room - sum(map(len, disk.files.values()))
        if len(raw) > left:
            held += raw[:left]
            if not disk.short:
                raise OSError(errno.ENOSPC, "no space left on device")
            return left
        done = disk.step(len(raw))
        if done < len(raw):
            rest = len(raw) - done
            noise = random.Random(done).randbytes(rest)
            parts = {
                "clean": raw[:done],
                "torn": raw[:done] + noise,
                "holes": noise + raw[len(raw) - done :],
            }
            held += parts[disk.damage]
            raise PowerCut
        held += raw
        return len(raw)

    def _bytes(self, count: int) -> bytes:
        self.disk.reads += 1
        if self.disk.reads == self.disk.fail_read_at:
            raise OSError(errno.EIO, "input/output error")
        data = bytes(self.disk.files[self.path][self.at : self.at + count])
        self.at += len(data)
        return data

    def read(self, count: int) -> bytes:
        return self._bytes(count)

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        data = self._bytes(len(view))
        view[: len(data)] = data
        return len(data)


class Board:
    """The state in RAM, which a power cut erases. After each boot, it is restored."""

    def __init__(self, classes: int = 3, **options: Any) -> None:
        self.parts = (
            library.ShrubEnsemble(2, classes, window=4, trees=2, depth=2),
            library.Quantizer(2, ranges=((-9, 9), (0, 70))),
            library.Metrics(classes),
            library.DriftAlarm("adwin"),
            library.Pending(2, classes, samples=3),
        )
        self.checkpoint = library.Checkpoint(self.parts, "model", **options)
        self.restored = self.checkpoint.restore()

    def live(self, seed: int, samples: int = 5) -> States:
        rng = random.Random(seed)
        model, quantizer, metrics, alarm, pending = self.parts
        x = array("H", bytes(4))
        for _ in range(samples):
            quantizer.encode(array("i", [rng.randrange(-20, 20), rng.randrange(80)]), x)
            label = rng.randrange(2)
            pending.add(x, label)
            guess = model.learn(x, label)
            metrics.update(label, guess)
            alarm.update(guess != label)
        return self.states

    @property
    def states(self) -> States:
        return tuple(part.state_crc32() for part in self.parts)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    made = Disk()
    monkeypatch.setattr(module, "open", made.open, raising=False)
    monkeypatch.setattr(module, "os", made)
    return made


def reboot(disk: Disk, **options: Any) -> Board:
    disk.cut(0)
    return Board(**options)


def save_some(disk: Disk, count: int) -> tuple[Board, States]:
    """Return a board after this many saves, and its states at the last one (fresh after none)."""
    board = reboot(disk)
    saved = board.states
    for seed in range(count):
        saved = board.live(seed)
        assert board.checkpoint.save()
    return board, saved


def steps_of_a_save(disk: Disk) -> int:
    board, _ = save_some(disk, 2)
    disk.cut(0)
    assert board.checkpoint.save()
    disk.files.clear()
    return disk.steps


# Power cuts


@pytest.mark.parametrize(
    ("damage", "before"), [("clean", 2), ("torn", 0), ("torn", 1), ("torn", 3), ("holes", 2)]
)
def test_a_cut_anywhere_leaves_the_last_or_the_previous_checkpoint(
    disk: Disk, damage: str, before: int
) -> None:
    steps = steps_of_a_save(disk)
    assert steps > 600
    _, earlier = save_some(disk, before)
    files = {path: bytes(data) for path, data in disk.files.items()}
    finished = 0
    for cut_at in range(1, steps + 2):
        disk.files = {path: bytearray(data) for path, data in files.items()}
        board = reboot(disk)
        assert (board.restored, board.states) == (before > 0, earlier)
        later = board.live(9, samples=1)
        disk.cut(cut_at, damage)
        try:
            board.checkpoint.save()
        except PowerCut:
            assert cut_at <= steps
        after = reboot(disk)
        assert after.states in (earlier, later)
        finished += after.states == later
        if cut_at % 16 == 0 or cut_at > steps - 8:  # and the board continues
            newest = after.live(10, samples=1)
            assert after.checkpoint.save()
            assert reboot(disk).states == newest
    assert 2 <= finished <= 3 or damage == "holes"  # at the close, and without a cut


@settings(max_examples=examples(60))
@given(cuts=st.lists(st.tuples(st.integers(0, 900), st.sampled_from(("clean", "torn", "holes")))))
def test_cuts_in_succession(cuts: list[tuple[int, str]]) -> None:
    disk = Disk()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "open", disk.open, raising=False)
        board = Board()
        saved = board.states
        for seed, (cut_at, damage) in enumerate(cuts):
            later = board.live(seed)
            disk.cut(cut_at, damage)
            try:
                assert board.checkpoint.save()
                saved = later
            except PowerCut:
                board = reboot(disk)
                assert board.states in (saved, later)
                saved = board.states


# Damage


def test_every_flipped_bit_is_detected(disk: Disk) -> None:
    def parts() -> tuple[Any, ...]:
        return library.Metrics(2), library.Quantizer(1, [(0, 9)])

    saved = []
    made = parts()
    checkpoint = library.Checkpoint(made, "x")
    for label in (0, 1):
        made[0].update(label, 1)
        assert checkpoint.save()
        saved.append(made[0].state_crc32())
    newest = disk.files["x.1"]
    other = library.Metrics(2), library.Quantizer(1)
    for bit in range(8 * len(newest)):
        newest[bit // 8] ^= 1 << bit % 8
        assert library.Checkpoint(other, "x").restore()
        assert other[0].state_crc32() == saved[0], bit
        newest[bit // 8] ^= 1 << bit % 8
    del disk.files["x.0"]
    alone = parts()
    untouched = [part.state_crc32() for part in alone]
    checkpoint = library.Checkpoint(alone, "x")
    for bit in range(8 * len(newest)):
        newest[bit // 8] ^= 1 << bit % 8
        assert not checkpoint.restore()
        newest[bit // 8] ^= 1 << bit % 8
    assert [part.state_crc32() for part in alone] == untouched
    assert checkpoint.restore()
    assert alone[0].state_crc32() == saved[1]


def test_every_truncation_and_extension_is_detected(disk: Disk) -> None:
    _, saved = save_some(disk, 1)
    whole = bytes(disk.files["model.0"])
    for length in range(len(whole)):
        disk.files["model.0"] = bytearray(whole[:length])
        message = reboot(disk).checkpoint.message
        assert "model.0 is damaged" in message
        assert "model.1 is missing" in message
    for more in (b"\0", whole):
        disk.files["model.0"] = bytearray(whole + more)
        assert not reboot(disk).restored
    disk.files["model.0"] = bytearray(whole)
    assert reboot(disk).states == saved


@settings(max_examples=examples(50))
@given(st.binary(max_size=400), st.booleans())
def test_random_files_change_nothing(data: bytes, framed: bool) -> None:
    disk = Disk()
    body = b"mshc\x01" + data if framed else data
    disk.files["model.0"] = bytearray(body + crc32(body).to_bytes(4, "little"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "open", disk.open, raising=False)
        board = Board()
        assert not board.restored
        board.live(1)
        assert board.checkpoint.save()


def test_another_version_is_refused(disk: Disk) -> None:
    save_some(disk, 1)
    body = disk.files["model.0"][:-4]
    body[4] = 3
    disk.files["model.0"] = body + crc32(body).to_bytes(4, "little")
    assert "model.0 is of version 3," in reboot(disk).checkpoint.message


def test_another_configuration_is_refused(disk: Disk) -> None:
    _, saved = save_some(disk, 2)
    other = reboot(disk, classes=4)
    assert not other.restored
    for name in ("model.0", "model.1"):
        assert f"{name} is of another configuration" in other.checkpoint.message
    for _ in range(2):
        assert reboot(disk).states == saved  # nothing was written yet
    mine = other.live(3)
    assert other.checkpoint.save()
    assert reboot(disk, classes=4).states == mine
    assert reboot(disk).restored  # the other slot still belongs to the first one


def test_another_configuration_of_the_same_length_changes_nothing(disk: Disk) -> None:
    mine, yours = (library.ShrubEnsemble(2, 2, window=4, seed=seed) for seed in (5, 6))
    assert library.Checkpoint((mine,), "x").save()
    yours.learn(array("H", [1, 2]), 1)
    before = yours.state_crc32()
    checkpoint = library.Checkpoint((yours,), "x")
    assert not checkpoint.restore()
    assert "x.0 is of another configuration" in checkpoint.message
    assert yours.state_crc32() == before


def test_a_disk_that_fails_while_a_slot_is_read_never_gives_a_mix(disk: Disk) -> None:
    fresh = Board().states
    board, first = save_some(disk, 1)
    files_of_one = {path: bytes(data) for path, data in disk.files.items()}
    second = board.live(1)
    assert board.checkpoint.save()
    files_of_two = {path: bytes(data) for path, data in disk.files.items()}
    for files, allowed in ((files_of_one, {fresh}), (files_of_two, {second, first})):
        disk.files = {path: bytearray(data) for path, data in files.items()}
        disk.reads = disk.fail_read_at = 0
        assert reboot(disk).restored
        seen = set()
        for at in range(1, disk.reads + 1):
            disk.files = {path: bytearray(data) for path, data in files.items()}
            disk.reads, disk.fail_read_at = 0, at
            board = reboot(disk)
            seen.add(board.states)
            if not board.restored:
                assert board.states == fresh
                assert "model.0 is not readable" in board.checkpoint.message
            newest = board.live(4)
            assert board.checkpoint.save()
            assert reboot(disk).states == newest
        assert seen == allowed


# A full disk


@pytest.mark.parametrize("short", [False, True])
def test_a_full_disk_costs_only_the_checkpoint(disk: Disk, short: bool) -> None:
    board, saved = save_some(disk, 2)
    used = sum(map(len, disk.files.values()))
    disk.short = short
    for room in (*range(used // 2, used, 37), used - 1):
        disk.room = room
        later = board.live(room)
        assert not board.checkpoint.save()
        assert re.match("checkpoint 3 .* not saved to model.0: ", board.checkpoint.message)
        assert board.states == later
        assert reboot(disk).states == saved
    disk.room = used
    assert board.checkpoint.save()
    assert board.checkpoint.message == "checkpoint 3 saved to model.0"
    assert reboot(disk).states == board.states


# Real files


def test_slots_are_written_in_turn(tmp_path: Path) -> None:
    metrics = library.Metrics(2)
    path = str(tmp_path / "x")
    checkpoint = library.Checkpoint([metrics], path)
    for number in range(1, 6):
        if number == 3:
            checkpoint = library.Checkpoint([metrics], path)  # finds the newest slot by itself
        metrics.update(0, 1)
        assert checkpoint.save()
        assert checkpoint.message == f"checkpoint {number} saved to {path}.{(number + 1) % 2}"
    again = library.Metrics(2)
    assert library.Checkpoint((again,), path).restore()
    assert again.samples == 5
    assert sorted(file.name for file in tmp_path.iterdir()) == ["x.0", "x.1"]


def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    checkpoint = library.Checkpoint((library.Metrics(2),), str(tmp_path / "no" / "x"))
    assert not checkpoint.restore()
    assert checkpoint.message.count(" is missing") == 2
    assert not checkpoint.save()
    assert "was not saved to" in checkpoint.message


def test_sequence_numbers_wrap_around(tmp_path: Path) -> None:
    metrics = library.Metrics(2)
    path = str(tmp_path / "x")
    checkpoint = library.Checkpoint((metrics,), path)
    assert checkpoint.save()
    checkpoint._numbers[0] = 2**32 - 5
    assert checkpoint.save()
    assert checkpoint.save()  # 2**32 - 3, in place of 1
    for _ in range(6):
        metrics.update(1, 1)
        assert checkpoint.save()
        again = library.Metrics(2)
        assert library.Checkpoint((again,), path).restore()
        assert again.state_crc32() == metrics.state_crc32()


def test_the_layout_is_as_documented(tmp_path: Path) -> None:
    parts = (library.Metrics(2), library.Quantizer(1))
    assert library.Checkpoint(parts, str(tmp_path / "x")).save()
    texts = "Metrics classes=2\nQuantizer features=1"
    states = b"".join(part.save() for part in parts)
    head = b"mshc\x02" + b"".join(
        number.to_bytes(4, "little") for number in (1, 19 + len(states) + 4, crc32(texts.encode()))
    )
    head += (1000).to_bytes(2, "little")
    body = head + states
    assert (tmp_path / "x.0").read_bytes() == body + crc32(body).to_bytes(4, "little")


def test_a_state_is_read_from_a_stream() -> None:
    metrics = library.Metrics(3)
    metrics.update(1, 2)
    data = metrics.save()
    assert metrics.saved_bytes() == len(data)
    stream = io.BytesIO(data + b"more")
    again = library.Metrics(3)
    again.read(stream)
    assert again.save() == data
    assert stream.read() == b"more"
    for bad in (data[:-1], data[:9], b"", data[:-1] + b"!", library.Metrics(2).save()):
        with pytest.raises(ValueError, match=r"damaged.* Metrics classes=3"):
            library.Metrics(3).read(io.BytesIO(bad))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (((),), "parts has to be"),
        ((None,), "parts has to be"),
        (((3,),), "parts has to be"),
        (((library.Metrics(2),), ""), "path has to be"),
        (((library.Metrics(2),), b"x"), "path has to be"),
        (((library.Metrics(2),), "x", 0), "seconds has to be"),
        (((library.Metrics(2),), "x", 1.5), "seconds has to be"),
        (((library.Metrics(2),), "x", 1000001), "seconds has to be"),
    ],
)
def test_wrong_arguments(arguments: tuple[Any, ...], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        library.Checkpoint(*arguments)


# When a checkpoint is due

EVERY = 240  # seconds, as on a Pico
HOUR, DAY = 3600, 24 * 3600


def due_at(
    checkpoint: Any, changes: Iterator[float], end: float, tick: float = 1.0
) -> list[float]:
    """Return the seconds at which a checkpoint is due, polled once a tick, given those of changes.

    The clock continues where it was; all saves succeed.
    """
    began, count = checkpoint._time, max(checkpoint._changes, 0)
    results = []
    waiting = next(changes, end)
    for turn in range(int(end / tick)):
        now = turn * tick
        while waiting <= now:
            count += 1
            waiting = next(changes, end)
        if checkpoint.due(count % TICKS, (began + int(1000 * now)) % TICKS):
            results.append(now)
            checkpoint._kept = checkpoint._begun
            checkpoint.urgent = False
    return results


def fresh() -> Any:
    return library.Checkpoint((library.Metrics(2),), "x", EVERY)


def every(seconds: float, begin: float = 10.0, end: float = 1e9) -> Iterator[float]:
    while begin < end:
        yield begin
        begin += seconds


def test_a_pause_saves_at_once_and_without_a_pause_within_a_minute() -> None:
    assert due_at(fresh(), iter([10.0, 11.0, 11.5, 60.0]), 200) == [14, 62]
    assert due_at(fresh(), every(1, 10, 111), 200) == [55, 101, 112]
    assert due_at(fresh(), iter([10.0]), DAY, 20) == [40]  # once


@settings(max_examples=60)
@given(st.lists(st.floats(0.01, 70), min_size=1, max_size=80), st.integers(0, TICKS - 1))
def test_changes_in_any_rhythm_are_saved_in_time(steps: list[float], began: int) -> None:
    """A save follows a pause of 2 seconds, or the first unsaved change after at most 45."""
    checkpoint = fresh()
    checkpoint._time = began
    changes = [1 + sum(steps[:k]) for k in range(len(steps) + 1)]
    saves = due_at(checkpoint, iter(changes), changes[-1] + 10, 0.5)
    for change, follows in zip(changes, [*changes[1:], changes[-1] + 10], strict=True):
        saved = next(save for save in saves if save >= change)
        assert saved <= change + (3 if follows >= change + 3 else 46)


@pytest.mark.parametrize("seconds", [3.0, 6.0, 50.0])
def test_endless_labels_spare_the_flash_for_ten_years(seconds: float) -> None:
    """There is a save per 240 seconds, once the allowance is used up."""
    checkpoint = fresh()
    days = 30 if seconds == 50 else 8
    saves = len(due_at(checkpoint, every(seconds), days * DAY, seconds))
    assert saves <= 900 + days * DAY / EVERY + 1
    assert saves >= 0.9 * days * DAY / EVERY
    more = due_at(checkpoint, every(seconds), DAY, seconds)
    assert max(b - a for a, b in itertools.pairwise(more)) <= EVERY + 2 * seconds + 46


def test_a_name_is_saved_in_time_among_endless_labels() -> None:
    checkpoint = fresh()
    due_at(checkpoint, every(6), 3 * DAY, 6)
    checkpoint._earned = 0
    assert due_at(checkpoint, every(1), 200) == []
    checkpoint.urgent = True
    assert len(due_at(checkpoint, every(1), 3)) == 1


def test_a_night_without_labels_earns_saves_again() -> None:
    checkpoint = fresh()
    due_at(checkpoint, every(6), 3 * DAY, 6)
    began = checkpoint._left
    due_at(checkpoint, iter(()), 8 * HOUR + 60, 60)
    assert checkpoint._left - began in (119, 120)  # the unsaved changes take one


def test_the_allowance_survives_a_restart(disk: Disk) -> None:
    board = reboot(disk, seconds=EVERY)
    board.checkpoint._left = 500
    assert board.checkpoint.save()
    again = reboot(disk, seconds=EVERY)
    assert again.restored
    assert again.checkpoint._left == 500
    again.checkpoint._left = 0
    assert again.checkpoint.save()
    assert reboot(disk, seconds=EVERY).checkpoint._left == 120  # labels may use 20 of these


def test_a_full_disk_is_not_written_to_repeatedly(disk: Disk) -> None:
    disk.room = 10
    board = reboot(disk)
    checkpoint = board.checkpoint
    tried = 0
    for second in range(600):
        if checkpoint.due(second > 5, 1000 * second):
            tried += 1
            assert not checkpoint.save()
    assert tried == 1 + (600 - 8) // 45
    assert checkpoint.unsaved() == 1
    disk.room = 1 << 20
    assert checkpoint.save()
    assert (checkpoint.unsaved(), checkpoint.ago) == (0, 0)


def test_a_change_during_a_save_is_not_saved(disk: Disk) -> None:
    checkpoint = reboot(disk).checkpoint
    checkpoint.due(0, 0)
    checkpoint.note(7)
    steps = checkpoint.steps()
    next(steps)
    checkpoint.note(9)
    assert checkpoint.unsaved() == 9  # the outcome of this save is not known yet
    for _ in steps:
        pass
    assert checkpoint.unsaved() == 2


def test_a_forgotten_checkpoint_is_not_restored(disk: Disk) -> None:
    board, _ = save_some(disk, 2)
    for _ in range(2):  # the second time, there is no file
        board.checkpoint.forget()
        assert not disk.files
        assert not reboot(disk).restored
